"""Cut the blocks of a document into units that can be judged alone: sentences, rows, `key: value` lines, lines of code.

What a block is was said when the document was read (`index/documents/structure.py`). Pure.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from index.documents.sentences import sentences_of
from index.documents.structure import Block, Structure

# How far a layout reaches beyond the leaf on either side, in characters.
AROUND_CHARS = 1500
# A row of `column: value` lines that is longer is read line by line.
RECORD_CHARS = 800


class Unit(NamedTuple):
    """`[start, end)` of the document's text.

    Attributes:
        block: position of its block in the structure.
        group: the same for all rows of a table, items of a list, lines of a record; else that of its block alone.
        label: it cannot answer by itself: a heading, a table's header or the name of a group in it, a question.
    """

    start: int
    end: int
    block: int
    group: int
    label: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """The units of a stretch of a document, in order."""

    text: str
    structure: Structure
    units: tuple[Unit, ...]

    def block_of(self, place: int) -> Block:
        """The block of a unit."""
        return self.structure.blocks[self.units[place].block]

    def words(self, place: int) -> str:
        """The text of a unit."""
        return self.text[self.units[place].start : self.units[place].end]

    def named_words(self, place: int) -> str:
        """The text of a unit; of a row the cells with the names of their columns, `Name: cell; ...`."""
        block = self.block_of(place)
        if block.kind != "row" or not block.columns or "\n" in self.words(place):
            return self.words(place)
        named = zip(block.columns, block.cells, strict=False)
        return "; ".join(f"{name}: {self.text[start:end]}" for name, (start, end) in named)

    def headings(self, place: int) -> tuple[str, ...]:
        """Titles of the headings that a unit stands under, the outermost first."""
        return self.structure.heading_path(self.units[place].block, self.text)

    def inside(self, start: int, end: int) -> range:
        """Places of the units that lie mostly in `[start, end)`; if none does, of those that overlap it."""
        shares = [(min(unit.end, end) - max(unit.start, start)) / (unit.end - unit.start or 1) for unit in self.units]
        for least in (0.5, 0.0):
            if places := [place for place, share in enumerate(shares) if share > least]:
                return range(places[0], places[-1] + 1)
        return range(0)

    def texts_before(self, place: int, *, continued: bool = True) -> Iterator[str]:
        """Yield what a unit continues: the group and columns of a row, the lead of its list, else the unit before.

        Args:
            place: of the unit.
            continued: False leaves out the unit before.
        """
        block, unit = self.block_of(place), self.units[place]
        if block.kind == "row":
            yield from self.structure.names_missing(block.start, self.text)
            return
        if block.kind == "item":
            first = next(at for at, one in enumerate(self.units) if one.group == unit.group)
            if first > 0 and self.text[self.units[first - 1].end - 1] == ":":
                yield self.words(first - 1)
            if place == first or self.units[place - 1].block != unit.block:
                return
        if continued and place > 0 and not block.kind == self.block_of(place - 1).kind == "pair":
            yield self.words(place - 1)


def lay_out(text: str, structure: Structure, start: int, end: int, around_chars: int = AROUND_CHARS) -> Layout:
    """Return the units of the blocks that touch `[start, end)` of a document or stand near it."""
    units: list[Unit] = []
    group, before = -1, None
    for position in structure.between(max(0, start - around_chars), min(len(text), end + around_chars)):
        block = structure.blocks[position]
        if before is None or not same_group(before, block):
            group = position
        before = block
        for first, last in _spans(text, block):
            label = block.kind == "heading" or block.header or _names_rows(structure, position) or text[last - 1] == "?"
            units.append(Unit(first, last, position, group, label))
    return Layout(text, structure, tuple(units))


def _names_rows(structure: Structure, position: int) -> bool:
    """Whether a block names the group of the rows below it: these have more cells."""
    following = structure.blocks[position + 1 : position + 2]
    return structure.blocks[position].names_group and any(
        one.kind == "row" and not one.header and not one.names_group for one in following
    )


def same_group(one: Block, following: Block) -> bool:
    """Whether two blocks that follow each other are parts of one table, list or record."""
    if one.kind != following.kind or one.kind not in {"row", "item", "pair"}:
        return False
    return one.kind != "row" or not following.header


def _spans(text: str, block: Block) -> Iterator[tuple[int, int]]:
    start, end = block.inner
    if block.kind == "row" and not block.cells:  # a rule
        return
    if block.kind == "item" and block.ordered:
        start = _first_word(text, block.start, end)  # a step keeps its number
    match block.kind:
        case "heading" | "pair" | "caption":
            yield from [(start, end)] if end > start else []
        case "row" if "\n" not in text[start:end] or end - start <= RECORD_CHARS:
            yield from [(start, end)] if end > start else []
        case "row" | "code":
            for line in text[start:end].splitlines(keepends=True):
                first, last = _first_word(text, start, start + len(line)), start + len(line.rstrip())
                start += len(line)
                if last > first:
                    yield first, last
        case _:
            yield from ((one.start, one.end) for one in sentences_of(text, start, end))


def _first_word(text: str, start: int, end: int) -> int:
    return start + len(text[start:end]) - len(text[start:end].lstrip())
