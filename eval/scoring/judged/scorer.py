"""Score rows by metrics that a judge decides: which metric a row allows, many rows at once, one bad reply one cell.

Flow: `stage.py` -> **here** -> an asker (`family.py`, `ragas_calls.py`, `deepeval_metrics.py`) ->
`scoring/judge_client/client.py`. `judge_each` serves whatever else asks the judge about many things.

Within a row the metrics go one after another, so no more than RAG_JUDGE__CONCURRENCY questions are out at a time. Once
a judge is down, the rest of its row is not tried, and after some rows nothing is: what is left stays unscored and is
taken up by the next call.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass
from typing import Literal, TypeVar

from eval.cases import Case, Nugget
from eval.cells import Cell, Metric, failed, not_applicable, scored
from eval.metrics import spoken
from eval.rows import Quote, Row
from eval.scoring.judge_client.client import Judge
from eval.scoring.judge_client.server import JudgeDownError, JudgeError, JudgeRefusedError
from eval.scoring.stage import Cells, Todo, failed_for

ROUNDING = 1e-6

Need = Literal["answer", "reference", "passages", "nuggets", "quotes"]
Line = tuple[str, str, Cells]
Pair = tuple[Case, Row]
Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Judged:
    """A metric that a judge decides.

    Attributes:
        needs: what it looks at, beside the question.
        questions: to the judge, for one row: the largest number, or how to count them.
        declined: the score of a declined row; None where it has none.
        low, high: the range of its scores; others are failures.
    """

    metric: Metric
    needs: tuple[Need, ...]
    questions: int | Callable[[Case, Row], int]
    declined: float | None = None
    low: float = 0.0
    high: float = 1.0

    def questions_about(self, case: Case, row: Row) -> int:
        """Return how many questions a row costs."""
        return self.questions if isinstance(self.questions, int) else self.questions(case, row)


def per_passage(_: Case, row: Row) -> int:
    """Count one question for each passage."""
    return len(row.passages)


@dataclass(frozen=True, slots=True)
class Material:
    """What is judged; `""` and `()` where a row or case has none.

    Attributes:
        answer: without its `[n]` marks.
        reference: the right answer.
        passages: their texts, in order.
        written: the answer with its marks.
        quotes: of its citations, those with a text.
        nuggets: the case's own.
        sources: what the case knows of the right answer: references, and the texts that they rest on.
    """

    question: str
    answer: str
    reference: str
    passages: tuple[str, ...]
    written: str = ""
    quotes: tuple[Quote, ...] = ()
    nuggets: tuple[Nugget, ...] = ()
    sources: tuple[str, ...] = ()

    @classmethod
    def of(cls, case: Case, row: Row) -> "Material":
        """Collect it; a declined row has no answer."""
        written = row.answer or "" if row.outcome == "answered" else ""
        passages = tuple(passage.text for passage in row.passages if passage.text.strip())
        quotes = tuple(quote for quote in row.citations if quote.quote)
        known = cls.sources_of(case)
        return cls(case.question, spoken(written), case.answer or "", passages, written, quotes, case.nuggets, known)

    @staticmethod
    def sources_of(case: Case) -> tuple[str, ...]:
        """Return what a case knows of the right answer."""
        return tuple(dict.fromkeys(text for text in (case.answer, *case.references) if text))


Ask = Callable[[str, Material], Awaitable[float | Cell]]
Asker = Callable[[int], AbstractAsyncContextManager[Ask]]


class JudgedScorer:
    """Scores one family by a judge.

    Args:
        family: its name.
        metrics: all of that family.
        judge: counts, and says when it is given up.
        asker: takes the repeat and gives a function (metric's name, material) -> score, or the cell; it may raise
            JudgeError.
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
            material = Material.of(case, row)
            cells = {judged.metric.name: _without_asking(judged, case, row, material) for judged in self._metrics}
            known = {name: cell for name, cell in cells.items() if cell is not None}
            if len(known) == len(cells):
                yield row.id, self.families[0], known
            else:
                to_judge.append((case, row))
                questions += sum(m.questions_about(case, row) for m in self._metrics if m.metric.name not in known)
        if not to_judge or self._judge.given_up:
            return
        rows = "1 row" if len(to_judge) == 1 else f"{len(to_judge)} rows"
        self._judge.tell(f"{self.families[0]}: {rows} to judge, at most {questions:,} questions to the judge")
        yield from in_sync(self._lines(to_judge, repeat))

    async def _lines(self, todo: Sequence[Pair], repeat: int) -> AsyncGenerator[Line, None]:
        async with self._judge.connected(), self._asker(repeat) as ask:
            lines = judge_each(self._judge, todo, self._at_once, lambda pair: self._line(ask, *pair))
            async with aclosing(lines):
                async for line in lines:
                    yield line
            self._judge.rows_done()

    async def _line(self, ask: Ask, case: Case, row: Row) -> Line:
        material = Material.of(case, row)
        cells: Cells = {}
        missed: list[JudgeError] = []
        asked = 0
        for judged in self._metrics:
            cell = _without_asking(judged, case, row, material)
            if cell is None:
                asked += 1
                down = missed[-1] if missed and isinstance(missed[-1], JudgeDownError) else None
                cell, error = (failed(down.fact), down) if down else await _cell(judged, ask, material)
                if isinstance(error, JudgeDownError | JudgeRefusedError):
                    missed.append(error)
            cells[judged.metric.name] = cell
        self._judge.row_done(missed[-1] if len(missed) == asked else None)
        return row.id, self.families[0], cells


async def judge_each(
    judge: Judge, todo: Iterable[Item], at_once: int, work: Callable[[Item], Awaitable[Result]]
) -> AsyncGenerator[Result, None]:
    """Yield what `work` makes of each item as soon as it is known, until the judge is given up.

    To stop early, close this (`aclosing`): nothing is under way then when the connections end.

    Args:
        judge: that `work` asks.
        todo: what to judge.
        at_once: items at the same time.
        work: raises nothing that is to be foreseen.
    """
    waiting, running = iter(todo), set[asyncio.Future[Result]]()
    try:
        while True:
            while len(running) < at_once and not judge.given_up and (item := next(waiting, None)) is not None:
                running.add(asyncio.ensure_future(work(item)))
            if not running:
                return
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                yield task.result()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def in_sync(results: AsyncGenerator[Result, None]) -> Iterator[Result]:
    """Yield what an asynchronous generator yields; it is closed with this one."""
    with asyncio.Runner() as runner:
        try:
            while (found := runner.run(_next(results))) is not None:
                yield found
        finally:
            runner.run(results.aclose())


def _without_asking(judged: Judged, case: Case, row: Row, material: Material) -> Cell | None:
    """Return the cell of a row that needs no judge for it; None if one must be asked."""
    if case.unanswerable:
        return not_applicable("the documents do not answer the question")
    if "reference" in judged.needs and not material.reference:
        return not_applicable("the case has no reference answer")
    if row.outcome == "failed":
        return failed(failed_for(row))
    if "nuggets" in judged.needs and not (material.nuggets or material.sources):
        return not_applicable("the case has neither nuggets nor a reference to make them from")
    if judged.declined is not None and not material.answer:
        return scored(judged.declined)
    if "answer" in judged.needs and not material.answer:
        return not_applicable("the service declined" if row.outcome == "declined" else "the answer is empty")
    if "passages" in judged.needs and not material.passages:
        return not_applicable("the service told no passages")
    if "quotes" in judged.needs and not material.quotes and (row.citations or not row.fingerprint):
        return not_applicable("the service tells no quotes")
    return None


async def _cell(judged: Judged, ask: Ask, material: Material) -> tuple[Cell, JudgeError | None]:
    try:
        score = await ask(judged.metric.name, material)
    except JudgeError as error:
        return failed(error.fact), error
    if isinstance(score, Cell):
        return score, None
    if not judged.low - ROUNDING <= score <= judged.high + ROUNDING:  # NaN too
        return failed(f"The score is {score:g}, outside {judged.low:g} to {judged.high:g}."), None
    return scored(min(judged.high, max(judged.low, score))), None


async def _next(results: AsyncGenerator[Result, None]) -> Result | None:
    return await anext(results, None)
