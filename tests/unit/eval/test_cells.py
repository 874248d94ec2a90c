import pytest
from pydantic import ValidationError

from eval.cells import Cell, Mean, failed, mean, means, metric_names, not_applicable, scored

NO_CELL: dict[str, Cell] = {}


@pytest.mark.parametrize(
    "states", [{}, {"score": 1.0, "failed": "why"}, {"not_applicable": "why", "failed": "why"}, {"score": float("nan")}]
)
def test_a_cell_is_exactly_one_of_its_three_states(states: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Cell.model_validate(states)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_no_number_is_a_failure_and_never_a_score(value: float) -> None:
    assert scored(value).failed == f"the score is {value}"


@pytest.mark.promise("E28")
def test_a_failed_cell_lowers_the_coverage_and_not_the_mean() -> None:
    assert mean([scored(1), scored(0), failed("prose")]) == Mean(0.5, n=2, of=3)


def test_a_row_that_was_never_scored_counts_as_failed() -> None:
    assert mean([scored(1), None]) == Mean(1.0, n=1, of=2)


def test_a_row_that_a_metric_does_not_apply_to_counts_nowhere() -> None:
    assert mean([scored(1), not_applicable("no reference")]) == Mean(1.0, n=1, of=1)


def test_nothing_scored_has_no_mean() -> None:
    assert mean([failed("down")]) == Mean(None, n=0, of=1)
    assert mean([]) == Mean(None, n=0, of=0)


def test_means_are_made_metric_by_metric() -> None:
    rows = [{"recall": scored(1)}, {"recall": scored(0), "mrr": scored(0.5)}, NO_CELL]

    assert means(rows, ["recall", "mrr"]) == {"recall": Mean(0.5, 2, 3), "mrr": Mean(0.5, 1, 3)}


def test_metrics_stand_in_the_order_they_appeared_in() -> None:
    assert metric_names({"1": {"b": scored(1)}, "2": {"a": scored(1), "b": scored(1)}}) == ["b", "a"]
