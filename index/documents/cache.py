"""Keep what questions read most in memory, within a bound, and never show what a commit has taken away.

Flow: `store.py` asks here before it reads the database, and says here when it writes. Safe from many threads.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, TypeVar

T = TypeVar("T")


class DocumentCache(Generic[T]):
    """The most recently used documents, or parts of them, by version.

    All that is kept was visible at once: a commit empties the cache, and what was read while one began or ended is not
    kept. So an old and a new version of one document are never found together.

    Args:
        load: reads, in one look, the versions that are visible.
        size: measures one entry.
        max_size: bound on the sizes of all together; the last one stays, however large.
    """

    def __init__(self, load: Callable[[Sequence[str]], dict[str, T]], size: Callable[[T], int], max_size: int) -> None:
        self._load = load
        self._size_of = size
        self._max_size = max_size
        self._size = 0
        self._kept: OrderedDict[str, T] = OrderedDict()
        self._commits = 0  # begun and ended
        self._committing = 0
        self._lock = threading.Lock()

    def get(self, versions: Iterable[str]) -> dict[str, T]:
        """Return version -> entry of those that are visible."""
        wanted = set(versions)
        with self._lock:
            commits = self._commits
            found = {version: self._kept[version] for version in wanted & self._kept.keys()}
            for version in found:
                self._kept.move_to_end(version)
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
            self._size = 0
        try:
            yield
        finally:
            with self._lock:
                self._commits += 1
                self._committing -= 1

    def _keep(self, loaded: dict[str, T], commits: int) -> bool:
        """Keep entries, and let go of those used longest ago; False if one began or ended since `commits` was read."""
        with self._lock:
            if self._committing or commits != self._commits:
                return False
            for version, entry in loaded.items():
                if version not in self._kept:
                    self._kept[version] = entry
                    self._size += self._size_of(entry)
            while self._size > self._max_size and len(self._kept) > 1:
                _, oldest = self._kept.popitem(last=False)
                self._size -= self._size_of(oldest)
            return True
