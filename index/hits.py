"""Searches of several stores side by side, and the best of their hits.

Flow: `joined.py` and `lexical/tantivy_index.py` search each corpus of a question by **this**. A hit is the id of a leaf
and its score. Scores are compared as they are; who joins makes them comparable.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

# Searches at once; there are seldom more cores.
MAX_THREADS = 8

Hits = list[tuple[str, float]]
Found = TypeVar("Found")
Member = TypeVar("Member")


def side_by_side(search: Callable[[Member], Found], members: Sequence[Member]) -> list[Found]:
    """Return what `search` returns for each member, in their order."""
    if len(members) == 1:
        return [search(members[0])]
    with ThreadPoolExecutor(min(MAX_THREADS, len(members))) as threads:
        return list(threads.map(search, members))


def best(found: Iterable[Hits], top_k: int) -> Hits:
    """Return the best hits of all, each leaf once, best first."""
    hits: dict[str, float] = {}
    for name, score in sorted((hit for some in found for hit in some), key=lambda hit: -hit[1]):
        hits.setdefault(name, score)
    return list(hits.items())[:top_k]
