"""Find sentences of two documents that contradict each other.

Flow: passages of a round, best first -> **here** -> a step and a warning that name both documents. By rule, and
cautious: two sentences contradict each other only if they share most of their words, and differ by a pair of opposites,
by a negation, or by the figure for the same thing. It does not decide which one is right. Pure.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from index.documents.sentences import split_sentences
from query_engine.schema.passage import DocumentKey, Passage
from query_engine.text.term_weights import TermWeights
from research.found_documents import READ_CHARS, place_of
from research.schema import Contradiction

OPPOSITES = (
    ("increase", "decrease"),
    ("rise", "fall"),
    ("more", "less"),
    ("higher", "lower"),
    ("faster", "slower"),
    ("safe", "dangerous"),
    ("allow", "forbid"),
    ("effective", "ineffective"),
    ("success", "failure"),
    ("always", "never"),
)
READ_PASSAGES = 8
# Of each passage, those that hold most of the question's words.
READ_SENTENCES = 3
MIN_SHARED_TERMS = 3
# Of the terms of the shorter sentence, without figures and opposites.
MIN_SHARED = 0.6
# Of the terms of the longer one, where only a figure differs.
MIN_ALIKE = 0.8
MAX_TOPIC_WORDS = 6
MAX_FOUND = 3
_NEGATION = re.compile(r"\b(?:not|never|no longer|cannot|without)\b|n['’]t\b", re.I)
_FIGURE = re.compile(r"\d[\d.,]*")


@dataclass(frozen=True, slots=True)
class _Sentence:
    passage: Passage
    start: int
    text: str
    terms: frozenset[str]
    held: frozenset[str]
    figures: frozenset[str]
    negated: bool


def find_contradictions(question: str, passages: Sequence[Passage], words: TermWeights) -> tuple[Contradiction, ...]:
    """Return contradictions between documents, at most `MAX_FOUND`, each pair of documents once.

    Args:
        question: sentences that share no word with it are not read.
        passages: best first; `READ_PASSAGES` are read.
        words: normalises words.
    """
    asked = frozenset(words.query_terms(question))
    opposites = [(frozenset(words.terms(one)), frozenset(words.terms(other))) for one, other in OPPOSITES]
    sentences = [one for passage in passages[:READ_PASSAGES] for one in _sentences(passage, asked, words)]
    found: dict[frozenset[DocumentKey], Contradiction] = {}
    for one, other in combinations(sentences, 2):
        pair = frozenset((one.passage.document, other.passage.document))
        if len(pair) == 1 or pair in found or len(found) == MAX_FOUND:
            continue
        if about := _disagreement(one, other, opposites):
            first, second = (place_of(each.passage, each.start, each.text) for each in (one, other))
            found[pair] = Contradiction(first, second, _in_words(about, one.text, words))
    return tuple(found.values())


def _sentences(passage: Passage, asked: frozenset[str], words: TermWeights) -> Iterator[_Sentence]:
    """Yield the sentences that hold most of what is asked."""
    read = []
    for span in split_sentences(passage.text[:READ_CHARS]):
        text = passage.text[span.start : span.end]
        terms = frozenset(words.query_terms(text))
        figures = frozenset(figure.rstrip(".,") for figure in _FIGURE.findall(text))
        plain = frozenset(term for term in terms if not any(map(str.isdigit, term)))
        if held := plain & asked:
            read.append(_Sentence(passage, span.start, text, plain, held, figures, _NEGATION.search(text) is not None))
    read.sort(key=lambda one: -len(one.held))
    yield from read[:READ_SENTENCES]


def _disagreement(
    one: _Sentence, other: _Sentence, opposites: Sequence[tuple[frozenset[str], frozenset[str]]]
) -> frozenset[str]:
    """Return the terms of what two sentences disagree on; none if they do not."""
    apart = frozenset[str]()
    for first, second in opposites:
        for left, right in ((first, second), (second, first)):
            if left <= one.terms - other.terms and right <= other.terms - one.terms:
                apart |= left | right
    left, right = one.terms - apart, other.terms - apart
    shared = left & right
    if len(shared) < MIN_SHARED_TERMS or len(shared) < MIN_SHARED * min(len(left), len(right)):
        return frozenset()
    if apart or one.negated != other.negated:
        return shared
    # Sentences with one figure each are about the same quantity; with several it cannot be told which is which.
    alike = len(shared) >= MIN_ALIKE * max(len(left), len(right))
    if alike and len(one.figures) == len(other.figures) == 1 and one.figures != other.figures:
        return shared
    return frozenset()


def _in_words(terms: frozenset[str], sentence: str, words: TermWeights) -> str:
    """Return the words of a sentence whose terms these are."""
    named = [word for word in re.findall(r"\w+", sentence) if terms & set(words.terms(word))]
    return ", ".join(list(dict.fromkeys(named))[:MAX_TOPIC_WORDS])
