"""Show on stderr how the scoring goes: a bar on a terminal, a line every tenth elsewhere.

Flow: `stage.score_run` -> **here** -> stderr.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

LINES = 10


class ScoringProgress:
    """Called after every row; a family that starts anew, as for a repeat, gets a new bar.

    Args:
        stream: where it is shown; whether it is a terminal decides between a bar and lines.
        clock: seconds.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        from tqdm import tqdm  # noqa: PLC0415  # only who scores needs it

        form = "{percentage:3.0f}% |{bar}| {n_fmt} of {total_fmt} scored: {desc}, {elapsed}, {remaining} left"
        self._bar = tqdm(file=stream, bar_format=form, dynamic_ncols=True, disable=not stream.isatty())
        self._stream = stream
        self._clock = clock
        self._began = clock()
        self._begun: Counter[str] = Counter()

    def __call__(self, family: str, done: int, of: int) -> None:
        """Show that so many rows of a family are done."""
        if done == 1:
            self._began = self._clock()
            self._begun[family] += 1
            self._bar.reset(of)
        nth = self._begun[family]
        what = f"{family}, time {nth}" if nth > 1 else family
        if not self._bar.disable:
            self._bar.set_description_str(what, refresh=False)
            self._bar.update()
        elif done * LINES // of > (done - 1) * LINES // of:
            left_s = (self._clock() - self._began) / done * (of - done)
            minutes, seconds = divmod(round(left_s), 60)
            share = f"{100 * done // of:3d} %: {done} of {of} scored"
            self._stream.write(f"{share}: {what}, {minutes}:{seconds:02d} left\n")
            self._stream.flush()

    def close(self) -> None:
        """Leave the terminal as it is."""
        self._bar.close()


@contextmanager
def shown_scoring(stream: TextIO) -> Iterator[ScoringProgress]:
    """Give a progress, and close it."""
    progress = ScoringProgress(stream)
    try:
        yield progress
    finally:
        progress.close()
