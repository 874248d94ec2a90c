from collections.abc import Callable
from typing import Any

import pytest

from pipelines.state import PipelineState
from tests.fakes.pipelines import a_model, an_engine, body_of, fake_services, run_body

WIND = "Rain falls on all hills. Strong wind turns the blades quickly. The sun heats the salt in its tank."
SNOW = "Snow lies on the high mountains all year. Skiers come in winter."


def summarised(texts: list[str], step: str, reply: Callable[[str], str], **parameters: Any) -> PipelineState:
    services = fake_services(an_engine(texts), model=a_model(reply))
    return run_body(body_of("corpus_datasource", (step, {"model": "fake", **parameters})), services=services)


@pytest.mark.promise("D16")
def test_a_summary_of_all_cites_what_it_rests_on() -> None:
    state = summarised(
        [WIND, SNOW],
        "all_results_summarizer",
        lambda _: "Strong wind turns the blades quickly [1]. Snow lies on the high mountains all year [2].",
    )

    (summary,) = state.aggregated
    assert summary["data"] == "Strong wind turns the blades quickly [1]. Snow lies on the high mountains all year [2]."
    assert [(one["number"], one["doc_id"]) for one in summary["citations"]] == [(1, "0.md"), (2, "1.md")]
    starts = state.values("start")
    for citation, text, start in zip(summary["citations"], (WIND, SNOW), starts, strict=True):
        assert text[citation["start"] - start : citation["end"] - start] == citation["quote"]
    assert state.history[-1].warnings == ()


def test_what_no_document_holds_stays_and_is_told() -> None:
    state = summarised(
        [WIND], "all_results_summarizer", lambda _: "Strong wind turns the blades quickly [1]. Cows give 40 litres [1]."
    )

    (summary,) = state.aggregated
    assert "Cows give 40 litres [1]" in summary["data"]
    assert any("40" in one for one in state.history[-1].warnings)


@pytest.mark.parametrize("reply", ["", "I don't know.", "<think>Hm.</think>"])
def test_a_reply_of_no_use_leaves_a_summary_out_with_a_warning(reply: str) -> None:
    state = summarised([SNOW], "llm_summarizer", lambda _: reply)

    assert state.texts("summary") == [""]
    assert state.history[-1].warnings[0].startswith("Document 1 (0.md): A summary was left out")


def test_no_more_sentences_than_wanted() -> None:
    def all_of_it(_: str) -> str:
        return (
            "Rain falls on all hills [1]. Strong wind turns the blades quickly. [1] The sun heats the salt in its tank."
        )

    state = summarised([WIND], "llm_summarizer", all_of_it, sentences=2)
    of_all = summarised([WIND], "all_results_summarizer", all_of_it, sentences=2)

    assert state.texts("summary") == ["Rain falls on all hills. Strong wind turns the blades quickly."]
    assert of_all.aggregated[0]["data"].count("[") == len(of_all.aggregated[0]["citations"]) == 2


def test_each_document_is_summarised_alone_and_by_the_instruction() -> None:
    prompts: list[str] = []

    def note(prompt: str) -> str:
        prompts.append(prompt)
        return "Strong wind turns the blades quickly [1]."

    summarised([WIND, WIND + " More."], "llm_summarizer", note, summarize_prompt="the wind")

    assert len(prompts) == 2
    assert all("[1] " in prompt and "[2] " not in prompt for prompt in prompts)
    assert all(prompt.endswith("about: the wind") for prompt in prompts)


def test_documents_that_have_no_room_are_told() -> None:
    state = summarised(
        [f"{WIND} {place} " + "Wind is wind. " * 900 for place in range(3)],
        "all_results_summarizer",
        lambda _: "Strong wind turns the blades quickly [1].",
    )

    assert any("sources" in warning for warning in state.history[-1].warnings)


def test_empty_texts() -> None:
    state = summarised(["", "  "], "all_results_summarizer", lambda _: "No model is asked.")

    assert state.aggregated[0]["data"] == ""
    assert state.history[-1].warnings == ("There is nothing to summarise.",)
    assert summarised([""], "llm_summarizer", lambda _: "No model is asked.").texts("summary") == [""]
