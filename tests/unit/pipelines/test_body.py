from typing import Any

import pytest

from errors import FilterError, PipelineError, QuestionError
from pipelines.body import read_plan
from tests.fakes.pipelines import a_registry, body_of, fake_services


def read(body: object, query: str | None = None) -> Any:
    return read_plan(body, a_registry(), fake_services(), query=query)


PLAIN = {
    "query": "What is wind?",
    "parameters": {"limit": 10},
    "1": {"id": "corpus_datasource", "parameters": {"output_column": "full-text"}},
    "2": {
        "id": "reduction_step",
        "parameters": {"k": "5", "ranking_column": "_original_ranking_", "reset_index": "Yes"},
    },
}


@pytest.mark.parametrize("body", [PLAIN, {"pipeline": PLAIN}], ids=["plain", "wrapped"])
def test_both_forms_are_read_and_the_sources_get_the_parameters(body: dict[str, Any]) -> None:
    plan = read(body)

    assert plan.query == "What is wind?"
    assert [planned.step.id for planned in plan.steps] == ["corpus_datasource", "reduction_step"]
    assert plan.steps[0].step.given.limit == 10
    assert plan.steps[1].step.given.k == 5
    assert plan.steps[1].step.given.reset_index is True
    assert plan.body == PLAIN


def test_a_step_says_its_own_parameters_louder_than_the_pipeline() -> None:
    body = PLAIN | {"1": {"id": "corpus_datasource", "parameters": {"limit": 3}}}

    assert read(body).steps[0].step.given.limit == 3


def test_a_query_may_be_given_beside_the_body() -> None:
    assert read({"1": {"id": "corpus_datasource"}}, "How?").body["query"] == "How?"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ([], "not a JSON object"),
        ({"query": "What?"}, "has no steps"),
        (PLAIN | {"4": {"id": "word_counter"}}, "numbered 1, 2, 4: there is a gap"),
        ({"query": "What?", "0": {"id": "word_counter"}}, "there is a gap"),
        ({"query": "What?", "1": {"id": "corpus_datasource"}, "01": {"id": "word_counter"}}, "stands twice"),
        (PLAIN | {"paramters": {}}, "unknown key 'paramters'. The nearest known one is 'parameters'"),
        (PLAIN | {"parameters": {"limits": 3}}, "has the parameter 'limits'. The nearest known one is 'limit'"),
        (PLAIN | {"parameters": 3}, "`parameters` must be an object"),
        (
            body_of("corpus_datasorce"),
            "Step 1: there is no step 'corpus_datasorce'. The nearest known one is 'corpus_d",
        ),
        (
            body_of(("corpus_datasource", {"limt": 3})),
            "Step 1 (corpus_datasource): there is no parameter 'limt'. The ne",
        ),
        (
            body_of(("corpus_datasource", {"limit": 0})),
            "'limit' is not valid: Input should be greater than or equal to",
        ),
        (body_of(("corpus_datasource", {"limit": 10**30})), "'limit' is not valid"),
        (body_of(("corpus_datasource", [])), "`parameters` must be an object"),
        (
            body_of(("corpus_datasource", {"corpus": "defualt"})),
            "Step 1 (corpus_datasource): There is no corpus 'defualt'",
        ),
        (body_of({"id": "corpus_datasource", "on_error": "go"}), "Step 1: there is no policy 'go'"),
        (
            body_of({"id": "corpus_datasource", "parameter": {}}),
            "Step 1 has an unknown key 'parameter'. The nearest known",
        ),
        (body_of({"name": "x"}), "Step 1 has no id"),
        (body_of("word_counter"), "Step 1 (word_counter) reads column 'full-text', which no step before it adds"),
        (
            body_of("corpus_datasource", ("word_counter", {"input_column": "text"})),
            "Step 2 (word_counter) reads column 'text'",
        ),
        (
            body_of("corpus_datasource", ("reduction_step", {"ranking_column": "_reranking_rank_1_"})),
            "Step 2 (reduction_step) reads column '_reranking_rank_1_'",
        ),
        (
            body_of("corpus_datasource", "word_counter", "word_counter"),
            "Step 3 (word_counter) writes column 'wordCount', which step 2 (word_counter) wrote",
        ),
        (
            body_of("corpus_datasource", ("llm_summarizer", {"output_column": "full-text"})),
            "writes column 'full-text', which step 1",
        ),
        (
            body_of("corpus_datasource", "cross_encoder_reranker"),
            "Step 2 (cross_encoder_reranker): This service has no",
        ),
        (
            body_of("corpus_datasource", ("text_stemmer", {"output_column": "a\u2028b"})),
            "parameter 'output_column' is not valid",
        ),
        (
            body_of("corpus_datasource", ("text_stemmer", {"output_column": "x" * 101})),
            "parameter 'output_column' is not valid",
        ),
        (body_of("corpus_datasource", ("text_stemmer", {"output_column": ""})), "'output_column' is not valid"),
        (body_of("corpus_datasource", ("word_counter", {"input_column": ""})), "'input_column' is not valid"),
        (body_of(*["corpus_datasource"] * 51), "has 51 steps"),
    ],
)
def test_what_cannot_run_is_refused_with_step_and_reason(body: object, reason: str) -> None:
    with pytest.raises(PipelineError) as caught:
        read(body)

    assert reason in str(caught.value)


def test_an_empty_filter_is_refused_with_its_step() -> None:
    with pytest.raises(FilterError, match=r"Step 1 \(corpus_datasource\): The filter is empty"):
        read(body_of(("corpus_datasource", {"filters": '{"filters": []}'})))


@pytest.mark.parametrize("query", [None, 3, "", "  "])
def test_a_pipeline_needs_a_query(query: object) -> None:
    with pytest.raises(QuestionError):
        read({"query": query, "1": {"id": "corpus_datasource"}})


def test_two_sources_may_fill_the_same_columns() -> None:
    assert len(read(body_of("corpus_datasource", "corpus_datasource", "word_counter")).steps) == 3


def test_a_rank_column_of_each_reranker_may_be_read() -> None:
    steps = ["corpus_datasource", "tf_idf_reranker", "embedding_reranker"]
    body = body_of(*steps, ("reduction_step", {"ranking_column": "_reranking_rank_2_"}))

    assert len(read(body).steps) == 4
