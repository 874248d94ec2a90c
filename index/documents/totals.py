"""What each commit of a corpus counts: its documents and leaves, the hash of its whole state, and the commits.

Flow: `store.py` changes the numbers in each of its commits and reads them from here; `corpus.py` compares the number of
commits between two questions: by that a process that only reads sees that another one has written. A commit that shows
documents raises it, and so does the end of the sweep after it: words that a reader has open must be opened again.
"""

from collections.abc import Mapping
from typing import NamedTuple

import sqlalchemy as sa

from index.documents.tables import failures_named
from index.documents.tables import generations as _generations
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


def read_totals(connection: sa.Connection) -> Totals:
    """Return the totals as the open transaction sees them."""
    row = connection.execute(sa.select(_totals)).one_or_none()
    return Totals(row.documents, row.leaves, row.state) if row else Totals(0, 0, f"{0:0{STATE_BITS // 4}x}")


def totals_of(leaves: Mapping[str, int]) -> Totals:
    """Return the totals of these documents (version -> number of leaves)."""
    state = sum(int(version, 16) for version in leaves) % 2**STATE_BITS
    return Totals(len(leaves), sum(leaves.values()), f"{state:0{STATE_BITS // 4}x}")


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


def recorded_totals(engine: sa.Engine) -> Totals:
    """Return the totals as the last commit left them."""
    with failures_named(), engine.connect() as connection:
        return read_totals(connection)


def read_generation(engine: sa.Engine) -> int:
    """Return the number of the last commit; 0 before the first one."""
    with failures_named(), engine.connect() as connection:
        return int(connection.execute(sa.select(_generations.c.number)).scalar_one_or_none() or 0)


def raise_generation(connection: sa.Connection) -> int:
    """Count the open transaction as a commit, and return its number."""
    raised = sa.update(_generations).values(number=_generations.c.number + 1)
    if not connection.execute(raised).rowcount:
        connection.execute(sa.insert(_generations), {"row": 1, "number": 1})
    return int(connection.execute(sa.select(_generations.c.number)).scalar_one())
