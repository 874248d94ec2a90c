"""Measure answers over given pages: questions that come with the web pages a search engine found for them.

Flow: the questions of a CRAG file -> **here** -> table and JSON. Each question gets an engine over its own
pages; the time is that of all of it: reading the HTML, cutting, embedding, searching, answering.

Scored as CRAG scores: 1 for a right answer, 0 for "I don't know", -1 for a wrong one. What is right is told without a
language model: the answer, or one of its alternatives, stands in what was said, both normalised. That is severe with
reference answers that are whole sentences; no answer repeats those word for word.
"""

import statistics
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from bench.datasets import NoDataSetError
from eval.cases import Case
from eval.metrics import crag_score
from index.documents.store import Document
from ingestion.reading.pages import Page
from query_engine.inquiry import Inquiry
from query_engine.schema.events import Done, Event


class Answers(Protocol):
    """Answers a question as a stream that ends in one `Done`."""

    def stream(self, inquiry: Inquiry) -> AsyncGenerator[Event, None]:
        """Yield the events of one answer."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One question and what came of it.

    Attributes:
        said: what a person reads.
        score: 1, 0 or -1.
        linked: citations that link to one of the question's pages.
        citations: number of all.
        unread: pages that could not be read.
        total_s: from the pages' HTML to the last event.
    """

    case: Case
    said: str
    score: int
    linked: int
    citations: int
    unread: int
    total_s: float

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON-ready values."""
        return {
            "id": self.case.id,
            "type": self.case.category,
            "question": self.case.question,
            "reference": self.case.answer,
            "said": self.said,
            "score": self.score,
            "citations": self.citations,
            "linked": self.linked,
            "unread": self.unread,
            "total_s": round(self.total_s, 3),
        }


def find_file(data: Path) -> Path:
    """Return the questions below `data`: itself, or the first JSON lines of it or of its subfolder `crag`.

    Raises:
        NoDataSetError: there are none.
    """
    if data.is_file():
        return data
    found = [path for folder in (data / "crag", data) for path in sorted(folder.glob("*.jsonl*")) if path.is_file()]
    if not found:
        raise NoDataSetError(f"There are no CRAG questions in {data}.", "Name a CRAG file: JSON lines, bz2 or plain.")
    return found[0]


async def answer(
    case: Case,
    read: Callable[[Sequence[Page]], tuple[list[Document], list[str]]],
    over: Callable[[Sequence[Document]], AbstractContextManager[Answers]],
) -> Answered:
    """Answer one question over its own pages.

    Args:
        case: with its pages.
        read: pages -> documents, and why others are none.
        over: documents -> an engine over them.
    """
    started = time.perf_counter()
    documents, reasons = read([Page(page.url, page.html) for page in case.pages])
    with over(documents) as engine:
        *_, done = [event async for event in engine.stream(Inquiry(case.question))]
    assert isinstance(done, Done), "a stream ends in Done"
    total_s = time.perf_counter() - started
    addresses = {page.url for page in case.pages}
    linked = sum(citation.url in addresses for citation in done.citations)
    right = crag_score(done.message, [text for text in (case.answer, *case.alternatives) if text])
    return Answered(case, done.message, right, linked, len(done.citations), len(reasons), total_s)


def table(rows: Sequence[Answered]) -> str:
    """Return a Markdown table: all questions, then each type of question."""
    lines = [
        "| questions | n | score | right | not known | wrong | citations with the page's address | p50, s | max, s |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, some in _groups(rows):
        counts = [sum(row.score == value for row in some) for value in (1, 0, -1)]
        times = [row.total_s for row in some]
        cells = [name, str(len(some)), f"{statistics.mean(row.score for row in some):+.2f}", *map(str, counts)]
        cells.append(f"{sum(row.linked for row in some)} of {sum(row.citations for row in some)}")
        lines.append(f"| {' | '.join([*cells, f'{statistics.median(times):.2f}', f'{max(times):.2f}'])} |")
    return "\n".join(lines)


def _groups(rows: Sequence[Answered]) -> Iterator[tuple[str, list[Answered]]]:
    yield "**all**", list(rows)
    for kind in sorted({row.case.category or "" for row in rows}):
        yield kind, [row for row in rows if (row.case.category or "") == kind]
