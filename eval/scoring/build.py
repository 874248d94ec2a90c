"""Settings -> the judge and the scorers. The only place that constructs them.

Flow: `asking/`, `command.py` and `judge_option.py` call this -> `stage.score_run`. Models and what they need are loaded
when a row first asks for them: a run that is scored already is opened at once.
"""

import sys
from collections.abc import Callable, Collection, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from errors import SettingsError
from eval.rows import Quote
from eval.scoring.judge_client.client import Judge, JudgeCache
from eval.scoring.judge_client.server import JudgeServer
from eval.scoring.judged.deepeval_metrics import deepeval_scorer
from eval.scoring.judged.families import OWN
from eval.scoring.offline import answer, citations, nuggets, retrieval, service
from eval.scoring.ragas_metrics import RagasOfflineScorer, load_computed, ragas_scorer
from eval.scoring.stage import EachRow, Scorer
from settings import EmbedSettings, Settings

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

    from eval.similarity import Similarity
    from eval.vectors import Vectors
    from index.embedding.token_vectors import TokenEncoder


def offline_scorers(settings: Settings) -> tuple[Scorer, ...]:
    """Return a scorer for each family that is computed; metrics whose model cannot be loaded fail, with the reason."""
    embedder = _late_embedder(settings)

    @cache
    def vectors() -> "Vectors":
        from eval.vectors import Vectors  # noqa: PLC0415  # loads LlamaIndex

        return Vectors(embedder)

    @cache
    def similarity() -> "Similarity":
        from eval.similarity import Similarity  # noqa: PLC0415  # loads LlamaIndex

        return Similarity(vectors())

    def supports(sentence: str, quotes: Sequence[Quote]) -> bool:
        return citations.supported(sentence, quotes, embedder())

    encoder = _late_token_encoder(settings.embed)
    return (
        EachRow("retrieval", retrieval.score_retrieval),
        answer.AnswerScorer("answer", partial(answer.compared, compare=lambda pairs: similarity().score_all(pairs))),
        answer.AnswerScorer("bert_score", partial(answer.bert_scored, encode=lambda texts: encoder().encode(texts))),
        EachRow("nuggets", nuggets.score_nuggets),
        EachRow("citations", partial(citations.score_citations, supports=supports)),
        EachRow("abstention", service.score_abstention),
        EachRow("speed", service.score_speed),
        EachRow("cost", service.score_cost),
        RagasOfflineScorer(lambda: load_computed(vectors()), _tell),
    )


def open_judge(settings: Settings) -> Judge:
    """Return the judge that the settings name; nothing is asked yet.

    Raises:
        SettingsError: they name none, or half of one.
        JudgeCacheError: its replies cannot be kept.
    """
    needed = {"RAG_JUDGE__BASE_URL": settings.judge.base_url, "RAG_JUDGE__MODEL": settings.judge.model}
    missing = [name for name, value in needed.items() if value is None]
    if missing:
        raise SettingsError(
            f"--judge needs {' and '.join(missing)}.",
            "They name an OpenAI-compatible server, e.g. http://127.0.0.1:8001/v1, and a model there.",
        )
    return Judge(JudgeServer(settings.judge), JudgeCache(settings.judge.cache_dir), _tell)


def judged_scorers(
    settings: Settings, judge: Judge, families: Collection[str], deepeval_python: Path | None
) -> tuple[Scorer, ...]:
    """Return a scorer for each family that the judge shall decide; DeepEval's if its Python is named.

    Raises:
        RagasMissingError: RAGAS is wanted and not installed.
    """
    rows_at_once = settings.judge.concurrency
    scorers: tuple[Scorer, ...] = tuple(
        family.scorer(judge, rows_at_once) for name, family in OWN.items() if name in families
    )
    if "ragas" in families:
        scorers += (ragas_scorer(judge, _late_embedder(settings), rows_at_once),)
    if deepeval_python is not None:
        scorers += (deepeval_scorer(judge, deepeval_python, rows_at_once, settings.judge.timeout_s),)
    return scorers


def _late_embedder(settings: Settings) -> "Callable[[], BaseEmbedding]":
    """Return a function that loads the embedder when it is first called."""

    @cache
    def embedder() -> "BaseEmbedding":
        from index.build import Embedding  # noqa: PLC0415  # loads OpenVINO

        return Embedding(settings).embedder

    return embedder


def _late_token_encoder(embed: EmbedSettings) -> "Callable[[], TokenEncoder]":
    """Return a function that loads the encoder when it is first called: the packaged one where a server embeds."""

    @cache
    def encoder() -> "TokenEncoder":
        from index.embedding.model import load_embedding_model  # noqa: PLC0415  # loads OpenVINO
        from index.embedding.token_vectors import TokenEncoder  # noqa: PLC0415

        model = load_embedding_model(embed.model if embed.provider == "local" else "minilm", embed.cache_dir)
        return TokenEncoder(model, precision=embed.precision, cache_dir=embed.cache_dir, threads=embed.threads)

    return encoder


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
