"""Compare the research loop with a single pass: answers, time, and what a round costs beside search and model.

Flow: `build.py` (one engine, asked both ways) -> **here** -> `__main__.py` prints and keeps it.

Answers are scored as `bench helpful` scores them. Each question is asked both ways in turn, so that both meet the same
load. What a round costs is measured with a language model that replies immediately, in tags, and never finds the
passages sufficient: the time of a round less that of its searches is the cost of the loop itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
)
from llama_index.core.llms import CustomLLM

from bench.quality.helpful.asking import Answered
from bench.quality.helpful.table import mean_of, percentile_ms
from query_engine.question.decompose_rules import split_question

MEASURES = (
    "vital recall",
    "all recall",
    "helpful",
    "precision",
    "declined answerable",
    "declined near misses",
    "words",
)
PARTS = "questions with parts"
MAX_TIMES = 3.0
MAX_OVERHEAD_MS = 50.0
# Asked to measure a round, the first one of them untimed.
QUESTIONS = 9


class ReplyingModel(CustomLLM):
    """A language model that asks for another search each time, at once."""

    asked: int = 0

    @property
    def metadata(self) -> LLMMetadata:
        """Its name."""
        return LLMMetadata(model_name="replying", is_chat_model=True)

    def stream_chat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponseGen:  # noqa: ARG002
        """Yield one reply in tags."""
        self.asked += 1
        text = (
            "<useful-docs>1, 2</useful-docs><summary>Part of it.</summary><is-sufficient>no</is-sufficient>"
            f"<new-query>what the grid stores, number {self.asked}</new-query>"
        )
        yield ChatResponse(message=ChatMessage(content=text), delta=text)

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        """Not asked."""
        raise NotImplementedError

    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponseGen:
        """Not asked."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Overhead:
    """What rounds cost beside search and model.

    Attributes:
        per_round_ms: of each question asked, its mean round.
        rounds: of all questions together.
    """

    per_round_ms: tuple[float, ...]
    rounds: int

    def line(self) -> str:
        """Return it as a sentence."""
        p50, p95 = np.percentile(self.per_round_ms, [50, 95])
        return (
            f"A round beside search and model, over {self.rounds} rounds of {len(self.per_round_ms)} questions: "
            f"p50 {p50:.1f} ms, p95 {p95:.1f} ms (allowed: {MAX_OVERHEAD_MS:.0f} ms)."
        )


def with_parts(rows: Sequence[Answered]) -> list[Answered]:
    """Return the rows whose question grammar takes apart."""
    return [row for row in rows if split_question(row.case.question)]


def table(single: Sequence[Answered], agent: Sequence[Answered]) -> str:
    """Return both ways side by side: all questions, and those with parts."""
    groups = {"all": (single, agent), PARTS: (with_parts(single), with_parts(agent))}
    lines = ["| questions | n | measure | single | agent |", "|---|---:|---|---:|---:|"]
    for name, (one, other) in groups.items():
        if not one:
            continue
        for measure in MEASURES:
            means = [mean_of(rows, measure).value for rows in (one, other)]
            if all(mean is not None for mean in means):
                digits = 1 if measure == "words" else 3
                cells = " | ".join(f"{mean:.{digits}f}" for mean in means)
                lines.append(f"| {name} | {len(one)} | {measure} | {cells} |")
        for percent in (50, 95):
            times = [percentile_ms(rows, percent) for rows in (one, other)]
            lines.append(f"| {name} | {len(one)} | p{percent}, ms | {times[0]:.0f} | {times[1]:.0f} |")
        lines.append(f"| {name} | {len(one)} | mean time, times single's | 1.00 | {times_longer(one, other):.2f} |")
    return "\n".join(lines)


def times_longer(single: Sequence[Answered], agent: Sequence[Answered]) -> float:
    """Return the agent's mean time as a multiple of the single pass's."""
    return sum(row.total_ms for row in agent) / sum(row.total_ms for row in single)


def figures(rows: Sequence[Answered]) -> dict[str, Any]:
    """Return one way's means as JSON-ready values."""
    return {
        "questions": len(rows),
        "means": {measure: mean_of(rows, measure).value for measure in MEASURES},
        "parts": {measure: mean_of(with_parts(rows), measure).value for measure in MEASURES},
        "p50_ms": round(percentile_ms(rows, 50), 1),
        "p95_ms": round(percentile_ms(rows, 95), 1),
    }
