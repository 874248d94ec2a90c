"""Ask a system natural questions, and keep each answer with its time and its true quotes.

Flow: `sets.py` (questions), `systems.py` -> **here** -> the case's own scores -> `command.py`.

What a system says is a `Row` of the evaluation: the scorers see no difference between our engine and a baseline.
"""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from eval.cases import Case
from eval.metrics import Scores
from eval.progress_bar import tell
from eval.rows import Quote, Row

WARM_UP = Case(id="warm-up", question="What is warmed up before it is timed?")


class NaturalCase(Case):
    """A question that is scored as its set demands.

    Attributes:
        MEASURES: names of its scores, each with the digits it is shown with.
        corpus: the name of the corpus that is asked; the set's own if empty.
    """

    MEASURES: ClassVar[Mapping[str, int]] = {}

    corpus: str = ""

    def score(self, row: Row, documents: Mapping[str, str]) -> Scores:
        """Return the measures that the question allows.

        Args:
            row: the answer.
            documents: file name -> folded text of the documents that regions lie in.
        """
        raise NotImplementedError


Cases = Sequence[tuple[int, NaturalCase]]
"""Questions, each with its place in its set."""


@dataclass(frozen=True, slots=True)
class System:
    """Something that answers from one corpus.

    Attributes:
        ask: question -> answer.
        text_of: doc_id -> the text of the document, None if there is no such document.
    """

    name: str
    ask: Callable[[Case], Awaitable[Row]]
    text_of: Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Answered:
    """One question and a system's answer.

    Attributes:
        place: of the question in its set, from 0.
        verbatim: citations whose quote stands in the document, letter for letter: at the offsets given, or anywhere if
            the system gives none.
        total_ms: from the question to the complete answer.
    """

    case: Case
    place: int
    row: Row
    verbatim: int
    total_ms: float
    scores: Scores

    def to_dict(self) -> dict[str, Any]:
        """Return the question with its answer as JSON-ready values."""
        row = self.row
        return {
            "id": self.case.id,
            "question": self.case.question,
            "answer": said(row),
            "declined": said(row) is None,
            "citations": [one.model_dump(include={"doc_id", "start", "end", "quote"}) for one in row.citations],
            "verbatim": self.verbatim,
            "warnings": list(row.warnings),
            "total_ms": round(self.total_ms, 1),
            "scores": self.scores,
        }


def said(row: Row) -> str | None:
    """Return the text of an answer, None if it was declined."""
    return row.answer if row.outcome == "answered" else None


async def ask_all(cases: Cases, system: System, documents: Mapping[str, str]) -> list[Answered]:
    """Ask one question after the other, after an untimed one that loads what a first question loads.

    Args:
        cases: of one set.
        system: is asked.
        documents: see `NaturalCase.score`.
    """
    await system.ask(WARM_UP)
    answered = []
    for place, case in cases:
        started = time.perf_counter()
        row = await system.ask(case)
        total_ms = (time.perf_counter() - started) * 1000
        verbatim = sum(_is_verbatim(quote, system.text_of(quote.doc_id or "")) for quote in row.citations)
        answered.append(Answered(case, place, row, verbatim, total_ms, case.score(row, documents)))
    tell(f"{system.name}: {len(answered)} questions asked")
    return answered


def _is_verbatim(citation: Quote, text: str | None) -> bool:
    if text is None or citation.quote is None:
        return False
    return citation.quote in text if citation.start is None else text[citation.start : citation.end] == citation.quote
