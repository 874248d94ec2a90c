"""Read what was found for a question: the best leaves, each in its surroundings, every unit scored.

Flow: merged passages -> **here** -> `answerability/` judges whether an answer is there, `synthesis/extractive.py`
quotes it. Both take the same reading, so that each leaf is read once a question.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock

import numpy as np
from cachetools import LRUCache
from llama_index.core.base.embeddings.base import BaseEmbedding

from index.documents.span_tree import split_node_id
from index.documents.store import DocumentStore
from index.lexical.language import question_language
from query_engine.question.decompose_rules import compared_things
from query_engine.reader.contrast import Asked, asked, says
from query_engine.reader.foreign import blended, by_words, reader_share
from query_engine.reader.layout import Block, HeadingPath, Layout, Unit, heading_paths, lay_out, split_row, stretch
from query_engine.reader.model import PassageReader, PassageText, Scores
from query_engine.schema.hit import LeafHit
from query_engine.schema.passage import Passage
from query_engine.text.asked_kind import asked_kind, asks_for_much, lacks
from query_engine.text.term_weights import CorpusWords, TermWeights, question_weights

# Reading a leaf takes some 5 ms on two cores. An eighth changed no answer of the development sets.
READ_LEAVES = 7
WINDOW_CHARS = 850
# A line without a full stop that this many documents share is a menu, a footer or a notice.
SHARED_BY_DOCUMENTS = 3
UNKNOWN_SIMILARITY = 0.3
# In a language that the packaged embedder does not know a similarity says little: it is mixed with so much of this.
FOREIGN_SIMILARITY, FOREIGN_SHARE = 0.4, 0.7
# What counts for a unit: what the reader says of it and of its leaf, the leaf's place in the ranking, the similarity of
# both to the question, and the share of the question's words in it and above it.
SCORE_WEIGHT, LEAF_WEIGHT, RANK_WEIGHT, SIMILARITY_WEIGHT, WORDS_WEIGHT = 0.4, 0.2, -0.1, 11.0, 2.0
# What an item, a row or a line gains under a heading of which the question has every word.
HEADED_WEIGHT = 1.5
# "A black start has three steps:" tells nothing else.
LEADS_IN_LACKS = 1.0
# So does a line that reads like a heading, and the title.
HEADING_LACKS = 1.5
# What every unit loses where the best one says something else than is asked, but for those nearly as good that hold the
# word in question: the row of 2019 stands beside that of 2018.
CONTRADICTED_LACKS, NEARLY_AS_GOOD = 6.0, 1.0
# Minutes and letters are dated at their top: that date counts for all that stands below.
HEADER_CHARS = 500
# The reader learnt from prose. Of a table, the row that the question names counts as read with such log-odds, where the
# question names a column as well or there is only one; less where it names a part of the row's name.
NAMED_ROW, PARTLY_NAMED_ROW = 2.0, 1.0
# "Adults" answers for an adult; "Family (two adults and two children)" beside it does not.
BESIDE_NAMED_LACKS = 3.0
# A leaf mixes subjects: so many of the likeliest units are embedded as well, and their own similarity counts as such a
# share. Not more, since a line of few words is near to whatever names its subject.
EMBEDDED_UNITS, OWN_SHARE = 6, 0.3
# The gate and the synthesizer read the same leaves.
REMEMBERED_LEAVES = 256

TextOf = Callable[[Passage], str | None]


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
    """

    passage: Passage
    rank: int
    similarity: float
    paths: tuple[HeadingPath, ...]
    text: str
    layout: Layout
    read: range
    scores: Scores

    def path_of(self, place: int) -> tuple[str, ...]:
        """The headings that a unit of the layout stands under; of one that was not read, those of the nearest."""
        return self.paths[min(max(place, self.read.start), self.read.stop - 1) - self.read.start].titles

    @property
    def read_text(self) -> str:
        """The stretch of the document that was read."""
        units = self.layout.units
        return self.text[units[self.read.start].start : units[self.read.stop - 1].end]

    def words_read(self) -> tuple[int, int] | None:
        """Where the words stand in the document that the reader takes for the short answer."""
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
        lacking: what it loses because it holds nothing of the kind that is asked for, 0 or more.
        headed: it is an item, a row or a line, and stands under a heading of which the question has every word.
        named: log-odds by the names of its row and columns alone; minus infinity if it is no row that is named.
        similarity: cosine of the unit with its heading and the question, -1..1; None where only the leaf's is known.
    """

    leaf: ReadLeaf
    place: int
    score: float
    covered: float
    held: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    lacking: float = 0.0
    headed: bool = False
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
            - self.lacking
        )

    @property
    def leaf_score(self) -> float:
        """Log-odds that its leaf answers."""
        return max(self.leaf.scores.passage, self.named)

    @property
    def _both_similarities(self) -> float:
        own = self.leaf.similarity if self.similarity is None else self.similarity
        return OWN_SHARE * own + (1 - OWN_SHARE) * self.leaf.similarity

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


class LeafReader:
    """Reads the leaves of one corpus, and remembers the latest scores. Safe from many threads.

    Args:
        reader: scores units.
        text_of: returns the text of a passage's document, None if it is gone.
        words: the corpus's terms and their rarity.
        embedder: compares the likeliest units with the question; without one, only their leaves are.
    """

    def __init__(
        self, reader: PassageReader, text_of: TextOf, words: CorpusWords, embedder: BaseEmbedding | None = None
    ) -> None:
        self._reader = reader
        self._text_of = text_of
        self._words = words
        self._embedder = embedder
        self._remembered: LRUCache[tuple[str, PassageText], Scores] = LRUCache(REMEMBERED_LEAVES)
        self._similarities: LRUCache[tuple[str, str], float] = LRUCache(REMEMBERED_LEAVES)
        self._lock = Lock()

    def read(self, question: str, passages: Sequence[Passage]) -> Reading:
        """Read the best `READ_LEAVES` leaves of the passages."""
        prepared = list(prepared_leaves(passages, self._text_of))
        with self._lock:
            known = {one.shown: self._remembered.get((question, one.shown)) for one in prepared}
        new = [shown for shown, scores in known.items() if scores is None]
        if new:
            found = dict(zip(new, self._reader.read(question, new), strict=True))
            known |= found
            with self._lock:
                self._remembered.update({(question, shown): scores for shown, scores in found.items()})
        leaves = tuple(
            ReadLeaf(one.passage, one.rank, one.similarity, one.paths, one.text, one.layout, one.places, scores)
            for one in prepared
            if (scores := known[one.shown]) is not None
        )
        words = self._words.words_of(question)
        share = reader_share(question_language(question))
        if share < 1:
            leaves = tuple(_judged_by_words(leaf, question, words, share) for leaf in leaves)
        units = _units(question, leaves, words)
        contradicted: tuple[str, ...] = ()
        if share == 1:  # the packaged embedder and the table of opposites know English
            if self._embedder is not None:
                units = self._compared_singly(question, units, self._embedder)
            units, contradicted = _without_contradicted(question, units)
        return Reading(question, leaves, units, contradicted, _compared(question, words))

    def _compared_singly(
        self, question: str, units: tuple[ReadUnit, ...], embedder: BaseEmbedding
    ) -> tuple[ReadUnit, ...]:
        """Return the units in the order that the likeliest ones' own similarity gives."""
        texts = [_embedded_text(one) for one in units[:EMBEDDED_UNITS]]
        with self._lock:
            known = {text: found for text in texts if (found := self._similarities.get((question, text))) is not None}
        if new := [text for text in dict.fromkeys(texts) if text not in known]:
            asked = np.asarray(embedder.get_query_embedding(question))
            similarities = (np.asarray(embedder.get_text_embedding_batch(new)) @ asked).tolist()
            known |= dict(zip(new, similarities, strict=True))
            with self._lock:
                self._similarities.update({(question, text): known[text] for text in new})
        compared = [replace(one, similarity=known[text]) for one, text in zip(units, texts, strict=False)]
        return tuple(sorted((*compared, *units[EMBEDDED_UNITS:]), key=lambda one: -one.worth))


def _embedded_text(one: ReadUnit) -> str:
    """Return a unit's words after its heading and, of a row or an item, the header or the line that leads it in."""
    above = one.leaf.path_of(one.place)[-1:]
    if one.block.kind in {"table", "list", "steps"}:
        above = (*above, *_texts_before(one.leaf, one.place))
    return "\n".join((*above, one.text))


def _compared(question: str, words: TermWeights) -> tuple[frozenset[str], ...]:
    names = [frozenset(words.query_terms(thing)) for thing in compared_things(question)]
    own = [
        name.difference(*(other for place, other in enumerate(names) if place != at)) for at, name in enumerate(names)
    ]
    return tuple(own) if all(own) else ()


def _units(question: str, leaves: Sequence[ReadLeaf], words: TermWeights) -> tuple[ReadUnit, ...]:
    weights, kind, much = question_weights(question, words), asked_kind(question), asks_for_much(question)
    everywhere = _shared_lines(leaves)
    found: dict[tuple[str, int], ReadUnit] = {}
    for leaf in leaves:
        for place, score in zip(leaf.read, leaf.scores.units, strict=True):
            unit = leaf.layout.units[place]
            line = " ".join(leaf.text[unit.start : unit.end].split())
            shared = line in everywhere and leaf.layout.block_of(place).kind not in {"record", "table"}
            if unit.label or shared or not math.isfinite(score):
                continue
            known = weights.keys() & words.terms(with_context(leaf, place))
            covered = sum(weights[term] for term in known)
            text = leaf.text[unit.start : unit.end]
            held = weights.keys() & words.terms(text)
            lacking = lacks(kind, text) if kind else 0.0
            if text.endswith(":") and not much:
                lacking += LEADS_IN_LACKS
            if leaf.layout.reads_like_heading(place, line) or line.casefold() == _title(leaf):
                lacking += HEADING_LACKS
            headed, named = _headed(leaf, place, weights, words), _named(leaf, place, weights, words)
            one = ReadUnit(
                leaf, place, max(score, named), covered, frozenset(held), frozenset(known), lacking, headed, named
            )
            key = (leaf.passage.doc_id, unit.start)
            if key not in found or found[key].worth < one.worth:
                found[key] = one
    return tuple(sorted(_beside_named(found, weights, words), key=lambda one: -one.worth))


def _beside_named(
    units: Mapping[tuple[str, int], ReadUnit], asked: Mapping[str, float], words: TermWeights
) -> Iterator[ReadUnit]:
    """Yield the units again, worth less if a row is named in part where another of its table is named in full."""
    names = {
        key: frozenset(words.terms(split_row(one.text)[0])) for key, one in units.items() if one.block.kind == "table"
    }
    in_full = defaultdict[tuple[str, int], list[frozenset[str]]](list)
    for key, name in names.items():
        if name and name <= asked.keys():
            in_full[_table_of(units[key])].append(name)
    for key, one in units.items():
        name = names.get(key, frozenset())
        part = name & asked.keys()
        if part and part != name and any(part <= other for other in in_full[_table_of(one)]):
            yield replace(one, lacking=one.lacking + BESIDE_NAMED_LACKS)
        else:
            yield one


def _table_of(one: ReadUnit) -> tuple[str, int]:
    return one.leaf.passage.doc_id, one.leaf.layout.units[one.block.units.start].start


def _without_contradicted(question: str, units: tuple[ReadUnit, ...]) -> tuple[tuple[ReadUnit, ...], tuple[str, ...]]:
    """Return the units again in order, and what the best one contradicts, if it is still the best."""
    wanted = asked(question)
    against = _contradicted(wanted, units[0]) if units else ()
    if not against:
        return units, ()
    least = units[0].worth - NEARLY_AS_GOOD

    def counts(one: ReadUnit) -> bool:
        text = with_context(one.leaf, one.place)
        return one.worth >= least and all(says(word, text) for word in against) and not _contradicted(wanted, one)

    judged = [one if counts(one) else replace(one, lacking=one.lacking + CONTRADICTED_LACKS) for one in units]
    found = tuple(sorted(judged, key=lambda one: -one.worth))
    return found, () if counts(found[0]) else against


def _contradicted(wanted: Asked, one: ReadUnit) -> tuple[str, ...]:
    leaf = one.leaf
    document = (leaf.passage.doc_id, leaf.passage.title, leaf.text[:HEADER_CHARS])
    around = "\n".join((*document, *leaf.path_of(one.place), leaf.read_text))
    return wanted.contradicted(with_context(leaf, one.place), around, leaf.text)


def _judged_by_words(leaf: ReadLeaf, question: str, words: TermWeights, share: float) -> ReadLeaf:
    weights, kind = question_weights(question, words), asked_kind(question)
    judged = []
    for place in leaf.read:
        text = leaf.text[leaf.layout.units[place].start : leaf.layout.units[place].end]
        lacking = lacks(kind, text) if kind else 0.0
        covered, own = (
            sum(weights[term] for term in weights.keys() & words.terms(part))
            for part in (with_context(leaf, place), text)
        )
        judged.append(by_words(covered, own, lacking))
    similarity = leaf.similarity + (1 - share) * FOREIGN_SHARE * (FOREIGN_SIMILARITY - leaf.similarity)
    return replace(leaf, similarity=similarity, scores=blended(leaf.scores, judged, share))


def _title(leaf: ReadLeaf) -> str:
    return " ".join(leaf.passage.title.split()).casefold()


def _headed(leaf: ReadLeaf, place: int, asked: Mapping[str, float], words: TermWeights) -> bool:
    """Whether a unit stands in a list, table or record under a heading that the question asks for."""
    titles = leaf.path_of(place)
    if leaf.layout.block_of(place).kind in {"paragraph", "heading", "code"} or len(titles) < 2:
        return False
    named = set(words.query_terms(titles[-1]))
    return bool(named) and named <= asked.keys()


def _named(leaf: ReadLeaf, place: int, asked: Mapping[str, float], words: TermWeights) -> float:
    """Return how likely a row answers by its first cell and the header, see `NAMED_ROW`."""
    block, units = leaf.layout.block_of(place), leaf.layout.units
    if block.kind != "table" or block.header is None:
        return -math.inf
    header = units[block.header]
    name = set(words.terms(split_row(leaf.text[units[place].start : units[place].end])[0]))
    columns = split_row(leaf.text[header.start : header.end])[1:]
    asked_columns = asked.keys() - name
    if len(columns) > 1 and asked_columns.isdisjoint(words.terms(" ".join(columns))):
        return -math.inf
    if not name & asked.keys():
        return -math.inf
    return NAMED_ROW if name <= asked.keys() else PARTLY_NAMED_ROW


def _shared_lines(leaves: Sequence[ReadLeaf]) -> frozenset[str]:
    """Return the lines that are no sentences and stand in several of the documents: menus, footers, notices."""
    holders: defaultdict[str, set[str]] = defaultdict(set)
    for leaf in leaves:
        for unit in (leaf.layout.units[place] for place in leaf.read):
            if (line := " ".join(leaf.text[unit.start : unit.end].split()))[-1:] not in {".", "!", "?", ":"}:
                holders[line].add(leaf.passage.doc_id)
    return frozenset(line for line, documents in holders.items() if len(documents) >= SHARED_BY_DOCUMENTS)


def with_context(leaf: ReadLeaf, place: int) -> str:
    """Return a unit's words after those of its title, its headings, and what it goes on from.

    That is the header of a table, the line that leads a list in, of anything else the unit before it.
    """
    units = leaf.layout.units
    above = (leaf.passage.title, *leaf.path_of(place), *_texts_before(leaf, place))
    return "\n".join((*above, leaf.text[units[place].start : units[place].end]))


def _texts_before(leaf: ReadLeaf, place: int) -> Iterator[str]:
    for other in _goes_on_from(leaf.layout, place):
        yield leaf.text[leaf.layout.units[other].start : leaf.layout.units[other].end]


def _goes_on_from(layout: Layout, place: int) -> Iterator[int]:
    units, block = layout.units, layout.block_of(place)
    if block.kind == "table":
        if block.header is not None:
            yield block.header
        return
    if block.kind in {"list", "steps"} and block.lead is not None:
        yield block.lead
        if place == block.units.start or units[place - 1].item != units[place].item:
            return
    if place > 0:
        yield place - 1


@dataclass(frozen=True, slots=True)
class PreparedLeaf:
    """A leaf with the rest of the blocks that it begins and ends in, before it is read.

    Attributes:
        passage, rank, similarity, paths, text, layout: those of `ReadLeaf`.
        places: the units to be read.
        shown: what the reader is shown.
    """

    rank: int
    passage: Passage
    similarity: float
    paths: tuple[HeadingPath, ...]
    text: str
    layout: Layout
    places: range
    shown: PassageText


def prepared_leaves(passages: Sequence[Passage], text_of: TextOf) -> Iterator[PreparedLeaf]:
    """Yield the best `READ_LEAVES` leaves, those found best first; none that lies in what was read before it."""
    found = [(hit, passage) for passage in passages for hit in _hits(passage)]
    found.sort(key=lambda one: -one[0].score)
    read = set[tuple[str, int]]()  # document and offset of each unit
    number = 0
    for rank, (hit, passage) in enumerate(found):
        if number == READ_LEAVES:
            return
        text = _text(passage, text_of)
        layout = lay_out(text, *stretch(text, hit.start, hit.end))
        leaf = layout.inside(hit.start, hit.end)
        if all((passage.doc_id, layout.units[place].start) in read for place in leaf):
            continue
        places = _widened(layout, leaf)
        read.update((passage.doc_id, layout.units[place].start) for place in places)
        number += 1
        paths = tuple(heading_paths(text, [layout.units[place].start for place in places]))
        shown = passage_text(passage.title, paths[0].titles[: paths[0].marked], text, layout, places)
        yield PreparedLeaf(
            rank, passage, hit.scores.get("dense", UNKNOWN_SIMILARITY), paths, text, layout, places, shown
        )


def _widened(layout: Layout, places: range) -> range:
    """Return units with those that follow and precede them in their blocks, as far as the reader's window goes."""
    units = layout.units
    first, last = places.start, places.stop - 1
    while last + 1 < len(units) and units[last + 1].block == units[last].block:
        if units[last + 1].end - units[first].start > WINDOW_CHARS:
            break
        last += 1
    while first > 0 and units[first - 1].block == units[first].block:
        if units[last].end - units[first - 1].start > WINDOW_CHARS:
            break
        first -= 1
    return range(first, last + 1)


def document_text(documents: DocumentStore) -> TextOf:
    """Return a function that reads the text of a passage's document, in the version that the passage is from."""

    def text_of(passage: Passage) -> str | None:
        version = split_node_id(passage.node_id)[0]
        document = documents.get_versions([version]).get(version)
        return document.text if document else None

    return text_of


def _hits(passage: Passage) -> Sequence[LeafHit]:
    """Return the leaves that a passage was chosen for; the passage itself if it does not say where they stand."""
    placed = [hit for hit in passage.hits if hit.end > hit.start]
    return placed or [LeafHit(passage.node_id, passage.score, passage.scores, start=passage.start, end=passage.end)]


def passage_text(title: str, path: Sequence[str], text: str, layout: Layout, places: range) -> PassageText:
    """Return units of a layout in the form that the reader takes."""
    start, end = layout.units[places.start].start, layout.units[places.stop - 1].end
    context = f"{title}\n{path[-1]}" if path and path[-1] != title else title
    units = tuple((layout.units[place].start - start, layout.units[place].end - start) for place in places)
    return PassageText(context, text[start:end], units)


def _text(passage: Passage, text_of: TextOf) -> str:
    """Return the text of a passage's document; if that has changed since, the passage's own at its place."""
    text = text_of(passage)
    if text is not None and text.startswith(passage.text, passage.start):
        return text
    return "\n" * passage.start + passage.text
