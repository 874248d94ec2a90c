"""RAGAS's metrics that a judge decides: what they are called, what they need, what they cost.

Flow: `build.py` -> **here** -> `scorer.py`. The library itself is in `ragas_calls.py`: it takes seconds to load,
and that is done when there is a row to judge.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from errors import RagError
from eval.cells import Metric
from eval.scoring.judge_client.client import Judge
from eval.scoring.judged.scorer import Ask, Judged, JudgedScorer, per_passage
from eval.scoring.ragas_telemetry import forbid_reports

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

FAMILY = "ragas"
INSTALL = "Install it: pip install -e '.[eval]' -c constraints.txt; or name other metrics by --family."


def _metric(name: str, about: str) -> Metric:
    return Metric(name, FAMILY, "higher", about)


JUDGED = (
    Judged(
        _metric("faithfulness", "Share of the answer's statements that the passages support, by the judge; 0 to 1."),
        ("answer", "passages"),
        questions=2,
    ),
    Judged(
        _metric(
            "answer_relevancy",
            "Likeness (cosine) of the question and of questions that the judge reads out of the answer; -1 to 1, and 0 "
            "for an answer that commits itself to nothing.",
        ),
        ("answer",),
        questions=3,
        low=-1.0,
    ),
    Judged(
        _metric(
            "context_precision",
            "Average precision of the ranking of passages, those counting that the judge finds useful for the "
            "reference answer; 0 to 1.",
        ),
        ("reference", "passages"),
        questions=per_passage,
    ),
    Judged(
        _metric(
            "context_recall",
            "Share of the reference answer's sentences that the judge finds in the passages; 0 to 1.",
        ),
        ("reference", "passages"),
        questions=1,
    ),
    Judged(
        _metric(
            "answer_correctness",
            "Three parts F1 of the answer's and the reference's statements, by the judge, one part their likeness "
            "(cosine); -0.25 to 1.",
        ),
        ("answer", "reference"),
        questions=3,
        low=-0.25,
    ),
    Judged(
        _metric(
            "factual_correctness",
            "F1 of the answer's claims that the reference supports and of the reference's that the answer supports, "
            "by the judge; 0 to 1, in steps of 0.01.",
        ),
        ("answer", "reference"),
        questions=4,
    ),
)
METRICS = tuple(judged.metric for judged in JUDGED)


class RagasMissingError(RagError):
    """RAGAS is not installed."""

    code = "ragas_missing"


def ragas_scorer(judge: Judge, embedder: Callable[[], "BaseEmbedding"], at_once: int) -> JudgedScorer:
    """Return the scorer of this family.

    Args:
        judge: decides.
        embedder: loads the project's own, which tells how alike two texts are.
        at_once: rows that are judged at the same time.

    Raises:
        RagasMissingError: it is not installed.
    """
    if find_spec("ragas") is None:
        raise RagasMissingError("RAGAS is not installed.", INSTALL)

    @asynccontextmanager
    async def asker(repeat: int) -> AsyncIterator[Ask]:
        forbid_reports()
        try:
            from eval.scoring.judged.ragas_calls import RagasCalls  # noqa: PLC0415  # loads langchain and pandas
        except ImportError as error:
            raise RagasMissingError(f"RAGAS cannot be loaded: {error}.", INSTALL) from error
        yield RagasCalls(judge, embedder(), repeat).score

    return JudgedScorer(FAMILY, JUDGED, judge, asker, at_once)
