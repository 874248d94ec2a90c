"""Rerankers without a model."""
# ruff: noqa: ARG002  # they keep the protocol

from collections.abc import Sequence

from errors import ModelError
from query_engine.runtime.deadline import Deadline


class LengthReranker:
    """Prefers short texts: the score is minus the length. Notes what it was asked."""

    name = "cross_encoder"

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[str]]] = []

    def score(self, question: str, texts: Sequence[str], deadline: Deadline) -> list[float]:
        deadline.check("before the first passage")
        self.asked.append((question, list(texts)))
        return [-float(len(text)) for text in texts]


class BrokenReranker:
    name = "cross_encoder"

    def score(self, question: str, texts: Sequence[str], deadline: Deadline) -> list[float]:
        raise ModelError("The cross-encoder failed: out of memory.", "Lower RAG_RERANK__POOL_K.")


class SlowReranker:
    """Takes up all its time before the second passage."""

    name = "cross_encoder"

    def score(self, question: str, texts: Sequence[str], deadline: Deadline) -> list[float]:
        while True:
            deadline.check(f"after 1 of {len(texts)} passages")
