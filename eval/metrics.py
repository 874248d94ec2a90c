"""Score what was retrieved and what was answered against the cases.

Flow: cases + ranked passages or answers -> **here** -> means for a report. Pure; no model, no file.

Every metric is a function of plain values. `score_passages` decides which of them a case allows: nothing is scored that
the case does not know. `mean_scores` says beside each mean over how many cases: a mean over half of them looks like any
other.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol

from eval.cases import Case
from eval.cells import Mean, mean, scored
from eval.rows import says_unknown
from index.documents.normalization import normalize

BUDGETS_CHARS = (2000, 4000, 8000)
SHORT_ANSWER_WORDS = 6
SHINGLE_WORDS = 8
ARTICLES = frozenset({"a", "an", "the"})
# Chinese and Japanese put no blanks between words: there, a character is one.
_LONE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_WORD = re.compile(rf"[{_LONE}]|[^\W_{_LONE}]+")


class Ranked(Protocol):
    """What a retriever returned at one rank."""

    @property
    def doc_id(self) -> str:
        """The document, by path or id."""

    @property
    def text(self) -> str:
        """The passage itself."""

    @property
    def pages(self) -> Sequence[int]:
        """Zero-based pages it touches; empty if unknown."""


Scores = dict[str, float]


def words(text: str) -> list[str]:
    """Return the lower-case runs of letters and digits of any script, in order; of Chinese, each character."""
    return _WORD.findall(normalize(text, "NFKC").lower())


# Not the list of the search: a change of that one must not change what counts as a right answer.
STOP_WORDS = ARTICLES | frozenset(
    words(
        "and are as at be but by can could did do does for from had has have how if in into is it its no not of on or "
        "such that their then there these they this to was were what when where which who why will with"
    )
)


def content_words(text: str) -> set[str]:
    """Return the distinct words without stop words."""
    return set(words(text)) - STOP_WORDS


def spoken(answer: str) -> str:
    """Return an answer without its `[n]` marks and bold signs."""
    return re.sub(r"(?<!\s)\s*\[\d+\]|\*\*", "", answer).strip()


def word_recall(text: str, reference: str) -> float:
    """Share of the reference's content words that stand in `text`; 0 if it has none."""
    return _share(content_words(reference), set(words(text)))


def contains(text: str, reference: str) -> float:
    """1 if the reference stands in `text` as whole words; case, punctuation and articles do not count."""
    wanted, found = (f" {' '.join(_counted(each))} " for each in (reference, text))
    return float(wanted in found)


def exact_match(text: str, reference: str) -> float:
    """1 if both are the same words; case, punctuation and articles do not count."""
    return float(_counted(text) == _counted(reference))


def token_f1(text: str, reference: str) -> float:
    """F1 of the words of `text` and the reference, each as often as it stands there, articles left out."""
    said, wanted = Counter(_counted(text)), Counter(_counted(reference))
    shared = (said & wanted).total()
    return 2 * shared / (said.total() + wanted.total()) if shared else 0.0


def crag_score(said: str | None, references: Iterable[str]) -> int:
    """Score as CRAG does, without a judge: 1 where one of the references stands in what was said, else -1.

    0 for no answer (None) and answers that begin with "I don't know".
    """
    if said is None or says_unknown(said):
        return 0
    return 1 if any(contains(said, reference) for reference in references) else -1


def f1(precision: float, recall: float) -> float:
    """Return the harmonic mean; 0 unless there is something of either."""
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


def _counted(text: str) -> list[str]:
    return [word for word in words(text) if word not in ARTICLES]


def shingle_recall(text: str, references: Iterable[str]) -> float:
    """Share of the references' 8-word runs that stand in `text`; a shorter reference is one run."""
    return _share(set().union(*map(_shingles, references)), _shingles(text))


def _shingles(text: str) -> set[tuple[str, ...]]:
    run = words(text)
    last_start = max(0, len(run) - SHINGLE_WORDS)
    return {tuple(run[i : i + SHINGLE_WORDS]) for i in range(last_start + 1)} if run else set()


def _share(wanted: AbstractSet[object], found: AbstractSet[object]) -> float:
    return len(wanted & found) / len(wanted) if wanted else 0.0


def file_name(doc_id: str) -> str:
    """Return the part that data sets name documents by: corpora name them by path."""
    return doc_id.rpartition("/")[2]


def distinct_docs(passages: Iterable[Ranked]) -> list[str]:
    """Return the document ids in order of their best passage."""
    return list(dict.fromkeys(passage.doc_id for passage in passages))


def hit_at(docs: Sequence[str], relevant: Iterable[str], k: int) -> float:
    """1 if a relevant document is among the first `k` distinct ones."""
    names = {file_name(doc) for doc in relevant}
    return float(any(file_name(doc) in names for doc in docs[:k]))


def reciprocal_rank(docs: Sequence[str], relevant: Iterable[str]) -> float:
    """1 / rank of the first relevant document; 0 if there is none."""
    names = {file_name(doc) for doc in relevant}
    return next((1 / rank for rank, doc in enumerate(docs, start=1) if file_name(doc) in names), 0.0)


def ndcg(docs: Sequence[str], gains: Mapping[str, float], k: int = 10) -> float:
    """Discounted gain of the first `k` documents over that of the best order, in [0, 1]; 0 if there is no gain.

    A document at rank r (1 is first) gains (2^grade - 1) / log2(r + 1).
    """
    best = _discounted(sorted(gains.values(), reverse=True)[:k])
    return _discounted([gains.get(file_name(doc), 0.0) for doc in docs[:k]]) / best if best else 0.0


def _discounted(grades: Sequence[float]) -> float:
    return sum((2**grade - 1) / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1))


def read_within(passages: Iterable[Ranked], budget_chars: int) -> tuple[str, set[tuple[str, int]]]:
    """Return what is read within the budget: the text, and the (file name, page) of passages that fit wholly.

    Passages are joined by a blank, which counts. The passage that crosses the budget is cut there, so that long
    passages gain nothing.
    """
    text, pages = "", set[tuple[str, int]]()
    for passage in passages:
        room = budget_chars - len(text)
        if room <= 0:
            break
        text += " " + passage.text[:room]
        if len(passage.text) <= room:
            pages |= {(file_name(passage.doc_id), page) for page in passage.pages}
    return text, pages


def score_passages(case: Case, passages: Sequence[Ranked]) -> Scores:
    """Score one ranking by every metric the case allows.

    `doc@1`, `doc@3`, `mrr` need relevant documents; `ndcg@10` graded ones; `evidence@N` and `page@N` evidence;
    `answer@N` an answer of at most 6 words, `recall@N` a longer one, both without evidence (answers computed from
    evidence need not stand in the text). N are characters of passage text.
    """
    scores: Scores = {}
    docs = distinct_docs(passages)
    if case.relevant_docs:
        scores["doc@1"] = hit_at(docs, case.relevant_docs, 1)
        scores["doc@3"] = hit_at(docs, case.relevant_docs, 3)
        scores["mrr"] = reciprocal_rank(docs, case.relevant_docs)
    if case.relevance:
        scores["ndcg@10"] = ndcg(docs, case.relevance)
    for budget in BUDGETS_CHARS:
        text, pages = read_within(passages, budget)
        if case.evidence:
            scores[f"evidence@{budget}"] = shingle_recall(text, (item.text for item in case.evidence))
            scores[f"page@{budget}"] = float(any((item.doc, item.page_index) in pages for item in case.evidence))
        elif case.answer and len(words(case.answer)) <= SHORT_ANSWER_WORDS:
            scores[f"answer@{budget}"] = contains(text, case.answer)
        elif case.answer:
            scores[f"recall@{budget}"] = word_recall(text, case.answer)
    return scores


def mean_scores(scores: Iterable[Scores]) -> dict[str, Mean]:
    """Average each metric over the cases that are scored by it."""
    values: dict[str, list[float]] = {}
    for of_case in scores:
        for name, value in of_case.items():
            values.setdefault(name, []).append(value)
    return {name: mean(map(scored, found)) for name, found in sorted(values.items())}
