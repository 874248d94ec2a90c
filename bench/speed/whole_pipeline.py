"""Measure the first pipeline of docs/pipelines.md from end to end, beside a search and an answer in the same run.

Flow: questions of the sample -> a task of `pipelines/`, `Engine.retrieve` and `Engine.stream`, in turns, **here** ->
table. The task goes its whole way: checked, kept in the tasks' file after every step, and waited for.
"""

import asyncio
import json
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from errors import StepError
from pipelines.tasks.queue import TaskQueue
from query_engine.engine import Engine
from query_engine.inquiry import Inquiry

GUIDE = Path(__file__).parents[2] / "docs" / "pipelines.md"
LIMIT = 3.0
WAIT_S = 600.0


@dataclass(frozen=True, slots=True)
class WholePipeline:
    """Milliseconds a question, medians.

    Attributes:
        questions: asked.
        retrieve_ms: one retrieval.
        answer_ms: one answer, with its own retrieval.
        pipeline_ms: the pipeline, no row of which is in the cache.
        known_ms: the same again: every row is.
        ratio: of the pipeline to retrieval and answer together, median over the questions.
    """

    questions: int
    retrieve_ms: float
    answer_ms: float
    pipeline_ms: float
    known_ms: float
    ratio: float


def first_example() -> dict[str, Any]:
    """Return the first body of the guide."""
    written = re.search(r"```json\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert written is not None, "the guide begins with an example"
    body: dict[str, Any] = json.loads(written[1])
    return body


def measure(engine: Engine, tasks: TaskQueue, questions: Sequence[str]) -> WholePipeline:
    """Ask each question all ways; which comes first changes from question to question.

    Args:
        engine: of the default corpus.
        tasks: of the same engines, with an empty cache.
        questions: the first one is asked before the clock starts as well, in other words.

    Raises:
        StepError: a pipeline failed.
    """
    body = first_example()
    asked = f"{questions[0]} Tell me."
    for warm_up in (_retrieval, _answer):
        warm_up(engine, asked)
    _task(tasks, body, asked)
    rows = []
    for place, question in enumerate(questions):
        ways: list[Callable[[], None]] = [
            lambda question=question: _retrieval(engine, question),  # type: ignore[misc]
            lambda question=question: _answer(engine, question),  # type: ignore[misc]
            lambda question=question: _task(tasks, body, question),  # type: ignore[misc]
        ]
        order = [0, 1, 2] if place % 2 else [2, 1, 0]
        ms = {way: _ms(ways[way]) for way in order}
        rows.append((ms[0], ms[1], ms[2], _ms(ways[2])))
    columns = [median(column) for column in zip(*rows, strict=True)]
    ratio = median(row[2] / (row[0] + row[1]) for row in rows)
    return WholePipeline(len(rows), columns[0], columns[1], columns[2], columns[3], ratio)


def table(one: WholePipeline) -> str:
    """Return a Markdown table."""
    return "\n".join(
        [
            "| questions | retrieval | answer | pipeline | with known rows | pipeline / (retrieval + answer) | limit |",
            "|---:|---:|---:|---:|---:|---:|---:|",
            f"| {one.questions} | {one.retrieve_ms:.0f} | {one.answer_ms:.0f} | {one.pipeline_ms:.0f} "
            f"| {one.known_ms:.0f} | {one.ratio:.2f} | {LIMIT:.0f} |",
            "",
            "Milliseconds a question, medians.",
        ]
    )


def _ms(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def _retrieval(engine: Engine, question: str) -> None:
    engine.retrieve(Inquiry(question))


def _answer(engine: Engine, question: str) -> None:
    async def read() -> None:
        async for _event in engine.stream(Inquiry(question)):
            pass

    asyncio.run(read())


def _task(tasks: TaskQueue, body: dict[str, Any], question: str) -> None:
    task_id = tasks.submit({**body, "query": question})
    tasks.end_of(task_id).result(WAIT_S)
    task, _ = tasks.get(task_id)
    if task.state != "finished":
        raise StepError(f"The pipeline ended as {task.state}: {task.error}", "Mend what its message names.")
    tasks.state_of(task_id)
