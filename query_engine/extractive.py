"""Write an answer by quoting the sentences that answer.

Flow: passages that passed the gate -> **here** -> quoted sentences, each with its `[n]`. No language model: nothing it
says can be made up, and it needs neither download nor GPU. Sentences are scored by the question's words they hold
(weighted by rarity; the document's title counts in part), by similarity to the question, and by their passage's rank.
"""

import math
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
from llama_index.core.base.embeddings.base import BaseEmbedding

from query_engine.citing import Citations
from query_engine.passages import Passage
from query_engine.sentences import split_sentences

# Chosen on 156 answerable questions of four corpora; round numbers, each on a plateau.
TITLE_SHARE = 0.3
WORDS_WEIGHT, SIMILARITY_WEIGHT, RANK_WEIGHT = 1.25, 1.5, 0.2
FRAGMENT_FACTOR = 0.9
# Embedding a sentence costs milliseconds, so only the best by words and rank are compared with the question.
EMBEDDED_SENTENCES = 16
MIN_SENTENCE_WORDS = 4
MIN_LINE_WORDS = 8
# How much a sentence loses for resembling one already chosen (maximal marginal relevance, Carbonell and Goldstein,
# SIGIR 1998), and how much of a question word's weight is left once a chosen sentence holds that word.
REDUNDANCY, WORD_LEFT = 0.2, 0.5
# A further sentence must be worth this share of the first one.
FOLLOWER_SHARE = 0.4
# Questions that one sentence rarely answers get twice the length: two in one, how something works, why, comparisons.
_LONG = re.compile(
    r"\b(?:and|or)\s+(?:\w+\s+)?(?:who|whom|what|when|where|which|how|why)\b"
    r"|\b(why|explain|describe|compare|differ\w*|list|steps|ways|reasons|advantages|disadvantages)\b"
    r"|\bhow\b(?!\s+(many|much|long|far|fast|high|tall|deep|big|large|heavy|old|wide|often|hot|warm|cold|quickly|soon)\b)",
    re.IGNORECASE,
)


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
    """A sentence that may be quoted: `[start, end)` of its document.

    Attributes:
        held: how much of each question word it holds: 1 in its text, `TITLE_SHARE` in its document's title only.
        prior: worth of its passage's rank.
        factor: less than 1 for fragments.
    """

    passage: Passage
    start: int
    end: int
    text: str
    held: dict[str, float]
    prior: float
    factor: float


class ExtractiveSynthesizer:
    """Quotes the documents.

    Args:
        words: the corpus's terms and their rarity.
        embedder: compares sentences with the question.
        max_words: length of an answer, doubled for how-, why-, list- and two-part questions; a first sentence may be
            longer.
    """

    name = "extractive"

    def __init__(self, words: TermWeights, embedder: BaseEmbedding, max_words: int) -> None:
        self._words = words
        self._embedder = embedder
        self._max_words = max_words

    def write(
        self, question: str, passages: Sequence[Passage], citations: Citations, stop: threading.Event
    ) -> Iterator[str]:
        """Yield quoted sentences with their `[n]`, best first; nothing when the passages hold no sentence."""
        terms = {term: self._words.weight(term) for term in self._words.query_terms(question)}
        total = sum(terms.values()) or 1.0
        weights = {term: weight / total for term, weight in terms.items()}
        candidates = sorted(self._candidates(weights, passages), key=lambda c: -_worth(c, weights))
        best = candidates[:EMBEDDED_SENTENCES]
        if not best or stop.is_set():
            return
        vectors = np.asarray(self._embedder.get_text_embedding_batch([f"{c.passage.title}: {c.text}" for c in best]))
        similarity = SIMILARITY_WEIGHT * (vectors @ np.asarray(self._embedder.get_query_embedding(question)))
        max_words = self._max_words * (2 if _LONG.search(question) else 1)
        separator = ""
        for chosen in _select(best, weights, similarity, vectors, max_words):
            if stop.is_set():
                return
            number = citations.cite(chosen.passage, chosen.start, chosen.end)
            yield f"{separator}{' '.join(chosen.text.split())} [{number}]"
            separator = " "

    def _candidates(self, weights: Mapping[str, float], passages: Sequence[Passage]) -> list[Candidate]:
        """Every distinct sentence of the passages that says something."""
        candidates: dict[str, Candidate] = {}
        for rank, passage in enumerate(passages):
            title = set(self._words.terms(passage.title))
            for sentence in split_sentences(passage.text):
                text = passage.text[sentence.start : sentence.end]
                if text in candidates or not _says_something(text, sentence.kind):
                    continue
                terms = set(self._words.terms(text))
                candidates[text] = Candidate(
                    passage,
                    passage.start + sentence.start,
                    passage.start + sentence.end,
                    text,
                    {term: 1.0 if term in terms else TITLE_SHARE for term in weights if term in terms | title},
                    RANK_WEIGHT * (1 - rank / len(passages)),
                    1.0 if sentence.kind == "prose" else FRAGMENT_FACTOR,
                )
        return list(candidates.values())


def _says_something(text: str, kind: str) -> bool:
    """Leave out headings, questions, and lines too short to be more than a label."""
    if kind == "heading" or text.endswith("?"):
        return False
    least = MIN_SENTENCE_WORDS if kind == "prose" or any(map(str.isdigit, text)) else MIN_LINE_WORDS
    return len(text.split()) >= least


def _worth(candidate: Candidate, weights: Mapping[str, float], left: Mapping[str, float] | None = None) -> float:
    """Worth by words and rank; `left` says how much of a word's weight still counts."""
    held = sum(weights[term] * share * (left or {}).get(term, 1.0) for term, share in candidate.held.items())
    return (WORDS_WEIGHT * held + candidate.prior) * candidate.factor


def _select(
    candidates: Sequence[Candidate],
    weights: Mapping[str, float],
    similarity: npt.NDArray[np.float64],
    vectors: npt.NDArray[np.float64],
    max_words: int,
) -> list[Candidate]:
    """Choose the best sentence, then those that fit, add words or meaning, and are not much worse; in that order."""
    left = dict.fromkeys(weights, 1.0)
    redundancy = np.zeros(len(candidates))
    chosen: list[Candidate] = []
    open_indices = set(range(len(candidates)))
    least, room = -math.inf, max_words
    while open_indices:
        index = max(
            sorted(open_indices),
            key=lambda i: _worth(candidates[i], weights, left) + similarity[i] - REDUNDANCY * redundancy[i],
        )
        open_indices.remove(index)
        candidate = candidates[index]
        length, worth = len(candidate.text.split()), _worth(candidate, weights) + similarity[index]
        if chosen and (length > room or worth < least):
            continue
        least = least if chosen else FOLLOWER_SHARE * worth
        room -= length
        chosen.append(candidate)
        redundancy = np.maximum(redundancy, vectors @ vectors[index])
        left.update(dict.fromkeys((term for term, share in candidate.held.items() if share == 1), WORD_LEFT))
    return chosen
