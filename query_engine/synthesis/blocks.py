"""A block to be quoted, and what of the question decides which units belong to it.

Flow: `block_selection.py` chooses blocks, `block_growth.py` decides how much of each is quoted; both deal in these
values. Pure.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from query_engine.reader.layout import BlockKind
from query_engine.reader.units import Reading, ReadLeaf, ReadUnit
from query_engine.text.asked_kind import AskedKind, asked_kind, asks_again, asks_for_much


@dataclass(frozen=True, slots=True)
class ChosenBlock:
    """Units of one block, to be quoted.

    Attributes:
        leaf: where they were read.
        places: in the leaf's layout, rising; those that follow each other make one quote.
        worth: of the best of them, see `ReadUnit.worth`.
    """

    leaf: ReadLeaf
    places: tuple[int, ...]
    worth: float

    @property
    def kind(self) -> BlockKind:
        """What kind of block it is."""
        return self.leaf.layout.block_of(self.places[-1]).kind

    @property
    def start(self) -> int:
        """Offset of the first unit in the document."""
        return self.leaf.layout.units[self.places[0]].start

    @property
    def titles(self) -> str:
        """The document's title and the headings above it."""
        return "\n".join((self.leaf.passage.title, *self.leaf.path_of(self.places[0])))

    def spans(self) -> Iterator[tuple[int, int]]:
        """Yield the spans to quote; units that follow each other make one."""
        units = self.leaf.layout.units
        first = self.places[0]
        for place, following in zip(self.places, [*self.places[1:], None], strict=True):
            if following != place + 1:
                yield units[first].start, units[place].end
                first = following or 0

    def rows(self) -> list[tuple[tuple[str, ...], list[str]]]:
        """Of a table, the names of each row's columns and its cells."""
        return [(self.leaf.layout.units[place].columns, self.leaf.cells_of(place)) for place in self.places]

    @property
    def words(self) -> int:
        """Number of words."""
        return sum(len(self.leaf.unit_text(place).split()) for place in self.places)

    def text(self) -> str:
        """The quoted words on one line."""
        return " ".join(" ".join(self.leaf.unit_text(place).split()) for place in self.places)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the choice depends on beside the unit itself.

    Attributes:
        much: one sentence rarely answers the question.
        several: it asks more than one thing.
        kind: what it asks for.
        units: all that were read, by document and offset.
    """

    much: bool
    several: bool
    kind: AskedKind | None
    units: Mapping[tuple[str, int], ReadUnit]

    @classmethod
    def of(cls, reading: Reading) -> "Asked":
        """Return what a reading's question asks for."""
        units = {one.key: one for one in reading.units}
        several = asks_again(reading.question)
        return cls(asks_for_much(reading.question), several, asked_kind(reading.question), units)

    @property
    def little(self) -> bool:
        """Whether it asks for one amount or one point in time."""
        return not self.much and not self.several and self.kind in {AskedKind.AMOUNT, AskedKind.MONEY, AskedKind.TIME}


def parts_differ(one: ReadUnit, asked: Asked) -> bool:
    """Whether the units of a block are about different things: rows always, items where one thing is asked for."""
    return one.block.kind == "table" or (asked.little and one.block.kind in {"list", "steps", "record"})
