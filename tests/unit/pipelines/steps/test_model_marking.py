import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.row_cache import RowCache
from pipelines.running import FailedStepError
from pipelines.state import PipelineState
from pipelines.steps.metadata import with_marks
from pipelines.steps.model_marking import transferred
from query_engine.llms.openai import connect_openai
from settings import LLMSettings
from tests.fakes.pipelines import a_model, an_engine, body_of, fake_services, run_body
from tests.servers.scripted_llm import Script, ScriptedLLM

TEXT = (
    "Rain falls on all hills and on many valleys. Strong wind turns blades quickly. The sun heats the salt in its tank."
)
MARKED = TEXT.replace("Strong wind turns blades quickly.", "**Strong wind turns blades quickly.**")
MODEL, SERVED = {"model": "fake"}, {"model": "scripted"}


@pytest.fixture
def server() -> Iterator[ScriptedLLM]:
    with ScriptedLLM() as server:
        yield server


def copy_with_marks(prompt: str) -> str:
    """Do what the prompt asks: mark the sentences with blades."""
    text = prompt.rpartition("\nText: ")[2]
    return re.sub(r"[^.]*blades[^.]*\.", lambda found: f" **{found[0].strip()}**", text)


def marked(
    texts: list[str],
    reply: Callable[[str], str],
    cache: RowCache | None = None,
    *,
    context_tokens: int = 4096,
    tokens: int = 320,
    **parameters: Any,
) -> PipelineState:
    services = fake_services(
        an_engine(texts),
        model=a_model(reply, context_tokens=context_tokens),
        llm=LLMSettings(max_new_tokens=tokens),
    )
    step = ("relevance_marking_step", MODEL | parameters)
    return run_body(body_of("corpus_datasource", step), services=services, cache=cache)


def test_the_model_marks_what_is_relevant_and_it_is_cited() -> None:
    state = marked([TEXT], copy_with_marks)

    (row,) = state.rows(["highlight-full-text", "relevant_spans", "start", "full-text"])
    assert row["highlight-full-text"] == MARKED
    (span,) = row["relevant_spans"]
    assert TEXT[span["start"] - row["start"] : span["end"] - row["start"]] == span["quote"]
    assert state.history[-1].warnings == ()


def test_a_copy_that_differs_a_little_changes_nothing_of_the_text() -> None:
    state = marked([TEXT], lambda _: MARKED.replace("turns", "moves"))

    assert state.texts("highlight-full-text") == [MARKED]


@pytest.mark.promise("D20")
def test_three_copies_that_differ_too_much_leave_the_text_unmarked_with_a_warning() -> None:
    prompts: list[str] = []

    def rewrite(prompt: str) -> str:
        prompts.append(prompt)
        return "**Blades are turned by wind.**"

    state = marked([TEXT], rewrite)

    assert state.texts("highlight-full-text") == [TEXT]
    assert state.values("relevant_spans") == [[]]
    assert state.history[-1].warnings == (
        "1 of 1 parts of 1 of 1 texts are unmarked: the language model did not reproduce 90% of them in 3 tries.",
    )
    assert ["Your last copy differed" in prompt for prompt in prompts] == [False, True, True]


def test_a_second_try_may_succeed() -> None:
    state = marked([TEXT], lambda prompt: MARKED if "Your last copy" in prompt else "I cannot.")

    assert state.texts("highlight-full-text") == [MARKED]
    assert state.history[-1].warnings == ()


def test_a_text_longer_than_a_reply_is_marked_in_parts() -> None:
    prompts: list[str] = []
    text = f"{TEXT}\n\n{TEXT} The end."

    def note(prompt: str) -> str:
        prompts.append(prompt)
        return copy_with_marks(prompt)

    state = marked([text], note, tokens=30)

    assert state.texts("highlight-full-text") == [f"{MARKED}\n\n{MARKED} The end."]
    assert 2 <= len(prompts) <= 4


@pytest.mark.promise("D21")
def test_an_own_query_is_what_the_model_is_asked() -> None:
    prompts: list[str] = []

    def note(prompt: str) -> str:
        prompts.append(prompt)
        return copy_with_marks(prompt)

    marked([TEXT], note, query="What heats salt?")

    assert "Question: What heats salt?" in prompts[0]


def test_marks_and_warnings_are_kept() -> None:
    cache = RowCache(None, 1_000_000)

    first = marked([TEXT, "Short text of no use."], lambda prompt: MARKED if "Rain" in prompt else "No.", cache)
    again = marked([TEXT, "Short text of no use."], lambda _: "No model is asked.", cache)

    assert again.rows() == first.rows()
    assert again.history[-1].warnings == first.history[-1].warnings != ()


@pytest.mark.parametrize("text", ["", "  \n", "wind"])
def test_texts_of_next_to_nothing(text: str) -> None:
    assert marked([text], copy_with_marks).texts("highlight-full-text") == [text]


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("a **b c** d", ["b c"]),
        ("a b c d", []),
        ("**a b c d**", ["a b c d"]),
        ("a **b** c **d**", ["b", "d"]),
        ("a **b c d", None),
        ("a b", None),
        ("a b c d e f g h", None),
        ("", None),
    ],
)
def test_marks_are_laid_onto_the_words_of_the_text(reply: str, found: list[str] | None) -> None:
    text = "a  b\nc d"

    spans = transferred(text, reply)

    assert (None if spans is None else [" ".join(text[start:end].split()) for start, end in spans]) == found


def test_bold_type_of_the_text_itself_is_no_mark() -> None:
    text = "The **old** mill. " + TEXT

    state = marked([text], copy_with_marks)

    assert state.texts("highlight-full-text") == [f"The **old** mill. {MARKED}"]


@pytest.mark.promise("D30")
@given(st.text("ab *\n", max_size=40), st.text("ab *\n", max_size=40))
def test_whatever_is_replied_the_text_stays(text: str, reply: str) -> None:
    spans = transferred(text, reply) or []

    assert all(start < end for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert with_marks(text, spans).replace("*", "") == text.replace("*", "")


@pytest.mark.parametrize(
    ("script", "reason"), [(Script(status=401), "refused the key"), (Script(cut_after=1), "ended its stream")]
)
def test_a_server_that_fails_fails_the_step(server: ScriptedLLM, script: Script, reason: str) -> None:
    server.play(script)
    llm = LLMSettings(provider="openai", base_url=server.base_url, model="scripted", timeout_s=5)

    with pytest.raises(FailedStepError, match=rf"LLMError in step 2 \(relevance_marking_step\): .*{reason}"):
        run_body(
            body_of("fake_source", ("relevance_marking_step", SERVED)),
            services=fake_services(model=connect_openai(llm)),
        )
