"""Read what was found for a question: the best leaves, each in its surroundings, every unit scored.

Flow: merged passages -> **here** -> `answerability/` judges whether an answer is there, `synthesis/extractive.py`
quotes it. Both take the same reading, so that each leaf is read once a question.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock

from cachetools import LRUCache

from index.documents.span_tree import split_node_id
from index.documents.store import DocumentStore
from query_engine.reader.layout import Block, Layout, Unit, heading_path, lay_out, stretch
from query_engine.reader.model import PassageReader, PassageText, Scores
from query_engine.schema.passage import Passage

# Reading a leaf takes some 5 ms on two cores.
READ_LEAVES = 8
# How much the score of its leaf counts for a unit, and each place down the ranking against it.
LEAF_WEIGHT, RANK_WEIGHT = 0.5, 0.1
# The gate and the synthesizer read the same leaves.
REMEMBERED_LEAVES = 256

TextOf = Callable[[Passage], str | None]


@dataclass(frozen=True, slots=True)
class ReadLeaf:
    """A leaf that was read.

    Attributes:
        passage: the one it was found in.
        rank: its place among all leaves that were found, from 0.
        text: of the document.
        layout: of the leaf and what surrounds it.
        read: places of its units in the layout.
        scores: of these units, and of the leaf; see `model.Scores`.
    """

    passage: Passage
    rank: int
    text: str
    layout: Layout
    read: range
    scores: Scores


@dataclass(frozen=True, slots=True)
class ReadUnit:
    """A unit that may be quoted.

    Attributes:
        leaf: the leaf it was read in.
        place: its place in the leaf's layout.
        score: log-odds that it answers, by itself.
    """

    leaf: ReadLeaf
    place: int
    score: float

    @property
    def worth(self) -> float:
        """How likely it answers, as log-odds, its leaf and the leaf's rank considered."""
        return self.score + LEAF_WEIGHT * self.leaf.scores.passage - RANK_WEIGHT * self.leaf.rank

    @property
    def unit(self) -> Unit:
        """Where it stands."""
        return self.leaf.layout.units[self.place]

    @property
    def block(self) -> Block:
        """The block it belongs to."""
        return self.leaf.layout.block_of(self.place)

    @property
    def text(self) -> str:
        """Its words."""
        return self.leaf.text[self.unit.start : self.unit.end]

    def with_context(self) -> str:
        """Its words after those of the title, the headings above it, and the unit before it."""
        start = self.leaf.layout.units[max(0, self.place - 1)].start
        above = (self.leaf.passage.title, *heading_path(self.leaf.text, self.unit.start))
        return "\n".join((*above, self.leaf.text[start : self.unit.end]))


@dataclass(frozen=True)
class Reading:
    """All that was read for a question, the leaf that was found best first."""

    question: str
    leaves: tuple[ReadLeaf, ...]

    @cached_property
    def units(self) -> list[ReadUnit]:
        """Units that may be quoted, the most likely first, each leaf's own score considered; none twice."""
        found: dict[tuple[str, int], ReadUnit] = {}
        for leaf in self.leaves:
            for place, score in zip(leaf.read, leaf.scores.units, strict=True):
                unit = leaf.layout.units[place]
                one = ReadUnit(leaf, place, score)
                key = (leaf.passage.doc_id, unit.start)
                if not unit.label and math.isfinite(score) and (key not in found or found[key].score < score):
                    found[key] = one
        return sorted(found.values(), key=lambda one: -one.worth)


class LeafReader:
    """Reads the leaves of one corpus; what was read for a question is remembered for a while. Safe from many threads.

    Args:
        reader: scores units.
        text_of: returns the text of a passage's document, None if it is gone.
    """

    def __init__(self, reader: PassageReader, text_of: TextOf) -> None:
        self._reader = reader
        self._text_of = text_of
        self._remembered: LRUCache[tuple[str, PassageText], Scores] = LRUCache(REMEMBERED_LEAVES)
        self._lock = Lock()

    def read(self, question: str, passages: Sequence[Passage]) -> Reading:
        """Read the best `READ_LEAVES` leaves of the passages."""
        prepared = list(_prepared(passages, self._text_of))
        with self._lock:
            known = {one.shown: self._remembered.get((question, one.shown)) for one in prepared}
        new = [shown for shown, scores in known.items() if scores is None]
        if new:
            found = dict(zip(new, self._reader.read(question, new), strict=True))
            known |= found
            with self._lock:
                self._remembered.update({(question, shown): scores for shown, scores in found.items()})
        return Reading(
            question,
            tuple(
                ReadLeaf(one.passage, one.rank, one.text, one.layout, one.places, scores)
                for one in prepared
                if (scores := known[one.shown]) is not None
            ),
        )


@dataclass(frozen=True, slots=True)
class _Prepared:
    rank: int
    passage: Passage
    text: str
    layout: Layout
    places: range
    shown: PassageText


def _prepared(passages: Sequence[Passage], text_of: TextOf) -> Iterator[_Prepared]:
    spans: list[tuple[float, Passage, int, int]] = []
    for passage in passages:
        for start, end, score in leaf_spans(passage):
            spans.append((score, passage, start, end))
    spans.sort(key=lambda one: -one[0])
    for rank, (_, passage, start, end) in enumerate(spans[:READ_LEAVES]):
        text = _text(passage, text_of)
        layout = lay_out(text, *stretch(text, start, end))
        places = layout.inside(start, end)
        if places:
            yield _Prepared(rank, passage, text, layout, places, passage_text(passage.title, text, layout, places))


def document_text(documents: DocumentStore) -> TextOf:
    """Return a function that reads the text of a passage's document, in the version that the passage is from."""

    def text_of(passage: Passage) -> str | None:
        version = split_node_id(passage.node_id)[0]
        document = documents.get_versions([version]).get(version)
        return document.text if document else None

    return text_of


def leaf_spans(passage: Passage) -> list[tuple[int, int, float]]:
    """Return start, end and score of the leaves that a passage was chosen for; the passage itself if it names none."""
    spans = [(hit.start, hit.end, hit.score) for hit in passage.hits if hit.end > hit.start]
    return spans or [(passage.start, passage.end, passage.score)]


def passage_text(title: str, text: str, layout: Layout, places: range) -> PassageText:
    """Return units of a layout as the reader is shown them."""
    start, end = layout.units[places.start].start, layout.units[places.stop - 1].end
    path = heading_path(text, start)
    context = f"{title}\n{path[-1]}" if path and path[-1] != title else title
    units = tuple((layout.units[place].start - start, layout.units[place].end - start) for place in places)
    return PassageText(context, text[start:end], units)


def _text(passage: Passage, text_of: TextOf) -> str:
    """Return the text of a passage's document; if that has changed since, the passage's own at its place."""
    text = text_of(passage)
    if text is not None and text.startswith(passage.text, passage.start):
        return text
    return "\n" * passage.start + passage.text
