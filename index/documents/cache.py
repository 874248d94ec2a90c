"""Keep what questions read most in memory, within a bound, and never show what a commit has taken away.

Flow: `store.py` asks here before it reads the database, and says here when it writes. Safe from many threads.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, TypeVar

from cachetools import LRUCache

T = TypeVar("T")


class DocumentCache(Generic[T]):
    """The most recently used documents, or parts of them, by version; or what they amount to, as one entry.

    All that is kept was visible at once: a commit empties the cache, and what was read while one began or ended is not
    kept. So an old and a new version of one document are never found together.

    Args:
        load: reads, in one look, the versions that are visible.
        size: measures one entry.
        max_size: bound on the sizes of all together; the last one stays, however large.
    """

    def __init__(self, load: Callable[[Sequence[str]], dict[str, T]], size: Callable[[T], int], max_size: int) -> None:
        self._load = load
        # An entry above the bound counts as the bound: it is kept, alone.
        self._kept: LRUCache[str, T] = LRUCache(max_size, lambda entry: min(size(entry), max_size))
        self._commits = 0  # started and ended
        self._committing = 0
        self._lock = threading.Lock()

    def get(self, versions: Iterable[str]) -> dict[str, T]:
        """Return version -> entry of those that are visible."""
        wanted = set(versions)
        with self._lock:
            commits = self._commits
            found = {version: self._kept[version] for version in wanted & self._kept.keys()}
        if len(found) == len(wanted):
            return found
        loaded = self._load(sorted(wanted - found.keys()))
        if self._keep(loaded, commits):
            return found | loaded
        return self._load(sorted(wanted)) if found else loaded

    @contextmanager
    def committing(self) -> Iterator[None]:
        """Put this around a transaction. A commit that raises may have been stored all the same."""
        with self._lock:
            self._commits += 1
            self._committing += 1
            self._kept.clear()
        try:
            yield
        finally:
            with self._lock:
                self._commits += 1
                self._committing -= 1

    def _keep(self, loaded: dict[str, T], commits: int) -> bool:
        """Keep entries in place of those used longest ago; False if commits began or ended since `commits`."""
        with self._lock:
            if self._committing or commits != self._commits:
                return False
            self._kept.update(loaded)
            return True
