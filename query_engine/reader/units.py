"""The leaves read for a question, and their units with the measures that rank them.

`ranking.py` makes these values, `window.py` grows what is shown from the best units. Pure.
"""

from dataclasses import dataclass

from query_engine.reader.layout import Layout, Unit
from query_engine.reader.model import Scores
from query_engine.schema.passage import DocumentKey, Passage

# Weights of `ReadUnit.worth`: the reader's score of the unit and of its leaf, the leaf's rank, its similarity to the
# question, and the share of the question's words in the unit and above it.
SCORE_WEIGHT, LEAF_WEIGHT, RANK_WEIGHT, SIMILARITY_WEIGHT, WORDS_WEIGHT = 0.4, 0.2, -0.1, 11.0, 2.0


@dataclass(frozen=True, slots=True)
class ReadLeaf:
    """A leaf that was read.

    Attributes:
        passage: the one it was found in.
        rank: its place among all leaves that were found, from 0.
        similarity: cosine of leaf and question, -1..1; `UNKNOWN_SIMILARITY` if nobody searched by meaning.
        layout: of the leaf and what surrounds it.
        read: places of its units in the layout.
        scores: of these units, and of the leaf; see `model.Scores`.
        foreign: it is in another language than the question; `similarity` makes up for that, see `foreign.py`.
    """

    passage: Passage
    rank: int
    similarity: float
    layout: Layout
    read: range
    scores: Scores
    foreign: bool = False

    @property
    def stretch(self) -> tuple[int, int]:
        """`[start, end)` of the document, which was read."""
        units = self.layout.units
        return units[self.read.start].start, units[self.read.stop - 1].end

    @property
    def read_text(self) -> str:
        """The text of that stretch."""
        return self.layout.text[slice(*self.stretch)]


@dataclass(frozen=True, slots=True)
class ReadUnit:
    """A unit that may answer.

    Attributes:
        leaf: the leaf it was read in.
        place: its place in the leaf's layout.
        score: log-odds that it answers, as the reader gives them.
        covered: share of the question's words, weighted by rarity, that it holds together with its title, the headings
            above it and what it goes on from, 0..1.
    """

    leaf: ReadLeaf
    place: int
    score: float
    covered: float

    @property
    def worth(self) -> float:
        """What units are ranked by: higher is more likely to answer."""
        return (
            SCORE_WEIGHT * self.score
            + LEAF_WEIGHT * self.leaf.scores.passage
            + RANK_WEIGHT * self.leaf.rank
            + SIMILARITY_WEIGHT * self.leaf.similarity
            + WORDS_WEIGHT * self.covered
        )

    @property
    def unit(self) -> Unit:
        """Where it stands."""
        return self.leaf.layout.units[self.place]

    @property
    def passage(self) -> Passage:
        """The one that it was found in."""
        return self.leaf.passage

    @property
    def key(self) -> tuple[DocumentKey, int]:
        """Its document and its offset there: the same for two leaves that overlap."""
        return self.leaf.passage.document, self.unit.start

    @property
    def text(self) -> str:
        """Its words."""
        return self.leaf.layout.words(self.place)


def name_and_context(one: ReadUnit, *, continued: bool = True) -> str:
    """Return what `with_context` returns, after the document's file name: in both a part number may stand."""
    return f"{one.leaf.passage.doc_id}\n{with_context(one.leaf, one.place, continued=continued)}"


def with_context(leaf: ReadLeaf, place: int, *, continued: bool = True) -> str:
    """Return a unit's words after those of its title, its headings, and what it continues.

    Args:
        leaf: it stands in.
        place: of the unit.
        continued: False leaves out the sentence before; lead and columns stay.
    """
    layout = leaf.layout
    before = layout.texts_before(place, continued=continued)
    above = (leaf.passage.name, *layout.headings(place), *before)
    return "\n".join((*above, layout.words(place)))
