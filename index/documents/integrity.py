"""Look at the document store as a whole: is the file sound, are the totals true, which leaves should there be?

Flow: `health/child.py` asks; `ingestion/maintenance/repair.py` has the totals corrected.
"""

import sqlalchemy as sa

from index.documents.tables import documents, failures_named
from index.documents.totals import Totals, totals_of, write_totals

_SPAN_BYTES = 16


def broken_pages(engine: sa.Engine) -> str | None:
    """Return what SQLite's own check finds wrong with the file, or None."""
    if engine.dialect.name != "sqlite":
        return None  # a server looks after its files
    with failures_named(), engine.connect() as connection:
        found = [str(line) for line in connection.execute(sa.text("PRAGMA quick_check(5)")).scalars()]
    return None if found == ["ok"] else "; ".join(found)


def leaf_places(engine: sa.Engine, among: sa.ColumnElement[bool] | None = None) -> dict[str, range]:
    """Return version -> positions of its leaves, of every visible document, or of those that meet a condition."""
    query = sa.select(documents.c.version, documents.c.leaf_count, sa.func.length(documents.c.tree).label("bytes"))
    if among is not None:
        query = query.where(among)
    with failures_named(), engine.connect() as connection:
        return {
            row.version: range(row.bytes // _SPAN_BYTES - row.leaf_count, row.bytes // _SPAN_BYTES)
            for row in connection.execute(query)
        }


def true_totals(engine: sa.Engine) -> Totals:
    """Recount all documents."""
    return totals_of({version: len(places) for version, places in leaf_places(engine).items()})


def correct_totals(engine: sa.Engine) -> None:
    """Make the recorded totals true."""
    totals = true_totals(engine)
    with failures_named(), engine.begin() as connection:
        write_totals(connection, totals)
