"""Show on stderr how the asking goes: a bar on a terminal, a line every tenth elsewhere.

Flow: each row -> **here** -> stderr.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from eval.rows import Row

LINES = 10


class Progress:
    """Counts the rows of one call; `add` and `note` show.

    Args:
        stream: where it is shown; whether it is a terminal decides between a bar and lines.
        total: questions to ask.
        clock: seconds.
    """

    def __init__(self, stream: TextIO, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        from tqdm import tqdm  # noqa: PLC0415  # only who asks needs it

        form = "{percentage:3.0f}% |{bar}| {n_fmt} of {total_fmt} asked{postfix}, {elapsed}, {remaining} left"
        self._bar = tqdm(total=total, file=stream, bar_format=form, dynamic_ncols=True, disable=not stream.isatty())
        self._stream = stream
        self._total = total
        self._clock = clock
        self._started = clock()
        self._outcomes: Counter[str] = Counter()

    def add(self, row: Row) -> None:
        """Count a row."""
        self._outcomes[row.outcome] += 1
        done = self._outcomes.total()
        if not self._bar.disable:
            self._bar.set_postfix_str(self._others(), refresh=False)
            self._bar.update()
        elif done * LINES // self._total > (done - 1) * LINES // self._total:
            left_s = (self._clock() - self._started) / done * (self._total - done)
            parts = [f"{done} of {self._total} asked", *filter(None, [self._others()]), f"{_duration(left_s)} left"]
            self._write(f"{100 * done // self._total:3d} %: {', '.join(parts)}")

    def note(self, text: str) -> None:
        """Say something between the counts."""
        self._bar.clear()
        self._write(text)

    def close(self) -> None:
        """Leave the terminal as it is."""
        self._bar.close()

    def _others(self) -> str:
        counts = ((self._outcomes[outcome], outcome) for outcome in ("declined", "failed"))
        return ", ".join(f"{count} {outcome}" for count, outcome in counts if count)

    def _write(self, line: str) -> None:
        self._stream.write(line + "\n")
        self._stream.flush()


@contextmanager
def shown(stream: TextIO, total: int) -> Iterator[Progress]:
    """Give a progress, and close it."""
    progress = Progress(stream, total)
    try:
        yield progress
    finally:
        progress.close()


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"
