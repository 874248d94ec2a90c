import re
from collections.abc import Callable, Sequence

import pytest

from pipelines.state import PipelineState
from pipelines.steps.model_marking import read_numbers
from settings import LLMSettings
from tests.fakes.pipelines import a_model, an_engine, body_of, fake_services, run_body

TEXT = (
    "Rain falls on all hills and on many valleys. Strong wind turns blades quickly. The sun heats the salt in its tank."
)
MARKED = TEXT.replace("Strong wind turns blades quickly.", "**Strong wind turns blades quickly.**")


def name_blades(prompt: str) -> str:
    """Do what the prompt asks: name the sentences with blades."""
    return " ".join(re.findall(r"^(\[\d+\]).*blades", prompt, re.MULTILINE)) or "[0]"


def marked(texts: list[str], reply: Callable[[str], str], *, tokens: int = 4096, query: str = "") -> PipelineState:
    services = fake_services(
        an_engine(texts), model=a_model(reply, context_tokens=tokens), llm=LLMSettings(max_new_tokens=320)
    )
    step = ("relevance_marking_step", {"model": "fake", "query": query})
    return run_body(body_of("corpus_datasource", step), services=services)


@pytest.mark.promise("D20", "D30")
def test_the_sentences_that_the_model_names_are_marked_and_cited() -> None:
    state = marked([TEXT], name_blades)

    (row,) = state.rows(["highlight-full-text", "relevant_spans", "start", "full-text"])
    assert row["highlight-full-text"] == MARKED
    (span,) = row["relevant_spans"]
    assert TEXT[span["start"] - row["start"] : span["end"] - row["start"]] == span["quote"]
    assert state.history[-1].warnings == ()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("  \n", "  \n"),
        ("wind", "wind"),
        (f"The **old** mill [2]. {TEXT}", f"The **old** mill [2]. {MARKED}"),
        (f"{TEXT}\n\n" * 30 + "The end.", f"{MARKED}\n\n" * 30 + "The end."),  # more than one prompt
    ],
)
def test_nothing_of_a_text_is_changed(text: str, shown: str) -> None:
    assert marked([text], name_blades).texts("highlight-full-text") == [shown]


@pytest.mark.promise("D21")
def test_a_text_longer_than_a_prompt_is_shown_in_runs() -> None:
    prompts: list[str] = []

    def note(prompt: str) -> str:
        prompts.append(prompt)
        return name_blades(prompt)

    state = marked([TEXT], note, tokens=411, query="What blades?")

    assert len(prompts) > 1
    assert all("What blades?" in prompt for prompt in prompts)
    assert state.texts("highlight-full-text") == [MARKED]


@pytest.mark.parametrize(
    ("reply", "numbers"),
    [
        ("[2]", [2]),
        ("[1] [3]", [1, 3]),
        ("Sentence [2] answers it.", [2]),
        ("2, 3", [2, 3]),
        ("[0]", [0]),
        ("Two of them, at 12 knots.", None),
        ("", None),
    ],
)
def test_what_a_reply_names(reply: str, numbers: Sequence[int] | None) -> None:
    assert read_numbers(reply) == numbers


def test_replies_without_a_number_leave_the_text_unmarked_with_a_warning() -> None:
    state = marked([TEXT, "Short text of no use."], lambda prompt: "[2]" if "Rain" in prompt else "No.")

    assert state.texts("highlight-full-text") == [MARKED, "Short text of no use."]
    assert "1 of 2 replies" in state.history[-1].warnings[0]
