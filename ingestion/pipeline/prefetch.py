"""Let the stages of an ingestion overlap: each runs in its own thread and hands on through a bounded queue.

Flow: `pipeline.py` chains generators (compare -> split -> embed) and puts **this** between them. Knows nothing of what
flows through it.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Prefetched(Generic[T]):
    """An iterator that runs ahead of its reader in a thread, within a bound. Use it as a context manager.

    An exception of the source is raised here, after the items before it. Leaving early lets the thread finish the
    item at hand, then closes the source in that thread and waits for it.

    Args:
        source: what is iterated, in the thread only.
        max_weight: bound of what waits here; one item always may.
        weigh: an item's weight.
    """

    def __init__(self, source: Iterator[T], *, max_weight: float, weigh: Callable[[T], float] = lambda _: 1) -> None:
        self._source = source
        self._max_weight = max_weight
        self._weigh = weigh
        self._items: deque[tuple[T, float]] = deque()
        self._weight = 0.0
        self._changed = threading.Condition()
        self._ended = self._left = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="ingestion stage", daemon=True)

    def __enter__(self) -> "Prefetched[T]":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._left = True
            self._changed.notify_all()
        self._thread.join()

    def __iter__(self) -> Iterator[T]:
        return self

    def beating(self, every_s: float) -> Iterator[T | None]:
        """Yield what comes, and None whenever nothing has come for `every_s` seconds."""
        while True:
            with self._changed:
                come = self._changed.wait_for(lambda: self._items or self._ended, every_s)
            if not come:
                yield None
                continue
            try:
                yield next(self)
            except StopIteration:
                return

    def __next__(self) -> T:
        with self._changed:
            self._changed.wait_for(lambda: self._items or self._ended)
            if self._items:
                item, weight = self._items.popleft()
                self._weight -= weight
                self._changed.notify_all()
                return item
            if self._error:
                raise self._error
            raise StopIteration

    def _run(self) -> None:
        try:
            for item in self._source:
                if not self._put(item):
                    break
        except BaseException as error:  # noqa: BLE001  # the reader of this iterator raises it
            self._error = error
        try:
            close = getattr(self._source, "close", None)
            if close:
                close()
        except BaseException as error:  # noqa: BLE001  # a reader that is never told of the end would wait for ever
            self._error = self._error or error
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _put(self, item: T) -> bool:
        """Queue an item once there is room; False when the reader has left."""
        weight = self._weigh(item)
        with self._changed:
            self._changed.wait_for(lambda: self._left or not self._items or self._weight + weight <= self._max_weight)
            if not self._left:
                self._items.append((item, weight))
                self._weight += weight
                self._changed.notify_all()
            return not self._left
