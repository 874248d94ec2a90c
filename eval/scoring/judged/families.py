"""The families of our own judged metrics: what each needs, and which function asks the judge and computes them.

Flow: `nuggets.py`, `support.py`, `ratings.py` -> **here** -> `scorer.py`. Each has prompts of its own and computes the
published formula that it names. What the judge says of a row is asked once and decides all metrics of the family.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any

from eval.cases import Case
from eval.cells import Cell, scored
from eval.rows import Row
from eval.scoring.catalogue import names_of
from eval.scoring.judge_client import Judge
from eval.scoring.judged import nuggets, ratings, support
from eval.scoring.judged.labels import batches
from eval.scoring.judged.scorer import Ask, Count, Judged, JudgedScorer, Material
from eval.scoring.stage import Need

Decided = Mapping[str, float | Cell]
"""Metric's name -> score, or the cell."""
Decide = Callable[[Judge, str, Material], Coroutine[Any, Any, Decided]]
"""(judge, which time, what is judged) -> the scores; it may raise JudgeError."""


@dataclass(frozen=True, slots=True)
class Family:
    """Metrics that are decided together.

    Attributes:
        name: of the family, as `--family` takes it.
        decide: asks the judge about one row.
        metrics: what comes of it; the first one's `questions` are those of all.
    """

    name: str
    decide: Decide
    metrics: tuple[Judged, ...]

    def scorer(self, judge: Judge) -> JudgedScorer:
        """Return what scores rows."""

        def asker(repeat: int) -> AbstractAsyncContextManager[Ask]:
            @cache
            def decided(material: Material) -> asyncio.Task[Decided]:
                return asyncio.ensure_future(self.decide(judge, str(repeat), material))

            async def ask(name: str, material: Material) -> Cell:
                score = (await decided(material))[name]
                return score if isinstance(score, Cell) else scored(score)

            return nullcontext(ask)

        return JudgedScorer(self.name, self.metrics, judge, asker)


# The largest number of questions to the judge about one row.
def _of_nuggets(case: Case, _: Row) -> int:
    made = 0 if case.nuggets else len(batches(Material.sources_of(case))) + len(batches(range(nuggets.MOST_MADE)))
    return made + len(batches(case.nuggets or range(nuggets.MOST_KEPT)))


def _of_citations(_: Case, row: Row) -> int:
    return len(batches(range((row.answer or "").count("["))))


def _of_argue(case: Case, row: Row) -> int:
    return _of_nuggets(case, row) + _of_citations(case, row) + 1


def _of_passages(_: Case, row: Row) -> int:
    return len(batches(row.passages))


def _alike(
    family: str, needs: tuple[Need, ...], questions: int | Count, declined: float | None = None
) -> tuple[Judged, ...]:
    first, *others = names_of(family)
    return Judged(first, needs, questions, declined), *(Judged(name, needs, 0, declined) for name in others)


OWN: Mapping[str, Family] = {
    family.name: family
    for family in (
        Family(
            "nuggets_judged", nuggets.score_nuggets, _alike("nuggets_judged", ("facts",), _of_nuggets, declined=0.0)
        ),
        Family(
            "key_points",
            nuggets.score_key_points,
            (
                Judged("key_point_recall", ("facts",), _of_nuggets, declined=0.0),
                Judged("key_points_omitted", ("facts",), 0, declined=1.0),
                Judged("key_points_contradicted", ("facts",), 0, declined=0.0),
            ),
        ),
        Family("support", support.score_support, _alike("support", ("answer", "quotes"), _of_citations)),
        Family(
            "argue",
            support.score_argue,
            (
                Judged("argue_sentence_precision", ("answer", "quotes"), _of_argue),
                Judged("argue_nugget_recall", ("facts", "quotes"), 0, declined=0.0),
                Judged("argue_f1", ("facts", "quotes"), 0, declined=0.0),
            ),
        ),
        Family("relevance", ratings.score_relevance, _alike("relevance", ("passages",), _of_passages)),
        Family(
            "report_quality",
            ratings.score_report,
            _alike("report_quality", ("answer",), len(ratings.CRITERIA), declined=0.0),
        ),
    )
}
