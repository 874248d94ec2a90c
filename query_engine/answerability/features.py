"""Measure signs that the passages hold an answer.

Merged passages and what the reader made of them (`reader/reading.py`) come in; `classifier.py` joins the measures in
one probability. Training (`training/gate/`) and service share this one function, so that what was learnt is what is
applied. Decides nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding

from index.embedding.cached import is_multilingual
from query_engine.reader.foreign import WITHIN
from query_engine.reader.reading import Reading
from query_engine.schema.passage import Passage
from query_engine.text.term_weights import CorpusWords, question_weights

READ_PASSAGES = 5
# The reader's log-odds if nothing was read: its surest no.
NOTHING_READ = -6.0


@dataclass(frozen=True, slots=True)
class Features:
    """Measures of a question and its passages. The classifier's file names those it weighs.

    Attributes:
        near: cosine of the question and the best window, -1..1.
        leaf: log-odds that the leaf of the best window answers.
        similarity: cosine of the question and the nearest leaf of all passages, -1..1.
        coverage: largest share of the question's words, weighted by rarity, that one of the first `READ_PASSAGES`
            passages holds with its title, 0..1.
        missing: the words that no passage holds, rarest first, as the index spells them.
    """

    near: float
    leaf: float
    similarity: float
    coverage: float
    missing: tuple[str, ...]


def measure(
    question: str, passages: Sequence[Passage], corpus_words: CorpusWords, embedder: BaseEmbedding, reading: Reading
) -> Features:
    """Measure at least one passage."""
    words = corpus_words.words_of(question)
    read = passages[:READ_PASSAGES]
    similarity = max((passage.scores["dense"] for passage in passages if "dense" in passage.scores), default=None)
    if similarity is None:
        # Found by words alone: embedded as leaves are.
        asked = np.asarray(embedder.get_query_embedding(question))
        texts = [f"{passage.title}\n{passage.text}" for passage in read]
        similarity = float(np.max(np.asarray(embedder.get_text_embedding_batch(texts)) @ asked))
    if is_multilingual(embedder):
        similarity += WITHIN
    weights = question_weights(question, words)
    held = [frozenset(words.terms(f"{passage.name}\n{passage.text}")) for passage in read]
    best = reading.windows[0] if reading.windows else None
    return Features(
        near=best.similarity if best else similarity,
        leaf=best.window.best.leaf.scores.passage if best else NOTHING_READ,
        similarity=similarity,
        coverage=max(sum(weights[term] for term in weights.keys() & terms) for terms in held),
        missing=tuple(term for term in weights if not any(term in terms for terms in held)),
    )
