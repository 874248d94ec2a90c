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
from query_engine.reader.model import PassageReader, PassageText, Scores
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

# The gate and the synthesizer read the same leaves.
REMEMBERED_LEAVES = 256


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
        """Read the best leaves of the passages, see `windows.prepared_leaves`."""
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
            leaves = tuple(judged_by_words(leaf, question, words, share) for leaf in leaves)
        units = ranked_units(question, leaves, words)
        contradicted: tuple[str, ...] = ()
        if share == 1:  # the packaged embedder and the table of opposites know English
            if self._embedder is not None:
                units = self._compared_singly(question, units, self._embedder)
            units, contradicted = put_contradicted_last(question, units)
        return Reading(question, leaves, units, contradicted, compared_words(question, words))

    def _compared_singly(
        self, question: str, units: tuple[ReadUnit, ...], embedder: BaseEmbedding
    ) -> tuple[ReadUnit, ...]:
        """Return the units in order again, the likeliest ones compared with the question themselves."""
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
        return in_order((*compared, *units[EMBEDDED_UNITS:]))


def _embedded_text(one: ReadUnit) -> str:
    """Return a unit's words after its heading and, of a row or an item, the header or the line that leads it in."""
    above = one.leaf.path_of(one.place)[-1:]
    if one.block.kind in {"table", "list", "steps"}:
        above = (*above, *texts_before(one.leaf, one.place))
    return "\n".join((*above, one.text))
