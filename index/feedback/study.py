"""What people did in a user study: one event a line, in one SQLite file beside the corpora.

Flow: `api/study.py` notes events, if the operator has turned that on -> **here** -> `GET /study` as CSV. Nobody's name
is kept; what was written only if the settings say so. Blocks; safe from many threads, while others read the file.
"""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from errors import RagError
from index.disk import private_file, private_folder

FILE_NAME = "study.sqlite"
DAY_S = 86_400
KEEP_DAYS = 365
# The oldest go first.
MOST_EVENTS = 1_000_000
SWEEP_EVERY = 1000
PAGE_ROWS = 500

Kind = Literal["search", "open", "chat", "verdict"]


@dataclass(frozen=True, slots=True)
class StudyEvent:
    """Something that somebody did.

    Attributes:
        at_s: when it began, seconds since 1970.
        session: of one browser or program: random, or what the program calls itself.
        kind: what it was.
        route: method and path without ids, e.g. `POST /query`.
        seconds: until the reply was complete.
        subject: the document that was opened, the chat, or the answer or passage list that was judged; else empty.
        verdict: as `POST /feedback` takes it; else empty.
        text: what was asked or remarked; empty unless texts are kept.
    """

    at_s: float
    session: str
    kind: Kind
    route: str
    seconds: float
    subject: str = ""
    verdict: str = ""
    text: str = ""


COLUMNS = tuple(StudyEvent.__dataclass_fields__)


class StudyLog:
    """The events of one index folder. The file is made when the first one is written.

    Args:
        folder: the index folder.
        clock: Unix time in seconds.

    Every method raises RagError where the file cannot be written or is damaged.
    """

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self.path = folder / FILE_NAME
        self._clock = clock
        self._lock = threading.Lock()
        self._database: sqlite3.Connection | None = None
        self._noted = 0

    def note(self, event: StudyEvent) -> None:
        """Keep an event."""
        values = [getattr(event, name) for name in COLUMNS]
        marks = ", ".join("?" * len(COLUMNS))
        with self._opened() as database:
            database.execute(f"INSERT INTO events ({', '.join(COLUMNS)}) VALUES ({marks})", values)  # noqa: S608
            if self._noted % SWEEP_EVERY == 0:
                database.execute("DELETE FROM events WHERE at_s < ?", [self._clock() - KEEP_DAYS * DAY_S])
                database.execute(
                    "DELETE FROM events WHERE number <= (SELECT MAX(number) FROM events) - ?", [MOST_EVENTS]
                )
            self._noted += 1

    def events(self) -> Iterator[StudyEvent]:
        """Yield the events of the last `KEEP_DAYS`, in the order in which they ended."""
        if not self.path.is_file():
            return
        after, oldest_s = 0, self._clock() - KEEP_DAYS * DAY_S
        while True:
            with self._opened() as database:
                rows = database.execute(
                    f"SELECT number, {', '.join(COLUMNS)} FROM events"  # noqa: S608
                    " WHERE number > ? AND at_s >= ? ORDER BY number LIMIT ?",
                    [after, oldest_s, PAGE_ROWS],
                ).fetchall()
            yield from (StudyEvent(*row[1:]) for row in rows)
            if len(rows) < PAGE_ROWS:
                return
            after = rows[-1][0]

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                if self._database is None:
                    self._database = _open(self.path)
                yield self._database
            except (sqlite3.Error, OSError) as error:
                raise RagError(
                    f"{self.path} cannot be used: {error}.",
                    "Make room on the disk, or move the file away.",
                    "study_unavailable",
                ) from error


def _open(path: Path) -> sqlite3.Connection:
    private_folder(path.parent)
    private_file(path)
    database = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    try:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=NORMAL")
        columns = ", ".join(f"{name} {'REAL' if name in ('at_s', 'seconds') else 'TEXT'} NOT NULL" for name in COLUMNS)
        database.execute(f"CREATE TABLE IF NOT EXISTS events (number INTEGER PRIMARY KEY AUTOINCREMENT, {columns})")
        database.execute("CREATE INDEX IF NOT EXISTS events_by_time ON events (at_s)")
    except BaseException:
        database.close()
        raise
    return database
