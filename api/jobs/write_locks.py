"""One writer at a time for each corpus that the service holds open.

Flow: ingestion jobs, which take turns, hold the corpus together for as long as one of them runs; a deletion -> **here**
-> waits a moment, then is refused. Questions need no lock: they read what is committed.
"""

import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from errors import RagError

# Longer than another deletion takes, shorter than a client's patience.
DELETION_WAIT_S = 3.0


class WriteLocks:
    """Locks by corpus name. Safe from many threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._jobs: Counter[str] = Counter()

    @contextmanager
    def hold_for_job(self, corpus: str) -> Iterator[None]:
        """Hold a corpus for a job, beside other jobs that hold it and do not work now; wait for others without limit.

        Args:
            corpus: its name.
        """
        if not self._jobs[corpus]:
            self._lock(corpus).acquire()
        self._jobs[corpus] += 1
        try:
            yield
        finally:
            self._jobs[corpus] -= 1
            if not self._jobs[corpus]:
                self._lock(corpus).release()

    @contextmanager
    def hold(self, corpus: str) -> Iterator[None]:
        """Hold a corpus for a deletion, or to rename it.

        Args:
            corpus: its name.

        Raises:
            RagError: somebody else held it for `DELETION_WAIT_S`.
        """
        lock = self._lock(corpus)
        if not lock.acquire(timeout=DELETION_WAIT_S):
            raise RagError(
                f"An ingestion is writing into corpus {corpus!r}.",
                "Wait for its job (`GET /ingest` lists them), or cancel it: it goes on later where it was.",
                "corpus_busy",
            )
        try:
            yield
        finally:
            lock.release()

    def _lock(self, corpus: str) -> threading.Lock:
        with self._guard:
            return self._locks[corpus]
