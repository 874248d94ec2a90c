"""Show a growing text in a terminal, and correct what of it has changed.

Flow: `__main__.py` (the answer so far, as a service's records have it) -> **here** -> stdout. A terminal gets the text
as it grows; what differs from the text before is erased and written again. A pipe or a file gets the whole text alone.
"""

import shutil
import unicodedata
from itertools import takewhile
from typing import TextIO


class GrowingText:
    """One text.

    Args:
        out: where it is shown.
        columns: width of the terminal; asked for if None.

    Attributes:
        correctable: whether it is a terminal, so that what is shown can be replaced.
        shown: the text; nothing else may be printed into it.
    """

    def __init__(self, out: TextIO, columns: int | None = None) -> None:
        self._out = out
        self._columns = columns
        self.shown = ""
        self.correctable = out.isatty()

    def show(self, text: str) -> None:
        """Show this text in place of the one before, of which a pipe has to get the beginning of this one."""
        kept = "".join(
            old for old, _ in takewhile(lambda pair: pair[0] == pair[1], zip(self.shown, text, strict=False))
        )
        if self.correctable and kept != self.shown:
            columns = self._columns or shutil.get_terminal_size().columns
            # A row is written from its beginning: where in it a character stands is the terminal's business.
            kept, row = _before_last_row(kept, columns)
            up = _before_last_row(self.shown, columns)[1] - row
            self._out.write((f"\x1b[{up}A" if up else "") + "\r\x1b[J")
        self._out.write(text[len(kept) :])
        self._out.flush()
        self.shown = text


def _before_last_row(text: str, columns: int) -> tuple[str, int]:
    """Return the text before its last row in a terminal of that width, and the number of rows before that one."""
    start = row = used = 0
    for place, character in enumerate(text):
        if character == "\n":
            start, row, used = place + 1, row + 1, 0
            continue
        cells = _cells(character)
        if used + cells > columns:
            start, row, used = place, row + 1, 0
        used += cells
    return text[:start], row


def _cells(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
