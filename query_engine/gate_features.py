"""Measure what suggests that the passages hold an answer.

Flow: merged passages -> **here** -> `gate.py` joins the measures in one probability; `bench/gate_training.py` learns
how. Training and service share this one function, so that what was learnt is what is applied. Decides nothing.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding

from query_engine.extractive import TermWeights
from query_engine.passages import Passage
from query_engine.sentences import split_sentences

READ_PASSAGES = 5
# Each costs some milliseconds. More of them, and their titles with them, told no more.
EMBEDDED_SENTENCES = 8
MIN_SENTENCE_WORDS = 4


@dataclass(frozen=True, slots=True)
class Features:
    """Measures of a question and its first `READ_PASSAGES` passages. The classifier's file names those it weighs.

    Attributes:
        similarity: cosine of the question and the nearest leaf of all passages, -1..1.
        sentence_similarity: cosine of the question and the nearest of the sentences that hold most of its words, -1..1;
            `similarity` where the passages hold no sentence.
        coverage: share of the question's words, weighted by rarity, that one passage and its title hold at best, 0..1.
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
    weights = {term: words.weight(term) for term in words.query_terms(question)}
    total = sum(weights.values()) or 1.0
    held = [set(words.terms(f"{passage.title}\n{passage.text}")) for passage in read]
    sentences = _sentences(read, weights, words)
    return Features(
        similarity=similarity,
        sentence_similarity=nearest(sentences) if sentences else similarity,
        coverage=max(_held_weight(terms, weights) for terms in held) / total,
        length=math.log1p(len(weights)),
        # No leaf holds the empty term, so nothing weighs more.
        rarity=total / (len(weights) or 1) / words.weight(""),
        missing=tuple(term for term in weights if not any(term in terms for terms in held)),
    )


def _sentences(passages: Sequence[Passage], weights: Mapping[str, float], words: TermWeights) -> list[str]:
    """The sentences that hold most of the question's words, earlier passages first among equals."""
    texts = (
        passage.text[sentence.start : sentence.end]
        for passage in passages
        for sentence in split_sentences(passage.text)
        if sentence.kind != "heading"
    )
    telling = dict.fromkeys(text for text in texts if len(text.split()) >= MIN_SENTENCE_WORDS and text[-1] != "?")
    ranked = sorted(telling, key=lambda text: -_held_weight(set(words.terms(text)), weights))
    return ranked[:EMBEDDED_SENTENCES]


def _held_weight(terms: set[str], weights: Mapping[str, float]) -> float:
    return sum(weight for term, weight in weights.items() if term in terms)
