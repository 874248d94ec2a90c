"""Measure what suggests that the passages hold an answer.

Flow: merged passages -> **here** -> `classifier.py` joins the measures in one probability; `training/gate/fit.py`
learns how. Training and service share this one function, so that what was learnt is what is applied. The sentences are
those that `text/quotable.py` offers for quoting. Decides nothing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding

from query_engine.schema.passage import Passage
from query_engine.text.quotable import TermWeights, best_candidates, question_weights

READ_PASSAGES = 5


@dataclass(frozen=True, slots=True)
class Features:
    """Measures of a question and its passages. The classifier's file names those it weighs.

    Attributes:
        similarity: cosine of the question and the nearest leaf of all passages, -1..1.
        sentence_similarity: cosine of the question and the nearest of the sentences that may be quoted, -1..1;
            `similarity` where the passages hold no sentence.
        coverage: share of the question's words, weighted by rarity, that one of the first `READ_PASSAGES` passages and
            its title hold at best, 0..1.
        length: ln(1 + number of the question's words); a long question is seldom covered as fully as a short one.
        rarity: mean weight of the question's words as a share of the most that a word can weigh, 0..1; words that the
            corpus hardly knows speak against it.
        missing: the words that no passage holds, rarest first, as the index spells them.
    """

    similarity: float
    sentence_similarity: float
    coverage: float
    length: float
    rarity: float
    missing: tuple[str, ...]


def measure(question: str, passages: Sequence[Passage], words: TermWeights, embedder: BaseEmbedding) -> Features:
    """Measure at least one passage."""
    read = passages[:READ_PASSAGES]
    asked = np.asarray(embedder.get_query_embedding(question))

    def nearest(texts: Sequence[str]) -> float:
        return float(np.max(np.asarray(embedder.get_text_embedding_batch(list(texts))) @ asked))

    similarity = max((passage.scores["dense"] for passage in passages if "dense" in passage.scores), default=None)
    if similarity is None:
        # Found by words alone: embedded as leaves are.
        similarity = nearest([f"{passage.title}\n{passage.text}" for passage in read])
    weights = question_weights(question, words)
    held = [frozenset(words.terms(f"{passage.title}\n{passage.text}")) for passage in read]
    sentences = best_candidates(weights, passages, words)
    return Features(
        similarity=similarity,
        sentence_similarity=nearest([one.embedded_text for one in sentences]) if sentences else similarity,
        coverage=max(_covered(terms, weights) for terms in held),
        length=math.log1p(len(weights)),
        # No leaf holds the empty term, so nothing weighs more.
        rarity=sum(map(words.weight, weights)) / (len(weights) or 1) / words.weight(""),
        missing=tuple(term for term in weights if not any(term in terms for terms in held)),
    )


def _covered(terms: frozenset[str], weights: dict[str, float]) -> float:
    return sum(weight for term, weight in weights.items() if term in terms)
