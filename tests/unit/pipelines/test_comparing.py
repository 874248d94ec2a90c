import pytest

from pipelines.comparing import compare
from pipelines.state import PipelineState


def a_state(*rankings: list[int | None]) -> PipelineState:
    count = len(rankings[0])
    columns = {"id": [f"d{row}" for row in range(count)], "title": ["T"] * count}
    state = PipelineState("What?").with_documents(columns, {})
    for number, ranking in enumerate(rankings):
        state = state.with_column(f"rank_{number}", ranking, "rank")
    return state


@pytest.mark.parametrize(
    ("second", "tau"), [([1, 2, 3, 4], 1.0), ([4, 3, 2, 1], -1.0), ([2, 1, 3, 4], 0.6667), ([1, 1, 1, 1], None)]
)
def test_agreement(second: list[int | None], tau: float | None) -> None:
    (pair,) = compare(a_state([1, 2, 3, 4], second))["pairs"]

    assert pair["kendall_tau"] == tau


def test_overlap_and_moves() -> None:
    swapped = [12, *range(2, 12), 1]

    (pair,) = compare(a_state(list(range(1, 13)), swapped))["pairs"]

    assert pair["overlap"] == {"5": 0.8, "10": 0.9}
    assert [(move["id"], move["from"], move["to"]) for move in pair["moves"]] == [("d0", 1, 12), ("d11", 12, 1)]


def test_places_are_counted_among_the_documents_that_are_left() -> None:
    compared = compare(a_state([7, 30], [9, 2]))

    assert [document["ranks"] for document in compared["documents"]] == [
        {"rank_0": 1, "rank_1": 2},
        {"rank_0": 2, "rank_1": 1},
    ]


def test_documents_that_a_ranking_lacks_are_left_out_of_the_pair() -> None:
    (pair,) = compare(a_state([1, 2, 3], [None, 1, 2]))["pairs"]

    assert pair["kendall_tau"] == 1.0


def test_fewer_than_two_rankings_have_no_pair() -> None:
    assert compare(a_state([1, 2]))["pairs"] == []
    assert compare(PipelineState("What?"))["documents"] == []
