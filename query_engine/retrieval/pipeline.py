"""Everything around the search for leaves that is off by default: expansion before it, reranking after it.

Flow: query -> **here**: expansions -> `hybrid.py` -> reranker -> `retrieval/merging/retriever.py`. What was
left out is named in warnings.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from errors import SettingsError
from query_engine.retrieval.expansion import Expansion, expand
from query_engine.retrieval.reranking.base import Reranking
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.hit import LeafHit
from query_engine.schema.query import Query
from query_engine.schema.retrieval_result import ms_since


@dataclass(frozen=True, slots=True)
class RefinedHits:
    """The result of a search.

    Attributes:
        hits: leaves, best first.
        warnings: for each stage that was left out.
        timings_ms: `expand` and `rerank`, where they are set.
    """

    hits: list[LeafHit]
    warnings: tuple[AnswerWarning, ...] = ()
    timings_ms: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RetrievalPipeline:
    """The stages around the search of one corpus; by default there are none.

    Attributes:
        expansions: in the order in which they are applied.
        reranking: None leaves the order of the search.
    """

    expansions: Sequence[Expansion] = ()
    reranking: Reranking | None = None

    def search(self, query: Query, retrieve: Callable[[Query], list[LeafHit]]) -> RefinedHits:
        """Expand, search by `retrieve`, rerank.

        Raises:
            OutOfTimeError: the query was cancelled.
        """
        warnings: list[AnswerWarning] = []
        timings_ms: dict[str, float] = {}
        if self.expansions:
            started = time.perf_counter()
            query, left_out = expand(query, self.expansions)
            warnings += left_out
            timings_ms["expand"] = ms_since(started)
        _check_wanted(query, "before the search")
        hits = retrieve(query)
        _check_wanted(query, "after the search")
        if by := self.reranking:
            started = time.perf_counter()
            hits, warning = by.reorder(query.text, hits, query.limit(by.options.timeout_s))
            warnings += [warning] if warning else []
            timings_ms["rerank"] = ms_since(started)
        return RefinedHits(hits, tuple(warnings), timings_ms)

    def reranked_by(self, *, wanted: bool | None, query: str | None) -> "RetrievalPipeline":
        """Return these stages as one request wants them.

        Args:
            wanted: False leaves reranking out; None and True leave it as it is set.
            query: asked of the reranker instead of the question; None asks the question.

        Raises:
            SettingsError: reranking is wanted, and no reranker is set.
        """
        if wanted is False:
            return replace(self, reranking=None)
        if self.reranking is None:
            if wanted or query:
                raise SettingsError(
                    "This service has no reranker.", "Start it with RAG_RERANK__METHOD or RAG_RERANK__MODEL set."
                )
            return self
        return self if query is None else replace(self, reranking=replace(self.reranking, query=query))


def _check_wanted(query: Query, where: str) -> None:
    if query.deadline is not None:
        query.deadline.check_wanted(where)
