"""What all steps have in common that may ask a language model.

Bodies of mosaicRAG's clients name models: the one that is there is asked, another one is not pretended.
"""

from typing import Any

import pytest

from errors import TaskCancelledError
from pipelines.row_cache import RowCache
from pipelines.running import FailedStepError
from pipelines.state import PipelineState
from tests.fakes.pipelines import (
    Noting,
    a_model,
    a_server_model,
    an_engine,
    body_of,
    cancel_in_call,
    fake_services,
    run_body,
)
from tests.servers.scripted_llm import Script, ScriptedLLM

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


def ran(step: Any, served: str | None, cache: RowCache | None = None) -> tuple[PipelineState, list[str]]:
    """Run a step over a text on a service with this model; return the state and what the model was asked."""
    prompts: list[str] = []

    def reply(prompt: str) -> str:
        prompts.append(prompt)
        return f"{WRITTEN} [1]."

    model = a_model(reply, label=served) if served else None
    services = fake_services(an_engine([WIND, WIND[::-1]]), model=model)
    return run_body(body_of("corpus_datasource", step), services=services, cache=cache), prompts


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


@pytest.mark.parametrize(("step", "given"), [one for one in STEPS if one[0] != "llm_summarizer"])
def test_an_own_query_is_what_the_model_is_asked(step: str, given: dict[str, Any]) -> None:
    _, prompts = ran((step, given | {"model": "gpt-4", "query": "Where does rain fall?"}), "gpt-4 at home")

    assert all("Where does rain fall?" in prompt and "What turns" not in prompt for prompt in prompts)


@pytest.mark.parametrize(("step", "given"), STEPS)
def test_replies_are_kept_with_their_warnings(step: str, given: dict[str, Any]) -> None:
    cache = RowCache(None, 1_000_000)

    first, _ = ran((step, given | {"model": "gpt-4"}), "gpt-4 at home", cache)
    again, prompts = ran((step, given | {"model": "gpt-4"}), "gpt-4 at home", cache)

    assert prompts == []
    assert (again.rows(), again.aggregated) == (first.rows(), first.aggregated)
    assert again.history[-1].warnings == first.history[-1].warnings
    assert again.history[-1].found == again.history[-1].looked_up > 0


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (Script(status=401), "refused the key"),
        (Script(text="[1] is the best", cut_after=1), "ended its stream"),
        (Script(garbage_after=0), "broken JSON"),
    ],
    ids=["failing", "cut", "garbage"],
)
@pytest.mark.parametrize(("step", "given"), STEPS)
def test_a_server_that_fails_fails_the_step(
    server: ScriptedLLM, step: str, given: dict[str, Any], script: Script, reason: str
) -> None:
    server.play(script)
    body = body_of("fake_source", (step, given | {"model": "scripted"}))

    with pytest.raises(FailedStepError, match=rf"LLMError in step 2 \({step}\): .*{reason}"):
        run_body(body, services=fake_services(model=a_server_model(server)))


@pytest.mark.parametrize(
    "script", [Script(stall_after=0), Script("word ", endless=True, token_s=0.01)], ids=["stalled", "endless"]
)
@pytest.mark.parametrize(("step", "given"), STEPS)
def test_cancelling_reaches_the_call_that_runs(
    server: ScriptedLLM, step: str, given: dict[str, Any], script: Script
) -> None:
    server.play(script)
    watcher = Noting()

    outcome = cancel_in_call(server, body_of("fake_source", (step, given | {"model": "scripted"})), watcher)

    assert isinstance(outcome, TaskCancelledError)
    assert len(server.requests) == 1
    assert watcher.ends == [1]
