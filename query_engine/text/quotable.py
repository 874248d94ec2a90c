"""Find the sentences of the passages that may be quoted, the most promising first.

Flow: merged passages -> **here** -> `answerability/features.py` measures the best of them, `synthesis/extractive.py`
quotes them. Both take the same ones, so that each is embedded once. Pure: scores by words and rank; meaning is compared
by those who ask.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from query_engine.schema.passage import Passage
from query_engine.text.sentences import Sentence, split_sentences

# Embedding a sentence costs milliseconds, so only so many of the best by words and rank are compared with the question.
EMBEDDED_SENTENCES = 12
# Chosen on 156 answerable questions of four corpora; round numbers, each on a plateau.
EMBEDDED_CHARS = 240
TITLE_SHARE = 0.3
WORDS_WEIGHT, RANK_WEIGHT, LEAF_WEIGHT = 1.25, 0.2, 0.5
FRAGMENT_FACTOR = 0.9
MIN_SENTENCE_WORDS = 4
MIN_LINE_WORDS = 8
# A line without a full stop that so many of the documents found share is a menu, a footer or a notice.
SHARED_BY_DOCUMENTS = 3
# A line with so large a share of the title's words is the title, or a path that leads to it.
TITLE_LINE = 0.6
# Two sentences with more of their terms in common say the same.
SAME_SHARE = 0.7
# Addresses, e-mail addresses and points in time.
_MACHINE_WORDS = re.compile(r"\b(?:https?:\s?//|www\.)\S+|(?<!\S)[^\s@]++@\S+\.\w+|\b\d{4}-\d\d-\d\d[T\d:.+Z-]*")
_MACHINE_SHARE = 0.4


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


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence that may be quoted: `[start, end)` of its document.

    Attributes:
        terms: those of its text.
        held: how much of each question term it holds: 1 in its text, `TITLE_SHARE` in its document's title only.
        prior: worth of its passage.
        factor: less than 1 for fragments.
    """

    passage: Passage
    start: int
    end: int
    text: str
    terms: frozenset[str]
    held: Mapping[str, float]
    prior: float
    factor: float

    def says_same(self, other: "Candidate") -> bool:
        """Whether the two have nearly all terms in common, and all numbers."""
        if any(any(map(str.isdigit, term)) for term in self.terms ^ other.terms):
            return False
        return len(self.terms & other.terms) > SAME_SHARE * len(self.terms | other.terms)

    @property
    def embedded_text(self) -> str:
        """What is embedded: its beginning, without the title, which makes every sentence of a document look near."""
        return self.text[:EMBEDDED_CHARS]

    def worth(self, weights: Mapping[str, float], left: Mapping[str, float] | None = None) -> float:
        """Worth by words and rank, 0 to about 1.5.

        Args:
            weights: term -> share of the question's weight; they sum to 1.
            left: how much of a term's weight still counts; all of it if None.
        """
        held = sum(weights[term] * share * (left or {}).get(term, 1.0) for term, share in self.held.items())
        return (WORDS_WEIGHT * held + self.prior) * self.factor


def question_weights(question: str, words: TermWeights) -> dict[str, float]:
    """Return the question's terms, rarest first, with the share of its weight that each has; they sum to 1."""
    weights = {term: words.weight(term) for term in words.query_terms(question)}
    total = sum(weights.values()) or 1.0
    return {term: weight / total for term, weight in weights.items()}


def best_candidates(weights: Mapping[str, float], passages: Sequence[Passage], words: TermWeights) -> list[Candidate]:
    """Return at most `EMBEDDED_SENTENCES` distinct sentences, best by words and rank first."""
    candidates: dict[str, Candidate] = {}
    cut = [split_sentences(passage.text) for passage in passages]
    everywhere = _shared_lines(passages, cut)
    for rank, (passage, sentences) in enumerate(zip(passages, cut, strict=True)):
        title = frozenset(words.terms(passage.title))
        prior = RANK_WEIGHT * (1 - rank / len(passages)) + LEAF_WEIGHT * passage.scores.get("dense", 0.0)
        for sentence in sentences:
            text = passage.text[sentence.start : sentence.end]
            key = " ".join(text.split())
            if key in candidates or key in everywhere or not _says_something(key, sentence):
                continue
            terms = frozenset(words.terms(text))
            if len(terms & title) >= (1 if sentence.kind == "prose" else TITLE_LINE) * len(terms):
                continue
            candidates[key] = Candidate(
                passage,
                passage.start + sentence.start,
                passage.start + sentence.end,
                text,
                terms,
                {term: 1.0 if term in terms else TITLE_SHARE for term in weights if term in terms | title},
                prior,
                _factor(text, sentence),
            )
    ranked = sorted(candidates.values(), key=lambda candidate: -candidate.worth(weights))
    return ranked[:EMBEDDED_SENTENCES]


def _factor(text: str, sentence: Sentence) -> float:
    whole = sentence.kind == "prose" and not text[0].islower()
    return 1.0 if whole else FRAGMENT_FACTOR


def _says_something(text: str, sentence: Sentence) -> bool:
    """Leave out headings, questions, addresses, and lines too short to be more than a label."""
    if sentence.kind == "heading" or text.endswith("?"):
        return False
    if sum(len(match[0]) for match in _MACHINE_WORDS.finditer(text)) > _MACHINE_SHARE * len(text):
        return False
    least = MIN_SENTENCE_WORDS if sentence.kind == "prose" or any(map(str.isdigit, text)) else MIN_LINE_WORDS
    return len(text.split()) >= least


def _shared_lines(passages: Sequence[Passage], cut: Sequence[Sequence[Sentence]]) -> frozenset[str]:
    documents: defaultdict[str, set[str]] = defaultdict(set)
    for passage, sentences in zip(passages, cut, strict=True):
        for sentence in sentences:
            if sentence.kind != "prose":
                documents[" ".join(passage.text[sentence.start : sentence.end].split())].add(passage.doc_id)
    return frozenset(line for line, holders in documents.items() if len(holders) >= SHARED_BY_DOCUMENTS)
