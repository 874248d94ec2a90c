"""Move a question towards one thing and away from another, as a client asks for a single search.

Flow: query -> **here** -> the dense search looks near the moved embedding; the words that are searched for stay.

The distances are those of Weaviate's `moveTo` and `moveAwayFrom`, which clients of ASK-xDD know: weight 1 moves halfway
to the one, and half the difference away from the other.
"""

from dataclasses import dataclass, replace

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding

from query_engine.schema.query import Query, Vector

SHARE_AT_FULL_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class Steering:
    """Where to move a question.

    Attributes:
        move_to: what the passages should be nearer to.
        move_to_weight: how much, 0..1.
        move_away_from: what they should be farther from.
        move_away_from_weight: how much, 0..1.
    """

    move_to: str | None = None
    move_to_weight: float = 0.0
    move_away_from: str | None = None
    move_away_from_weight: float = 0.0

    def steer(self, query: Query, embedder: BaseEmbedding) -> Query:
        """Return the query with its embedding moved, at unit length."""
        embedding = embedding_of(query, embedder)
        moved = embedding
        if self.move_to is not None and self.move_to_weight:
            share = SHARE_AT_FULL_WEIGHT * self.move_to_weight
            moved = (1 - share) * moved + share * _embedded(self.move_to, embedder)
        if self.move_away_from is not None and self.move_away_from_weight:
            share = SHARE_AT_FULL_WEIGHT * self.move_away_from_weight
            moved = moved + share * (moved - _embedded(self.move_away_from, embedder))
        length = float(np.linalg.norm(moved))
        # Opposites cancel out, and leave no direction to search in.
        return replace(query, embedding=embedding if length < 1e-6 else (moved / length).astype(np.float32))


def embedding_of(query: Query, embedder: BaseEmbedding) -> Vector:
    """Return the unit vector that the dense search would look near, shape (dimension,)."""
    return _embedded(query.text, embedder) if query.embedding is None else query.embedding


def _embedded(text: str, embedder: BaseEmbedding) -> Vector:
    return np.asarray(embedder.get_query_embedding(text), np.float32)
