"""Reorder the first leaves of a search by a closer look, within a time limit.

Flow: `retrieval/hybrid.py` -> **here** -> `retrieval/merging/retriever.py`, so that merging and the budget work on the
final order. The closer look is a `Reranker`: `cross_encoder.py`, `listwise.py` or `server.py`. One that fails
or is too slow leaves the order of the search, with a warning.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from errors import RagError
from query_engine.runtime.deadline import Deadline
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.hit import LeafHit
from settings import RerankSettings

# The name under which the fused score and rank are kept before they are reassigned.
BEFORE = "search"


class Reranker(Protocol):
    """Judges texts by a question."""

    name: str
    """Under which its scores and ranks are shown: `cross_encoder`, `listwise`, `http` or `tei`."""

    def score(self, question: str, texts: Sequence[str], deadline: Deadline) -> list[float]:
        """Return one finite score a text, in the order given, higher is better; `[]` for no texts.

        Args:
            question: what is asked.
            texts: in the order of the search, which a reranker may use.
            deadline: checked between parts of the work.

        Raises:
            RagError: it cannot judge, or not in time.
        """
        ...


@dataclass(frozen=True, slots=True)
class Reranking:
    """How leaves are reranked.

    Attributes:
        reranker: judges.
        texts_of: node ids -> the texts it reads, in the same order.
        options: pool, time limit, and what is dropped: with `min_score` all leaves that did not score more than that,
            and those that were not judged.
        query: asked of the reranker instead of the question; None asks the question.
    """

    reranker: Reranker
    texts_of: Callable[[Sequence[str]], list[str]]
    options: RerankSettings
    query: str | None = None

    def reorder(
        self, question: str, hits: Sequence[LeafHit], deadline: Deadline
    ) -> tuple[list[LeafHit], AnswerWarning | None]:
        """Return the hits with the first `pool_k` reordered, and a warning where the order is still the search's.

        The pool's fused scores are reassigned by the new rank: merging weighs leaves by their scores, and is tuned to
        how those of a search fall. A hit's own fused score and rank are noted as `search`, beside the reranker's.

        Args:
            question: the user's.
            hits: best first, with their fused scores; they are not changed.
            deadline: the time limit.
        """
        pool, rest = list(hits[: self.options.pool_k]), list(hits[self.options.pool_k :])
        if not pool:
            return [], None
        name, least = self.reranker.name, self.options.min_score
        try:
            scores = self.reranker.score(self.query or question, self.texts_of([hit.node_id for hit in pool]), deadline)
        except RagError as error:
            text = f"The {name} reranker was skipped, the order is the search's. {error}"
            return list(hits), AnswerWarning("rerank_skipped", text)
        order = sorted(range(len(pool)), key=lambda i: -scores[i])
        best = [
            replace(
                pool[i],
                score=pool[rank].score,
                scores={**pool[i].scores, BEFORE: pool[i].score, name: scores[i]},
                ranks={**pool[i].ranks, BEFORE: i + 1, name: rank + 1},
            )
            for rank, i in enumerate(order)
            if least is None or scores[i] > least
        ]
        return ([*best, *rest] if least is None else best), None
