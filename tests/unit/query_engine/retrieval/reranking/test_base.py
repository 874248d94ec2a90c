from collections.abc import Sequence
from typing import Any

import pytest

from query_engine.retrieval.reranking.base import Reranker, Reranking
from query_engine.runtime.deadline import Deadline
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.hit import LeafHit
from settings import RerankSettings
from tests.fakes.reranking import BrokenReranker, LengthReranker, SlowReranker

TEXTS = {"a": "the longest of them", "b": "short", "c": "in between", "d": "-"}
HITS = [
    LeafHit(name, score, {"dense": score / 2}, {"dense": rank})
    for rank, (name, score) in enumerate([("a", 0.9), ("b", 0.5), ("c", 0.4), ("d", 0.1)], start=1)
]


def texts_of(node_ids: Sequence[str]) -> list[str]:
    return [TEXTS[node_id] for node_id in node_ids]


def ids(hits: Sequence[LeafHit]) -> str:
    return "".join(hit.node_id for hit in hits)


def reorder(
    reranker: Reranker, hits: Sequence[LeafHit] = HITS, timeout_s: float = 60, query: str | None = None, **options: Any
) -> tuple[list[LeafHit], AnswerWarning | None]:
    by = Reranking(reranker, texts_of, RerankSettings(**options), query)
    return by.reorder("the user's", hits, Deadline(timeout_s))


def reranked(reranker: Reranker | None = None, **options: Any) -> str:
    hits, warning = reorder(reranker or LengthReranker(), **options)
    assert warning is None
    return ids(hits)


def test_the_first_leaves_are_reordered_and_the_others_follow() -> None:
    assert reranked(pool_k=3) == "bcad"
    assert reranked() == "dbca"


def test_fused_scores_are_reassigned_by_rank_and_every_other_score_and_rank_stays_with_its_leaf() -> None:
    best, _ = reorder(LengthReranker(), pool_k=3)

    assert [hit.score for hit in best] == [0.9, 0.5, 0.4, 0.1]
    assert best[0].scores == {"dense": 0.25, "search": 0.5, "cross_encoder": -5.0}
    assert best[0].ranks == {"dense": 2, "search": 2, "cross_encoder": 1}
    assert best[3].scores == {"dense": 0.05}
    assert HITS[1].scores == {"dense": 0.25}


def test_equal_scores_keep_the_order_of_the_search() -> None:
    class Indifferent(LengthReranker):
        def score(self, *_: object) -> list[float]:
            return [1.0] * len(HITS)

    assert reranked(Indifferent()) == "abcd"


@pytest.mark.promise("B08")
def test_a_threshold_drops_what_does_not_exceed_it_and_what_was_not_judged() -> None:
    assert reranked(min_score=-10.0) == "db"
    assert reranked(min_score=-100.0, pool_k=2) == "ba"
    assert reranked(min_score=0.0) == ""


def test_its_own_question_is_asked_where_one_is_set() -> None:
    reranker = LengthReranker()

    reorder(reranker)
    reorder(reranker, query="another")

    assert [question for question, _ in reranker.asked] == ["the user's", "another"]
    assert reranker.asked[0][1] == list(TEXTS.values())


@pytest.mark.parametrize(
    ("reranker", "warning"),
    [
        (
            BrokenReranker(),
            "rerank_skipped: The cross_encoder reranker was skipped, the order is the search's. "
            "The cross-encoder failed: out of memory. Lower RAG_RERANK__POOL_K.",
        ),
        (
            SlowReranker(),
            "rerank_skipped: The cross_encoder reranker was skipped, the order is the search's. The limit of 0.01 s "
            "was reached after 1 of 3 passages. Raise the limit, or give it less to do.",
        ),
    ],
    ids=["it fails", "it is too slow"],
)
def test_a_reranker_that_cannot_judge_leaves_everything_as_it_was_and_is_told_of(
    reranker: Reranker, warning: str
) -> None:
    hits, told = reorder(reranker, timeout_s=0.01, pool_k=3, min_score=100.0)

    assert hits == HITS
    assert str(told) == warning


def test_nothing_found_is_nothing_to_judge() -> None:
    reranker = LengthReranker()

    assert reorder(reranker, []) == ([], None)
    assert reranker.asked == []
