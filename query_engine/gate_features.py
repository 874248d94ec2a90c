"""Measure what suggests that the passages hold an answer.

Flow: merged passages -> **here** -> `gate.py` joins the measures in one probability; `bench/gate_training.py` learns
how. Training and service share this one function, so that what was learnt is what is applied. Decides nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding

from query_engine.extractive import TermWeights
from query_engine.passages import Passage

READ_PASSAGES = 5


@dataclass(frozen=True, slots=True)
class Features:
    """Measures of a question and its passages. The classifier's file names those it weighs.

    Coverage is the share of the question's words, weighted by rarity, that a text holds, 0..1. Only the first
    `READ_PASSAGES` passages are read; cosines are -1..1.

    Attributes:
        similarity: cosine of the question and the nearest leaf of all passages.
        coverage: of the passage that covers most, its title included.
        joint_similarity: cosine of that passage's nearest leaf; 0 if the search by meaning did not find it.
        title_coverage: of the title that covers most.
        missing: the words that no passage holds, rarest first, as the index spells them.
    """

    similarity: float
    coverage: float
    joint_similarity: float
    title_coverage: float
    missing: tuple[str, ...]


def measure(question: str, passages: Sequence[Passage], words: TermWeights, embedder: BaseEmbedding) -> Features:
    """Measure at least one passage. Embeds only if none was found by its meaning."""
    read = passages[:READ_PASSAGES]
    similarities = [passage.scores.get("dense") for passage in passages]
    if all(similarity is None for similarity in similarities):
        similarities = list(_similarities(question, read, embedder))
    weights = {term: words.weight(term) for term in words.query_terms(question)}
    total = sum(weights.values()) or 1.0

    def coverage(terms: set[str]) -> float:
        return sum(weight for term, weight in weights.items() if term in terms) / total

    titles = [set(words.terms(passage.title)) for passage in read]
    held = [title.union(words.terms(passage.text)) for title, passage in zip(titles, read, strict=True)]
    # Of passages that cover the same, the one that is nearer.
    covered, there = max((coverage(held[i]), similarities[i] or 0.0) for i in range(len(read)))
    return Features(
        similarity=max(similarity for similarity in similarities if similarity is not None),
        coverage=covered,
        joint_similarity=there,
        title_coverage=max(map(coverage, titles)),
        missing=tuple(term for term in weights if not any(term in terms for terms in held)),
    )


def _similarities(question: str, passages: Sequence[Passage], embedder: BaseEmbedding) -> list[float]:
    """Cosine of the question and each passage, embedded as leaves are: title, line break, text."""
    texts = [f"{passage.title}\n{passage.text}" for passage in passages]
    vectors = np.asarray(embedder.get_text_embedding_batch(texts))
    return [float(cosine) for cosine in vectors @ np.asarray(embedder.get_query_embedding(question))]
