"""Measure whole answers: what they say, when they decline, whether their quotes are true, what they cost.

Flow: data sets -> `build.py` (our engine) -> **here** -> `answers_table.py`, and JSON.

Answers come from `Engine.stream`, the one path that every view uses. A quote is checked against the stored document,
not against the passage it was taken from. Each corpus is asked four kinds of questions: its own that it answers and
that it does not, those of the other sets, and near misses (`near_misses/`): written for this, about its subject, with
answers that are not in it.
"""

import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from eval.cases import Case, read_cases
from eval.metrics import Scores, contains, score_answer
from query_engine.inquiry import Inquiry
from query_engine.schema.events import Citation, Done, Event, Retrieved

Kind = Literal["answerable", "no answer", "other corpora", "near miss"]
KINDS: tuple[Kind, ...] = ("answerable", "no answer", "other corpora", "near miss")
NEAR_MISSES = Path(__file__).with_name("near_misses")
LOW_CONFIDENCE = "low_confidence"


class Answers(Protocol):
    """Answers a question as a stream that ends in one `Done`."""

    def stream(self, inquiry: Inquiry) -> AsyncIterator[Event]:
        """Yield the events of one answer."""


class Compares(Protocol):
    """Says how alike an answer and its reference are; `Similarity` does."""

    def score(self, answer: str | None, reference: str) -> Scores:
        """Return scores by name."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One case and its answer.

    Attributes:
        kind: what kind of question it is for the corpus that was asked.
        verbatim: citations whose quote stands in the document, letter for letter, at the offsets given.
        total_ms: from the question to the last event.
        after_ms: of these, those after the passages were found: the gate and the synthesizer.
        similarity: how alike the answer is to the reference; empty without one.
    """

    case: Case
    kind: Kind
    done: Done
    verbatim: int
    total_ms: float
    after_ms: float
    similarity: Scores = field(default_factory=dict)

    @property
    def declined(self) -> bool:
        """Whether nothing was answered."""
        return self.done.answer is None

    @property
    def low(self) -> bool:
        """Whether it was answered with a warning that it may be no answer."""
        return any(warning.code == LOW_CONFIDENCE for warning in self.done.warnings)

    @property
    def bold_right(self) -> bool | None:
        """Whether a word in bold belongs to the short answer, or the other way round; None where nothing is bold."""
        bold = re.findall(r"\*\*(.+?)\*\*", self.done.answer or "")
        if not bold or not self.case.answer or "contains" not in score_answer(self.case, None):
            return None
        answer = self.case.answer
        return any(contains(text, answer) or contains(answer, text) for text in bold)

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON-ready values."""
        return {
            "id": self.case.id,
            "kind": self.kind,
            "category": self.case.category,
            "answer": self.done.answer,
            "gate_reason": self.done.gate_reason,
            "low_confidence": self.low,
            "synthesizer": self.done.synthesizer,
            "citations": len(self.done.citations),
            "verbatim": self.verbatim,
            "total_ms": round(self.total_ms, 1),
            "after_ms": round(self.after_ms, 1),
            "scores": {**score_answer(self.case, self.done.answer), **self.similarity},
        }


def questions_for(name: str, sets: Mapping[str, Sequence[Case]]) -> Iterator[tuple[Kind, Case]]:
    """Yield what is asked of a set's corpus: its own questions, near misses if there are any, then the other sets'.

    Args:
        name: of the set.
        sets: all that are measured, by name. A question of which nothing is known is left out.
    """
    for case in sets[name]:
        if case.unanswerable:
            yield "no answer", case
        elif case.answer or case.relevance or case.relevant_docs:
            yield "answerable", case
    near_misses = NEAR_MISSES / f"{name}.jsonl"
    for case in read_cases(near_misses) if near_misses.exists() else ():
        yield "near miss", case
    for other, cases in sets.items():
        if other != name:
            for case in cases:
                yield "other corpora", case


async def answer_all(
    asked: Sequence[tuple[Kind, Case]],
    engine: Answers,
    text_of: Callable[[str], str | None],
    compares: Compares,
) -> list[Answered]:
    """Answer the cases one after the other.

    Args:
        asked: in the order to ask.
        engine: answers.
        text_of: doc_id -> the stored document's text, None if there is no such document.
        compares: with the references.
    """
    answered = []
    for kind, case in asked:
        started = found = time.perf_counter()
        done: Event | None = None
        async for done in engine.stream(Inquiry(case.question)):
            if isinstance(done, Retrieved):
                found = time.perf_counter()
        ended = time.perf_counter()
        assert isinstance(done, Done), "a stream ends in Done"
        verbatim = sum(_is_verbatim(citation, text_of(citation.doc_id)) for citation in done.citations)
        similarity = compares.score(done.answer, case.answer) if case.answer and kind == "answerable" else {}
        times_ms = (ended - started) * 1000, (ended - found) * 1000
        answered.append(Answered(case, kind, done, verbatim, *times_ms, similarity))
    return answered


def _is_verbatim(citation: Citation, text: str | None) -> bool:
    return text is not None and text[citation.start : citation.end] == citation.quote
