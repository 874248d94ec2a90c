"""What was read for a question: leaves, their units with all that counts for them, and units in their surroundings.

Flow: `reading.py` makes these values, `ranking.py` orders the units; `answerability/` and `synthesis/` take them. Pure.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from query_engine.reader.headings import HeadingPath
from query_engine.reader.layout import Block, Layout, Unit
from query_engine.reader.model import Scores
from query_engine.schema.passage import Passage

# Weights of `ReadUnit.worth`: the reader's score of the unit and of its leaf, the leaf's rank, the similarity of both
# to the question, and the share of the question's words in the unit and above it.
SCORE_WEIGHT, LEAF_WEIGHT, RANK_WEIGHT, SIMILARITY_WEIGHT, WORDS_WEIGHT = 0.4, 0.2, -0.1, 11.0, 2.0
# What an item, a row or a line gains under a heading of which the question has every word.
HEADED_WEIGHT = 1.5
# What a step below such a heading gains as well where the question is how to do it: its own words seldom say so.
STEPS_WEIGHT = 1.5
# What a sentence gains that defines the term that is asked for.
DEFINES_WEIGHT = 1.5
# A leaf mixes subjects, so the best `EMBEDDED_UNITS` units are embedded too; `OWN_SHARE` is the weight of a unit's own
# similarity. Not more, since a line of few words is similar to anything that names its subject.
EMBEDDED_UNITS, OWN_SHARE = 6, 0.3


@dataclass(frozen=True, slots=True)
class ReadLeaf:
    """A leaf that was read.

    Attributes:
        passage: the one it was found in.
        rank: its place among all leaves that were found, from 0.
        similarity: cosine of leaf and question, -1..1; `UNKNOWN_SIMILARITY` if it was not found by meaning.
        paths: the headings that each unit read stands under, the outermost first.
        text: of the document.
        layout: of the leaf and what surrounds it.
        read: places of its units in the layout.
        scores: of these units, and of the leaf; see `model.Scores`.
        foreign: it is in another language than the question; `similarity` makes up for that, see `foreign.py`.
    """

    passage: Passage
    rank: int
    similarity: float
    paths: tuple[HeadingPath, ...]
    text: str
    layout: Layout
    read: range
    scores: Scores
    foreign: bool = False

    def path_of(self, place: int) -> tuple[str, ...]:
        """The headings that a unit of the layout stands under; of one that was not read, those of the nearest."""
        return self.paths[min(max(place, self.read.start), self.read.stop - 1) - self.read.start].titles

    def unit_text(self, place: int) -> str:
        """The words of a unit of the layout."""
        unit = self.layout.units[place]
        return self.text[unit.start : unit.end]

    def cells_of(self, place: int) -> list[str]:
        """The texts of a row's cells; of another unit its words as one."""
        return [self.text[start:end] for start, end in self.layout.units[place].cells] or [self.unit_text(place)]

    def key_of(self, place: int) -> tuple[str, int]:
        """The document of a unit of the layout and its offset there: the same for two leaves that overlap."""
        return self.passage.doc_id, self.layout.units[place].start

    def word_count(self, places: range) -> int:
        """Number of words from the first of these units to the last."""
        units = self.layout.units
        return len(self.text[units[places.start].start : units[places.stop - 1].end].split())

    @property
    def read_text(self) -> str:
        """The stretch of the document that was read."""
        units = self.layout.units
        return self.text[units[self.read.start].start : units[self.read.stop - 1].end]

    def words_read(self) -> tuple[int, int] | None:
        """Offsets in the document of the words that the reader takes for the short answer."""
        if self.scores.words is None:
            return None
        start = self.layout.units[self.read.start].start
        return start + self.scores.words[0], start + self.scores.words[1]


@dataclass(frozen=True, slots=True)
class ReadUnit:
    """A unit that may be quoted.

    Attributes:
        leaf: the leaf it was read in.
        place: its place in the leaf's layout.
        score: log-odds that it answers, as the reader gives them.
        covered: share of the question's words, weighted by rarity, that it holds together with its title, the headings
            above it and what it goes on from, 0..1.
        held: the question's words that it holds itself, as the index spells them.
        known: those, and the ones that stand in its title, headings and what it goes on from.
        penalty: what it loses, 0 or more, because it is a heading, holds nothing of the kind that is asked for, or says
            something else.
        headed: it is an item, a row or a line, and stands under a heading of which the question has every word.
        wanted_step: it is a step of what the question asks how to do, by its heading.
        defines: it defines the term that the question asks for.
        compares: its table has a column for each thing that the question compares, or its list's heading names all.
        named: log-odds by the names of its row and columns alone; minus infinity if it is no row that is named.
        similarity: cosine of the unit with its heading and the question, -1..1; None where only the leaf's is known.
    """

    leaf: ReadLeaf
    place: int
    score: float
    covered: float
    held: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    penalty: float = 0.0
    headed: bool = False
    wanted_step: bool = False
    defines: bool = False
    compares: bool = False
    named: float = -math.inf
    similarity: float | None = None

    @property
    def worth(self) -> float:
        """What units are ordered by: higher is more likely to answer."""
        return (
            SCORE_WEIGHT * self.score
            + LEAF_WEIGHT * self.leaf.scores.passage
            + RANK_WEIGHT * self.leaf.rank
            + SIMILARITY_WEIGHT * self._both_similarities
            + WORDS_WEIGHT * self.covered
            + HEADED_WEIGHT * self.headed
            + STEPS_WEIGHT * self.wanted_step
            + DEFINES_WEIGHT * self.defines
            - self.penalty
        )

    @property
    def leaf_score(self) -> float:
        """Log-odds that its leaf answers; even where it defines what is asked for, whatever the reader says."""
        return max(self.leaf.scores.passage, self.named, 0.0 if self.defines else -math.inf)

    @property
    def _both_similarities(self) -> float:
        own = self.leaf.similarity if self.similarity is None else self.similarity
        return OWN_SHARE * own + (1 - OWN_SHARE) * self.leaf.similarity

    @property
    def unit(self) -> Unit:
        """Where it stands."""
        return self.leaf.layout.units[self.place]

    @property
    def key(self) -> tuple[str, int]:
        """Its document and its offset there."""
        return self.leaf.key_of(self.place)

    @property
    def block(self) -> Block:
        """The block it belongs to."""
        return self.leaf.layout.block_of(self.place)

    @property
    def text(self) -> str:
        """Its words."""
        return self.leaf.unit_text(self.place)


@dataclass(frozen=True, slots=True)
class Reading:
    """All that was read for a question.

    Attributes:
        question: as it was asked.
        leaves: the leaf that was found best first.
        units: those that may be quoted, the most likely first; none twice.
        contradicted: the question's words in whose place the best unit says something else, see `contrast.py`.
        compared: of each thing that the question compares, the words that only its name has.
    """

    question: str
    leaves: tuple[ReadLeaf, ...]
    units: tuple[ReadUnit, ...]
    contradicted: tuple[str, ...] = ()
    compared: tuple[frozenset[str], ...] = ()


def with_context(leaf: ReadLeaf, place: int) -> str:
    """Return a unit's words after those of its title, its headings, and what it continues, see `texts_before`."""
    above = (leaf.passage.title, *leaf.path_of(place), *texts_before(leaf, place))
    return "\n".join((*above, leaf.unit_text(place)))


def texts_before(leaf: ReadLeaf, place: int) -> Iterator[str]:
    """Yield what a unit continues: a table's header, the line that leads a list in, else the unit before."""
    if leaf.layout.block_of(place).kind == "table":
        if names := leaf.layout.units[place].columns:
            yield " | ".join(names)
        return
    for other in _goes_on_from(leaf.layout, place):
        yield leaf.unit_text(other)


def _goes_on_from(layout: Layout, place: int) -> Iterator[int]:
    units, block = layout.units, layout.block_of(place)
    if block.kind in {"list", "steps"} and block.lead is not None:
        yield block.lead
        if place == block.units.start or units[place - 1].item != units[place].item:
            return
    if place > 0 and not block.kind == layout.block_of(place - 1).kind == "record":
        yield place - 1
