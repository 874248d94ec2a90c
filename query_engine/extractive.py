"""Write an answer by quoting the sentences that answer.

Flow: passages that passed the gate -> **here** -> quoted sentences, each with its `[n]`. No language model: nothing it
says can be made up, and it needs neither download nor GPU. Sentences are scored by the question's words they hold
(weighted by rarity; the document's title counts in part), by similarity to the question, and by their passage's rank.
"""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
from llama_index.core.base.embeddings.base import BaseEmbedding

from query_engine.citing import Citations
from query_engine.passages import Passage
from query_engine.sentences import split_sentences

# Found on the sample questions' sibling sets by hand, kept round; each lies on a plateau.
TITLE_SHARE = 0.5
WORDS_WEIGHT, SIMILARITY_WEIGHT, RANK_WEIGHT = 1.0, 1.0, 0.3
FRAGMENT_FACTOR = 0.7
# Embedding a sentence costs milliseconds, so only the best by words are compared with the question.
EMBEDDED_SENTENCES = 12
MIN_SENTENCE_WORDS = 4
# Redundancy: how much a sentence loses for resembling one already chosen (maximal marginal relevance,
# Carbonell and Goldstein, SIGIR 1998).
MMR = 0.25
# A further sentence must be worth this share of the first one.
FOLLOWER_SHARE = 0.6


class TermWeights(Protocol):
    """How words are normalised and how rare they are; `LexicalIndex` is one."""

    def terms(self, text: str) -> list[str]:
        """Terms of a text, in order."""
        ...

    def query_terms(self, question: str) -> list[str]:
        """Distinct terms of a question without stop words."""
        ...

    def weight(self, term: str) -> float:
        """Inverse document frequency, above 0."""
        ...


@dataclass(slots=True)
class Candidate:
    """A sentence that may be quoted: `[start, end)` of its document."""

    passage: Passage
    start: int
    end: int
    text: str
    score: float


class ExtractiveSynthesizer:
    """Quotes the documents.

    Args:
        words: the corpus's terms and their rarity.
        embedder: compares sentences with the question.
        max_words: length of an answer; a first sentence may be longer.
    """

    name = "extractive"

    def __init__(self, words: TermWeights, embedder: BaseEmbedding, max_words: int) -> None:
        self._words = words
        self._embedder = embedder
        self._max_words = max_words

    def write(
        self, question: str, passages: Sequence[Passage], citations: Citations, stop: threading.Event
    ) -> Iterator[str]:
        """Yield quoted sentences with their `[n]`, best first; nothing when no sentence shares a word or meaning."""
        candidates = self._candidates(question, passages)
        if not candidates or stop.is_set():
            return
        separator = ""
        for chosen in self._select(question, candidates):
            if stop.is_set():
                return
            number = citations.cite(chosen.passage, chosen.start, chosen.end)
            yield f"{separator}{' '.join(chosen.text.split())} [{number}]"
            separator = " "

    def _candidates(self, question: str, passages: Sequence[Passage]) -> list[Candidate]:
        """Every distinct sentence of the passages, scored without embeddings, best first."""
        weights = {term: self._words.weight(term) for term in self._words.query_terms(question)}
        total = sum(weights.values()) or 1.0
        candidates: dict[str, Candidate] = {}
        for rank, passage in enumerate(passages):
            title = set(self._words.terms(passage.title))
            prior = 1 - rank / len(passages)
            for sentence in split_sentences(passage.text):
                text = passage.text[sentence.start : sentence.end]
                if len(text.split()) < MIN_SENTENCE_WORDS or text in candidates or text.endswith("?"):
                    continue
                terms = set(self._words.terms(text))
                share = sum(
                    weight * (1.0 if term in terms else TITLE_SHARE if term in title else 0.0)
                    for term, weight in weights.items()
                )
                score = WORDS_WEIGHT * share / total + RANK_WEIGHT * prior
                start = passage.start + sentence.start
                candidates[text] = Candidate(
                    passage,
                    start,
                    passage.start + sentence.end,
                    text,
                    score * (1 if sentence.prose else FRAGMENT_FACTOR),
                )
        return sorted(candidates.values(), key=lambda candidate: -candidate.score)

    def _select(self, question: str, candidates: list[Candidate]) -> list[Candidate]:
        """Choose sentences by maximal marginal relevance until the answer is long enough."""
        best = candidates[:EMBEDDED_SENTENCES]
        vectors = np.asarray(self._embedder.get_text_embedding_batch([f"{c.passage.title}: {c.text}" for c in best]))
        similarity = vectors @ np.asarray(self._embedder.get_query_embedding(question))
        scores = np.array([candidate.score for candidate in best]) + SIMILARITY_WEIGHT * similarity
        return [best[index] for index in _mmr(scores, vectors, [len(c.text.split()) for c in best], self._max_words)]


def _mmr(
    scores: npt.NDArray[np.float64], vectors: npt.NDArray[np.float64], lengths: list[int], max_words: int
) -> list[int]:
    """Indices in the order chosen: the first always, then those that fit, are new enough and not much worse."""
    chosen: list[int] = []
    room = max_words
    left = list(range(len(scores)))
    while left:
        redundancy = {i: max((float(vectors[i] @ vectors[j]) for j in chosen), default=0.0) for i in left}
        index = max(left, key=lambda i: scores[i] - MMR * redundancy[i])
        left.remove(index)
        if not chosen or (lengths[index] <= room and scores[index] >= FOLLOWER_SHARE * scores[chosen[0]]):
            chosen.append(index)
            room -= lengths[index]
    return chosen
