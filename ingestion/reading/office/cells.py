"""Lay the cells of a table out as rows, what spans several rows or columns shown in each.

Flow: `docx.py`, `pptx.py`, `odf.py`, `xhtml.py` (cells with their spans) -> **here** -> rows for `tables.py`. Pure.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ingestion.reading.text_budget import BETWEEN_CELLS, Growth

MAX_SPAN = 200


class SpanningCell(NamedTuple):
    """A cell and how many columns and rows it takes, 1 or more."""

    text: str
    columns: int = 1
    rows: int = 1


def laid_out(rows: Iterable[Sequence[SpanningCell]]) -> list[list[str]]:
    """Return the rows of a table with every place filled; cells that others cover are not among those given."""
    below: dict[int, tuple[int, str]] = {}  # column -> further rows that a cell takes, and its text
    found = []
    growth = Growth()
    for row in rows:
        cells: list[str] = []
        for cell in row:
            _take_spanning(below, cells)
            for _ in range(min(max(cell.columns, 1), MAX_SPAN)):
                if cell.rows > 1:
                    below[len(cells)] = min(cell.rows, MAX_SPAN) - 1, cell.text
                cells.append(cell.text)
        _take_spanning(below, cells)
        growth.add(sum(len(text) + BETWEEN_CELLS for text in cells))
        found.append(cells)
    return found


def _take_spanning(below: dict[int, tuple[int, str]], cells: list[str]) -> None:
    """Add the cells of earlier rows that reach down to the next columns of this one."""
    while len(cells) in below:
        further, text = below.pop(len(cells))
        if further > 1:
            below[len(cells)] = further - 1, text
        cells.append(text)
