"""Tell whether two queries are the same. Pure."""

import re
from collections.abc import Collection


def was_asked(query: str, asked: Collection[str]) -> bool:
    """Say whether a query is one of those that were asked, but for case, punctuation and the order of blanks."""
    return any(is_same_query(query, other) for other in asked)


def is_same_query(one: str, other: str) -> bool:
    """Say whether two queries have the same words in the same order."""
    return _folded(one) == _folded(other)


def _folded(query: str) -> list[str]:
    return re.findall(r"\w+", query.casefold())
