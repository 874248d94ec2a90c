"""Show on stderr how far a long command is: a bar on a terminal, a line every tenth elsewhere.

Flow: the commands that ask, and those that score -> **here** -> stderr.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import TextIO

from eval.rows import Row

LINES = 10


def tell(line: str) -> None:
    """Write a line to stderr."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


class ProgressBar:
    """Counts steps; `begin` starts a new count.

    Args:
        stream: where it is shown; whether it is a terminal decides between a bar and lines.
        verb: what was done with each item, such as "asked".
        clock: seconds.
    """

    def __init__(self, stream: TextIO, verb: str, clock: Callable[[], float] = time.monotonic) -> None:
        from tqdm import tqdm  # noqa: PLC0415  # only long commands need it

        counts = "{n_fmt} of {total_fmt}"
        form = f"{{percentage:3.0f}}% |{{bar}}| {counts} {verb}{{desc}}, {{elapsed}}, {{remaining}} left"
        self._bar = tqdm(file=stream, bar_format=form, dynamic_ncols=True, disable=not stream.isatty())
        self._stream, self._verb, self._clock = stream, verb, clock
        self.begin(0)

    def begin(self, total: int) -> None:
        """Start a new count, up to `total`."""
        self._done, self._total, self._began = 0, total, self._clock()
        self._bar.reset(total)

    def step(self, about: str) -> None:
        """Count one; `about` follows the count."""
        self._done += 1
        if not self._bar.disable:
            self._bar.set_description_str(about, refresh=False)
            self._bar.update()
        elif self._done * LINES // self._total > (self._done - 1) * LINES // self._total:
            left_s = (self._clock() - self._began) / self._done * (self._total - self._done)
            minutes, seconds = divmod(round(left_s), 60)
            share = f"{100 * self._done // self._total:3d} %: {self._done} of {self._total} {self._verb}"
            self.note(f"{share}{about}, {minutes}:{seconds:02d} left")

    def note(self, text: str) -> None:
        """Write a line between the counts."""
        self._bar.clear()
        self._stream.write(text + "\n")
        self._stream.flush()

    def close(self) -> None:
        """Leave the terminal as it is."""
        self._bar.close()


class AskingProgress(ProgressBar):
    """Counts what came of the questions of one call: `total` of them."""

    def __init__(self, stream: TextIO, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(stream, "asked", clock)
        self.begin(total)
        self._outcomes: Counter[str] = Counter()

    def add(self, row: Row) -> None:
        """Count a row."""
        self._outcomes[row.outcome] += 1
        counts = ((self._outcomes[outcome], outcome) for outcome in ("declined", "failed"))
        self.step("".join(f", {count} {outcome}" for count, outcome in counts if count))


class ScoringProgress(ProgressBar):
    """Called after every row; a family that begins again, as for a repeat, starts a new count."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream, "scored")
        self._begun: Counter[str] = Counter()

    def __call__(self, family: str, done: int, of: int) -> None:
        """Show how many rows of a family are done."""
        if done == 1:
            self._begun[family] += 1
            self.begin(of)
        nth = self._begun[family]
        self.step(f": {family}, time {nth}" if nth > 1 else f": {family}")
