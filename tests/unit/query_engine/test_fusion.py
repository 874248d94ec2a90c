"""Reciprocal rank fusion on values worked out by hand."""

import pytest

from query_engine.fusion import reciprocal_rank_fusion


def test_scores_are_sums_of_reciprocal_ranks() -> None:
    fused = reciprocal_rank_fusion([["a", "b"], ["b", "c"]], k=60)

    assert fused["b"] == pytest.approx(1 / 62 + 1 / 61)
    assert fused["a"] == pytest.approx(1 / 61)
    assert list(fused) == ["b", "a", "c"]


def test_one_ranking_keeps_its_order() -> None:
    assert list(reciprocal_rank_fusion([["x", "y", "z"]], k=1)) == ["x", "y", "z"]


def test_nothing_fuses_to_nothing() -> None:
    assert reciprocal_rank_fusion([[], []], k=60) == {}
