"""Reciprocal rank fusion of passages."""

from collections.abc import Sequence

import pytest

from errors import RagError
from query_engine.retrieval.pipeline import Reranking
from query_engine.runtime.deadline import Deadline
from research.fusion import K, fuse, rerank
from settings import RerankSettings
from tests.fakes.llm import passage

A, B, C = passage("one", "a"), passage("two", "b"), passage("three", "c")


def test_what_several_queries_found_comes_first() -> None:
    fused = fuse([[A, B], [C, B]])

    assert [one.doc_id for one in fused] == ["b", "a", "c"]
    assert fused[0].scores["rrf"] == pytest.approx(2 / (K + 2))
    assert fused[1].scores["rrf"] == pytest.approx(1 / (K + 1))


def test_overlapping_passages_count_as_one_and_the_longest_stays() -> None:
    short, long = passage("wind turns", "a", start=10), passage("The wind turns blades", "a", start=6)

    fused = fuse([[short], [B, long]])

    assert [one.text for one in fused] == ["The wind turns blades", "two"]


def test_a_copy_in_another_document_counts_as_the_first_one() -> None:
    fused = fuse([[A, passage("one", "copy")], [passage("one ", "copy")]])

    assert [one.doc_id for one in fused] == ["a"]
    assert fused[0].scores["rrf"] == pytest.approx(2 / (K + 1))


class ByLength:
    name = "listwise"

    def __init__(self, error: RagError | None = None) -> None:
        self._error = error

    def score(self, _question: str, texts: Sequence[str], _deadline: Deadline) -> list[float]:
        if self._error:
            raise self._error
        return [float(len(text)) for text in texts]


def reranked(options: RerankSettings, error: RagError | None = None) -> tuple[list[str], str | None]:
    found, warning = rerank("?", (A, C, B), Reranking(ByLength(error), lambda _: [], options), Deadline(9))
    return [one.doc_id for one in found], warning.code if warning else None


def test_the_pool_is_reranked_and_weak_ones_are_dropped() -> None:
    shortest = len("Wind\none")

    assert reranked(RerankSettings()) == (["c", "a", "b"], None)
    assert reranked(RerankSettings(pool_k=2)) == (["c", "a", "b"], None)
    assert reranked(RerankSettings(min_score=shortest)) == (["c"], None)


def test_a_reranker_that_fails_leaves_the_order_and_warns() -> None:
    assert reranked(RerankSettings(), RagError("Down.", "Start it.")) == (["a", "c", "b"], "rerank_skipped")


def test_without_a_reranker_nothing_changes() -> None:
    assert rerank("?", (A, B), None, Deadline(9)) == ((A, B), None)
