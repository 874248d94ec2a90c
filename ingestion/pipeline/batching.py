"""Group a stream into batches, and hand batches out ahead of their use, all in order.

Flow: `chunk_embed.py` and `distributed/ray_run.py` plan with **this** what their workers get, and how much may be under
way. Knows nothing of what flows through it.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def grouped(items: Iterable[T], weigh: Callable[[T], float], *, max_weight: float, max_items: int) -> Iterator[list[T]]:
    """Yield the items in lists; a list is closed once it weighs `max_weight` or holds `max_items`.

    An item that is heavier than that closes its list, so no list weighs more than `max_weight` and its last item.
    """
    group: list[T] = []
    weight = 0.0
    for item in items:
        group.append(item)
        weight += weigh(item)
        if weight >= max_weight or len(group) >= max_items:
            yield group
            group, weight = [], 0.0
    if group:
        yield group


def begun_ahead(items: Iterable[T], begin: Callable[[T], R], ahead: Callable[[], int]) -> Iterator[R]:
    """Yield what `begin` returns for each item, in order; at most `ahead()` items are started and not yet asked for."""
    started: deque[R] = deque()
    for item in items:
        started.append(begin(item))
        while len(started) > ahead():
            yield started.popleft()
    yield from started
