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
class Reranked:
    """The outcome.

    Attributes:
        hits: leaves, best first.
        warning: what a reader must know where the order is still the search's; None otherwise.
    """

    hits: list[LeafHit]
    warning: AnswerWarning | None = None


def rerank(
    question: str,
    hits: Sequence[LeafHit],
    reranker: Reranker,
    texts_of: Callable[[Sequence[str]], list[str]],
    options: RerankSettings,
    *,
    query: str | None = None,
    deadline: Deadline | None = None,
) -> Reranked:
    """Reorder the first `pool_k` hits; those behind them follow in their order.

    The pool's fused scores are reassigned by the new rank: merging weighs leaves by their scores, and is tuned to
    how those of a search fall. A hit's own fused score and rank are noted as `search`, beside the reranker's.

    Args:
        question: the user's.
        hits: best first, with their fused scores.
        reranker: judges.
        texts_of: node ids -> the texts to judge, in the same order.
        options: pool, time limit, and what is dropped: with `min_score` all leaves that did not score more than that,
            and those that were not judged.
        query: asked instead of the question.
        deadline: the time limit where it is not the options' own.

    Returns:
        New hits; those given are not changed.
    """
    pool, rest = list(hits[: options.pool_k]), list(hits[options.pool_k :])
    if not pool:
        return Reranked([])
    deadline = deadline or Deadline(options.timeout_s)
    try:
        scores = reranker.score(query or question, texts_of([hit.node_id for hit in pool]), deadline)
    except RagError as error:
        return Reranked(list(hits), skipped(reranker.name, error))
    order = sorted(range(len(pool)), key=lambda i: -scores[i])
    best = [
        replace(
            pool[i],
            score=pool[rank].score,
            scores={**pool[i].scores, BEFORE: pool[i].score, reranker.name: scores[i]},
            ranks={**pool[i].ranks, BEFORE: i + 1, reranker.name: rank + 1},
        )
        for rank, i in enumerate(order)
        if options.min_score is None or scores[i] > options.min_score
    ]
    return Reranked([*best, *rest] if options.min_score is None else best)


def skipped(name: str, error: RagError) -> AnswerWarning:
    """Return the warning that a reranker was left out."""
    return AnswerWarning("rerank_skipped", f"The {name} reranker was skipped, the order is the search's. {error}")
