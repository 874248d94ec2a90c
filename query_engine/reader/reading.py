"""Read the best leaves found for a question: score their units, and grow windows around the likeliest ones.

Merged passages come in; `leaves.py` widens their leaves, `model.py` scores the units, `ranking.py` orders them,
`window.py` grows the windows, which are then compared with the question by meaning. `answerability/` judges whether an
answer is there, `synthesis/extractive.py` quotes it: both take the same reading, so that each leaf is read once.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import attrgetter
from threading import Lock
from typing import TypeVar

import numpy as np
from cachetools import LRUCache
from llama_index.core.base.embeddings.base import BaseEmbedding

from index.embedding.cached import is_multilingual
from index.lexical.language import plain_language, question_language
from query_engine.question.newest import newest_first, other_editions
from query_engine.reader.foreign import ACROSS, WITHIN, reader_share
from query_engine.reader.leaves import NEAREST_LEAVES, RANKED_LEAVES, DocumentOf, prepared_leaves
from query_engine.reader.model import PassageReader, PassageText, Scores
from query_engine.reader.ranking import Ranked, judged_by_similarity, judged_by_words, ranked_units
from query_engine.reader.section import asked_section
from query_engine.reader.table import Named
from query_engine.reader.units import ReadLeaf, ReadUnit
from query_engine.reader.window import MAX_CHARS, ReadWindow, Window, units_inside, window_without, windows_around
from query_engine.schema.passage import DocumentKey, Passage
from query_engine.text.term_weights import CorpusWords

# The gate and the synthesizer read the same passages.
REMEMBERED_READINGS = 8
# What several searches for one question, and for its parts, find.
REMEMBERED_SCORES = REMEMBERED_READINGS * (RANKED_LEAVES + 2 * NEAREST_LEAVES)
# Windows are grown around this many of the likeliest units, and the best of them compared with the question: comparing
# six takes a tenth more CPU and finds no more answers over five sets.
GROWN_UNITS, COMPARED_WINDOWS = 5, 4
# How many units of leaves in another language than the question's are embedded: about four leaves' worth.
FOREIGN_UNITS = 24
U = TypeVar("U", bound=ReadUnit | ReadWindow)
# The question, and of each passage its document, its node (which changes with the document's text), place, score, text.
_Asked = tuple[str, tuple[tuple[str, str, int, float, str], ...]]


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read for a question.

    Attributes:
        leaves: in the order of the search, best first.
        units: those that may answer, the most likely first; none twice.
        windows: around the likeliest units, the best first; empty if there are no units.
    """

    leaves: tuple[ReadLeaf, ...]
    units: tuple[ReadUnit, ...]
    windows: tuple[ReadWindow, ...]


class LeafReader:
    """Reads the leaves of one corpus, and remembers the latest readings. Safe from many threads.

    Args:
        reader: scores units.
        document_of: returns a passage's document, None if it is gone.
        words: the corpus's terms and their rarity.
        embedder: compares windows with the question; without one, the similarity of their leaves is used.
        max_chars: of a window, see `window.MAX_CHARS`.
        prefer_newest: of editions that answer equally well the newest comes first.
    """

    def __init__(
        self,
        reader: PassageReader,
        document_of: DocumentOf,
        words: CorpusWords,
        embedder: BaseEmbedding | None = None,
        max_chars: int = MAX_CHARS,
        *,
        prefer_newest: bool = True,
    ) -> None:
        self._reader = reader
        self._document_of = document_of
        self._words = words
        self._embedder = embedder
        self._max_chars = max_chars
        self._prefer_newest = prefer_newest
        self._remembered: LRUCache[_Asked, Reading] = LRUCache(REMEMBERED_READINGS)
        self._scores: LRUCache[tuple[str, PassageText], Scores] = LRUCache(REMEMBERED_SCORES)
        self._lock = Lock()

    def read(self, question: str, passages: Sequence[Passage]) -> Reading:
        """Read the best leaves of the passages, see `leaves.prepared_leaves`."""
        asked = question, tuple((one.doc_id, one.node_id, one.start, one.score, one.text) for one in passages)
        with self._lock:
            known = self._remembered.get(asked)
        if known is None:
            known = self._read(question, passages)
            with self._lock:
                self._remembered[asked] = known
        return known

    def naming(self, question: str) -> Named:
        """Return a function that gives the terms of a text if the question names all of it, else none."""
        words = self._words.words_of(question)
        asked, weighty = set(words.terms(question)), set(words.query_terms(question))

        def named(text: str) -> frozenset[str]:
            terms = frozenset(words.terms(text))
            return terms if terms <= asked and not terms.isdisjoint(weighty) else frozenset()

        return named

    def _read(self, question: str, passages: Sequence[Passage]) -> Reading:
        prepared = list(prepared_leaves(passages, self._document_of))
        scores = self._scored(question, [one.shown for one in prepared])
        leaves = tuple(
            ReadLeaf(one.passage, one.rank, one.similarity, one.layout, one.places, scored)
            for one, scored in zip(prepared, scores, strict=True)
        )
        words, language = self._words.words_of(question), question_language(question)
        share, multilingual = reader_share(language), is_multilingual(self._embedder)
        foreign = _in_other_languages(leaves, language) if multilingual else frozenset()
        if multilingual:
            leaves = tuple(
                leaf if at in foreign else replace(leaf, similarity=leaf.similarity + WITHIN)
                for at, leaf in enumerate(leaves)
            )
        if share < 1:
            leaves = tuple(
                leaf if at in foreign else judged_by_words(leaf, question, words, share, multilingual=multilingual)
                for at, leaf in enumerate(leaves)
            )
        if self._embedder is not None and foreign:
            leaves = _foreign_judged(question, leaves, foreign, self._embedder)
        ranked = ranked_units(question, leaves, words)
        windows = _windows(ranked, self._max_chars)
        if self._embedder is not None and (share == 1 or multilingual):  # the packaged embedder knows English
            windows = _compared(question, _with_editions(windows, COMPARED_WINDOWS), self._embedder)
        if self._prefer_newest:
            windows = _newest_leading(question, windows)
        if ranked.units and (section := asked_section(question, ranked.units[0], words)):
            windows = (ReadWindow(section, (section.best,), windows[0].similarity), *windows)
        return Reading(leaves, ranked.units, windows)

    def _scored(self, question: str, passages: Sequence[PassageText]) -> list[Scores]:
        """Score passages; those that another search found for the same question are not scored again."""
        with self._lock:
            known = {one: self._scores[question, one] for one in passages if (question, one) in self._scores}
        missing = [one for one in passages if one not in known]
        if missing:
            known |= zip(missing, self._reader.read(question, missing), strict=True)
        with self._lock:
            self._scores.update(((question, one), known[one]) for one in passages)
        return [known[one] for one in passages]


def _in_other_languages(leaves: Sequence[ReadLeaf], language: str) -> frozenset[int]:
    """Return the places of leaves that are not in a question's language; none where the nearest one is in that."""
    other = frozenset(at for at, leaf in enumerate(leaves) if plain_language(leaf.read_text) not in {language, None})
    nearest = max(range(len(leaves)), key=lambda at: leaves[at].similarity, default=None)
    return other if nearest in other else frozenset()


def _foreign_judged(
    question: str, leaves: Sequence[ReadLeaf], foreign: Collection[int], embedder: BaseEmbedding
) -> tuple[ReadLeaf, ...]:
    """Return the leaves, those in other languages with scores by similarity: of each unit, in the best leaves."""
    places = [(at, place) for at, leaf in enumerate(leaves) if at in foreign for place in leaf.read][:FOREIGN_UNITS]
    texts = [_embedded_text(leaves[at], place) for at, place in places]
    cosines = dict(zip(places, _cosines(question, texts, embedder), strict=True))
    return tuple(
        judged_by_similarity(leaf, [cosines.get((at, place), leaf.similarity) for place in leaf.read])
        if at in foreign
        else leaf
        for at, leaf in enumerate(leaves)
    )


def _windows(ranked: Ranked, max_chars: int) -> tuple[ReadWindow, ...]:
    """Return the distinct windows around the likeliest units, the best first, with the similarity of their leaves.

    A window shared by two units belongs to the likelier one. None holds what is ruled out.
    """
    by_key = {one.key: one for one in ranked.units}
    found: dict[tuple[DocumentKey, int, int], Window] = {}
    for one in _with_editions(ranked.units, GROWN_UNITS):
        for window in (window_without(each, ranked.ruled_out) for each in windows_around(one, max_chars)):
            found.setdefault((one.leaf.passage.document, window.start, window.end), window)
    read = (ReadWindow(one, units_inside(one, by_key), one.best.leaf.similarity) for one in found.values())
    return tuple(sorted(read, key=attrgetter("worth"), reverse=True))


def _with_editions(found: Sequence[U], count: int) -> list[U]:
    """Return the first `count`, and the best of other editions of their documents, `NEAREST_LEAVES` at most."""
    first = list(found[:count])
    others = other_editions(found[count:], (one.passage for one in first), attrgetter("passage"))
    return [*first, *islice(others, NEAREST_LEAVES)]


def _compared(question: str, windows: Sequence[ReadWindow], embedder: BaseEmbedding) -> tuple[ReadWindow, ...]:
    """Return the windows with their own similarity to the question, the best first."""
    lower = WITHIN if is_multilingual(embedder) else 0.0
    near = _cosines(question, [_below_headings(one.window) for one in windows], embedder)
    compared = (
        replace(one, similarity=cosine + (ACROSS if one.window.best.leaf.foreign else lower))
        for one, cosine in zip(windows, near, strict=True)
    )
    return tuple(sorted(compared, key=attrgetter("worth"), reverse=True))


def _newest_leading(question: str, windows: Sequence[ReadWindow]) -> tuple[ReadWindow, ...]:
    """Return the windows; of those in editions of the best one's document that answer too, the newest comes first."""
    alike = [*windows[:1], *(one for one in windows[1:] if one.updates(windows[0]))]
    leading = newest_first(question, alike, attrgetter("passage.edition"))[:1]
    return (*leading, *(one for one in windows if one not in leading))


def _below_headings(window: Window) -> str:
    """Return a window below the two innermost headings that it stands under: a page's title alone says little."""
    headings = window.best.leaf.layout.headings(window.best.place)[-2:]
    return "\n".join((*headings, window.text))


def _cosines(question: str, texts: list[str], embedder: BaseEmbedding) -> list[float]:
    if not texts:
        return []
    asked = np.asarray(embedder.get_query_embedding(question))
    cosines: list[float] = (np.asarray(embedder.get_text_embedding_batch(texts)) @ asked).tolist()
    return cosines


def _embedded_text(leaf: ReadLeaf, place: int) -> str:
    """Return a unit's words after its heading and, of a row or an item, the header or the line that leads it in."""
    above = leaf.layout.headings(place)[-1:]
    if leaf.layout.block_of(place).kind in {"row", "item"}:
        above = (*above, *leaf.layout.texts_before(place))
    return "\n".join((*above, leaf.layout.words(place)))
