"""How fast a run goes, and how long it will still take.

Flow: `Progress` as it comes -> **here** -> `Pace`, shown beside it by terminals, JSON lines and HTTP jobs.

Both are of the last half minute: a run passes over thousands of known files in a second before it comes to the new
ones, and their speed says nothing about what is left. They change between bursts only: the files of a batch are told
one after the other when it is committed, and had taken their time before.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from ingestion.schema import Progress

WINDOW_S = 30.0
# A burst is over when nothing came for so long, or when it has lasted so long.
GAP_S = 0.25
BURST_S = 1.0


@dataclass(frozen=True, slots=True)
class Pace:
    """The speed of a run at one moment.

    Attributes:
        elapsed_s: since the meter was made.
        leaves_per_s: of new and changed documents; None in the first batch.
        eta_s: what is left, by bytes; None in the first batch, and while no file was finished for half a minute.
    """

    elapsed_s: float
    leaves_per_s: float | None
    eta_s: float | None


class PaceMeter:
    """Measures one run. For one thread.

    Args:
        clock: seconds, rising.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started = clock()
        self._burst = self._started
        self._last = (self._started, 0, 0)
        self._samples = deque([self._last])

    def at(self, progress: Progress) -> Pace:
        """Return the pace at this progress; call it with each one, in order."""
        now = self._clock()
        if progress.bytes < self._last[1]:  # the same command begins with another folder
            self._samples = deque([(now, 0, 0)])
        elif now - self._last[0] >= GAP_S or now - self._burst >= BURST_S:
            self._burst = now
            if self._last[1:] != self._samples[-1][1:]:
                self._samples.append(self._last)
        while len(self._samples) > 2 and self._samples[1][0] <= now - WINDOW_S:
            self._samples.popleft()
        self._last = (now, progress.bytes, progress.leaves)
        elapsed_s = round(now - self._started, 2)
        if len(self._samples) == 1:
            return Pace(elapsed_s, None, None)
        (since, size, leaves), (until, size_then, leaves_then) = self._samples[0], self._samples[-1]
        passed, done = until - since, size_then - size
        left = max(0, progress.bytes_total - progress.bytes)
        return Pace(
            elapsed_s,
            leaves_per_s=round((leaves_then - leaves) / passed, 1),
            eta_s=round(left * passed / done, 1) if done > 0 else None,
        )
