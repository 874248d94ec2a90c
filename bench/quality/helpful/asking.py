"""Ask a system natural questions, and keep each answer with its time and its true quotes.

Flow: `sets.py` (questions), `build.py` (systems) -> **here** -> a scorer (`nuggets.py`, `clapnq.py`, `squad2.py`) ->
`table.py`, and JSON.

What a system says is a `SystemAnswer`: the scorers see no difference between our engine and a baseline.
"""

import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from eval.cases import Case
from eval.metrics import Scores

OURS = "ours"
FIRST_LEAF = "first leaf"
STOCK = "stock"
WARM_UP = "What is warmed up before it is timed?"


@dataclass(frozen=True, slots=True)
class CitedQuote:
    """A piece of a document; `start` and `end` are -1 if the system does not know where it stands."""

    doc_id: str
    start: int
    end: int
    quote: str


@dataclass(frozen=True, slots=True)
class SystemAnswer:
    """What a system says.

    Attributes:
        text: None if it declines.
        warnings: each as `code: sentence`.
    """

    text: str | None
    citations: tuple[CitedQuote, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def declined(self) -> bool:
        """Whether nothing was answered."""
        return not self.text


@dataclass(frozen=True, slots=True)
class System:
    """Something that answers from one corpus.

    Attributes:
        ask: question -> answer.
        text_of: doc_id -> the text of the document, None if there is no such document.
    """

    name: str
    ask: Callable[[str], Awaitable[SystemAnswer]]
    text_of: Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Answered:
    """One question and a system's answer.

    Attributes:
        place: of the question in its set, from 0.
        verbatim: citations whose quote stands in the document, letter for letter: at the offsets given, or anywhere if
            the system gives none.
        total_ms: from the question to the complete answer.
        scores: what the set's scorer says.
    """

    case: Case
    place: int
    answer: SystemAnswer
    verbatim: int
    total_ms: float
    scores: Scores

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON-ready values."""
        return {
            "id": self.case.id,
            "question": self.case.question,
            "answer": self.answer.text,
            "declined": self.answer.declined,
            "citations": [asdict(citation) for citation in self.answer.citations],
            "verbatim": self.verbatim,
            "warnings": list(self.answer.warnings),
            "total_ms": round(self.total_ms, 1),
            "scores": self.scores,
        }


async def ask_all(
    cases: Sequence[tuple[int, Case]], system: System, score: Callable[[Case, SystemAnswer], Scores]
) -> list[Answered]:
    """Ask one question after the other, after an untimed one that loads what a first question loads.

    Args:
        cases: each with its place in its set.
        system: is asked.
        score: how good an answer to a case is.
    """
    return (await ask_in_turn(cases, [system], score))[0]


async def ask_in_turn(
    cases: Sequence[tuple[int, Case]], systems: Sequence[System], score: Callable[[Case, SystemAnswer], Scores]
) -> list[list[Answered]]:
    """Ask each question of all systems in turn, each time another one first; return the rows of each system.

    Systems that share an engine share what it remembers of a question, so the first one has the longest way.
    """
    for system in systems:
        await system.ask(WARM_UP)
    answered: list[list[Answered]] = [[] for _ in systems]
    for number, (place, case) in enumerate(cases):
        pairs = list(zip(systems, answered, strict=True))
        for system, rows in pairs[number % len(pairs) :] + pairs[: number % len(pairs)]:
            started = time.perf_counter()
            answer = await system.ask(case.question)
            total_ms = (time.perf_counter() - started) * 1000
            verbatim = sum(_is_verbatim(citation, system.text_of(citation.doc_id)) for citation in answer.citations)
            rows.append(Answered(case, place, answer, verbatim, total_ms, score(case, answer)))
    for system, rows in zip(systems, answered, strict=True):
        print(f"{system.name}: {len(rows)} questions asked", file=sys.stderr, flush=True)
    return answered


def _is_verbatim(citation: CitedQuote, text: str | None) -> bool:
    if text is None:
        return False
    if citation.start < 0:
        return citation.quote in text
    return text[citation.start : citation.end] == citation.quote
