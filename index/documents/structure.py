"""What the parts of a document are: headings, paragraphs, list items, table rows, as its reader knew them.

Readers of formats with markup yield blocks with the text; of plain text and PDF they are guessed once (`guess.py`).
They are stored beside the span tree, and nothing after ingestion asks what a line is. Pure.
"""

import json
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from errors import UnreadableError

Kind = Literal["heading", "paragraph", "item", "row", "pair", "code", "quote", "caption", "front_matter"]
Span = tuple[int, int]
# Text directly above a table says what it holds if it is no longer than this, and so do rows of one cell, unless more
# than this number follow each other.
MAX_LEAD_CHARS, MAX_GROUP_ROWS = 120, 3


class Block(NamedTuple):
    """`[start, end)` of a document's text, with the space after it; the blocks of a document tile its text.

    Attributes:
        inner: `[start, end)` of the words alone: without marks ("## ", "- ", fences) and the space around.
        level: of a heading, 1 is the outermost; depth of an item or a quotation, 0 is the outermost.
        ordered: an item has a number.
        cells: `[start, end)` of each cell of a row, which may be empty; of a pair its key and its value.
        columns: what each cell of a row is called; as many as cells, or none where that is not certain.
        header: this row names the columns of those after it.
        language: of code, if it is known.
    """

    kind: Kind
    start: int
    end: int
    inner: Span
    level: int = 0
    ordered: bool = False
    cells: tuple[Span, ...] = ()
    columns: tuple[str, ...] = ()
    header: bool = False
    language: str = ""

    @property
    def names_group(self) -> bool:
        """Whether it is a row whose first cell alone is filled, as it is where a sheet groups the rows below."""
        return (
            self.kind == "row"
            and not self.header
            and bool(self.cells)
            and self.cells[0][0] < self.cells[0][1]
            and not any(start < end for start, end in self.cells[1:])
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what is known of the block as JSON-ready values."""
        return {name: value for name, value in self._asdict().items() if value or name == "start"}

    def moved(self, place: Callable[[int], int]) -> "Block":
        """Return the block in a text where what stood at `x` stands at `place(x)`."""
        return self._replace(
            start=place(self.start),
            end=place(self.end),
            inner=(place(self.inner[0]), place(self.inner[1])),
            cells=tuple((place(start), place(end)) for start, end in self.cells),
        )


class Structure:
    """The blocks of one document, in order. Unpacked, or guessed, when they are first looked at.

    Args:
        blocks: tile the text; or what `to_bytes` made of such, or a function that returns them.
    """

    def __init__(self, blocks: Iterable[Block] | bytes | Callable[[], Iterable[Block]] = ()) -> None:
        self._given = blocks if isinstance(blocks, bytes) or callable(blocks) else tuple(blocks)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Structure) and self.blocks == other.blocks

    def __bool__(self) -> bool:
        return bool(self._given if isinstance(self._given, bytes) else self.blocks)

    def __hash__(self) -> int:
        return hash(self.blocks)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """All blocks."""
        if isinstance(self._given, bytes):
            return tuple(_unpacked(*json.loads(self._json()))) if self._given else ()
        return tuple(self._given() if callable(self._given) else self._given)

    @cached_property
    def _starts(self) -> list[int]:
        return [block.start for block in self.blocks]

    def place(self, offset: int) -> int:
        """Position of the block that holds this offset; of the first or last one for an offset outside."""
        return max(0, bisect_right(self._starts, offset) - 1)

    def between(self, start: int, end: int) -> range:
        """Positions of the blocks that touch `[start, end)`."""
        if not self.blocks or start >= end:
            return range(0)
        return range(self.place(start), self.place(end - 1) + 1)

    @cached_property
    def _above(self) -> list[tuple[int, ...]]:
        """For each block the positions of the headings that it stands under, the outermost first."""
        path: list[int] = []
        found = []
        for position, block in enumerate(self.blocks):
            if block.kind == "heading":
                while path and self.blocks[path[-1]].level >= block.level:
                    path.pop()
            found.append(tuple(path))
            if block.kind == "heading":
                path.append(position)
        return found

    def headings_above(self, position: int) -> tuple[int, ...]:
        """Positions of the headings that a block stands under, the outermost first; a heading is not its own."""
        return self._above[position]

    def heading_path(self, position: int, text: str) -> tuple[str, ...]:
        """Titles of the headings that a block stands under, the outermost first."""
        return tuple(" ".join(text[slice(*self.blocks[one].inner)].split()) for one in self._above[position])

    @cached_property
    def _leads(self) -> dict[int, tuple[int, ...]]:
        """For each row that stands under text above its table, or under rows that name its group: their positions."""
        found: dict[int, tuple[int, ...]] = {}
        above: tuple[int, ...] = ()
        groups: tuple[int, ...] = ()
        before: Block | None = None
        for position, block in enumerate(self.blocks):
            if block.kind == "row":
                if before is None or before.kind != "row" or (block.header and not before.header):
                    leads = before is not None and before.kind in {"caption", "paragraph"}
                    is_short = before is not None and before.inner[1] - before.inner[0] <= MAX_LEAD_CHARS
                    above, groups = (position - 1,) if leads and is_short else (), ()
                if block.names_group:
                    follows = before is not None and before.names_group
                    groups = (*groups, position) if follows else (position,)
                elif block.cells and (leads_in := above + (groups if len(groups) <= MAX_GROUP_ROWS else ())):
                    found[position] = leads_in
            before = block
        return found

    def leads_above(self, position: int) -> tuple[int, ...]:
        """Positions of what a row stands under beside headings: the text above its table, the rows naming its group."""
        return self._leads.get(position, ())

    def names_missing(self, start: int, text: str) -> tuple[str, ...]:
        """What a part that begins at `start` does not say of its first row: what leads it in, and its columns."""
        position = self.place(start)
        block = self.blocks[position] if self.blocks else None
        if block is None or block.kind != "row":
            return ()
        leads = [text[slice(*self.blocks[one].inner)] for one in self.leads_above(position)]
        # In a record each cell has its name.
        is_record = "\n" in text[slice(*block.inner)]
        return (*leads, " | ".join(block.columns)) if block.columns and not is_record else tuple(leads)

    def digest(self) -> str:
        """Hash of all blocks, 16 hex digits; of none it is empty."""
        return sha256(self._json()).hexdigest()[:16] if self else ""

    def moved(self, place: Callable[[int], int]) -> "Structure":
        """Return the blocks in a text where what stood at `x` stands at `place(x)`."""
        return Structure(block.moved(place) for block in self.blocks)

    def to_bytes(self) -> bytes:
        """Pack as compressed JSON."""
        if isinstance(self._given, bytes):
            return self._given
        return zlib.compress(self._json()) if self else b""

    def _json(self) -> bytes:
        """Return the packed form before it is compressed; the names of columns stand in it once each."""
        if isinstance(self._given, bytes):
            return zlib.decompress(self._given)
        names: dict[tuple[str, ...], int] = {}
        rows = []
        last = 0
        for block in self.blocks:
            inner = (block.inner[0] - block.start, block.end - block.inner[1])
            cells = [(start - block.start, end - start) for start, end in block.cells]
            columns = names.setdefault(block.columns, len(names))
            row = [block.kind, block.end - last, *inner, block.level, block.ordered, cells, columns, block.header]
            rows.append([*row, block.language])
            last = block.end
        return json.dumps([list(names), rows], separators=(",", ":")).encode()


def _unpacked(names: list[list[str]], rows: list[list[Any]]) -> Iterator[Block]:
    start = 0
    for kind, length, before, after, level, ordered, cells, columns, header, language in rows:
        end = start + length
        spans = tuple((start + first, start + first + size) for first, size in cells)
        yield Block(
            kind,
            start,
            end,
            (start + before, end - after),
            level,
            bool(ordered),
            spans,
            tuple(names[columns]),
            bool(header),
            language,
        )
        start = end


def stripped(text: str, start: int, end: int) -> Span:
    """Return `[start, end)` of `text` without the space around it; of blank text an empty span."""
    words = text[start:end]
    first = start + len(words) - len(words.lstrip())
    return first, first + len(words.strip())


def placeholder(number: int) -> str:
    """Return what stands in a document for the name of a column that has none, by its number from 1."""
    return f"column {number}"


def is_placeholder(name: str) -> bool:
    """Whether a column's name only stands in for one, see `placeholder`."""
    return name.startswith("column ") and name.removeprefix("column ").isdecimal()


def check_blocks(blocks: Sequence[Block], text: str) -> None:
    """Raise UnreadableError unless the blocks tile the text, and hold their words and cells."""
    bounds = [0, *(block.end for block in blocks)]
    if bounds[-1] != len(text) or any(block.start != start for block, start in zip(blocks, bounds, strict=False)):
        raise UnreadableError("The blocks of the document do not tile its text.", "Report this file as a fault.")
    for block in blocks:
        places = (block.start, *block.inner, block.end)
        inside = all(block.start <= start <= end <= block.end for start, end in block.cells)
        if not inside or any(first > last for first, last in pairwise(places)):
            raise UnreadableError("A block of the document holds more than its text.", "Report this file as a fault.")
