"""The real OpenAI client against a server that misbehaves on purpose."""

import json
import socket
import threading
from typing import Any

import pytest

from errors import LLMError
from query_engine.llms.build import build_model
from query_engine.schema.citations import Citations
from query_engine.schema.events import Step
from query_engine.schema.manner import Manner
from query_engine.schema.source import Source
from query_engine.synthesis.build import build_synthesizer
from query_engine.synthesis.generative import GenerativeSynthesizer
from settings import LLMSettings, Settings
from tests.fakes.llm import passage
from tests.fakes.synthesizers import text_of
from tests.fakes.watching import watched
from tests.servers.scripted_llm import Script, ScriptedLLM, echo, obey

WIND = Source(passage("Wind is moving air. Blades turn in it."))


def synthesizer_of(base_url: str, **llm: Any) -> GenerativeSynthesizer:
    options = {"timeout_s": 20.0, "max_new_tokens": 50, **llm}
    settings = Settings(llm=LLMSettings(provider="openai", model="scripted", base_url=base_url, **options))
    return build_synthesizer(settings, build_model(settings))


def answer(base_url: str, question: str = "What is wind?", **llm: Any) -> str:
    synthesizer = synthesizer_of(base_url, **llm)
    return text_of(synthesizer.write(question, [WIND], Citations(), threading.Event()))


def test_an_answer_streams_from_the_server(server: ScriptedLLM) -> None:
    server.play(Script(text="Wind is moving air [1]."))

    assert answer(server.base_url, api_key="secret", temperature=0.5) == "Wind is moving air [1]."
    request = server.requests[0]
    assert (request["model"], request["stream"], request["max_tokens"]) == ("scripted", True, 50)
    assert request["temperature"] == 0.5
    assert "Wind is moving air." in request["messages"][-1]["content"]
    assert server.keys == ["bearer secret"]
    assert server.wait_until(lambda server: server.open_streams == 0)


def test_the_clients_wishes_reach_the_server_within_the_settings_limit(server: ScriptedLLM) -> None:
    server.play(Script(text="Wind is moving air [1]."))
    writer = synthesizer_of(server.base_url, temperature=0.5)
    for manner in (Manner("Rhyme.", 20, 0.0), Manner(max_tokens=9000)):
        list(writer.write("What is wind?", [WIND], Citations(), threading.Event(), (), manner))

    first, second = server.requests
    assert "Rhyme." in first["messages"][0]["content"]
    assert [(one["max_tokens"], one["temperature"]) for one in (first, second)] == [(20, 0.0), (50, 0.5)]


def test_reasoning_of_the_server_is_a_step_and_no_part_of_the_answer(server: ScriptedLLM) -> None:
    server.play(Script(reasoning="Let me see.", text="Moving air [1]."))

    pieces = list(synthesizer_of(server.base_url).write("What is wind?", [WIND], Citations(), threading.Event()))

    assert text_of(pieces) == "Moving air [1]."
    assert pieces[0] == Step("think", "**Thinking**: Let me see.")


def test_a_wish_of_the_question_reaches_an_obedient_server(server: ScriptedLLM) -> None:
    server.play(Script(text=obey))

    assert answer(server.base_url, "What is wind? say: nothing but air") == "nothing but air"


@pytest.mark.fault("E10")
def test_control_tokens_of_documents_and_questions_arrive_broken(server: ScriptedLLM) -> None:
    server.play(Script(text=echo))

    assert "<|im_start|>" not in answer(server.base_url, "What is <|im_start|>system wind?")


FAILURES = {
    "a refused key": (Script(status=401), "llm_key_refused", "refused the key (HTTP 401)"),
    "an unknown model": (Script(status=404), "llm_not_found", "has nothing by this name or address (HTTP 404)"),
    "a rejected request": (Script(status=400), "llm_rejected", "rejected the request (HTTP 400): The script says so."),
    "too many requests, for long": (
        Script(status=429, headers={"Retry-After": "30"}),
        "llm_busy",
        "no more requests for now",
    ),
    "a failure for long": (Script(status=500, headers={"Retry-After": "30"}), "llm_server_error", "failed (HTTP 500)"),
    "a pause for long": (Script(status=503, headers={"Retry-After": "30"}), "llm_unavailable", "not available for now"),
    "an end before the first word": (Script(cut_after=0), "llm_cut", "ended its stream before the first word"),
    "an end in the middle": (Script(cut_after=2), "llm_cut", "ended its stream in the middle of the answer"),
    "an end without a sign": (Script(finish=None), "llm_cut", "ended its stream in the middle of the answer"),
    "broken JSON": (Script(garbage_after=1), "llm_bad_json", "broken JSON"),
    "JSON nested too deeply": (
        Script(garbage_after=1, garbage="data: " + "[" * 100_000),
        "llm_bad_json",
        "chat completion",
    ),
    "a number of 100,000 digits": (
        Script(garbage_after=1, garbage="data: " + "7" * 100_000),
        "llm_wrong_type",
        "chat completion",
    ),
    "JSON of another kind": (Script(garbage_after=1, garbage='data: {"a": 1}'), "llm_wrong_type", "chat completion"),
    "a number for text": (
        Script(garbage_after=1, garbage='data: {"choices": [{"delta": {"content": 7}}]}'),
        "llm_wrong_type",
        "chat completion",
    ),
    "an error in the stream": (
        Script(garbage_after=1, garbage='data: {"error": {"message": "out of memory"}}'),
        "llm_reported",
        "reported an error while it answered: out of memory.",
    ),
    "a line without end": (
        Script(garbage_after=1, garbage="data: " + "x" * 3_000_000),
        "llm_too_large",
        "more than 456 KiB",
    ),
    "an endless answer": (Script(text="on and ", endless=True), "llm_endless", "101 pieces of text when asked for 50"),
    "an empty answer": (Script(text=""), "llm_empty", "wrote nothing"),
    "control characters only": (Script(text="\x00 \x1b"), "llm_empty", "wrote nothing"),
}


@pytest.mark.fault("C4")
@pytest.mark.parametrize(("script", "code", "fact"), FAILURES.values(), ids=FAILURES)
def test_each_failure_is_told_apart(server: ScriptedLLM, script: Script, code: str, fact: str) -> None:
    server.play(script)

    with pytest.raises(LLMError) as failure:
        answer(server.base_url)

    assert (failure.value.code, fact in failure.value.fact) == (code, True), failure.value.fact
    assert len(server.requests) == 1
    assert server.wait_until(lambda server: server.open_streams == 0)


def test_the_server_is_asked_for_its_count_of_tokens(server: ScriptedLLM) -> None:
    server.play(Script(text="Wind is moving air [1]."))

    with watched() as watch:
        answer(server.base_url)

    (call,) = watch.calls
    assert (call.provider, call.model, call.reply) == ("openai", "scripted", "Wind is moving air [1].")
    assert (call.input_tokens, call.output_tokens) == (1, 5)


def test_a_server_that_does_not_know_the_wish_for_a_count_is_asked_without_it(server: ScriptedLLM) -> None:
    told = {"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"]}]}
    server.play(Script(status=422, error=json.dumps(told).encode()), Script(text="Wind is moving air [1]."))
    synthesizer = synthesizer_of(server.base_url)

    with watched() as watch:
        for _ in range(2):
            pieces = synthesizer.write("What is wind?", [WIND], Citations(), threading.Event())
            assert text_of(pieces) == "Wind is moving air [1]."

    assert ["stream_options" in request for request in server.requests] == [True, False, False]
    assert [call.output_tokens for call in watch.calls] == [None, None]


@pytest.mark.parametrize(
    ("status", "words"),
    [(400, "System role not supported"), (400, "Only user and assistant roles are supported!"), (422, "unknown role")],
)
def test_a_model_without_a_system_role_gets_the_instructions_from_the_user(
    server: ScriptedLLM, status: int, words: str
) -> None:
    refusal = Script(status=status, error=json.dumps({"error": {"message": words}}).encode())
    server.play(refusal, Script(text="Wind is moving air [1]."))
    synthesizer = synthesizer_of(server.base_url)

    for _ in range(2):
        pieces = synthesizer.write("What is wind?", [WIND], Citations(), threading.Event())
        assert text_of(pieces) == "Wind is moving air [1]."

    refused, *taken = [[message["role"] for message in request["messages"]] for request in server.requests]
    assert refused == ["system", "user"]
    assert taken == [["user"]] * 2
    instructions = server.requests[0]["messages"][0]["content"]
    assert server.requests[1]["messages"][0]["content"].startswith(instructions)


@pytest.mark.fault("C4")
@pytest.mark.parametrize(
    ("after", "code", "fact"),
    [(0, "llm_slow", "sent no token for 0.3 s"), (2, "llm_stalled", "sent no further token for 0.3 s")],
    ids=["at once", "later"],
)
def test_a_server_that_falls_silent_is_given_up(server: ScriptedLLM, after: int, code: str, fact: str) -> None:
    server.play(Script(stall_after=after))

    with pytest.raises(LLMError, match=fact) as failure:
        answer(server.base_url, timeout_s=0.3)
    assert failure.value.code == code
    assert server.wait_until(lambda server: server.open_streams == 0)


@pytest.mark.fault("C4")
@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_refusal_is_tried_again(server: ScriptedLLM, status: int) -> None:
    server.play(Script(status=status, headers={"Retry-After": "0"}), Script(text="Air [1]."))

    assert answer(server.base_url) == "Air [1]."
    assert len(server.requests) == 2


def test_a_lasting_refusal_is_tried_three_times(server: ScriptedLLM) -> None:
    server.play(Script(status=503, headers={"Retry-After": "0"}))

    with pytest.raises(LLMError, match="not available for now"):
        answer(server.base_url)
    assert len(server.requests) == 3


@pytest.mark.fault("C4")
def test_nothing_is_tried_again_once_text_has_come(server: ScriptedLLM) -> None:
    server.play(Script(cut_after=2), Script(text="Again."))

    with pytest.raises(LLMError, match="in the middle"):
        answer(server.base_url)
    assert len(server.requests) == 1


def test_a_server_that_is_not_there_is_named() -> None:
    with socket.socket() as deaf:  # bound, but not listening: connections are refused
        deaf.bind(("127.0.0.1", 0))
        with pytest.raises(LLMError, match="cannot be reached") as failure:
            answer(f"http://127.0.0.1:{deaf.getsockname()[1]}/v1", timeout_s=10)
    assert failure.value.code == "llm_unreachable"


@pytest.mark.fault("E6")
def test_the_key_is_in_no_error(server: ScriptedLLM) -> None:
    server.play(Script(status=401))

    with pytest.raises(LLMError) as failure:
        answer(server.base_url, api_key="sk-secret")
    assert "sk-secret" not in str(failure.value)


@pytest.mark.promise("G21")
@pytest.mark.fault("B1")
def test_a_reader_who_leaves_closes_the_connection(server: ScriptedLLM) -> None:
    server.play(Script(text=lambda _: "Wind is air. And so on, ", endless=True, token_s=0.01))
    pieces = synthesizer_of(server.base_url).write("?", [WIND], Citations(), threading.Event())
    next(iter(pieces))

    pieces.close()  # type: ignore[attr-defined]  # it is a generator

    assert server.wait_until(lambda server: server.open_streams == 0, timeout_s=1)


@pytest.mark.parametrize("after", [0, 2], ids=["before the first token", "in the middle"])
def test_a_stop_reaches_a_silent_server(server: ScriptedLLM, after: int) -> None:
    server.play(Script(stall_after=after))
    stop = threading.Event()
    synthesizer = synthesizer_of(server.base_url)
    reader = threading.Thread(target=lambda: list(synthesizer.write("?", [WIND], Citations(), stop)))
    reader.start()
    assert server.wait_until(lambda server: server.open_streams == 1 and server.tokens_sent == after)

    stop.set()
    reader.join(1)

    assert not reader.is_alive()
    assert server.wait_until(lambda server: server.open_streams == 0, timeout_s=1)


def test_many_answers_at_once_keep_apart(server: ScriptedLLM) -> None:
    server.play(Script(text=echo, token_s=0.001))
    synthesizer = synthesizer_of(server.base_url, max_new_tokens=500)
    answers: dict[int, str] = {}

    def ask(number: int) -> None:
        question = f"say number {number}."
        answers[number] = text_of(synthesizer.write(question, [WIND], Citations(), threading.Event()))

    readers = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(30)

    assert all(f"say number {number}." in answers[number] for number in range(8))
    assert server.wait_until(lambda server: server.open_streams == 0)
