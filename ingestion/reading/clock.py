"""The alarm clock of the child process, for readers that know better than it what belongs together.

Flow: `child.py` winds it up for each batch and says what that has left -> readers call **here**. In a process without
an alarm clock nothing here has an effect.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


def renewed(items: Iterator[T]) -> Iterator[T]:
    """Pass on the records of a stream, each of which has the whole time for itself."""
    for item in items:
        _, limit_s = signal.getitimer(signal.ITIMER_REAL)
        signal.setitimer(signal.ITIMER_REAL, limit_s, limit_s)
        yield item


@contextmanager
def own_time() -> Iterator[None]:
    """Give what is done within this block the whole time for itself; for what comes after it no time has passed."""
    left_s, limit_s = signal.getitimer(signal.ITIMER_REAL)
    signal.setitimer(signal.ITIMER_REAL, limit_s, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, left_s, limit_s)
