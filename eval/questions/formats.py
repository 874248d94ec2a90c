"""What a format of questions is, and how its rows become cases.

Flow: an adapter, e.g. `mmu_rag.py` -> **here** -> `reading.py` chooses one. Pure.

Adapters leave out what they do not know: `Case` tells an absent answer (unknown) from one of None (unanswerable).
"""

import ast
import json
import tokenize
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from typing import Any

from eval.cases import Case

ToCase = Callable[[str, int], Case]


@dataclass(frozen=True, slots=True)
class Format:
    """How others write questions down, one a row.

    Attributes:
        name: as `--format` wants it.
        title: as people know it.
        marks: columns by which a file is recognised; all of them have to be there.
        reads: columns that are used.
        to_case: the row as a JSON object, and its number from 1 -> the case; raises pydantic's ValidationError.
    """

    name: str
    title: str
    marks: frozenset[str]
    reads: frozenset[str]
    to_case: ToCase


def known(**fields: Any) -> dict[str, Any]:
    """Return the fields that say something: not None, no blank text, no empty tuple."""
    return {name: value for name, value in fields.items() if (value.strip() if isinstance(value, str) else value)}


def row_id(given: str | None, number: int) -> str:
    """Return the row's own id, or one made of its number where the format knows none."""
    return given or f"row-{number}"


def texts(value: object) -> object:
    """Return a list that was written as text, in JSON or in Python's spelling, as a list; anything else as it is.

    Raises:
        ValueError: the text is not a list. Lists that numpy printed have no commas and would be read as one long text.
    """
    if not isinstance(value, str):
        return value
    if not value.strip():
        return []
    try:
        return _parsed(value)
    except (ValueError, TypeError, SyntaxError, tokenize.TokenError, RecursionError) as error:
        raise ValueError('should be a list of texts, e.g. ["one", "two"]') from error


def _parsed(value: str) -> list[Any]:
    try:
        found = json.loads(value)
    except ValueError:
        found = ast.literal_eval(value.strip())
        tokens = tokenize.generate_tokens(StringIO(value).readline)
        if sum(token.type == tokenize.STRING for token in tokens) != len(found):
            raise
    if isinstance(found, list):
        return found
    raise ValueError(type(found).__name__)
