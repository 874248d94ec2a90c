"""Show a growing text in a terminal, correct what of it has changed, and align the columns of its tables.

Flow: `__main__.py` (the answer so far, as a service's records have it) -> **here** -> stdout. A terminal gets the text
as it grows; what differs from the text before is erased and written again. A pipe or a file gets the whole text alone.
"""

import shutil
import unicodedata
from io import StringIO
from itertools import takewhile
from typing import TextIO

# Stands for a bar in a cell while the cells are parted; no text holds it.
_BAR_IN_CELL = "\0"


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


class PlainTables:
    """Turns the Markdown tables of a text that comes in pieces into aligned columns; other text passes at once."""

    def __init__(self) -> None:
        self._held = ""  # lines of a table that may go on
        self._begins_line = True

    def feed(self, piece: str) -> str:
        """Take the next piece and return what can be shown of it."""
        shown = ""
        for line in StringIO(piece):
            if self._held.endswith("\n") and not line.startswith("|"):
                shown += self.finish()
            if self._held or (self._begins_line and line.startswith("|")):
                self._held += line
            else:
                shown += line
            self._begins_line = line.endswith("\n")
        return shown

    def finish(self) -> str:
        """Return what was held back."""
        held, self._held = self._held, ""
        return _aligned(held)


def with_plain_tables(text: str) -> str:
    """Return a whole text with the columns of its Markdown tables aligned."""
    tables = PlainTables()
    return tables.feed(text) + tables.finish()


def _aligned(table: str) -> str:
    """Return the rows of a Markdown table in columns as wide as their widest cell; other text as it is."""
    lines = table.replace("\\|", _BAR_IN_CELL).splitlines()
    rows = [[_plain(cell) for cell in line.strip().strip("|").split("|")] for line in lines]
    if len(rows) < 2 or any(set(cell) - set("-:") for cell in rows[1]):
        return table
    rows = [rows[0], *rows[2:]] if any(rows[0]) else rows[2:]
    columns = max(map(len, rows), default=0)
    rows = [row + [""] * (columns - len(row)) for row in rows]
    widths = [max(_width(row[column]) for row in rows) for column in range(columns)]
    lines = [
        "  ".join(cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join(lines) + table[len(table.rstrip("\n")) :]


def _plain(cell: str) -> str:
    cell = cell.strip()
    is_bold = len(cell) > 4 and cell.startswith("**") and cell.endswith("**")
    return (cell[2:-2] if is_bold else cell).replace(_BAR_IN_CELL, "|")


def _width(text: str) -> int:
    return sum(map(_cells, text))


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
