"""Count what came of the questions of a run, and show it.

Flow: each row -> **here** -> `progress_bar.py`.
"""

import time
from collections import Counter
from collections.abc import Callable
from typing import TextIO

from eval.progress_bar import ProgressBar
from eval.rows import Row


class Progress:
    """Counts the rows of one call; `add` and `note` show.

    Args:
        stream: where it is shown.
        total: questions to ask.
        clock: seconds.
    """

    def __init__(self, stream: TextIO, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._bar = ProgressBar(stream, "asked", clock)
        self._bar.begin(total)
        self._outcomes: Counter[str] = Counter()

    def add(self, row: Row) -> None:
        """Count a row."""
        self._outcomes[row.outcome] += 1
        counts = ((self._outcomes[outcome], outcome) for outcome in ("declined", "failed"))
        self._bar.step("".join(f", {count} {outcome}" for count, outcome in counts if count))

    def note(self, text: str) -> None:
        """Say something between the counts."""
        self._bar.note(text)

    def close(self) -> None:
        """Leave the terminal as it is."""
        self._bar.close()
