"""Remember what a step made of a row: the same step on the same row is not computed again, in any later task.

Flow: `handler.py` asks for the keys of a step's rows -> **here**, one SQLite file -> computes and adds the rest. A key
is a hash of step, parameters, model and input; what goes into it is `handler.py`'s business. The oldest rows make room.
"""

import sqlite3
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

# SQLite takes 32,766 parameters in a statement.
MOST_KEYS = 30_000
# What a row takes beside its value: key, number, and its entry in the index.
ROW_BYTES = 64


class RowCache:
    """Values by key. Safe from many threads and processes.

    Args:
        path: of the file, made when missing; None keeps it in memory.
        max_bytes: of keys and values together; the file is a little larger.

    Every method raises sqlite3.Error where the file is damaged or the disk is full.
    """

    def __init__(self, path: Path | None, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._database = sqlite3.connect(path or ":memory:", check_same_thread=False, isolation_level=None)
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=NORMAL")
        self._database.execute("CREATE TABLE IF NOT EXISTS rows (key BLOB NOT NULL UNIQUE, value TEXT NOT NULL)")
        total = self._database.execute(f"SELECT COALESCE(SUM(LENGTH(value) + {ROW_BYTES}), 0) FROM rows").fetchone()  # noqa: S608
        self._bytes = int(total[0])

    def get(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """Return the values of those keys that are there."""
        found: dict[bytes, str] = {}
        with self._lock:
            for start in range(0, len(keys), MOST_KEYS):
                some = keys[start : start + MOST_KEYS]
                marks = ",".join("?" * len(some))
                found.update(self._database.execute(f"SELECT key, value FROM rows WHERE key IN ({marks})", some))  # noqa: S608
        return found

    def put(self, values: Mapping[bytes, str]) -> None:
        """Keep values; those of keys that are there already stay."""
        with self._lock:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                self._database.executemany("INSERT OR IGNORE INTO rows VALUES (?, ?)", values.items())
                self._database.execute("COMMIT")
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._bytes += sum(len(value) + ROW_BYTES for value in values.values())
            self._make_room()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()

    def _make_room(self) -> None:
        """Delete the oldest rows until four fifths are used: not a few at every step."""
        if self._bytes <= self._max_bytes:
            return
        size = f"LENGTH(value) + {ROW_BYTES}"
        newer = f"SELECT rowid, SUM({size}) OVER (ORDER BY rowid DESC) AS used FROM rows"  # noqa: S608
        keep = f"SELECT MIN(rowid) FROM ({newer}) WHERE used <= ?"  # noqa: S608
        first = self._database.execute(keep, [self._max_bytes * 4 // 5]).fetchone()[0]
        if first is None:
            self._database.execute("DELETE FROM rows")
        else:
            self._database.execute("DELETE FROM rows WHERE rowid < ?", [first])
        total = self._database.execute(f"SELECT COALESCE(SUM({size}), 0) FROM rows").fetchone()  # noqa: S608
        self._bytes = int(total[0])
