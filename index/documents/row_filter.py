"""Apply a filter to rows that stand in no corpus, such as the table of a pipeline, as to documents.

Flow: rows, and a filter in LlamaIndex's form -> **here**: a table of documents in memory -> `filters.py` -> which rows
meet it. So a filter means the same here and in a search.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from index.documents.filters import COLUMNS, where
from index.documents.tables import BATCH_ROWS, documents

# The fields that a filter reads, under the name that its condition names them by. Unlike documents, rows may share an
# id or lack a field.
_rows = sa.Table(
    documents.name,
    sa.MetaData(),
    sa.Column("place", sa.Integer, primary_key=True),
    *(sa.Column(name, sa.String) for name in COLUMNS),
    sa.Column("metadata", sa.JSON, nullable=False),
)


def meeting(rows: Sequence[Mapping[str, Any]], filters: object) -> list[bool]:
    """Say of each row whether it meets a filter.

    Args:
        rows: name -> value, JSON-ready; a name of `COLUMNS` is that field of a document, any other its metadata. None
            is a missing value.
        filters: as for `where`.

    Raises:
        FilterError: the filter has no meaning.
    """
    condition = where(filters)
    engine = sa.create_engine("sqlite://")
    try:
        with engine.begin() as connection:
            _rows.create(connection)
            for start in range(0, len(rows), BATCH_ROWS):
                some = rows[start : start + BATCH_ROWS]
                connection.execute(_rows.insert(), [_row(start + place, row) for place, row in enumerate(some)])
            asked = sa.select(sa.literal_column("place", sa.Integer)).select_from(documents).where(condition)
            met = set(connection.execute(asked).scalars())
    finally:
        engine.dispose()
    return [place in met for place in range(len(rows))]


def keys_of(filters: object) -> list[str]:
    """Return the keys that a filter names, each once; those of a filter without meaning as far as it can be read."""
    found: dict[str, None] = {}
    todo = [filters]
    while todo:
        one = todo.pop()
        if not isinstance(one, dict):
            continue
        entries = one.get("filters")
        todo += entries if isinstance(entries, list) else []
        if isinstance(key := one.get("key"), str):
            found[key] = None
    return list(found)


def _row(place: int, row: Mapping[str, Any]) -> dict[str, Any]:
    fields = {name: None if row.get(name) is None else str(row[name]) for name in COLUMNS}
    metadata = {name: value for name, value in row.items() if name not in COLUMNS and value is not None}
    return {"place": place, **fields, "metadata": metadata}
