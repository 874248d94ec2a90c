"""Choose how much of a document to show around an answer: consecutive blocks of one section, to the end of the thought.

A sentence that echoes the question is seldom the answer: documentation answers in the next sentence, list, table or
code. So windows of several lengths are grown around each likely unit, and compared as wholes. Pure.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from textwrap import dedent

from index.documents.structure import Block
from query_engine.reader.layout import Layout, same_group
from query_engine.reader.table import Named, asked_row, shown_table, tables_of
from query_engine.reader.units import ReadUnit
from query_engine.schema.passage import DocumentKey, Passage
from query_engine.text.dictionary import in_dictionary
from query_engine.text.markdown_escape import fenced, without_effects
from query_engine.text.words import WORD

# The most characters of a window; a list, a table, numbered steps or code are shown whole up to `WHOLE_CHARS`.
MAX_CHARS, WHOLE_CHARS = 700, 1500
# Window lengths to try, as shares of the longest; 0 is the unit alone, with the block that it announces.
LENGTHS = (0.0, 0.35, 0.7, 1.0)
# Weights of `ReadWindow.worth`, fitted by `python -m training.reader.choice`. The reader's score of the leaf, its
# similarity and its rank add nothing beside these.
SCORE_WEIGHT, SIMILARITY_WEIGHT, WORDS_WEIGHT, LENGTH_WEIGHT = 0.43, 6.5, 2.1, 0.88
# Units whose log-odds are this close to the window's best are marked as answering.
MARKED_WITHIN = 1.0
# A window of another edition whose worth is lower by more than this is about something else.
UPDATED_WITHIN = 3.0
FENCES = ("```", "~~~")


@dataclass(frozen=True, slots=True)
class Window:
    """`[start, end)` of a document, to be quoted as it stands.

    Attributes:
        best: the unit that it was grown from.
    """

    best: ReadUnit
    start: int
    end: int

    def below_its_heading(self) -> "Window":
        """Return the window from the heading directly above it, if that has a name that the window lacks.

        So the text on a setting comes with the setting's name; headings of everyday words are left to the citation.
        """
        layout = self.best.leaf.layout
        first = layout.structure.place(self.start)
        block, above = layout.structure.blocks[first], layout.structure.blocks[max(first - 1, 0)]
        whole = not layout.text[block.start : self.start].strip() or self.start <= block.inner[0]
        if not whole or above.kind != "heading":
            return self
        heading = layout.text[above.start : above.end].strip()
        added = set(WORD.findall(heading.lower())) - set(WORD.findall(self.text.lower()))
        if all(in_dictionary(word) for word in added):
            return self
        return replace(self, start=layout.text.index(heading, above.start))

    @property
    def text(self) -> str:
        """The document's own characters."""
        return self.best.leaf.layout.text[self.start : self.end]

    def shown(self, named: Named = lambda _: frozenset()) -> str:
        """Return the text as Markdown that reads by itself.

        Rows of a table become one below the names of its columns, see `table.py`. Code that has no fences gets them;
        text that is indented below something that is not shown is moved left, as it would be taken for code. Outside
        of code, images and links are broken: who shows an answer would load them.

        Args:
            named: tells what the question names; the asked row or cell of a table is bold.
        """
        layout, pieces, place, in_list = self.best.leaf.layout, list[str](), self.start, False
        tables = dict(self._tables(named))
        for position in layout.structure.between(self.start, self.end):
            block = layout.structure.blocks[position]
            first, last = max(block.start, self.start), min(block.end, self.end)
            if first < place:  # a row of a table that is shown
                continue
            own = layout.text[first:last]
            in_list = block.kind == "item" or (in_list and own.startswith(" "))
            pieces.append(layout.text[place:first])
            if position in tables:
                table, last = tables[position]
                before = "".join(pieces).rstrip()
                pieces = [f"{before}\n\n" if before else "", f"{table}\n\n"]
            elif block.kind == "code" and not layout.text[block.start : block.end].lstrip().startswith(FENCES):
                pieces += [fenced(own.strip("\n")), own[len(own.rstrip()) :]]
            elif block.kind == "code":
                pieces.append(own if in_list else dedent(own))
            else:
                pieces.append(without_effects(own if in_list else dedent(own).removeprefix(": ")))
            place = last
        return "".join((*pieces, layout.text[place : self.end])).rstrip()

    def _tables(self, named: Named) -> Iterator[tuple[int, tuple[str, int]]]:
        """Yield the position of each table's first row, what is shown of its rows, and where the last one ends."""
        layout = self.best.leaf.layout
        blocks = layout.structure.blocks
        inside = layout.structure.between(self.start, self.end)
        for table in tables_of(layout.structure, self._whole_blocks()):
            shown = shown_table(layout.text, layout.structure, table, named, inside)
            if shown is not None:
                yield table[0], (shown, min(blocks[table[-1]].end, self.end))

    def named_row(self, named: Named) -> tuple[tuple[int, int], ...]:
        """Return where the row of its table stands that a question names; empty if ambiguous."""
        structure = self.best.leaf.layout.structure
        row = asked_row(self.best.leaf.layout.text, structure, self._whole_blocks(), named)
        return () if row is None else (structure.blocks[row].inner,)

    def _whole_blocks(self) -> list[int]:
        """Return the positions of the blocks that are not cut."""
        structure = self.best.leaf.layout.structure
        places = [(at, structure.blocks[at].inner) for at in structure.between(self.start, self.end)]
        return [at for at, (start, end) in places if self.start <= start and end <= self.end]


@dataclass(frozen=True, slots=True)
class ReadWindow:
    """A window with the measures that rank it.

    Attributes:
        units: those of its units that were read, in the order of the document; at least one.
        similarity: cosine of the window below its headings and the question, -1..1.
    """

    window: Window
    units: tuple[ReadUnit, ...]
    similarity: float

    @property
    def score(self) -> float:
        """Mean log-odds that its units answer."""
        return sum(one.score for one in self.units) / len(self.units)

    @property
    def passage(self) -> Passage:
        """The one that its best unit was found in."""
        return self.window.best.passage

    def answers_like(self, other: "ReadWindow") -> bool:
        """Whether it answers as well as another one, or better."""
        return self.score >= other.score - MARKED_WITHIN

    def updates(self, other: "ReadWindow") -> bool:
        """Whether it answers too, in another edition: in other words, as what has changed is announced."""
        mine, others = (max(unit.score for unit in one.units) for one in (self, other))
        answers = mine >= min(0.0, others - MARKED_WITHIN) and self.worth >= other.worth - UPDATED_WITHIN
        return answers and self.passage.edition.is_beside(other.passage.edition)

    @property
    def marks(self) -> tuple[tuple[int, int], ...]:
        """The stretches `[start, end)` of the document that answer; empty if all of it does."""
        least = max(one.score for one in self.units) - MARKED_WITHIN
        marks = tuple((one.unit.start, one.unit.end) for one in self.units if one.score >= least)
        return marks if len(marks) < len(self.units) else ()

    @property
    def worth(self) -> float:
        """What windows are ranked by: a high value means that the window holds the answer and little else."""
        return (
            SCORE_WEIGHT * self.score
            + SIMILARITY_WEIGHT * self.similarity
            + WORDS_WEIGHT * self.window.best.covered
            + LENGTH_WEIGHT * math.log(self.window.end - self.window.start)
        )


def windows_around(best: ReadUnit, max_chars: int = MAX_CHARS) -> Iterator[Window]:
    """Yield the windows of a unit, the shortest first; several may be the same."""
    for length in LENGTHS:
        yield window_around(best, int(length * max_chars))


def window_without(window: Window, keys: frozenset[tuple[DocumentKey, int]]) -> Window:
    """Return the part of a window around its best unit that holds none of the units with these keys.

    Nor does it hold what another block says after one of them. Of a table only the row is left.
    """
    if not keys or keys.isdisjoint(keys_inside(window)):
        return window
    best, layout = window.best, window.best.leaf.layout
    units, own = layout.units, best.unit.block
    refused = {one.block for one in units if (best.leaf.passage.document, one.start) in keys} - {own}

    def is_kept(place: int) -> bool:
        one = units[place]
        inside = window.start <= one.start and one.end <= window.end
        other_row = layout.structure.blocks[own].kind == "row" and one.block != own
        key = best.leaf.passage.document, one.start
        return inside and not other_row and one.block not in refused and key not in keys

    first = last = best.place
    while first > 0 and is_kept(first - 1):
        first -= 1
    while last + 1 < len(units) and is_kept(last + 1):
        last += 1
    return replace(window, start=_with_mark(layout, units[first].block, units[first].start), end=units[last].end)


def keys_inside(window: Window) -> list[tuple[DocumentKey, int]]:
    """Return the keys of the units in a window, see `ReadUnit.key`."""
    document, units = window.best.leaf.passage.document, window.best.leaf.layout.units
    return [(document, one.start) for one in units if window.start <= one.start and one.end <= window.end]


def units_inside(window: Window, read: Mapping[tuple[DocumentKey, int], ReadUnit]) -> tuple[ReadUnit, ...]:
    """Return those units of a window that were read.

    Args:
        window: its `best` unit was read.
        read: all units that were read, by `ReadUnit.key`.
    """
    return tuple(read[key] for key in keys_inside(window) if key in read) or (window.best,)


def window_around(best: ReadUnit, max_chars: int = MAX_CHARS) -> Window:
    """Grow the window of a unit: its own list, table or paragraph, then the blocks after it, then those before it."""
    layout = best.leaf.layout
    blocks = layout.structure.blocks
    whole_chars = max_chars * WHOLE_CHARS // MAX_CHARS
    first, last = _group(blocks, best.unit.block)
    room = max_chars if blocks[best.unit.block].kind in {"paragraph", "quote"} else whole_chars
    if best.text.endswith(":") and (announced := _next(blocks, last)) is not None:
        last, room, max_chars = announced, WHOLE_CHARS, max(max_chars, MAX_CHARS)
    start, end = _shown(layout, first, last)
    if end - start > room:
        return Window(best, *_part(layout, best, start, end, max_chars))
    while (following := _next(blocks, last)) is not None:
        grown = _shown(layout, first, following)[1]
        if grown - start > (whole_chars if _leads_in(layout, last) else max_chars):
            break
        last, end = following, grown
    while (before := _before(blocks, first)) is not None:
        grown = _shown(layout, before, last)[0]
        if end - grown > (whole_chars if _leads_in(layout, before) else max_chars):
            break
        first, start = before, grown
    return Window(best, start, end)


def within_section(best: ReadUnit, max_chars: int) -> Window:
    """Return a unit with as much of its section as fits: first what follows, then what precedes it."""
    layout = best.leaf.layout
    headings = [one for one in layout.units if layout.structure.blocks[one.block].kind == "heading"]
    start = max((one.end for one in headings if one.end <= best.unit.start), default=0)
    end = min((one.start for one in headings if one.start >= best.unit.end), default=len(layout.text))
    return Window(best, *_part(layout, best, start, end, max_chars))


def _group(blocks: tuple[Block, ...], position: int) -> tuple[int, int]:
    """Return the first and last block of the list, record or table that a block belongs to; of a table its group."""
    first = last = position
    while first > 0 and _together(blocks[first - 1], blocks[first]):
        first -= 1
    while last + 1 < len(blocks) and _together(blocks[last], blocks[last + 1]):
        last += 1
    return first, last


def _together(one: Block, following: Block) -> bool:
    return same_group(one, following) and (one.names_group or not following.names_group)


def _next(blocks: tuple[Block, ...], last: int) -> int | None:
    """Return the last block of the group that follows in the same section."""
    following = last + 1
    if following >= len(blocks) or blocks[following].kind == "heading":
        return None
    return _group(blocks, following)[1]


def _before(blocks: tuple[Block, ...], first: int) -> int | None:
    """Return the first block of the group before this one in the same section."""
    before = first - 1
    if before < 0 or blocks[before].kind in {"heading", "front_matter"}:
        return None
    return _group(blocks, before)[0]


def _leads_in(layout: Layout, position: int) -> bool:
    """Whether a block only introduces the next one."""
    start, end = layout.structure.blocks[position].inner
    return layout.text[start:end].endswith(":")


def _shown(layout: Layout, first: int, last: int) -> tuple[int, int]:
    """Return where the text of these blocks begins and ends, without the space around it."""
    blocks = layout.structure.blocks
    start, end = blocks[first].start, blocks[last].end
    text = layout.text[start:end]
    # An item keeps the indentation of its list.
    lead = len(text) - len(text.lstrip("\n" if blocks[first].kind in {"item", "code"} else None))
    return start + lead, start + len(text.rstrip())


def _part(layout: Layout, best: ReadUnit, start: int, end: int, max_chars: int) -> tuple[int, int]:
    """Return the part of a stretch that fits: first what follows the unit, then what precedes it."""
    units = [one for one in layout.units if start <= one.start and one.end <= end]
    place = units.index(best.unit)
    first = last = place
    while last + 1 < len(units) and units[last + 1].end - units[first].start <= max_chars:
        last += 1
    while first > 0 and units[last].end - units[first - 1].start <= max_chars:
        first -= 1
    return _with_mark(layout, units[first].block, units[first].start), units[last].end


def _with_mark(layout: Layout, position: int, start: int) -> int:
    """Return where the line of an item or a quotation begins, if its words begin at `start`."""
    block = layout.structure.blocks[position]
    return block.start if block.inner[0] == start and block.kind in {"item", "quote"} else start
