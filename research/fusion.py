"""Merge the results of several queries into one list, and rerank it.

Flow: a passage list for each query -> **here** -> review. Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR
2009): a passage's score is the sum of 1 / (`K` + rank) over the lists that hold it, so that it never compares the
scores of different searches. Passages of one document that overlap count as one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from errors import RagError
from query_engine.retrieval.pipeline import Reranking
from query_engine.retrieval.reranking.base import skipped
from query_engine.runtime.deadline import Deadline
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.passage import Passage

K = 60


@dataclass(slots=True)
class _Fused:
    passage: Passage
    score: float = 0.0
    lists: set[int] = field(default_factory=set)

    def holds(self, passage: Passage) -> bool:
        own = self.passage
        if own.document != passage.document:
            return own.text.strip() == passage.text.strip()
        return own.start < passage.end and passage.start < own.end


def fuse(rankings: Sequence[Sequence[Passage]]) -> tuple[Passage, ...]:
    """Return the passages of all rankings, best first, none twice; of overlapping ones the longest.

    The same text in two documents counts as one passage, of the document that was found first.

    Args:
        rankings: one for each query, best first.
    """
    fused: list[_Fused] = []
    for number, ranking in enumerate(rankings):
        for rank, passage in enumerate(ranking, start=1):
            one = next((known for known in fused if known.holds(passage)), None)
            if one is None:
                one = _Fused(passage)
                fused.append(one)
            elif one.passage.document == passage.document and len(passage.text) > len(one.passage.text):
                one.passage = passage
            if number not in one.lists:
                one.lists.add(number)
                one.score += 1 / (K + rank)
    fused.sort(key=lambda one: -one.score)
    return tuple(replace(one.passage, scores={**one.passage.scores, "rrf": one.score}) for one in fused)


def rerank(
    question: str, passages: tuple[Passage, ...], reranking: Reranking | None, deadline: Deadline
) -> tuple[tuple[Passage, ...], AnswerWarning | None]:
    """Return the passages in the reranker's order; in the order given, with a warning, where it failed.

    Args:
        question: the whole one; the reranker's own query is asked instead where it is set.
        passages: best first; the first `pool_k` are reranked.
        reranking: None leaves the order.
        deadline: limits the reranker.
    """
    if reranking is None or len(passages) < 2:
        return passages, None
    options = reranking.options
    pool, rest = passages[: options.pool_k], passages[options.pool_k :]
    texts = [f"{passage.title}\n{passage.text}" for passage in pool]
    try:
        limit = deadline.for_stage(options.timeout_s)
        scores = reranking.reranker.score(reranking.query or question, texts, limit)
    except RagError as error:
        return passages, skipped(reranking.reranker.name, error)
    name = reranking.reranker.name
    judged = [
        replace(one, scores={**one.scores, name: score})
        for one, score in zip(pool, scores, strict=True)
        if options.min_score is None or score > options.min_score
    ]
    judged.sort(key=lambda one: -one.scores[name])
    return (*judged, *rest) if options.min_score is None else tuple(judged), None
