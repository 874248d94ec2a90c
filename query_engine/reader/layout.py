"""Divide a stretch of a document into blocks that can be read alone, made of sentences, rows and lines.

What a block is was said when the document was read (`index/documents/structure.py`); here its sentences are cut, and
blocks that belong together are joined: items to lists, rows to tables, `key: value` lines to records. Pure.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from index.documents.structure import Block as Part
from index.documents.structure import Span, Structure
from query_engine.text.sentences import sentences_of

BlockKind = Literal["paragraph", "list", "steps", "table", "record", "heading", "code"]

# How far a stretch reaches beyond the leaf on either side, in characters, unless the document ends there.
AROUND_CHARS = 1500
# A line cannot be an answer if this share of it is addresses and timestamps.
MACHINE_SHARE = 0.4
# What is longer than this is a sentence, not a heading.
HEADING_CHARS, HEADING_WORDS = 80, 12
# A row of `key: value` lines that is longer is read line by line, each below its first line, which names the row.
ROW_OF_LINES_CHARS = 800
_MACHINE_WORDS = re.compile(r"\b(?:https?:\s?//|www\.)\S+|(?<!\S)[^\s@]++@\S+\.\w+|\b\d{4}-\d\d-\d\dT[\d:.+Z-]*")
# A line of a few words without digits or punctuation, such as a heading in a text file.
_LABEL = re.compile(r"[^\W\d][\w'’&-]*+(?:[ \t]++[^\W\d][\w'’&-]*+){0,5}[ \t]*+")
_RULE = re.compile(r"[\s|:–-]+")
# A heading without marks may have a number before it, or a year: "2 Knowledge distillation", "The flood of 1908".
_NUMBER_OR_YEAR = re.compile(r"^\d{1,2}(?:\.\d{1,2}){0,2}\.? |\b(?:1[5-9]|20)\d\d\b")
_SAYS_SOMETHING = re.compile(r"[\d:@]|[.!?…;,)\]\"”»]$")


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence, a list item's sentence, a table row or a line: `[start, end)` of the document.

    Attributes:
        block: the place of its block in the layout.
        item: which item of its block it belongs to, from 0; sentences of one list item share it.
        label: it cannot be an answer by itself: a heading, a table's header, a question.
        cells: of a row, `[start, end)` of each.
        columns: what each cell is called; none where that is not certain.
    """

    start: int
    end: int
    block: int
    item: int
    label: bool
    cells: tuple[Span, ...] = ()
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a list with its introductory line, a table, a record of `key: value` lines.

    Attributes:
        units: places of its units in the layout.
        lead: the place of the sentence that introduces a list, if there is one; it belongs to the block before.
        row: the place of the line that names a row, of a row that is read line by line.
    """

    kind: BlockKind
    units: range
    lead: int | None = None
    row: int | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """A stretch of a document: all its units, in order, and the blocks that they form."""

    units: tuple[Unit, ...]
    blocks: tuple[Block, ...]

    def block_of(self, place: int) -> Block:
        """The block that a unit belongs to."""
        return self.blocks[self.units[place].block]

    def inside(self, start: int, end: int) -> range:
        """Places of the units of which most lies in `[start, end)` of the document, or of those that overlap it."""
        shares = [(min(unit.end, end) - max(unit.start, start)) / (unit.end - unit.start or 1) for unit in self.units]
        for least in (0.5, 0.0):
            if places := [place for place, share in enumerate(shares) if share > least]:
                return range(places[0], places[-1] + 1)
        return range(0)

    def reads_like_heading(self, place: int, line: str) -> bool:
        """Whether a unit, as one line, stands alone above other text: no figure but a year, no end of a sentence."""
        block = self.block_of(place)
        if block.kind != "paragraph" or len(block.units) > 1 or block.units.stop == len(self.units):
            return False
        words = _NUMBER_OR_YEAR.sub("", line).split()
        return line.isupper() or (2 <= len(words) <= HEADING_WORDS and not _SAYS_SOMETHING.search(" ".join(words)))


def lay_out(text: str, structure: Structure, start: int, end: int, around_chars: int = AROUND_CHARS) -> Layout:
    """Return the layout of the blocks that touch `[start, end)` of a document or stand near it."""
    near = structure.between(max(0, start - around_chars), min(len(text), end + around_chars))
    units: list[Unit] = []
    blocks: list[Block] = []
    for kind, parts in _grouped([structure.blocks[position] for position in near]):
        first = len(units)
        for item, part in enumerate(parts):
            for begin, stop, is_line in _pieces(text, part):
                label = part.header or _is_label(text[begin:stop], kind, is_line=is_line)
                units.append(Unit(begin, stop, len(blocks), item, label, part.cells, part.columns))
        if first == len(units):
            continue
        if kind == "steps" and first + 1 == len(units) and _is_capitals(text[units[first].start : units[first].end]):
            units[first] = replace(units[first], label=True)
        lead = None
        if kind in {"list", "steps"} and blocks and text[units[first - 1].end - 1] == ":":
            lead = first - 1
        row = first if _is_long_row(text, parts[0]) else None
        blocks.append(Block(kind, range(first, len(units)), lead, row))
    return Layout(tuple(units), tuple(blocks))


def _grouped(parts: Sequence[Part]) -> Iterator[tuple[BlockKind, list[Part]]]:
    """Join items to lists, rows to tables, pairs to records; any other part is a block, and each row of lines."""
    for (kind, alone), run in groupby(enumerate(parts), lambda one: _kind_and_place(*one)):
        found = [part for _, part in run]
        tables = _tables(found) if kind == "table" else [found]
        yield from ((kind, table) for table in (tables if alone is None else [found]))


def _kind_and_place(place: int, part: Part) -> tuple[BlockKind, int | None]:
    """Return the kind of layout block that a part makes, and its place where it makes one by itself."""
    match part.kind:
        case "item":
            return ("steps" if part.ordered else "list"), None
        case "row" if not part.columns or _is_on_one_line(part):
            return "table", None
        case "row":
            return "record", place
        case "pair":
            return "record", None
        case "heading" | "code":
            return part.kind, place
        case _:
            return "paragraph", place


def _is_on_one_line(row: Part) -> bool:
    """Whether a row's cells stand beside each other; in a row of lines each cell has its column's name before it."""
    return not row.cells or row.cells[0][0] - row.inner[0] < len(row.columns[0]) or not row.columns[0]


def _tables(rows: Sequence[Part]) -> Iterator[list[Part]]:
    """Part rows where a header begins another table."""
    table: list[Part] = []
    for row in rows:
        if row.header and table and not table[-1].header:
            yield table
            table = []
        table.append(row)
    yield table


def _pieces(text: str, part: Part) -> Iterator[tuple[int, int, bool]]:
    """Yield the units of a part, each with whether it is a line, which does not end like a sentence."""
    start, end = part.inner
    if end <= start or (part.kind == "row" and not part.cells):  # a rule
        return
    if part.kind in {"paragraph", "quote", "item"}:
        if part.kind == "item" and part.ordered:
            start = part.start + len(text[part.start : end]) - len(text[part.start : end].lstrip())  # with its number
        yield from ((one.start, one.end, one.kind == "line") for one in sentences_of(text, start, end))
    elif part.kind == "code" or _is_long_row(text, part):
        for line in text[start:end].splitlines(keepends=True):
            begin, stop = start + len(line) - len(line.lstrip()), start + len(line.rstrip())
            start += len(line)
            if stop > begin:
                yield begin, stop, True
    else:
        yield start, end, True


def _is_long_row(text: str, part: Part) -> bool:
    start, end = part.inner
    return part.kind == "row" and end - start > ROW_OF_LINES_CHARS and "\n" in text[start:end]


def _is_capitals(text: str) -> bool:
    """Whether a number and capitals stand alone: "6. LIMITATIONS", a heading in a text file."""
    return text.isupper() and len(text) <= HEADING_CHARS


def _is_label(text: str, kind: BlockKind, *, is_line: bool) -> bool:
    if kind == "heading" or text.endswith("?") or _RULE.fullmatch(text):
        return kind != "table"
    if sum(len(match[0]) for match in _MACHINE_WORDS.finditer(text)) > MACHINE_SHARE * len(text):
        return kind != "table"
    return is_line and kind not in {"list", "steps", "table"} and _LABEL.fullmatch(text) is not None
