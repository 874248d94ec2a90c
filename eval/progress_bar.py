"""Show on stderr how far a long command is: a bar on a terminal, a line every tenth elsewhere.

Flow: `asking/progress.py`, `scoring/progress.py` count -> **here** -> stderr.
"""

import time
from collections.abc import Callable
from typing import TextIO

LINES = 10


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
        self._stream = stream
        self._verb = verb
        self._clock = clock
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
            self._write(f"{share}{about}, {minutes}:{seconds:02d} left")

    def note(self, text: str) -> None:
        """Write a line between the counts."""
        self._bar.clear()
        self._write(text)

    def close(self) -> None:
        """Leave the terminal as it is."""
        self._bar.close()

    def _write(self, line: str) -> None:
        self._stream.write(line + "\n")
        self._stream.flush()
