"""Read what was found for a question: the best leaves, each in its surroundings, every unit scored and ordered.

Flow: merged passages -> `windows.py` widens the leaves -> **here**, by `model.py`'s scores and in the order of
`ranking.py` -> `answerability/` judges whether an answer is there, `synthesis/extractive.py`
quotes it. Both take the same reading, so that each leaf is read once a question.
"""

from collections.abc import Sequence
from dataclasses import replace
from threading import Lock

import numpy as np
from cachetools import LRUCache
from llama_index.core.base.embeddings.base import BaseEmbedding

from index.lexical.language import question_language
from query_engine.reader.foreign import reader_share
from query_engine.reader.model import PassageReader
from query_engine.reader.ranking import (
    compared_words,
    in_order,
    judged_by_words,
    put_contradicted_last,
    ranked_units,
)
from query_engine.reader.units import EMBEDDED_UNITS, Reading, ReadLeaf, ReadUnit, texts_before
from query_engine.reader.windows import TextOf, prepared_leaves
from query_engine.schema.passage import Passage
from query_engine.text.term_weights import CorpusWords

# The gate and the synthesizer read the same passages.
REMEMBERED_READINGS = 8
# The question, and of each passage its document, its node (which changes with the document's text), place, score, text.
_Asked = tuple[str, tuple[tuple[str, str, int, float, str], ...]]


class LeafReader:
    """Reads the leaves of one corpus, and remembers the latest readings. Safe from many threads.

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
        prepared = list(prepared_leaves(passages, self._text_of))
        scores = self._reader.read(question, [one.shown for one in prepared]) if prepared else []
        leaves = tuple(
            ReadLeaf(one.passage, one.rank, one.similarity, one.paths, one.text, one.layout, one.places, scored)
            for one, scored in zip(prepared, scores, strict=True)
        )
        words = self._words.words_of(question)
        share = reader_share(question_language(question))
        if share < 1:
            leaves = tuple(judged_by_words(leaf, question, words, share) for leaf in leaves)
        units = ranked_units(question, leaves, words)
        contradicted: tuple[str, ...] = ()
        if share == 1:  # the packaged embedder and the table of opposites know English
            if self._embedder is not None:
                units = _compared_singly(question, units, self._embedder)
            units, contradicted = put_contradicted_last(question, units)
        return Reading(question, leaves, units, contradicted, compared_words(question, words))


def _compared_singly(question: str, units: tuple[ReadUnit, ...], embedder: BaseEmbedding) -> tuple[ReadUnit, ...]:
    """Return the units in order again, the likeliest ones compared with the question themselves."""
    texts = [_embedded_text(one) for one in units[:EMBEDDED_UNITS]]
    if not texts:
        return units
    asked = np.asarray(embedder.get_query_embedding(question))
    similarities = (np.asarray(embedder.get_text_embedding_batch(texts)) @ asked).tolist()
    compared = [replace(one, similarity=found) for one, found in zip(units, similarities, strict=False)]
    return in_order((*compared, *units[EMBEDDED_UNITS:]))


def _embedded_text(one: ReadUnit) -> str:
    """Return a unit's words after its heading and, of a row or an item, the header or the line that leads it in."""
    above = one.leaf.path_of(one.place)[-1:]
    if one.block.kind in {"table", "list", "steps"}:
        above = (*above, *texts_before(one.leaf, one.place))
    return "\n".join((*above, one.text))
