"""How fast a run goes, and how long it will still take.

Flow: `Progress` as it comes -> **here** -> `Pace`, shown beside it by terminals, JSON lines and HTTP jobs.

Both are of the last half minute: a run passes over thousands of known files in a second before it comes to the new
ones, and their speed says nothing about what is left.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from ingestion.run import Progress

WINDOW_S = 30.0
SAMPLE_S = 1.0


@dataclass(frozen=True, slots=True)
class Pace:
    """The speed of a run at one moment.

    Attributes:
        elapsed_s: since the meter was made.
        leaves_per_s: of new and changed documents.
        eta_s: what is left, by bytes; None while nothing was finished from which it could be told.
    """

    elapsed_s: float
    leaves_per_s: float
    eta_s: float | None


class PaceMeter:
    """Measures one run. For one thread.

    Args:
        clock: seconds, rising.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started = clock()
        self._samples = deque([(self._started, 0, 0)])

    def at(self, progress: Progress) -> Pace:
        """Return the pace at this progress; call it with each one, in order."""
        now = self._clock()
        if progress.bytes < self._samples[-1][1]:  # the same command begins with another folder
            self._samples.clear()
            self._samples.append((now, progress.bytes, progress.leaves))
        while len(self._samples) > 1 and self._samples[1][0] <= now - WINDOW_S:
            self._samples.popleft()
        since, size, leaves = self._samples[0]
        passed = now - since
        if now - self._samples[-1][0] >= SAMPLE_S:
            self._samples.append((now, progress.bytes, progress.leaves))
        left = progress.bytes_total - progress.bytes
        done = progress.bytes - size
        return Pace(
            elapsed_s=round(now - self._started, 2),
            leaves_per_s=round((progress.leaves - leaves) / passed, 1) if passed > 0 else 0.0,
            eta_s=0.0 if left <= 0 else round(left * passed / done, 1) if done > 0 else None,
        )
