import re
from collections.abc import Callable
from typing import Any

import pytest

from errors import PipelineError
from pipelines.row_cache import RowCache
from pipelines.running import FailedStepError
from pipelines.state import PipelineState
from pipelines.steps.language_model_reranking import pair_prompt, read_choice
from query_engine.llms.base import LoadedModel
from settings import LLMSettings
from tests.fakes.llm import FakeLLM, asker
from tests.fakes.pipelines import Noting, a_model, a_server_model, an_engine, body_of, fake_services, run_body
from tests.servers.scripted_llm import Script, ScriptedLLM

GRADE = re.compile(r"^\[(\d+)\] grade (\d+)", re.MULTILINE)


def by_grade(prompt: str) -> str:
    """Choose, or order, passages like `grade 7`, the highest first."""
    shown = sorted(GRADE.findall(prompt), key=lambda found: -int(found[1]))
    if "or [0]" in prompt:
        return "[0]" if shown[0][1] == shown[1][1] else f"[{shown[0][0]}]"
    return " > ".join(f"[{number}]" for number, _ in shown)


def ranked(
    grades: list[int],
    *step: Any,
    reply: Callable[[str], str] = by_grade,
    model: LoadedModel | None = None,
    cache: RowCache | None = None,
    watcher: Noting | None = None,
    **groups: Any,
) -> PipelineState:
    """Return what a step makes of texts that are graded."""
    services = fake_services(an_engine([f"grade {grade}" for grade in grades]), model=model or a_model(reply), **groups)
    return run_body(body_of("corpus_datasource", *step), services=services, cache=cache, watcher=watcher)


def grades_of(state: PipelineState) -> list[int]:
    return [int(text.removeprefix("grade ")) for text in state.texts("full-text")]


def calls_of(watcher: Noting) -> int:
    return watcher.progress[-1][1]


@pytest.mark.promise("D19")
@pytest.mark.parametrize("count", [2, 3, 5, 8, 13])
def test_the_best_document_wins_a_bracket_in_one_call_less_than_documents(count: int) -> None:
    grades, watcher = [7 * place % 13 for place in range(count)], Noting()

    state = ranked(grades, "tournament_llm_reranker", watcher=watcher)

    assert grades_of(state)[0] == max(grades)
    assert state.values("_reranking_rank_1_") == list(range(1, count + 1))
    assert calls_of(watcher) == count - 1
    assert watcher.progress[-1] == (count - 1, count - 1)
    assert [done for done, _ in watcher.progress] == sorted(done for done, _ in watcher.progress)
    assert f"{count - 1} comparisons of {count} documents" in watcher.lines[0]


def test_who_lost_later_stands_before_who_lost_earlier_and_both_keep_their_order() -> None:
    state = ranked([5, 8, 6, 7], "tournament_llm_reranker")

    # 5 meets 7 and 8 meets 6; then 7 meets 8.
    assert grades_of(state) == [8, 7, 5, 6]
    assert state.values("score_2_tournament_llm") == [3.0, 2.0, 1.0, 1.0]


def test_a_tie_keeps_the_order() -> None:
    state = ranked([3, 3, 4, 3], "tournament_llm_reranker")

    assert state.values("doc_id") == ["2.md", "0.md", "1.md", "3.md"]
    assert state.history[-1].warnings == ()


@pytest.mark.parametrize("reply", ["Both are fine.", "[1] or [2]", "[7]", "", "I don't know.", "<think>Hm.</think>"])
def test_junk_is_no_preference_and_is_told(reply: str) -> None:
    state = ranked([1, 2, 3], "tournament_llm_reranker", reply=lambda _: reply)

    assert grades_of(state) == [1, 2, 3]
    (warning,) = state.history[-1].warnings
    assert warning.startswith("2 of 2 replies of the language model do not choose")


def test_documents_behind_the_limit_stay_behind() -> None:
    state = ranked([1, 2, 9, 9], ("tournament_llm_reranker", {"limit": 2}))

    assert grades_of(state) == [2, 1, 9, 9]
    assert state.history[-1].warnings == (
        "Only the first 2 documents were compared; the 2 behind them keep their order.",
    )


@pytest.mark.parametrize(
    ("reply", "choice"),
    [
        ("[1]", 1),
        ("[2] is better.", 2),
        ("2", 2),
        ("**1**.", 1),
        ("[0]", 0),
        ("[1] [1]", 1),
        ("[1] beats [2]", None),
        ("12", None),
        ("Passage 2", None),
        ("[3]", None),
        ("", None),
    ],
)
def test_choices(reply: str, choice: int | None) -> None:
    assert read_choice(reply) == choice


def test_documents_cannot_name_themselves() -> None:
    prompt = pair_prompt(asker(FakeLLM(says=[])), "Which?", "It is [2] so.\n\n[2] me", "Other " + "word " * 9000)

    assert re.findall(r"^\[\d\].*", prompt, re.MULTILINE)[0] == "[1] It is (2) so. (2) me"
    assert len(prompt.split()) < 4096


@pytest.mark.promise("D19")
def test_groups_are_ranked_in_sliding_windows() -> None:
    watcher = Noting()

    state = ranked([1, 2, 3, 4, 5, 6, 7], ("group_llm_reranker", {"window_size": "4"}), watcher=watcher)

    assert grades_of(state)[:2] == [7, 6]
    assert watcher.progress[-1] == (3, 3)
    assert "3 calls of the language model for 7 documents." in watcher.lines
    assert state.history[-1].warnings == ()


@pytest.mark.parametrize(
    ("reply", "order", "fault"),
    [
        ("[3] > [1]", [3, 1, 2], "leaves out 1 of them"),
        ("[3] > [3] > [9] > [1] > [2]", [3, 1, 2], "has 2 numbers that are repeated or unknown"),
        ("3 of the passages answer.", [1, 2, 3], "names none of them"),
        ("", [1, 2, 3], "names none of them"),
        ("3, 1, 2", [3, 1, 2], ""),
    ],
)
def test_what_a_ranking_lacks_is_repaired_and_told(reply: str, order: list[int], fault: str) -> None:
    state = ranked([1, 2, 3], "group_llm_reranker", reply=lambda _: reply)

    assert grades_of(state) == order
    assert [fault in warning for warning in state.history[-1].warnings] == [True] * bool(fault)


def test_a_window_that_the_reply_has_no_room_for_is_refused() -> None:
    with pytest.raises(PipelineError, match=r"Ordering 50 documents takes 400 tokens.*Lower `window_size`"):
        ranked([1, 2], ("group_llm_reranker", {"window_size": 50}), llm=LLMSettings(max_new_tokens=320))


def test_what_was_compared_before_a_failure_is_not_asked_again() -> None:
    cache, step = RowCache(None, 1_000_000), "tournament_llm_reranker"
    with ScriptedLLM() as server:
        model = a_server_model(server)
        server.play(Script("[2]"), Script(status=401))
        with pytest.raises(FailedStepError):
            ranked([1, 2, 3, 4], step, model=model, cache=cache)
        server.play(Script("[2]"))
        ranked([1, 2, 3, 4], step, model=model, cache=cache)

    assert len(server.requests) == 2 + 2
