"""Count how many rows each family of metrics has scored, and show it.

Flow: `stage.score_run` -> **here** -> `progress_bar.py`.
"""

import time
from collections import Counter
from collections.abc import Callable
from typing import TextIO

from eval.progress_bar import ProgressBar


class ScoringProgress:
    """Called after every row; a family that begins again, as for a repeat, starts a new count.

    Args:
        stream: where it is shown.
        clock: seconds.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._bar = ProgressBar(stream, "scored", clock)
        self._begun: Counter[str] = Counter()

    def __call__(self, family: str, done: int, of: int) -> None:
        """Show that so many rows of a family are done."""
        if done == 1:
            self._begun[family] += 1
            self._bar.begin(of)
        nth = self._begun[family]
        self._bar.step(f": {family}, time {nth}" if nth > 1 else f": {family}")

    def close(self) -> None:
        """Leave the terminal as it is."""
        self._bar.close()
