"""Compare what a reader says of the tables in a PDF with what they say: a statement is a cell with its column's name.

Flow: a `Document`'s blocks and the `Table`s that its pages hold -> **here** -> `Score`. Pure.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from index.documents.structure import Block


@dataclass(frozen=True, slots=True)
class Table:
    """What a table says.

    Attributes:
        columns: of each column the names that are right; "" alone for a column without a name, and among others where
            the name says nothing of the cells, so that it counts neither if it is given nor if it is not.
        rows: cells, as many as columns; empty ones too.
    """

    columns: tuple[tuple[str, ...], ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Score:
    """Statements: `total` that the tables make, of these `right` ones a reader makes, and `wrong` ones it makes."""

    total: int = 0
    right: int = 0
    wrong: int = 0

    def __add__(self, other: "Score") -> "Score":
        return Score(self.total + other.total, self.right + other.right, self.wrong + other.wrong)


def score(tables: Sequence[Table], text: str, blocks: Sequence[Block]) -> Score:
    """Count statements. One is right if the row's first cell is right too, since that is what the row is about."""
    truth = [(table, row) for table in tables for row in table.rows]
    total = sum(1 for table, row in truth for _ in _stated(table, row))
    right = wrong = 0
    unused = list(truth)
    for block in blocks:
        if block.kind != "row" or not block.columns:
            continue
        cells = [_plain(text[slice(*cell)]) for cell in block.cells]
        said = [(_plain(name), cell) for name, cell in zip(block.columns, cells, strict=True) if _plain(name) and cell]
        agreed = [(_agreement(table, row, cells, said), place) for place, (table, row) in enumerate(unused)]
        (own, _), best = max(agreed, default=((0, 0), 0))
        right += own
        wrong += len(said) - own - (_idle(*unused[best], said) if unused else 0)
        if own:
            del unused[best]
    return Score(total, right, wrong)


def _stated(table: Table, row: Sequence[str]) -> Iterator[tuple[set[str], str]]:
    for names, cell in zip(table.columns, row, strict=True):
        if "" not in names and cell:
            yield {_plain(name) for name in names}, _plain(cell)


def _idle(table: Table, row: Sequence[str], said: Sequence[tuple[str, str]]) -> int:
    """Return how many of a row's statements count neither way."""
    cells = zip(table.columns, map(_plain, row), strict=True)
    return sum((name, cell) in said for names, cell in cells if "" in names for name in map(_plain, names))


def _agreement(
    table: Table, row: Sequence[str], cells: Sequence[str], said: Sequence[tuple[str, str]]
) -> tuple[int, int]:
    """Return how many statements are the row's own, none if its first cell differs; and how many cells are."""
    left = list(_stated(table, row))
    own = 0
    for name, cell in said:
        found = next((one for one in left if name in one[0] and cell == one[1]), None)
        if found:
            left.remove(found)
            own += 1
    is_row = _plain(row[0]) == (cells[0] if cells else "")
    return (own if is_row else 0), sum(cell in cells for cell in map(_plain, row) if cell)


def _plain(text: str) -> str:
    """Return the words without what says nothing: spaces, hyphens, case, and the marks of footnotes behind them."""
    plain = re.sub(r"(?<=\w)[\s\u00ad\u2010-]+(?=\w)|\s+", "", unicodedata.normalize("NFKC", text)).casefold()
    return re.sub(r"(?<=[^(])(?:\(\d\))+$", "", plain)
