"""Settings -> the scorers that need no language model. The only place that constructs them.

Flow: `asking/` and `command.py` call this -> `stage.score_run`. Models and what they need are loaded when a row first
asks for them: a run that is scored already is opened at once.
"""

from functools import cache
from typing import TYPE_CHECKING

from eval.cases import Case
from eval.rows import Row
from eval.scoring import abstention, answer, citations, retrieval, speed
from eval.scoring.stage import Cells, EachRow, Scorer
from settings import Settings

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

    from eval.likeness import Likeness


def offline_scorers(settings: Settings) -> tuple[Scorer, ...]:
    """Return a scorer for each family that is computed; metrics whose model cannot be loaded fail, with the reason."""

    @cache
    def embedder() -> "BaseEmbedding":
        from index.build import Embedding  # noqa: PLC0415  # loads OpenVINO

        return Embedding(settings).embedder

    @cache
    def likeness() -> "Likeness":
        from eval.likeness import Likeness  # noqa: PLC0415  # loads LlamaIndex

        return Likeness(embedder())

    def cited(case: Case, row: Row) -> Cells:
        from eval.scoring.support import supported  # noqa: PLC0415  # likewise

        return citations.score_citations(case, row, lambda text, quotes: supported(text, quotes, embedder()))

    return (
        EachRow(retrieval.FAMILY, retrieval.score_retrieval),
        answer.AnswerScorer(likeness),
        EachRow(citations.FAMILY, cited),
        EachRow(abstention.FAMILY, abstention.score_abstention),
        EachRow(speed.FAMILY, speed.score_speed),
    )
