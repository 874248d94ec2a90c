"""Measure whole answers: what they say, when they decline, whether their quotes are true.

Flow: data sets -> `build.py` (our engine) -> **here** -> table and JSON.

Answers come from `Engine.stream`, the one path that every view uses. A quote is checked against the stored document,
not against the passage it was taken from.
"""

import statistics
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from eval.cases import Case
from eval.metrics import Mean, score_answer, score_answers
from query_engine.events import Citation, Done, Event


class Answers(Protocol):
    """Answers a question as a stream that ends in one `Done`."""

    def stream(self, question: str) -> AsyncIterator[Event]:
        """Yield the events of one answer."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One case and its answer.

    Attributes:
        verbatim: citations whose quote stands in the document, letter for letter, at the offsets given.
        total_ms: from the question to the last event.
    """

    case: Case
    done: Done
    verbatim: int
    total_ms: float

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON-ready values."""
        return {
            "id": self.case.id,
            "category": self.case.category,
            "answer": self.done.answer,
            "gate_reason": self.done.gate_reason,
            "synthesizer": self.done.synthesizer,
            "citations": len(self.done.citations),
            "verbatim": self.verbatim,
            "total_ms": round(self.total_ms, 1),
            "scores": score_answer(self.case, self.done.answer),
        }


async def answer_all(cases: Sequence[Case], engine: Answers, text_of: Callable[[str], str | None]) -> list[Answered]:
    """Answer the cases one after the other.

    Args:
        cases: in the order to ask.
        engine: answers.
        text_of: doc_id -> the stored document's text, None if there is no such document.
    """
    answered = []
    for case in cases:
        started = time.perf_counter()
        *_, done = [event async for event in engine.stream(case.question)]
        total_ms = (time.perf_counter() - started) * 1000
        assert isinstance(done, Done), "a stream ends in Done"
        verbatim = sum(_is_verbatim(citation, text_of(citation.doc_id)) for citation in done.citations)
        answered.append(Answered(case, done, verbatim, total_ms))
    return answered


def table(answered: dict[str, list[Answered]]) -> str:
    """Return a Markdown table: for each data set all cases, then its categories. Every mean and share has its n."""
    lines = [
        "| set | category | cases | key-word recall (n) | short answer contained (n) | mean words | "
        "answerable declined | no_answer declined | quotes verbatim | median ms |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, rows in answered.items():
        lines.append(_row(name, "**all**", rows))
        categories = sorted({row.case.category for row in rows if row.case.category})
        lines += [_row(name, kind, [row for row in rows if row.case.category == kind]) for kind in categories]
    return "\n".join(lines)


def _is_verbatim(citation: Citation, text: str | None) -> bool:
    return text is not None and text[citation.start : citation.end] == citation.quote


def _row(name: str, category: str, rows: Sequence[Answered]) -> str:
    means = score_answers([row.case for row in rows], {row.case.id: row.done.answer for row in rows})
    words = [len(row.done.answer.split()) for row in rows if row.done.answer]
    cells = [
        name,
        category,
        str(len(rows)),
        _mean(means.get("recall")),
        _mean(means.get("contains")),
        f"{statistics.mean(words):.0f}" if words else "–",
        _share(means.get("declined")),
        _share(means.get("declined_no_answer")),
        f"{sum(row.verbatim for row in rows)} of {sum(len(row.done.citations) for row in rows)}",
        f"{statistics.median(row.total_ms for row in rows):.0f}",
    ]
    return f"| {' | '.join(cells)} |"


def _mean(mean: Mean | None) -> str:
    return "–" if mean is None or mean.value is None else f"{mean.value:.3f} ({mean.n})"


def _share(mean: Mean | None) -> str:
    return "–" if mean is None or mean.value is None else f"{round(mean.value * mean.n)} of {mean.n}"
