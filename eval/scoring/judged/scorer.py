"""Score rows by metrics that a judge decides: which metric a row allows, many rows at once, one bad reply one cell.

Flow: `stage.py` -> **here** -> an asker (`ragas_calls.py`, `deepeval_metrics.py`) -> `scoring/judge_client/client.py`.

Within a row the metrics go one after another, so no more than RAG_JUDGE__CONCURRENCY questions are out at a time. Once
a judge is down, the rest of its row is not tried, and after some rows nothing is: what is left stays unscored and is
taken up by the next call.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Literal

from eval.cases import Case
from eval.cells import Cell, Metric, failed, not_applicable, scored
from eval.metrics import spoken
from eval.rows import Row
from eval.scoring.judge_client.client import Judge
from eval.scoring.judge_client.server import JudgeDownError, JudgeError, JudgeRefusedError
from eval.scoring.stage import Cells, Todo, failed_for

ROUNDING = 1e-6

Need = Literal["answer", "reference", "passages"]
Line = tuple[str, str, Cells]
Pair = tuple[Case, Row]


@dataclass(frozen=True, slots=True)
class Judged:
    """A metric that a judge decides.

    Attributes:
        needs: what it looks at, beside the question.
        questions: to the judge, for one row.
        per_passage: whether as many are asked for each passage.
        low, high: the range of its scores; others are failures.
    """

    metric: Metric
    needs: tuple[Need, ...]
    questions: int
    per_passage: bool = False
    low: float = 0.0
    high: float = 1.0

    def questions_about(self, row: Row) -> int:
        """Return how many questions a row costs."""
        return self.questions * (len(row.passages) if self.per_passage else 1)


@dataclass(frozen=True, slots=True)
class Material:
    """What is judged; `""` and `()` where a row or case has none.

    Attributes:
        answer: without its `[n]` marks.
        reference: the right answer.
        passages: their texts, in order.
    """

    question: str
    answer: str
    reference: str
    passages: tuple[str, ...]

    @classmethod
    def of(cls, case: Case, row: Row) -> "Material":
        """Collect it; a declined row has no answer."""
        answer = spoken(row.answer or "") if row.outcome == "answered" else ""
        passages = tuple(passage.text for passage in row.passages if passage.text.strip())
        return cls(case.question, answer, case.answer or "", passages)


Ask = Callable[[str, Material], Awaitable[float]]
Asker = Callable[[int], AbstractAsyncContextManager[Ask]]


class JudgedScorer:
    """Scores one family by a judge.

    Args:
        family: its name.
        metrics: all of that family.
        judge: counts, and says when it is given up.
        asker: takes the repeat and gives a function (metric's name, material) -> score, which may raise JudgeError.
        at_once: rows that are judged at the same time.
    """

    def __init__(self, family: str, metrics: Sequence[Judged], judge: Judge, asker: Asker, at_once: int) -> None:
        self.families = (family,)
        self._metrics = metrics
        self._judge = judge
        self._asker = asker
        self._at_once = at_once

    def score(self, todo: Todo, repeat: int = 0) -> Iterator[Line]:
        """Yield each row's cells as soon as they are known; once the judge is given up only those that need none."""
        to_judge: list[Pair] = []
        questions = 0
        for case, row in todo:
            cells = {judged.metric.name: _without_asking(judged, case, row) for judged in self._metrics}
            known = {name: cell for name, cell in cells.items() if cell is not None}
            if len(known) == len(cells):
                yield row.id, self.families[0], known
            else:
                to_judge.append((case, row))
                questions += sum(m.questions_about(row) for m in self._metrics if m.metric.name not in known)
        if not to_judge or self._judge.given_up:
            return
        rows = "1 row" if len(to_judge) == 1 else f"{len(to_judge)} rows"
        self._judge.tell(f"{self.families[0]}: {rows} to judge, at most {questions:,} questions to the judge")
        with asyncio.Runner() as runner:
            lines = self._lines(to_judge, repeat)
            try:
                while (line := runner.run(_next(lines))) is not None:
                    yield line
            finally:
                runner.run(lines.aclose())

    async def _lines(self, todo: Sequence[Pair], repeat: int) -> AsyncGenerator[Line, None]:
        waiting, running = iter(todo), set[asyncio.Task[Line]]()
        async with self._judge.connected(), self._asker(repeat) as ask:
            try:
                while True:
                    while len(running) < self._at_once and not self._judge.given_up:
                        pair = next(waiting, None)
                        if pair is None:
                            break
                        running.add(asyncio.create_task(self._line(ask, *pair)))
                    if not running:
                        self._judge.rows_done()
                        return
                    done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                    for task in done:
                        yield task.result()
            finally:
                for task in running:
                    task.cancel()
                await asyncio.gather(*running, return_exceptions=True)

    async def _line(self, ask: Ask, case: Case, row: Row) -> Line:
        material = Material.of(case, row)
        cells: Cells = {}
        missed: list[JudgeError] = []
        asked = 0
        for judged in self._metrics:
            cell = _without_asking(judged, case, row)
            if cell is None:
                asked += 1
                down = missed[-1] if missed and isinstance(missed[-1], JudgeDownError) else None
                cell, error = (failed(down.fact), down) if down else await _cell(judged, ask, material)
                if isinstance(error, JudgeDownError | JudgeRefusedError):
                    missed.append(error)
            cells[judged.metric.name] = cell
        self._judge.row_done(missed[-1] if len(missed) == asked else None)
        return row.id, self.families[0], cells


def _without_asking(judged: Judged, case: Case, row: Row) -> Cell | None:
    """Return the cell of a row that needs no judge for it; None if one must be asked."""
    material = Material.of(case, row)
    if case.unanswerable:
        return not_applicable("the documents do not answer the question")
    if "reference" in judged.needs and not material.reference:
        return not_applicable("the case has no reference answer")
    if row.outcome == "failed":
        return failed(failed_for(row))
    if "answer" in judged.needs and not material.answer:
        return not_applicable("the service declined" if row.outcome == "declined" else "the answer is empty")
    if "passages" in judged.needs and not material.passages:
        return not_applicable("the service told no passages")
    return None


async def _cell(judged: Judged, ask: Ask, material: Material) -> tuple[Cell, JudgeError | None]:
    try:
        score = await ask(judged.metric.name, material)
    except JudgeError as error:
        return failed(error.fact), error
    if not judged.low - ROUNDING <= score <= judged.high + ROUNDING:  # NaN too
        return failed(f"The score is {score:g}, outside {judged.low:g} to {judged.high:g}."), None
    return scored(min(judged.high, max(judged.low, score))), None


async def _next(lines: AsyncGenerator[Line, None]) -> Line | None:
    return await anext(lines, None)
