"""What the searches are given for a question.

Flow: question -> **here** -> expansion changes it, if any is set -> `leaves.py` searches with it. A pure value.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from llama_index.core.schema import QueryBundle

Vector = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """A question on its way to the searches.

    Attributes:
        text: as it was asked.
        embedding: unit vector, shape (dimension,), that the dense search looks near; None stands for the text's own.
        terms: index term -> weight above 0 that the lexical search looks for; None stands for the text's own words,
            each of weight 1.
        versions: document versions that may be found; None allows all, an empty set finds nothing.
    """

    text: str
    embedding: Vector | None = None
    terms: Mapping[str, float] | None = None
    versions: frozenset[str] | None = None

    @classmethod
    def of(cls, bundle: QueryBundle) -> "Query":
        """Read LlamaIndex's form of a question."""
        embedding = None if bundle.embedding is None else np.asarray(bundle.embedding, np.float32)
        return cls(bundle.query_str, embedding)
