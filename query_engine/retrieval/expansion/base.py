"""Expand a query before the search, by the methods that are switched on.

Flow: `schema/query.py` -> **here**: `multi_query.py`, `hyde.py` in this order -> `retrieval/hybrid.py`. One that fails
or is too slow leaves the query as it was, with a warning.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from errors import RagError
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.query import Query, Vector


class Expansion(Protocol):
    """Changes queries."""

    name: str
    """`hyde` or `multi_query`."""

    def expand(self, query: Query) -> Query:
        """Return the query to search for; its text and versions are the same.

        Raises:
            RagError: it has nothing to say, or not in time.
        """
        ...


@dataclass(frozen=True, slots=True)
class Expanded:
    """The outcome.

    Attributes:
        query: to search for.
        warnings: for each expansion that was left out.
    """

    query: Query
    warnings: tuple[AnswerWarning, ...] = ()


def expand(query: Query, expansions: Sequence[Expansion]) -> Expanded:
    """Apply one expansion after the other, each to what those before it made."""
    warnings = []
    for expansion in expansions:
        try:
            query = expansion.expand(query)
        except RagError as error:
            text = f"The question was searched for without {expansion.name}. {error}"
            warnings.append(AnswerWarning("expansion_skipped", text))
    return Expanded(query, tuple(warnings))


def mean_direction(vectors: Sequence[Vector]) -> Vector:
    """Return the unit vector of the mean of unit vectors, at least one; the first one where they cancel out."""
    mean = np.mean(np.stack(vectors), axis=0)
    length = float(np.linalg.norm(mean))
    return vectors[0] if length < 1e-6 else (mean / length).astype(np.float32)
