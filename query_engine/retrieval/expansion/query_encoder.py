"""The default embedding and terms of a query: those of its question.

Flow: embedder and word index -> **here** -> `hyde.py`, `multi_query.py`.
"""

from typing import Protocol

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding

from query_engine.schema.query import Query, Vector


class Words(Protocol):
    """What of the word index is needed."""

    def query_terms(self, question: str) -> list[str]:
        """Return the distinct terms of a question that are worth searching."""
        ...


class QuestionReader:
    """Reads questions as the searches do.

    Args:
        embedder: of the corpus.
        words: of the corpus.
    """

    def __init__(self, embedder: BaseEmbedding, words: Words) -> None:
        self._embedder = embedder
        self._words = words

    def embedding(self, query: Query) -> Vector:
        """Return the unit vector that the dense search would look near, shape (dimension,)."""
        return self.embedded(query.text) if query.embedding is None else query.embedding

    def terms(self, query: Query) -> dict[str, float]:
        """Return the terms that the lexical search would look for, with their weights."""
        return dict.fromkeys(self._words.query_terms(query.text), 1.0) if query.terms is None else dict(query.terms)

    def embedded(self, question: str) -> Vector:
        """Embed text as a question."""
        return np.asarray(self._embedder.get_query_embedding(question), np.float32)

    def embedded_passage(self, text: str) -> Vector:
        """Embed text as a passage."""
        return np.asarray(self._embedder.get_text_embedding(text), np.float32)
