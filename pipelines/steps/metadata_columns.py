"""Make columns of the metadata that a source's documents carry.

Flow: a source's parameter `metadata_columns` -> **here** -> names of columns, and their values as one kind. Pure.
"""

from typing import Any

from pipelines.parameters import MAX_NAME_CHARS, parameter

METADATA: Any = parameter(
    "", "Metadata", "Comma-separated names of the documents' metadata that become columns of their own."
)


def names_of(given: str) -> list[str]:
    """Return the names that such a parameter lists, each once."""
    return list(dict.fromkeys(name.strip()[:MAX_NAME_CHARS] for name in given.split(",") if name.strip()))


def of_one_kind(values: list[Any]) -> list[Any]:
    """Return a metadata field as a column: values of different kinds as text."""
    kinds = {_kind(value) for value in values if value is not None}
    if len(kinds) <= 1 or kinds <= {int, float}:
        return values
    return [
        value if value is None else ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        for value in values
    ]


def _kind(value: Any) -> Any:
    """Return what a value is, of a list also what it holds."""
    if not isinstance(value, list):
        return type(value)
    inside = {float if isinstance(one, int | float) and not isinstance(one, bool) else type(one) for one in value}
    return (list, next(iter(inside), str)) if len(inside) <= 1 else (list, object)
