"""Settings -> the judge and the scorers. The only place that constructs them.

Flow: `asking/`, `command.py` and `judge_option.py` call this -> `stage.score_run`. Models and what they need are loaded
when a row first asks for them: a run that is scored already is opened at once.
"""

from collections.abc import Collection, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from errors import SettingsError
from eval.metrics import Scores
from eval.progress_bar import tell
from eval.scoring.judge_client import Judge
from eval.scoring.judged.deepeval_metrics import deepeval_scorer
from eval.scoring.judged.families import OWN
from eval.scoring.offline import citations, nuggets, retrieval, service
from eval.scoring.offline.answer import AnswerScorer, bert_scored, compared
from eval.scoring.ragas_metrics import RagasOfflineScorer, load_computed, ragas_scorer
from eval.scoring.stage import EachRow, Scorer
from settings import Settings

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

    from eval.similarity import Vectors
    from index.embedding.token_vectors import TokenEncoder


class _Models:
    """What scorers load when a row first asks for it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @cached_property
    def embedder(self) -> "BaseEmbedding":
        from index.build import Embedding  # noqa: PLC0415  # loads OpenVINO

        return Embedding(self._settings).embedder

    @cached_property
    def vectors(self) -> "Vectors":
        from eval.similarity import Vectors  # noqa: PLC0415  # loads LlamaIndex

        return Vectors(lambda: self.embedder)

    @cached_property
    def token_encoder(self) -> "TokenEncoder":
        """The embedder's own; the packaged one where a server embeds."""
        from index.embedding.cpu import resolved  # noqa: PLC0415  # as the next
        from index.embedding.model import load_embedding_model  # noqa: PLC0415  # loads OpenVINO
        from index.embedding.token_vectors import TokenEncoder  # noqa: PLC0415

        embed = self._settings.embed
        model = load_embedding_model("minilm" if embed.base_url else embed.plain_model, embed.cache_dir)
        return TokenEncoder(
            model, precision=resolved(embed.precision), cache_dir=embed.cache_dir, threads=embed.threads
        )

    def compare(self, pairs: Sequence[tuple[str, str]]) -> Sequence[Scores]:
        from eval.similarity import likenesses  # noqa: PLC0415  # loads LlamaIndex

        return likenesses(pairs, self.vectors)

    def embed(self, texts: Sequence[str]) -> None:
        self.vectors.of(texts)


def offline_scorers(settings: Settings) -> tuple[Scorer, ...]:
    """Return a scorer for each family that is computed; metrics whose model cannot be loaded fail, with the reason."""
    models = _Models(settings)
    return (
        EachRow("retrieval", retrieval.score_retrieval),
        AnswerScorer("answer", partial(compared, compare=models.compare)),
        AnswerScorer("bert_score", lambda answers: bert_scored(answers, models.token_encoder.encode)),
        EachRow("nuggets", nuggets.score_nuggets),
        EachRow("citations", citations.score_citations),
        EachRow("abstention", service.score_abstention),
        EachRow("speed", service.score_speed),
        EachRow("cost", service.score_cost),
        RagasOfflineScorer(lambda: load_computed(models.vectors), models.embed, tell),
    )


def open_judge(settings: Settings) -> Judge:
    """Return the judge that the settings name; nothing is asked yet.

    Raises:
        SettingsError: they name none, or half of one.
        RagError: its replies cannot be kept.
    """
    needed = {"RAG_JUDGE__BASE_URL": settings.judge.base_url, "RAG_JUDGE__MODEL": settings.judge.model}
    missing = [name for name, value in needed.items() if value is None]
    if missing:
        raise SettingsError(
            f"--judge needs {' and '.join(missing)}.",
            "They name an OpenAI-compatible server, e.g. http://127.0.0.1:8001/v1, and a model there.",
        )
    return Judge(settings.judge, tell)


def judged_scorers(
    settings: Settings, judge: Judge, families: Collection[str], deepeval_python: Path | None
) -> list[Scorer]:
    """Return a scorer for each family that the judge shall decide; DeepEval's if its Python is named.

    Raises:
        RagError: RAGAS is wanted and not installed.
    """
    scorers: list[Scorer] = [family.scorer(judge) for name, family in OWN.items() if name in families]
    if "ragas" in families:
        scorers.append(ragas_scorer(judge, lambda: _Models(settings).embedder))
    if deepeval_python is not None:
        scorers.append(deepeval_scorer(judge, deepeval_python))
    return scorers
