import json
from typing import Any

import pytest

from errors import FilterError, PipelineError
from pipelines.running import FailedStepError
from pipelines.state import PipelineState
from pipelines.steps.filtering import LabelFilter
from tests.fakes.pipelines import body_of, run_body

RERANKED = ("fake_source", ("tf_idf_reranker", {"query": "rain"}))


def ids(state: PipelineState) -> list[Any]:
    return state.values("id")


@pytest.mark.promise("D18")
def test_the_first_of_a_ranking_are_kept_in_its_order() -> None:
    state = run_body(body_of(*RERANKED, ("reduction_step", {"k": "2"})))

    assert ids(state) == ["a", "b"]
    assert state.values("_reranking_rank_1_") == [2, 3]


def test_ranks_are_closed_up_where_that_is_wanted() -> None:
    step = ("reduction_step", {"k": 2, "reset_index": "Yes", "ranking_column": "_reranking_rank_1_"})

    state = run_body(body_of(*RERANKED, step))

    assert ids(state) == ["c", "a"]
    assert state.values("_reranking_rank_1_") == [1, 2]
    assert state.values("_original_ranking_") == [2, 1]


def test_more_than_there_are_is_a_warning() -> None:
    state = run_body(body_of("fake_source", ("reduction_step", {"k": 9})))

    assert state.count == 3
    assert state.history[-1].warnings == ("There are only 3 documents; all are kept, though k is 9.",)


def test_a_column_that_does_not_rank_is_refused() -> None:
    with pytest.raises(FailedStepError, match=r"'full-text' does not rank\. Columns that do: _original_ranking_"):
        run_body(body_of("fake_source", ("reduction_step", {"ranking_column": "full-text"})))


@pytest.mark.promise("D18")
@pytest.mark.parametrize(
    ("mode", "labels", "kept"),
    [("OR", "A, b", ["a", "b"]), ("AND", "a,b", []), ("NOT", "A", ["b", "c"]), ("AND", "C", ["c"])],
)
def test_labels(mode: str, labels: str, kept: list[str]) -> None:
    step = ("label_filter", {"labels_column": "id", "filter_by": labels, "filter_mode": mode})

    state = run_body(body_of("fake_source", step))

    assert ids(state) == kept
    assert state.history[-1].warnings == (() if kept else ("No document meets the filter.",))


def test_lists_of_labels() -> None:
    column = PipelineState("q").with_documents({"labels": [["x", "y"], ["y"], None], "id": list("abc")}, {})
    given = LabelFilter.Parameters(labels_column="labels", filter_by="x, y", filter_mode="AND")

    assert ids(LabelFilter(given).transform(column, None)) == ["a"]  # type: ignore[arg-type]


FIRST_TWO = {"filters": [{"key": "_original_ranking_", "operator": "<=", "value": 2}]}


@pytest.mark.parametrize(
    ("filters", "rows"),
    [
        (FIRST_TWO, ["a", "b"]),
        (json.dumps(FIRST_TWO), ["a", "b"]),
        ({"filters": [{"key": "id", "operator": "in", "value": ["a", "c"]}, *FIRST_TWO["filters"]]}, ["a"]),
        ({"filters": [{"key": "id", "value": "c"}, *FIRST_TWO["filters"]], "condition": "or"}, ["a", "b", "c"]),
        ({"filters": [{"key": "id", "value": "c"}], "condition": "not"}, ["a", "b"]),
        ({"filters": [{"key": "full-text", "operator": "text_match_insensitive", "value": "SUN"}]}, ["b"]),
        ({"filters": [FIRST_TWO, {"key": "id", "operator": "!=", "value": "a"}]}, ["b"]),
        ({"filters": [{"key": "id", "value": "z"}]}, []),
    ],
)
def test_a_filter_means_what_it_means_in_a_search(filters: object, rows: list[str]) -> None:
    state = run_body(body_of("fake_source", ("metadata_filter", {"filters": filters})))

    assert ids(state) == rows
    assert state.history[-1].warnings == (() if rows else ("No document meets the filter.",))


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        ({"filters": "{"}, PipelineError, "write a JSON object"),
        ({"filters": {"filters": []}}, FilterError, r"Step 2 \(metadata_filter\): The filter is empty"),
        ({"filters": {"filters": [{"key": "id", "operator": "like", "value": 1}]}}, FilterError, "unknown operator"),
        ({"filters": {"filters": [{"key": "yaer", "value": 1}]}}, PipelineError, "reads column 'yaer'"),
        ({"filter": FIRST_TWO}, PipelineError, "nearest known one is 'filters'"),
        ({}, PipelineError, "'filters' is not valid"),
    ],
)
def test_a_filter_without_meaning_is_refused_before_anything_runs(
    given: dict[str, Any], error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        run_body(body_of("fake_source", ("metadata_filter", given)))
