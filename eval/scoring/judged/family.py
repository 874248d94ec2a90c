"""What a family of our own judged metrics is: its metrics as data, and one function that asks and aggregates.

`nuggets.py`, `key_points.py`, `support.py`, `argue.py`, `relevance.py`, `report_quality.py` -> **here** -> `scorer.py`.
Each has prompts of its own and computes the published formula that it names. What the judge says of a row is asked once
and decides all metrics of the family.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from eval.cases import Case
from eval.cells import Better, Cell, Metric
from eval.rows import Row
from eval.scoring.judge_client.client import Judge
from eval.scoring.judged.scorer import Ask, Judged, JudgedScorer, Material, Need

Decided = Mapping[str, float | Cell] | Cell
"""Metric's name -> score, or the cell; one cell where all are alike."""
Decide = Callable[[Judge, str, Material], Awaitable[Decided]]
"""(judge, which time, what is judged) -> the scores; it may raise JudgeError."""


@dataclass(frozen=True, slots=True)
class Measures:
    """Metrics that differ in name and meaning only; the worst score is 0.

    Attributes:
        about: name -> what it measures, one sentence with its range.
        needs: what they look at.
        questions: to the judge for one row, counted for the first metric; None if other measures count them.
        better: which way is better.
        declined: the score of a declined row; None where it has none.
        high: the best score.
    """

    about: Mapping[str, str]
    needs: tuple[Need, ...]
    questions: Callable[[Case, Row], int] | None = None
    better: Better = "higher"
    declined: float | None = None
    high: float = 1.0


class Family:
    """Metrics that are decided together.

    Args:
        name: of the family, as `--family` takes it.
        decide: asks the judge about one row.
        measures: what comes of it.

    Attributes:
        judged, metrics: its metrics, as `scorer.py` and the catalogue take them.
    """

    def __init__(self, name: str, decide: Decide, *measures: Measures) -> None:
        self.name = name
        self._decide = decide
        self.judged = tuple(
            Judged(
                Metric(metric, name, some.better, about),
                some.needs,
                0 if place or some.questions is None else some.questions,
                some.declined,
                high=some.high,
            )
            for some in measures
            for place, (metric, about) in enumerate(some.about.items())
        )
        self.metrics = tuple(judged.metric for judged in self.judged)

    def scorer(self, judge: Judge, at_once: int) -> JudgedScorer:
        """Return what scores rows, `at_once` at the same time."""

        @asynccontextmanager
        async def asker(repeat: int) -> AsyncIterator[Ask]:
            known: dict[Material, asyncio.Task[Decided]] = {}

            async def ask(name: str, material: Material) -> float | Cell:
                if material not in known:
                    known[material] = asyncio.ensure_future(self._decide(judge, str(repeat), material))
                decided = await known[material]
                return decided if isinstance(decided, Cell) else decided[name]

            yield ask

        return JudgedScorer(self.name, self.judged, judge, asker, at_once)
