"""Threads that are left behind, and a pool that has none left."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from anyio import to_thread


@contextmanager
def busy_pool() -> Iterator[None]:
    """Hold every thread of the running loop's pool, as slow routes may."""
    pool = to_thread.current_default_thread_limiter()
    slow = [object() for _ in range(int(pool.total_tokens))]
    for borrower in slow:
        pool.acquire_on_behalf_of_nowait(borrower)
    try:
        yield
    finally:
        for borrower in slow:
            pool.release_on_behalf_of(borrower)


def question_threads_end(timeout_s: float = 5.0) -> bool:
    """Say whether all threads of questions end; those that have set their result may need a moment."""
    running = [thread for thread in threading.enumerate() if thread.name == "question"]
    for thread in running:
        thread.join(timeout_s)
    return not any(thread.is_alive() for thread in running)
