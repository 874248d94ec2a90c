"""Let RAGAS compute its metrics that need no language model.

Flow: `ragas_metrics.py` -> **here** -> RAGAS's metrics, with the project's embedder. Two of them exist only in RAGAS's
older modules, which say nothing when they are imported directly and warn when they are taken from `ragas.metrics`.
"""

from typing import Any

from ragas.dataset_schema import SingleTurnSample
from ragas.embeddings.base import BaseRagasEmbedding
from ragas.metrics._context_precision import NonLLMContextPrecisionWithReference
from ragas.metrics._context_recall import NonLLMContextRecall
from ragas.metrics._string import NonLLMStringSimilarity as OldStringSimilarity
from ragas.metrics.collections import BleuScore, ExactMatch, NonLLMStringSimilarity, RougeScore, SemanticSimilarity

from eval.scoring.offline.ragas_metrics import RagasError
from eval.similarity import Vectors

_ERRORS = (ValueError, TypeError, LookupError, ArithmeticError, AssertionError, ImportError)


class RagasComputed:
    """Computes RAGAS's metrics of one pair of texts, or of one list of passages.

    Args:
        vectors: of texts.

    Raises:
        ImportError: a library that one of the metrics needs is not installed.
    """

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self._texts = {
            "ragas_string_similarity": NonLLMStringSimilarity(),
            "ragas_rouge_score": RougeScore(),
            "ragas_bleu_score": BleuScore(),
            "ragas_exact_match": ExactMatch(),
            "ragas_semantic_similarity": SemanticSimilarity(embeddings=_Embeddings(vectors)),
        }
        self._contexts = {
            "ragas_context_recall": NonLLMContextRecall(_distance_measure=_Quiet()),
            "ragas_context_precision": NonLLMContextPrecisionWithReference(distance_measure=_Quiet()),
        }

    def prepare(self, texts: list[str]) -> None:
        """Embed many texts at once, which is several times as fast.

        Raises:
            ModelError: the embedding model cannot be loaded or run.
        """
        self._vectors.of(texts)

    async def of_texts(self, name: str, answer: str, reference: str) -> float:
        """Compare an answer with a reference.

        Raises:
            RagasError: RAGAS cannot compute it.
        """
        try:
            return float((await self._texts[name].ascore(reference=reference, response=answer)).value)
        except _ERRORS as error:
            raise _broken(error) from error

    async def of_contexts(self, name: str, passages: list[str], references: list[str]) -> float:
        """Compare passages, best first, with the texts that the reference answer rests on.

        Raises:
            RagasError: RAGAS cannot compute it.
        """
        sample = SingleTurnSample(retrieved_contexts=passages, reference_contexts=references)
        try:
            return float(await self._contexts[name]._single_turn_ascore(sample, None))
        except _ERRORS as error:
            raise _broken(error) from error


def _broken(error: Exception) -> RagasError:
    return RagasError(f"RAGAS cannot compute it: {type(error).__name__}: {error}.", "Look at the other metrics.")


class _Quiet(OldStringSimilarity):
    """RAGAS's own, without the report of every call, for which it would make a file in the home folder."""

    async def single_turn_ascore(self, sample: SingleTurnSample, *_: Any) -> float:
        return await self._single_turn_ascore(sample, None)


class _Embeddings(BaseRagasEmbedding):
    """The project's embedder, as RAGAS wants to call it."""

    def __init__(self, vectors: Vectors) -> None:
        super().__init__()
        self._vectors = vectors

    def embed_text(self, text: str, **_: Any) -> list[float]:
        return list(map(float, self._vectors.of([text])[text]))

    async def aembed_text(self, text: str, **_: Any) -> list[float]:
        return self.embed_text(text)
