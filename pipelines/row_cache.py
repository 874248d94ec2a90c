"""Keep a step's result for each row, so that no later task computes the same step on the same row again.

Flow: `handler.py` asks for the keys of a step's rows -> **here**, one SQLite file -> computes and adds the rest. A key
is a hash of step, parameters, model and input; `handler.py` decides what goes into it. The oldest rows are deleted for
new ones.
"""

import sqlite3
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

# SQLite takes 32,766 parameters in a statement.
MOST_KEYS = 30_000
# What a row takes beside its value: key, age, and its share of the tree.
ROW_BYTES = 64
_SIZE = f"LENGTH(value) + {ROW_BYTES}"


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
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS rows (key BLOB PRIMARY KEY, value BLOB NOT NULL, age INTEGER NOT NULL) "
            "WITHOUT ROWID"
        )
        self._bytes = sum(size for _, size in self._ages())

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the values of those keys that are there."""
        found: dict[bytes, bytes] = {}
        with self._lock:
            for start in range(0, len(keys), MOST_KEYS):
                some = keys[start : start + MOST_KEYS]
                marks = ",".join("?" * len(some))
                found.update(self._database.execute(f"SELECT key, value FROM rows WHERE key IN ({marks})", some))  # noqa: S608
        return found

    def put(self, values: Mapping[bytes, bytes]) -> None:
        """Keep values; those of keys that are there already stay."""
        age = time.time_ns()
        # In the order of the tree, so that neighbours are written together.
        rows = [(key, values[key], age) for key in sorted(values)]
        with self._lock:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                self._database.executemany("INSERT OR IGNORE INTO rows VALUES (?, ?, ?)", rows)
                self._database.execute("COMMIT")
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._bytes += sum(len(value) + ROW_BYTES for value in values.values())
            if self._bytes > self._max_bytes:
                self._make_room()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()

    def _make_room(self) -> None:
        """Delete what was added first until four fifths are used: not a little at every step."""
        ages = self._ages()
        self._bytes, last = sum(size for _, size in ages), 0
        for age, size in ages:
            if self._bytes <= self._max_bytes * 4 // 5:
                break
            self._bytes, last = self._bytes - size, age
        self._database.execute("DELETE FROM rows WHERE age <= ?", [last])

    def _ages(self) -> list[tuple[int, int]]:
        """Return what was added together: when, and its size; the oldest first."""
        return self._database.execute(f"SELECT age, SUM({_SIZE}) FROM rows GROUP BY age ORDER BY age").fetchall()  # noqa: S608
