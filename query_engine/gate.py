"""Decide whether the passages hold an answer, before anyone writes one.

Flow: merged passages -> **here** -> synthesizer, or "I don't know". Two signs are joined in a logistic score: how close
the best passages are in meaning, and how much of the question's rare words one of them holds. It judges whether
an answer is likely to be there, not what it is.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding

from query_engine.extractive import TermWeights
from query_engine.passages import Passage

# Logistic regression, rounded. For an answer: the answerable questions of four corpora, and "What is TITLE?" for their
# documents. Against: the same questions with their evidence taken out of the results, and other corpora's questions.
BIAS, SIMILARITY, COVERAGE = -6.5, 11.0, 3.9
READ_PASSAGES = 5


@dataclass(frozen=True, slots=True)
class Confidence:
    """How likely the passages hold the answer.

    Attributes:
        value: 0..1.
        similarity: cosine of the question and the nearest leaf, -1..1.
        coverage: share of the question's words, weighted by rarity, that one passage and its title hold at best, 0..1.
        missing: the words that none of them holds, rarest first, as the index spells them.
    """

    value: float
    similarity: float
    coverage: float
    missing: tuple[str, ...]


def assess(question: str, passages: Sequence[Passage], words: TermWeights, embedder: BaseEmbedding) -> Confidence:
    """Judge the passages; without any the value is 0. Embeds only if no passage was found by its meaning."""
    if not passages:
        return Confidence(0.0, 0.0, 0.0, ())
    similarity = max((passage.scores["dense"] for passage in passages if "dense" in passage.scores), default=None)
    if similarity is None:
        similarity = _similarity(question, passages[:READ_PASSAGES], embedder)
    terms = {term: words.weight(term) for term in words.query_terms(question)}
    total = sum(terms.values()) or 1.0
    held = [set(words.terms(f"{passage.title}\n{passage.text}")) for passage in passages[:READ_PASSAGES]]
    coverage = max(sum(weight for term, weight in terms.items() if term in here) / total for here in held)
    value = 1 / (1 + math.exp(-(BIAS + SIMILARITY * similarity + COVERAGE * coverage)))
    return Confidence(
        value, similarity, coverage, tuple(term for term in terms if not any(term in here for here in held))
    )


def _similarity(question: str, passages: Sequence[Passage], embedder: BaseEmbedding) -> float:
    """Cosine of the question and the nearest passage, embedded as leaves are: title, line break, text."""
    texts = [f"{passage.title}\n{passage.text}" for passage in passages]
    vectors = np.asarray(embedder.get_text_embedding_batch(texts))
    return float(np.max(vectors @ np.asarray(embedder.get_query_embedding(question))))
