"""Bodies of mosaicRAG's clients name models: the one that is there is asked, another one is not pretended."""

from typing import Any

import pytest

from pipelines.state import PipelineState
from tests.fakes.pipelines import a_model, an_engine, body_of, fake_services, run_body

WIND = "Rain falls on all hills. Strong wind turns the blades quickly. The sun heats the salt in its tank."
WRITTEN = "Strong wind turns the blades quickly"
SUMMARY = {"input_column": "full-text", "output_column": "out", "summarize_prompt": "Be brief."}
STEPS: list[Any] = [
    ("llm_summarizer", SUMMARY),
    ("all_results_summarizer", {"input_column": "full-text", "output_column": "out"}),
    ("relevance_marking_step", {}),
    ("tournament_llm_reranker", {}),
    ("group_llm_reranker", {"window_size": "2"}),
]


def ran(step: Any, served: str | None) -> tuple[PipelineState, list[str]]:
    """Run a step over a text on a service with this model; return the state and what the model was asked."""
    prompts: list[str] = []

    def reply(prompt: str) -> str:
        prompts.append(prompt)
        return f"{WRITTEN} [1]."

    model = a_model(reply, label=served) if served else None
    services = fake_services(an_engine([WIND, WIND[::-1]]), model=model)
    return run_body(body_of("corpus_datasource", step), services=services), prompts


@pytest.mark.parametrize("name", ["gpt-4", "gpt-4 at http://x/v1"])
@pytest.mark.parametrize(("step", "given"), STEPS)
def test_the_model_that_is_served_is_asked_by_its_name(step: str, given: dict[str, Any], name: str) -> None:
    _, prompts = ran((step, given | {"model": name}), "gpt-4 at http://x/v1")

    assert prompts


def test_a_file_is_named_without_its_folder() -> None:
    _, prompts = ran(("llm_summarizer", {"model": "small.gguf"}), "/models/small.gguf on cpu in 4 bits")

    assert prompts


@pytest.mark.parametrize("served", [None, "gpt-4 at http://x/v1"])
@pytest.mark.parametrize(("step", "given"), STEPS)
def test_a_model_that_is_not_served_is_a_warning_and_no_model_is_asked(
    step: str, given: dict[str, Any], served: str | None
) -> None:
    state, prompts = ran((step, given | {"model": "gemma2"}), served)

    (warning,) = state.history[-1].warnings
    assert "'gemma2' is not served" in warning
    assert (served or "no language model") in warning
    assert prompts == []
    assert state.count == 2
    if step == "llm_summarizer":
        assert state.texts("out")[0] == WIND
    if step == "all_results_summarizer":
        assert WRITTEN in state.aggregated[0]["data"]
    if step.endswith("reranker"):
        assert state.values("_reranking_rank_1_") == [1, 2]


def test_an_instruction_without_any_model_is_a_warning() -> None:
    state, _ = ran(("llm_summarizer", {"summarize_prompt": "Be brief."}), None)

    assert "no language model" in state.history[-1].warnings[0]


@pytest.mark.parametrize("given", [{}, {"model": "extractive"}, {"model": "quotes"}])
def test_a_summary_quotes_where_no_model_is_asked_for(given: dict[str, Any]) -> None:
    state, prompts = ran(("llm_summarizer", given), "gpt-4 at http://x/v1")

    assert (prompts, state.history[-1].warnings) == ([], ())


def test_another_embedding_model_ranks_by_the_one_there_is() -> None:
    step = ("embedding_reranker", {"input_column": "full-text", "query": "", "model": "Snowflake/arctic-embed-s"})
    state, _ = ran(step, None)

    assert state.values("_reranking_rank_1_") == [1, 2]
    assert "'Snowflake/arctic-embed-s' is not served; 'minilm' is" in state.history[-1].warnings[0]
