"""Score rows by metrics that a judge decides: which metric a row allows, many rows at once, one bad reply one cell.

Flow: `stage.py` -> **here** -> an asker (`families.py`, `ragas_calls.py`, `deepeval_metrics.py`) ->
`scoring/judge_client.py`.

Within a row the metrics go one after another, so no more than RAG_JUDGE__CONCURRENCY questions are out at a time. Once
a judge is down, the rest of its row is not tried, and after some rows nothing is: what is left stays unscored and is
taken up by the next call.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from itertools import islice

from eval.cases import Case, Nugget
from eval.cells import Cell, failed, not_applicable, scored
from eval.metrics import spoken
from eval.rows import Quote, Row
from eval.scoring.judge_client import Judge, JudgeDownError, JudgeError, JudgeRefusedError
from eval.scoring.stage import Cells, Line, Need, Todo, lacking
from eval.tables import counted

ROUNDING = 1e-6

Count = Callable[[Case, Row], int]


@dataclass(frozen=True, slots=True)
class Judged:
    """A metric that a judge decides.

    Attributes:
        needs: what it looks at, beside the question.
        questions: to the judge, for one row: the largest number, or how to count them.
        declined: the score of a declined row; None where it has none.
        low: the least score; the best one is 1. What is outside is a failure.
    """

    name: str
    needs: tuple[Need, ...]
    questions: int | Count
    declined: float | None = None
    low: float = 0.0

    def questions_about(self, case: Case, row: Row) -> int:
        """Return how many questions a row costs."""
        return self.questions if isinstance(self.questions, int) else self.questions(case, row)

    def without_asking(self, case: Case, row: Row) -> Cell | None:
        """Return the cell of a row that needs no judge for it; None if one must be asked."""
        is_empty = not spoken(row.answer or "")
        if cell := lacking(case, row, *self.needs, declined=self.declined, is_empty=is_empty):
            return cell
        if "passages" in self.needs and not any(passage.text.strip() for passage in row.passages):
            return not_applicable("the service reports no passages")
        return None

    def cell(self, score: float) -> Cell:
        """Return the cell of a score, which fails out of the range; so does NaN."""
        if not self.low - ROUNDING <= score <= 1 + ROUNDING:
            return failed(f"The score is {score:g}, outside {self.low:g} to 1.")
        return scored(min(1.0, max(self.low, score)))


@dataclass(frozen=True, slots=True)
class Material:
    """What is judged; `""` and `()` where a row or case has none.

    Attributes:
        answer: without its `[n]` marks; a declined row has none.
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
    written: str
    quotes: tuple[Quote, ...]
    nuggets: tuple[Nugget, ...]
    sources: tuple[str, ...]

    @classmethod
    def of(cls, case: Case, row: Row) -> "Material":
        """Collect it."""
        written = row.answer or "" if row.outcome == "answered" else ""
        return cls(
            question=case.question,
            answer=spoken(written),
            reference=case.answer or "",
            passages=tuple(passage.text for passage in row.passages if passage.text.strip()),
            written=written,
            quotes=tuple(quote for quote in row.citations if quote.quote),
            nuggets=case.nuggets,
            sources=cls.sources_of(case),
        )

    @staticmethod
    def sources_of(case: Case) -> tuple[str, ...]:
        """Return what a case knows of the right answer."""
        return tuple(dict.fromkeys(text for text in (case.answer, *case.references) if text))


Ask = Callable[[str, Material], Awaitable[float | Cell]]
Asker = Callable[[int], AbstractAsyncContextManager[Ask]]
_Open = tuple[Case, Row, Cells]
"""A row that a judge must see, with the cells that are known without."""


@dataclass(frozen=True, slots=True)
class JudgedScorer:
    """Scores one family by a judge.

    Attributes:
        asker: takes the repeat and gives a function (metric's name, material) -> score, or the cell; it may raise
            JudgeError.
    """

    family: str
    metrics: Sequence[Judged]
    judge: Judge
    asker: Asker

    def score(self, todo: Todo, repeat: int = 0) -> Iterator[Line]:
        """Yield each row's cells as soon as they are known; once the judge is given up only those that need none."""
        to_judge: list[_Open] = []
        questions = 0
        for case, row in todo:
            cells = {judged.name: judged.without_asking(case, row) for judged in self.metrics}
            known = {name: cell for name, cell in cells.items() if cell is not None}
            if len(known) == len(cells):
                yield row.id, known
            else:
                to_judge.append((case, row, known))
                questions += sum(one.questions_about(case, row) for one in self.metrics if one.name not in known)
        if not to_judge or self.judge.given_up:
            return
        rows = counted(len(to_judge), "row")
        self.judge.tell(f"{self.family}: {rows} to judge, at most {questions:,} questions to the judge")
        yield from in_sync(self._lines(to_judge, repeat))

    async def _lines(self, todo: Iterable[_Open], repeat: int) -> AsyncGenerator[Line, None]:
        """Yield lines as they are known, about as many rows under way as the judge may be asked at once.

        To stop early, close this: nothing is under way then when the connections end.
        """
        waiting, running = iter(todo), set[asyncio.Task[Line]]()
        async with self.judge.connected(), self.asker(repeat) as ask:
            try:
                while True:
                    free = 0 if self.judge.given_up else self.judge.settings.concurrency - len(running)
                    running |= {asyncio.create_task(self._line(ask, *one)) for one in islice(waiting, free)}
                    if not running:
                        break
                    done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                    for task in done:
                        yield task.result()
            finally:
                for task in running:
                    task.cancel()
                await asyncio.gather(*running, return_exceptions=True)
            self.judge.rows_done()

    async def _line(self, ask: Ask, case: Case, row: Row, known: Cells) -> Line:
        material = Material.of(case, row)
        cells: Cells = {}
        errors: list[JudgeError | None] = []
        for judged in self.metrics:
            cell = known.get(judged.name)
            if cell is None:
                cell, error = await _cell(judged, ask, material, errors[-1] if errors else None)
                errors.append(error)
            cells[judged.name] = cell
        in_vain = all(isinstance(error, JudgeDownError | JudgeRefusedError) for error in errors)
        self.judge.row_done(errors[-1] if in_vain else None)
        return row.id, cells


async def _cell(
    judged: Judged, ask: Ask, material: Material, last: JudgeError | None
) -> tuple[Cell, JudgeError | None]:
    """Return a cell and why it could not be judged; a judge that was down for the last one is not asked."""
    if isinstance(last, JudgeDownError):
        return failed(last.fact), last
    try:
        score = await ask(judged.name, material)
    except JudgeError as error:
        return failed(error.fact), error
    return score if isinstance(score, Cell) else judged.cell(score), None


def in_sync(results: AsyncGenerator[Line, None]) -> Iterator[Line]:
    """Yield what an asynchronous generator yields; it is closed with this one."""
    with asyncio.Runner() as runner:
        try:
            while (found := runner.run(_next(results))) is not None:
                yield found
        finally:
            runner.run(results.aclose())


async def _next(results: AsyncGenerator[Line, None]) -> Line | None:
    return await anext(results, None)
