"""Read what was found for a question: the best leaves, each in its surroundings, every unit scored and ordered.

Flow: merged passages -> `windows.py` widens the leaves -> **here**, by `model.py`'s scores and in the order of
`ranking.py` -> `answerability/` judges whether an answer is there, `synthesis/extractive.py`
quotes it. Both take the same reading, so that each leaf is read once a question.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from threading import Lock

import numpy as np
from cachetools import LRUCache
from llama_index.core.base.embeddings.base import BaseEmbedding

from index.embedding.cached import is_multilingual
from index.lexical.language import plain_language, question_language
from query_engine.reader.foreign import ACROSS, WITHIN, reader_share
from query_engine.reader.model import PassageReader
from query_engine.reader.ranking import (
    compared_words,
    in_order,
    judged_by_similarity,
    judged_by_words,
    put_contradicted_last,
    ranked_units,
)
from query_engine.reader.units import EMBEDDED_UNITS, Reading, ReadLeaf, ReadUnit, texts_before
from query_engine.reader.windows import DocumentOf, prepared_leaves
from query_engine.schema.passage import Passage
from query_engine.text.term_weights import CorpusWords

# The gate and the synthesizer read the same passages.
REMEMBERED_READINGS = 8
# Units embedded of leaves in another language than the question's: about those of the four best leaves.
FOREIGN_UNITS = 24
# The question, and of each passage its document, its node (which changes with the document's text), place, score, text.
_Asked = tuple[str, tuple[tuple[str, str, int, float, str], ...]]


class LeafReader:
    """Reads the leaves of one corpus, and remembers the latest readings. Safe from many threads.

    Args:
        reader: scores units.
        document_of: returns a passage's document, None if it is gone.
        words: the corpus's terms and their rarity.
        embedder: compares the likeliest units with the question; without one, only their leaves are.
    """

    def __init__(
        self, reader: PassageReader, document_of: DocumentOf, words: CorpusWords, embedder: BaseEmbedding | None = None
    ) -> None:
        self._reader = reader
        self._document_of = document_of
        self._words = words
        self._embedder = embedder
        self._remembered: LRUCache[_Asked, Reading] = LRUCache(REMEMBERED_READINGS)
        self._lock = Lock()

    def read(self, question: str, passages: Sequence[Passage]) -> Reading:
        """Read the best leaves of the passages, see `windows.prepared_leaves`."""
        asked = question, tuple((one.doc_id, one.node_id, one.start, one.score, one.text) for one in passages)
        with self._lock:
            known = self._remembered.get(asked)
        if known is None:
            known = self._read(question, passages)
            with self._lock:
                self._remembered[asked] = known
        return known

    def _read(self, question: str, passages: Sequence[Passage]) -> Reading:
        prepared = list(prepared_leaves(passages, self._document_of))
        scores = self._reader.read(question, [one.shown for one in prepared]) if prepared else []
        leaves = tuple(
            ReadLeaf(one.passage, one.rank, one.similarity, one.paths, one.text, one.layout, one.places, scored)
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
        units = ranked_units(question, leaves, words)
        contradicted: tuple[str, ...] = ()
        if self._embedder is not None and (share == 1 or multilingual):  # the packaged embedder knows English
            units = _compared_singly(question, units, self._embedder)
        if share == 1:  # as does the table of opposites
            units, contradicted = put_contradicted_last(question, units)
        return Reading(question, leaves, units, contradicted, compared_words(question, words))


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


def _compared_singly(question: str, units: tuple[ReadUnit, ...], embedder: BaseEmbedding) -> tuple[ReadUnit, ...]:
    """Return the units in order again, the likeliest ones compared with the question themselves."""
    texts = [_embedded_text(one.leaf, one.place) for one in units[:EMBEDDED_UNITS]]
    similarities = _cosines(question, texts, embedder)
    lower = WITHIN if is_multilingual(embedder) else 0.0
    compared = [
        replace(one, similarity=found + (ACROSS if one.leaf.foreign else lower))
        for one, found in zip(units, similarities, strict=False)
    ]
    return in_order((*compared, *units[EMBEDDED_UNITS:]))


def _cosines(question: str, texts: list[str], embedder: BaseEmbedding) -> list[float]:
    if not texts:
        return []
    asked = np.asarray(embedder.get_query_embedding(question))
    cosines: list[float] = (np.asarray(embedder.get_text_embedding_batch(texts)) @ asked).tolist()
    return cosines


def _embedded_text(leaf: ReadLeaf, place: int) -> str:
    """Return a unit's words after its heading and, of a row or an item, the header or the line that leads it in."""
    above = leaf.path_of(place)[-1:]
    if leaf.layout.block_of(place).kind in {"table", "list", "steps"}:
        above = (*above, *texts_before(leaf, place))
    return "\n".join((*above, leaf.unit_text(place)))
