"""Make the examples that the gate's classifier learns from: questions with passages that do or do not answer them.

Flow: data sets -> `search.py` -> **here** -> `fit.py`.

Labels are written only for the near misses of `data/`. A question of a data set with the passages found for it is an
example *for* an answer. The same question becomes an example *against* when what answers it is hidden from the search,
and every other corpus gives one more.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from eval.cases import Case
from eval.metrics import SHORT_ANSWER_WORDS, contains, content_words, file_name, words
from query_engine.answerability.features import Features
from query_engine.schema.passage import Passage
from training.gate.search import Hides
from training.reader.examples import spans_of

ANSWERED = "answered"
PASSAGES_REMOVED = "passages removed"
DOCUMENTS_REMOVED = "documents removed"
UNANSWERABLE = "unanswerable"
FOREIGN = "foreign question"
KINDS = (ANSWERED, PASSAGES_REMOVED, DOCUMENTS_REMOVED, UNANSWERABLE, FOREIGN)

# A leaf gives a long answer away when it holds this share of the words that the answer adds to the question.
BEARING_SHARE = 0.3

Measure = Callable[[str, Sequence[Passage]], tuple[Features, Sequence[tuple[str, str]]]]
"""Measures a question and its passages, and returns what was read for it: documents' ids and texts."""
MeasureOwn = Callable[[str, Sequence[Passage]], tuple[Features, Sequence[tuple[str, int, int]]]]
"""The same, with the offsets of what was read in place of its text."""


class Search(Protocol):
    """Finds passages; `HidingSearch` is one."""

    def __call__(self, question: str, *, documents: Collection[str] = ..., hides: Hides = ...) -> Sequence[Passage]:
        """Return passages, best first, as if these documents and leaves were not there."""


@dataclass(frozen=True, slots=True)
class Example:
    """One question with passages.

    Attributes:
        data_set: whose corpus was asked.
        question_id: names the question over all sets.
        kind: one of `KINDS`; all but the first are examples against an answer.
    """

    data_set: str
    question_id: str
    kind: str
    features: Features

    @property
    def answered(self) -> bool:
        """Whether the passages hold the answer."""
        return self.kind == ANSWERED


def make_examples(
    data_set: str, cases: Sequence[Case], foreign: Sequence[Case], search: Search, measure: Measure
) -> Iterator[Example]:
    """Yield the examples of one corpus; one without passages is left out, because the gate declines it anyway.

    Args:
        data_set: its name.
        cases: its own questions. One that says nothing of its answer, or whose answer was not found, is not an example.
        foreign: questions of other corpora.
        search: of the corpus.
        measure: the gate's features. What is read reaches beyond the leaves that were found: where that gives a
            removed answer away, there is no example.
    """
    for case in cases:
        for kind, passages in _variants(case, search):
            if not passages:
                continue
            features, read = measure(case.question, passages)
            if kind != PASSAGES_REMOVED or not any(holds_answer(case, *text) for text in read):
                yield Example(data_set, case.id, kind, features)
    for case in foreign:
        if passages := search(case.question):
            yield Example(data_set, case.id, FOREIGN, measure(case.question, passages)[0])


def examples_of_own(
    name: str,
    rows: Iterable[Mapping[str, Any]],
    search: Search,
    measure: MeasureOwn,
    text_of: Callable[[str], str | None],
) -> Iterator[Example]:
    """Yield an example for each question of a set of `training/reader/data`.

    A question whose passages are not among what was read is an example against an answer: there is none to show.

    Args:
        name: of the set.
        rows: its questions.
        search: of its documents.
        measure: the gate's features, and the stretches of documents that were read.
        text_of: the text of a document; None if it was not ingested.
    """
    for number, row in enumerate(rows):
        text = text_of(row["doc"])
        passages = search(row["question"]) if text is not None else ()
        if text is None or not passages:
            continue
        features, read = measure(row["question"], passages)
        spans = spans_of(row, text)
        found = any(
            doc_id == row["doc"] and start < last and first < end
            for doc_id, start, end in read
            for first, last in spans
        )
        kind = ANSWERED if found else PASSAGES_REMOVED if spans else UNANSWERABLE
        if spans or row["form"] == "near_miss":
            yield Example(name, f"{name}-{number}", kind, features)


def holds_answer(case: Case, doc_id: str, text: str) -> bool:
    """Whether a leaf gives the answer away, as far as the case tells.

    It must contain a short answer, or `BEARING_SHARE` of the words that a longer one, or the quotes, add to the
    question. If documents are named as relevant, only their leaves count.
    """
    documents, answer = _relevant(case), case.answer or " ".join(case.reference_contexts)
    if not answer or (documents and file_name(doc_id) not in documents):
        return False
    if case.answer and len(words(answer)) <= SHORT_ANSWER_WORDS:
        return bool(contains(text, answer))
    own = content_words(case.reference_context or answer) - content_words(case.question)
    return bool(own) and len(own & set(words(text))) >= BEARING_SHARE * len(own)


def _variants(case: Case, search: Search) -> Iterator[tuple[str, Sequence[Passage]]]:
    """The question's passages, and what is found instead of those that answer it."""
    found = search(case.question)
    if case.unanswerable:
        yield UNANSWERABLE, found
        return
    bearing = {file_name(passage.doc_id) for passage in found if holds_answer(case, passage.doc_id, passage.text)}
    documents = _relevant(case) or bearing
    if case.reference_contexts and not case.answer and not bearing:
        return
    if not any(file_name(passage.doc_id) in documents for passage in found):
        return
    yield ANSWERED, found
    yield DOCUMENTS_REMOVED, search(case.question, documents=documents)
    if bearing:
        yield PASSAGES_REMOVED, search(case.question, hides=partial(holds_answer, case))


def _relevant(case: Case) -> set[str]:
    graded = {name for name, gain in case.relevance.items() if gain > 0}
    return graded | {file_name(name) for name in case.relevant_docs}
