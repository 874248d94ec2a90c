"""What the searches are given for a question.

Flow: question -> **here** -> expansion changes it, if any is set -> `retrieval/hybrid.py` searches with it. A pure
value.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from llama_index.core.schema import QueryBundle

from query_engine.runtime.deadline import Deadline

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
        deadline: of what can be left out; its `stop` is looked at between the stages. None sets no limit.
    """

    text: str
    embedding: Vector | None = None
    terms: Mapping[str, float] | None = None
    versions: frozenset[str] | None = None
    deadline: Deadline | None = None

    def limit(self, timeout_s: float) -> Deadline:
        """Return the limit of a stage that may take `timeout_s`, and no more than its share of the question's time."""
        return Deadline(timeout_s) if self.deadline is None else self.deadline.for_stage(timeout_s)

    @classmethod
    def of(cls, bundle: QueryBundle) -> "Query":
        """Read LlamaIndex's form of a question."""
        embedding = None if bundle.embedding is None else np.asarray(bundle.embedding, np.float32)
        return cls(bundle.query_str, embedding)
