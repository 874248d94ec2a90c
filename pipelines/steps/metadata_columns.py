"""Make columns of the metadata that a source's documents carry.

Flow: a source's parameter `metadata_columns` -> **here** -> names of columns, and their values as one kind. Pure.
"""

from typing import Any

from pipelines.parameters import MAX_NAME_CHARS, parameter
from pipelines.state import is_column
from query_engine.text.well_formed import well_formed

METADATA: Any = parameter(
    "", "Metadata", "Comma-separated names of the documents' metadata that become columns of their own."
)


def names_of(given: str) -> list[str]:
    """Return the names that such a parameter lists, each once."""
    return list(dict.fromkeys(name.strip()[:MAX_NAME_CHARS] for name in given.split(",") if name.strip()))


def of_one_kind(values: list[Any]) -> list[Any]:
    """Return a metadata field as a column: values of different kinds, and what no column holds, as text."""
    values = [_storable(value) for value in values]
    if is_column(values):
        return values
    return [
        value if value is None else ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        for value in values
    ]


def _storable(value: Any) -> Any:
    if isinstance(value, list):
        return [_storable(one) for one in value]
    if isinstance(value, dict):
        return well_formed(str(value))
    return well_formed(value) if isinstance(value, str) else value
