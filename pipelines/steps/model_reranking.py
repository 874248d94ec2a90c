"""Rank documents with a model: the embedding model, or the cross-encoder of the settings.

Flow: texts -> a model that `query_engine` has loaded already -> **here** -> scores. Scores of single texts are kept in
the row cache.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from errors import PipelineError, StepError
from index.embedding.batch import embed_documents
from pipelines.handler import StepHandler
from pipelines.parameters import Text, embedding_parameter
from pipelines.services import Services
from pipelines.step import RerankerStep
from query_engine.runtime.deadline import Deadline

BATCH_TEXTS = 32


class EmbeddingReranker(RerankerStep):
    """Ranks by the cosine of the texts' and the query's vectors."""

    id = "embedding_reranker"
    name = "Embedding-Reranker"
    description = "Ranks by similarity in meaning: the cosine of dense embeddings."

    class Parameters(RerankerStep.Parameters):
        """Which model."""

        model: Text = embedding_parameter()

    def scores(self, query: str, texts: list[str], handler: StepHandler) -> Sequence[float]:
        """Return cosines, -1..1."""
        if warning := handler.services.other_embedder(self.given.model):
            handler.warn(warning)
        return by_embedding(query, texts, handler)


def by_embedding(query: str, texts: list[str], handler: StepHandler) -> list[float]:
    """Return the cosine of each text's vector and the query's, -1..1."""
    embedder = handler.services.embedder()

    def compute(some: list[Any]) -> Iterable[float]:
        wanted = np.asarray(embedder.get_query_embedding(query), np.float32)
        for start in range(0, len(some), BATCH_TEXTS):
            yield from map(float, embed_documents(embedder, some[start : start + BATCH_TEXTS]) @ wanted)

    name = [EmbeddingReranker.id, EmbeddingReranker.version, handler.services.embedding_name(), query]
    return handler.each(texts, name, compute)


class CrossEncoderReranker(RerankerStep):
    """Ranks with the reranker that the service is set to use."""

    id = "cross_encoder_reranker"
    name = "Cross-encoder"
    description = "Ranks with the service's cross-encoder, which reads query and text together."

    def check(self, services: Services) -> None:
        """Refuse where there is none."""
        if services.reranker() is None:
            raise PipelineError(
                "This service has no reranker.", "Start it with RAG_RERANK__MODEL set, or leave the step out."
            )

    def scores(self, query: str, texts: list[str], handler: StepHandler) -> Sequence[float]:
        """Return the model's scores; their scale depends on the model."""
        reranker = handler.services.reranker()
        if reranker is None:
            raise StepError("This service has no reranker.", "Start it with RAG_RERANK__MODEL set.")
        options = handler.services.settings.rerank

        def compute(some: list[Any]) -> Iterable[float]:
            for start in range(0, len(some), BATCH_TEXTS):
                deadline = Deadline(options.timeout_s, stop=handler.stop)
                yield from reranker.score(query, some[start : start + BATCH_TEXTS], deadline)

        # A ranking of lists depends on what else is in the list.
        cached = reranker.name == "cross_encoder"
        if not cached:
            return reranker.score(query, texts, Deadline(options.timeout_s, stop=handler.stop))
        return handler.each(texts, [self.id, self.version, options.model or "", query], compute)
