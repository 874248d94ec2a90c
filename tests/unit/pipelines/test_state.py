import json
from dataclasses import replace

import pyarrow as pa
import pytest

from pipelines.state import PipelineState, StepRecord, from_bytes, from_facts, records, to_bytes, to_facts


def a_state() -> PipelineState:
    roles = {"text": ("text",), "_original_ranking_": ("rank",)}
    columns = {"text": ["a", "b", None], "_original_ranking_": [1, 2, 3], "spans": [[{"start": 1}], [], []]}
    return PipelineState("What?").with_documents(columns, roles)  # type: ignore[arg-type]


def test_a_state_is_never_changed() -> None:
    state = a_state()

    state.with_column("length", [1, 1, 0], "chip")

    assert state.columns == ["text", "_original_ranking_", "spans"]
    assert state.texts("text") == ["a", "b", ""]


def test_ranks_follow_the_scores_and_equal_ones_the_rows() -> None:
    ranked = a_state().with_rank([0.5, 0.9, 0.5], "score").with_rank([3, 2, 1], "other")

    assert ranked.rank_columns == ["_original_ranking_", "_reranking_rank_1_", "_reranking_rank_2_"]
    assert ranked.texts("text") == ["b", "a", ""]
    assert ranked.values("_reranking_rank_1_") == [1, 2, 3]
    assert ranked.values("_original_ranking_") == [2, 1, 3]


def test_a_second_source_adds_rows_and_columns() -> None:
    both = a_state().with_documents({"text": ["c"], "year": [2020]}, {"year": ("chip",)})

    assert both.values("text") == ["a", "b", None, "c"]
    assert both.values("year") == [None, None, None, 2020]


def test_what_was_kept_is_the_same_again() -> None:
    state = a_state().with_column("score", [0.5, float("nan"), float("inf")]).with_aggregated("Sum", "up", [{"n": 1}])
    record = StepRecord(1, "fake", {name: list(given) for name, given in state.roles.items()}, 0.25, ["careful"], 3, 1)
    state = replace(state, history=(record,))

    facts = json.loads(to_facts(state, dict.fromkeys(state.columns, 1)))
    again = from_facts([facts], from_bytes(to_bytes(state.documents)))

    assert again.query == "What?"
    assert again.rows() == state.rows()
    assert again.metadata() == state.metadata()
    assert again.aggregated == ({"title": "Sum", "data": "up", "citations": [{"n": 1}]},)
    assert again.history == (record,)


def test_no_rows_keep_their_columns() -> None:
    empty = a_state().take([])

    assert from_bytes(to_bytes(empty.documents)).column_names == empty.columns
    assert empty.with_column("new", []).rows() == []


def test_what_is_no_number_is_none_in_json() -> None:
    assert records(pa.table({"x": [1.5, float("inf")]})) == [{"x": 1.5}, {"x": None}]


def test_a_column_holds_one_kind() -> None:
    with pytest.raises(pa.ArrowInvalid):
        a_state().with_column("mixed", [1, "two", 3])
