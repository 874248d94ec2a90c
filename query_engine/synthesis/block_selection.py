"""Choose the blocks that answer: the best one whole, another only where it adds what was asked and is as sure.

Flow: `reader/reading.py` -> **here** -> `extractive.py` shows them. A block is the sentences of one paragraph that
answer, a list with the line that leads it in, all steps, a table row, a `key: value` line. Pure.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from query_engine.reader.layout import BlockKind
from query_engine.reader.reading import Reading, ReadLeaf, ReadUnit

# Log-odds. A sentence of the same block is quoted with the best one if it is as likely as this, or nearly as likely.
JOINED_SCORE, JOINED_BELOW = 0.0, 2.5
# Another block must be this likely, and not much less likely than the first.
FURTHER_SCORE, FURTHER_BELOW = 1.0, 1.0
MAX_BLOCKS = 3
# A gap of so many characters between two sentences is quoted with them.
GAP_CHARS = 0
# A list of which a part answers is quoted whole if it is no longer.
WHOLE_LIST_WORDS = 130
_WANTS_ALL = re.compile(
    r"\bhow (?:do|does|can|should|to|would|is|are)\b|\b(?:steps?|procedure|process|instructions|list"
    r"|name (?:all|the|some)|(?:which|what) (?:\w+ )?\w+s (?:are|were|do|does|can|have)|what are|who are"
    r"|who (?:was|were) (?:at|there|present)|benefits|advantages|disadvantages|pros|cons|reasons|ways|kinds|types"
    r"|options|requirements|rules|all)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ChosenBlock:
    """Units of one block, to be quoted.

    Attributes:
        leaf: where they were read.
        places: in the leaf's layout, rising; those that follow each other make one quote.
        score: of the best of them, see `ReadUnit.worth`.
    """

    leaf: ReadLeaf
    places: tuple[int, ...]
    score: float

    @property
    def kind(self) -> BlockKind:
        """What kind of block it is."""
        return self.leaf.layout.block_of(self.places[-1]).kind

    @property
    def start(self) -> int:
        """Offset of the first unit in the document."""
        return self.leaf.layout.units[self.places[0]].start

    def spans(self) -> Iterator[tuple[int, int]]:
        """Yield the spans to quote; units that follow each other make one."""
        units = self.leaf.layout.units
        first = self.places[0]
        for place, following in zip(self.places, [*self.places[1:], None], strict=True):
            if following != place + 1:
                yield units[first].start, units[place].end
                first = following or 0

    def header_text(self) -> str | None:
        """The header row of the table it stands in."""
        header = self.leaf.layout.block_of(self.places[-1]).header
        if header is None:
            return None
        unit = self.leaf.layout.units[header]
        return self.leaf.text[unit.start : unit.end]

    @property
    def words(self) -> int:
        """Number of words."""
        units = self.leaf.layout.units
        return sum(len(self.leaf.text[units[place].start : units[place].end].split()) for place in self.places)

    def text(self) -> str:
        """The quoted words on one line."""
        units = self.leaf.layout.units
        return " ".join(
            " ".join(self.leaf.text[units[place].start : units[place].end].split()) for place in self.places
        )


def asks_for_much(question: str) -> bool:
    """Whether one sentence rarely answers it."""
    return _WANTS_ALL.search(question) is not None


def choose(reading: Reading, max_words: int) -> list[ChosenBlock]:
    """Return the blocks to quote, best first; nothing if nothing was read.

    Args:
        reading: of the question's passages.
        max_words: of all blocks but the first together with it.
    """
    chosen: list[ChosenBlock] = []
    room = max_words
    for one in reading.units:
        if any(_holds(block, one) for block in chosen):
            continue
        if chosen and not _adds(one, chosen):
            continue
        block = _grown(one, reading)
        if chosen and block.words > room:
            continue
        chosen.append(block)
        room -= block.words
        if len(chosen) == MAX_BLOCKS:
            break
    return chosen


def _adds(one: ReadUnit, chosen: Sequence[ChosenBlock]) -> bool:
    least = max(FURTHER_SCORE, chosen[0].score - FURTHER_BELOW)
    return one.worth >= least and not any(_says_same(one.text, block.text()) for block in chosen)


def _holds(block: ChosenBlock, one: ReadUnit) -> bool:
    if block.leaf.passage.doc_id != one.leaf.passage.doc_id:
        return False
    units = block.leaf.layout.units
    return any(units[place].start < one.unit.end and one.unit.start < units[place].end for place in block.places)


def _grown(one: ReadUnit, reading: Reading) -> ChosenBlock:
    """Return the units of a unit's block that answer with it."""
    leaf, block = one.leaf, one.block
    scores = dict(zip(leaf.read, leaf.scores.units, strict=True))
    least = (
        min(JOINED_SCORE, one.score - 0.0) if one.score < JOINED_SCORE else max(JOINED_SCORE, one.score - JOINED_BELOW)
    )
    units = leaf.layout.units
    places = {
        place
        for place in block.units
        if place == one.place or (scores.get(place, -99.0) >= least and not units[place].label)
    }
    if block.kind in {"list", "steps"}:
        items = {units[place].item for place in places}
        every = {units[place].item for place in block.units}
        much = asks_for_much(reading.question)
        whole = (much and (block.kind == "steps" or len(items) >= 2)) or len(items) >= max(2, len(every) / 2)
        if whole and _words(leaf, block.units) <= WHOLE_LIST_WORDS:
            places = set(block.units)
        else:
            places = {place for place in block.units if units[place].item in items}
        if block.lead is not None:
            places.add(block.lead)
    return ChosenBlock(leaf, tuple(sorted(places)), one.worth)


def _words(leaf: ReadLeaf, places: range) -> int:
    units = leaf.layout.units
    return len(leaf.text[units[places.start].start : units[places.stop - 1].end].split())


def _says_same(one: str, other: str) -> bool:
    words, others = set(re.findall(r"\w+", one.lower())), set(re.findall(r"\w+", other.lower()))
    return len(words & others) > 0.8 * len(words)
