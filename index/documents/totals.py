"""How many documents and leaves a corpus has, and the hash of its whole state, without counting them.

Flow: `store.py` changes the totals in each of its commits and reads them from here.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import NamedTuple

import sqlalchemy as sa

from errors import CorpusError
from index.documents.tables import failures_named
from index.documents.tables import totals as _totals

STATE_BITS = 80


class Totals(NamedTuple):
    """What a corpus holds.

    Attributes:
        documents: number of documents.
        leaves: number of leaves of all documents.
        state: set-hash of all versions, 20 hex digits: their sum modulo 2^80. The order of ingestion does not count.
    """

    documents: int
    leaves: int
    state: str


class TotalsReader:
    """The totals of one corpus, kept in memory between commits. Safe from many threads.

    While a commit is under way they are read from the database: a thread that sees the new documents sees their totals.

    Args:
        engine: the corpus's database, see `tables.py`.

    Attributes:
        last: what was read last; None before that. Reading it asks no database and waits for nobody.
    """

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._kept: Totals | None = None
        self._commits = 0  # begun and ended
        self._committing = 0
        self.last: Totals | None = None

    def get(self) -> Totals:
        """Return the totals of the last commit."""
        with self._lock:
            commits = self._commits
            if self._kept is not None:
                return self._kept
        with failures_named(), self._engine.connect() as connection:
            found = read_totals(connection)
        with self._lock:
            if commits == self._commits:
                self.last = found
                self._kept = None if self._committing else found
        return found

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Put this around a transaction that changes them. A commit that raises may have been stored all the same."""
        self._count_commit(1)
        try:
            yield
        finally:
            self._count_commit(-1)
        with suppress(CorpusError):  # what is committed is committed; they are read again when they are asked for
            self.get()

    def _count_commit(self, under_way: int) -> None:
        with self._lock:
            self._kept = None
            self._commits += 1
            self._committing += under_way


def read_totals(connection: sa.Connection) -> Totals:
    """Return the totals as the open transaction sees them."""
    row = connection.execute(sa.select(_totals)).one_or_none()
    return Totals(row.documents, row.leaves, row.state) if row else Totals(0, 0, f"{0:0{STATE_BITS // 4}x}")


def count(connection: sa.Connection, *, added: Mapping[str, int], taken: Mapping[str, int]) -> None:
    """Add and take away versions (version -> number of leaves) within the open transaction."""
    documents, leaves, state = read_totals(connection)
    total = int(state, 16) + sum(int(version, 16) for version in added) - sum(int(version, 16) for version in taken)
    write_totals(
        connection,
        Totals(
            documents + len(added) - len(taken),
            leaves + sum(added.values()) - sum(taken.values()),
            f"{total % 2**STATE_BITS:0{STATE_BITS // 4}x}",
        ),
    )


def write_totals(connection: sa.Connection, totals: Totals) -> None:
    """Put these totals in the place of the recorded ones, within the open transaction."""
    connection.execute(sa.delete(_totals))
    connection.execute(sa.insert(_totals), {"row": 1} | totals._asdict())
