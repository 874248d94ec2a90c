"""More passages than the model's context holds, read in groups by a model server."""

import re
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from errors import LLMError
from query_engine.llms.build import build_model
from query_engine.runtime.deadline import Deadline
from query_engine.schema.citations import Citations
from query_engine.schema.events import Event, Restarted, Step, Token
from query_engine.schema.passage import Passage
from query_engine.synthesis.build import build_synthesizer
from query_engine.synthesis.extractive import ExtractiveSynthesizer
from query_engine.synthesis.fallback_chain import Answer, write
from query_engine.synthesis.generative import GenerativeSynthesizer
from settings import AnswerSettings, LLMSettings, Settings
from tests.fakes.embedding import WordHashEmbedding
from tests.fakes.llm import passage
from tests.fakes.reading import a_leaf_reader
from tests.fakes.synthesizers import text_of, texts_of
from tests.servers.scripted_llm import Request, Script, ScriptedLLM

CONTEXT_TOKENS, ANSWER_TOKENS = 1400, 60
NAMES = ("Ada", "Bela", "Cora", "Dora", "Edna", "Fara", "Gala", "Hedi")
FILLER = "The archive keeps the letters of that year in a green box on the upper shelf. "
# Of the unequal lengths that real passages have; the last one alone is longer than a prompt.
PASSAGES = [
    passage(
        f"{name} planted {number} lime trees.\n\n{FILLER * (number % 5 + (30 if name == 'Hedi' else 1))}",
        f"{name}.md",
        title=name,
    )
    for number, name in enumerate(NAMES, 11)
]


@pytest.fixture
def server() -> Iterator[ScriptedLLM]:
    with ScriptedLLM() as server:
        yield server


def synthesizer(server: ScriptedLLM, **llm: Any) -> GenerativeSynthesizer:
    chosen = LLMSettings(
        provider="openai",
        model="scripted",
        base_url=server.base_url,
        context_tokens=CONTEXT_TOKENS,
        timeout_s=20,
        **{"long_evidence": "tree", "max_new_tokens": ANSWER_TOKENS, **llm},
    )
    settings = Settings(llm=chosen, answer=AnswerSettings(max_context_chars=50_000))
    return build_synthesizer(settings, build_model(settings), WordHashEmbedding())


def answer(author_: GenerativeSynthesizer, passages: Sequence[Passage] = PASSAGES) -> tuple[list[Event], Answer]:
    growing = Answer("Who planted lime trees?")
    growing.passages = tuple(passages)
    quoting = ExtractiveSynthesizer(a_leaf_reader())
    events = list(write([author_, quoting], growing, Deadline(60)))
    return events, growing


def documents(request: Request) -> str:
    """The documents of a prompt."""
    return str(request["messages"][-1]["content"]).partition("Documents:\n")[2]


def noting(request: Request) -> str:
    """Say again who planted what, under the rank where it stands."""
    found = re.findall(r"<DOC rank=(\d+)>\n.*\n(\w+ planted \d+ lime trees)\.", documents(request))
    return " ".join(f"{said} [{rank}]." for rank, said in found) or "I don't know."


def test_every_passage_reaches_the_model_and_the_answer_cites_all_of_them(server: ScriptedLLM) -> None:
    server.play(Script(text=noting))

    events, done = answer(synthesizer(server))

    read = "".join(documents(request) for request in server.requests)
    assert all(f"{one.title} planted" in read for one in PASSAGES)
    assert read.count(FILLER.strip()) == sum(one.text.count(FILLER.strip()) for one in PASSAGES)
    shown = "".join(event.text for event in events if isinstance(event, Token))
    assert shown == done.text
    assert [name for name in NAMES if f"{name} planted" in shown] == list(NAMES)
    assert [each.quote for each in done.citations.all()] == [one.text.partition("\n")[0] for one in PASSAGES]
    assert {each.doc_id for each in done.citations.all()} == {one.doc_id for one in PASSAGES}
    assert done.warnings == []
    told = [event.text for event in events if isinstance(event, Step)]
    assert any(f"the model was asked {len(server.requests)} times" in text for text in told)
    assert not any("Not all passages were read" in text for text in told)


def test_every_prompt_has_the_example_the_question_and_room_in_the_models_context(server: ScriptedLLM) -> None:
    server.play(Script(text=noting))

    answer(synthesizer(server))

    assert len(server.requests) > 3
    for request in server.requests:
        contents = [message["content"] for message in request["messages"]]
        assert [message["role"] for message in request["messages"]] == ["system", "user", "assistant", "user"]
        assert contents[3].endswith("Who planted lime trees?")
        # The estimate of a server whose tokenizer is unknown.
        assert sum(len(content.encode()) / 2.5 for content in contents) + ANSWER_TOKENS <= CONTEXT_TOKENS


def test_the_last_prompt_holds_the_notes_as_documents_of_the_same_ranks_and_is_streamed(
    server: ScriptedLLM,
) -> None:
    server.play(Script(text=noting))
    pieces = synthesizer(server).write("Who planted lime trees?", PASSAGES, Citations(), threading.Event())

    assert next(texts_of(pieces)) == "Ada planted 11 lime trees [1]."
    last = documents(server.requests[-1])
    assert "<DOC rank=2>\nBela\nBela planted 12 lime trees\n</DOC>" in last.replace("trees.", "trees")
    assert FILLER.strip() not in last
    assert server.requests[-1]["stream"]
    pieces.close()  # type: ignore[attr-defined]  # it is a generator
    assert server.wait_until(lambda server: not server.open_streams)


def test_passages_that_fit_one_prompt_are_read_at_once(server: ScriptedLLM) -> None:
    server.play(Script(text=noting))

    events, _ = answer(synthesizer(server), PASSAGES[:2])

    assert len(server.requests) == 1
    assert not any(isinstance(event, Step) and "Read in groups" in event.text for event in events)


def test_passages_are_cut_off_and_that_is_told_unless_groups_are_set(server: ScriptedLLM) -> None:
    server.play(Script(text=noting))

    _, done = answer(synthesizer(server, long_evidence="cut"))

    assert len(server.requests) == 1
    assert [warning.code for warning in done.warnings] == ["passages_left_out"]


def test_after_a_stop_in_the_first_group_the_model_is_not_asked_again(server: ScriptedLLM) -> None:
    stop = threading.Event()

    def said(request: Request) -> str:
        stop.set()
        return noting(request)

    server.play(Script(text=said, token_s=0.2))

    assert list(synthesizer(server).write("Who planted lime trees?", PASSAGES, Citations(), stop)) == []
    assert len(server.requests) == 1
    assert server.wait_until(lambda server: not server.open_streams)
    assert server.tokens_sent < 6


def test_a_failure_in_a_group_hands_over_to_quotes_and_keeps_its_code(server: ScriptedLLM) -> None:
    server.play(Script(text=noting), Script(text="Cora planted many trees.", cut_after=2))

    events, done = answer(synthesizer(server))

    assert len(server.requests) == 2
    assert done.synthesizer == "extractive"
    assert done.citations.all()
    assert [warning.code for warning in done.warnings] == ["llm_cut"]
    assert not any(isinstance(event, Restarted) for event in events)
    assert not any(isinstance(event, Step) and "Read in groups" in event.text for event in events)


def test_too_slow_a_reading_hands_over_to_quotes_and_ends(server: ScriptedLLM) -> None:
    server.play(Script(stall_after=0))
    growing = Answer("Who planted lime trees?")
    growing.passages = tuple(PASSAGES)
    quoting = ExtractiveSynthesizer(a_leaf_reader())

    _ = list(write([synthesizer(server), quoting], growing, Deadline(2)))

    assert growing.synthesizer == "extractive"
    assert [warning.code for warning in growing.warnings] == ["out_of_time"]
    assert len(server.requests) == 1
    assert server.wait_until(lambda server: not server.open_streams)


def test_a_model_that_declines_every_group_has_no_answer(server: ScriptedLLM) -> None:
    server.play(Script(text="I don't know."))

    assert list(synthesizer(server).write("Who planted lime trees?", PASSAGES, Citations(), threading.Event())) == []
    assert all(FILLER.strip() in documents(request) for request in server.requests)


@pytest.mark.parametrize(
    ("script", "code"),
    [
        (Script(text="Lima has many parks."), "llm_unsupported"),
        (Script(text=""), "llm_empty"),
        (Script(text="<think>Hm."), "llm_reasoning"),
        (Script(status=401), "llm_key_refused"),
    ],
)
def test_what_no_group_yields_is_a_failure_with_the_code_it_has_elsewhere(
    server: ScriptedLLM, script: Script, code: str
) -> None:
    server.play(script)

    with pytest.raises(LLMError) as failure:
        list(synthesizer(server).write("Who planted lime trees?", PASSAGES, Citations(), threading.Event()))
    assert failure.value.code == code


def test_what_a_model_makes_up_in_a_group_is_not_noted(server: ScriptedLLM) -> None:
    def inventing(request: Request) -> str:
        return f"Lima has many parks [1]. {noting(request)}" if FILLER in documents(request) else noting(request)

    server.play(Script(text=inventing))
    citations = Citations()

    told = text_of(synthesizer(server).write("Who planted lime trees?", PASSAGES, citations, threading.Event()))

    assert "Hedi planted 18 lime trees" in told
    assert "Lima" not in documents(server.requests[-1])
    assert citations.checked.dropped == 0


def test_without_the_check_everything_is_noted(server: ScriptedLLM) -> None:
    server.play(Script(text="Lima a des parcs."))

    told = text_of(
        synthesizer(server, grounding=False).write("Who planted lime trees?", PASSAGES, Citations(), threading.Event())
    )

    assert told == "Lima a des parcs."
    assert "Lima a des parcs." in documents(server.requests[-1])


def test_notes_that_never_grow_shorter_come_to_an_end_and_what_had_no_room_is_told(server: ScriptedLLM) -> None:
    def copying(request: Request) -> str:
        text = re.sub(r"</?DOC.*", "", documents(request).partition("\n\nUsing only")[0])
        return " ".join(text.split())

    server.play(Script(text=copying))
    long = [
        passage(" ".join(f"The box {box}{place} holds letters." for box in range(40)), f"{place}.md")
        for place in "abcdefgh"
    ]
    citations = Citations()

    told = text_of(
        synthesizer(server, max_new_tokens=400).write("What do the boxes hold?", long, citations, threading.Event())
    )

    assert "holds letters" in told
    assert citations.shown.lost > 0
    assert str(citations.shown.warning()).startswith(f"notes_left_out: {citations.shown.lost} of the sentences")
