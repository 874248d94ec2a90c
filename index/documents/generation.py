"""The number of a corpus's commits, by which a process that only reads sees that another one has written.

Flow: `store.py` raises it in each of its commits -> `corpus.py` compares it between two questions. A commit that shows
documents raises it, and so does the end of the sweep after it: words that a reader has open must be opened again.
"""

import sqlalchemy as sa

from index.documents.tables import failures_named
from index.documents.tables import generations as _generations


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
