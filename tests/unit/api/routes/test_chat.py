import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from errors import LLMError
from query_engine.runtime.deadline import Deadline
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Restarted, Retrieved, Step, Token, Unsupported
from query_engine.schema.manner import AS_SET, Manner
from query_engine.schema.turn import Turn
from tests.fakes.engines import FakeEngine, Script, a_citation, a_done, a_nearest, a_passage
from tests.fakes.http import client_of
from tests.fakes.threads import busy_pool

STEPS = (Step("search", "**Searching**"), Retrieved((a_passage(),)), Step("write", "**Writing**"))
ANSWER = (*STEPS, Token("Wind "), Token("turns blades. [1]", citations=(a_citation(),)), a_done())
PAGE = "http://testserver/documents/guide/wind.md?corpus=default&start=10&end=28#cited"
LINKED = f"Wind turns blades. [[1]]({PAGE})\n\n**Sources**\n\n1. [Wind]({PAGE})"
USER = {"role": "user", "content": "What turns?"}
TOOL = {"type": "function", "function": {"name": "clock", "parameters": {"type": "object", "properties": {}}}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
KILL_S = 10
# Recorded from Open WebUI 0.12.4: five sent by its page, `tuned` with all its sampling options; long texts shortened.
OPEN_WEBUI = Path(__file__).parents[3] / "fixtures" / "openwebui"


def ask(client: TestClient, *messages: dict[str, Any], **fields: Any) -> Any:
    body = {"model": "default", "messages": list(messages) or [USER], **fields}
    return client.post("/v1/chat/completions", json=body)


def chunks_in(body: str) -> list[dict[str, Any]]:
    lines = [line.removeprefix("data: ") for line in body.splitlines() if line.startswith("data:")]
    assert lines[-1] == "[DONE]"
    return [json.loads(line) for line in lines[:-1]]


def content_of(chunks: list[dict[str, Any]], key: str = "content") -> str:
    return "".join(choice["delta"].get(key, "") for chunk in chunks for choice in chunk["choices"])


def test_corpora_are_models() -> None:
    client = client_of(FakeEngine(), FakeEngine(corpus="papers"))

    listed = [model["id"] for model in client.get("/v1/models").json()["data"]]
    assert listed == [f"{corpus}{mode}" for corpus in ("default", "papers", "*") for mode in ("", ":agent", ":auto")]
    assert client.get("/v1/models/papers+default:agent").json()["id"] == "papers+default:agent"
    assert client.get("/v1/models/papers").json()["object"] == "model"
    assert client.get("/v1/models/papers:agent").json()["id"] == "papers:agent"
    for unknown in ("gpt", "gpt:agent", "papers+gpt", "papers+", "papers:", "papers:fast", "papers:agent:agent"):
        assert client.get(f"/v1/models/{unknown}").status_code == 404


@pytest.mark.promise("G01")
def test_a_whole_reply_holds_the_answer_the_steps_and_the_citations() -> None:
    reply = ask(client_of(FakeEngine(ANSWER))).json()
    choice = reply["choices"][0]

    assert (reply["object"], reply["model"]) == ("chat.completion", "default")
    assert choice["finish_reason"] == "stop"
    assert choice["message"]["content"] == LINKED
    assert choice["message"]["reasoning_content"] == "**Searching**\n\n**Writing**\n\n"
    assert reply["citations"][0]["quote"] == "Wind turns blades."
    assert reply["citations"][0]["url"].startswith("http://testserver/documents/guide/wind.md?")
    assert reply["treeline"]["gate_reason"] == "generated_answer"
    usage = reply["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert usage["completion_tokens"] > usage["completion_tokens_details"]["reasoning_tokens"] > 0


def test_a_stream_brings_the_same_in_chunks() -> None:
    client = client_of(FakeEngine(ANSWER), cache={"entries": 0})
    chunks = chunks_in(ask(client, stream=True).text)
    whole = ask(client).json()

    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert content_of(chunks) == whole["choices"][0]["message"]["content"]
    assert content_of(chunks, "reasoning_content") == whole["choices"][0]["message"]["reasoning_content"]
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks[-2:]] == [None, "stop"]
    assert (chunks[-1]["citations"], chunks[-1]["treeline"]) == (whole["citations"], whole["treeline"])
    assert len({chunk["id"] for chunk in chunks}) == 1
    assert all("usage" not in chunk for chunk in chunks)


def test_the_usage_comes_last_when_it_is_wanted() -> None:
    client = client_of(FakeEngine(ANSWER), cache={"entries": 0})
    chunks = chunks_in(ask(client, stream=True, stream_options={"include_usage": True}).text)

    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"] == ask(client).json()["usage"]
    assert all(chunk["usage"] is None for chunk in chunks[:-1])


@pytest.mark.parametrize("stream", [False, True])
def test_numbers_are_plain_and_no_sources_are_listed_where_links_are_switched_off(stream: bool) -> None:
    reply = ask(client_of(FakeEngine(ANSWER), serve={"chat_links": False}), stream=stream)

    content = content_of(chunks_in(reply.text)) if stream else reply.json()["choices"][0]["message"]["content"]
    assert content == "Wind turns blades. [1]"


@pytest.mark.parametrize("stream", [False, True])
def test_a_model_s_own_decline_is_the_content(stream: bool) -> None:
    said = "I don't know: the guide names no price."
    script: Script = [*STEPS, Token(""), replace(a_done(None, message=said), decline_text=said)]
    reply = ask(client_of(FakeEngine(script)), stream=stream)
    chunks = chunks_in(reply.text) if stream else []

    assert (content_of(chunks) if stream else reply.json()["choices"][0]["message"]["content"]) == said
    assert (chunks[-1] if stream else reply.json())["treeline"]["decline_text"] == said


@pytest.mark.parametrize("stream", [False, True])
def test_what_no_source_holds_is_named_beside_the_content(stream: bool) -> None:
    text = "Port 8443 [1], and again 8443, by --max-open."
    places = tuple(
        Unsupported(start, start + len(found), found)
        for start, found in [(5, "8443"), (25, "8443"), (34, "--max-open")]
    )
    reply = ask(client_of(FakeEngine([*STEPS, Token(text), replace(a_done(text), unsupported=places)])), stream=stream)
    found = (chunks_in(reply.text)[-1] if stream else reply.json())["treeline"]

    # Links move the places, so texts are named, each once.
    assert (found["unsupported"], found["decline_text"]) == (["8443", "--max-open"], None)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("linked", [False, True])
def test_the_closest_passages_of_a_declined_question_are_collapsed(stream: bool, linked: bool) -> None:
    engine = FakeEngine([*STEPS, a_done(None, nearest=(a_nearest(),))])
    reply = ask(client_of(engine, serve={"chat_links": linked}), stream=stream)
    if stream:
        chunks = chunks_in(reply.text)
        content, facts = content_of(chunks), chunks[-1]
    else:
        content, facts = reply.json()["choices"][0]["message"]["content"], reply.json()

    folded = f"\n\n<details><summary>Closest passages</summary>\n\n- [Wind]({PAGE}): Wind turns blades.\n\n</details>"
    assert content == "I don't know. The passages found do not answer this." + (folded if linked else "")
    assert [one["url"] for one in facts["treeline"]["nearest"]] == [PAGE]


def test_other_places_stand_beside_an_answer_not_in_it() -> None:
    replies = [ask(client_of(FakeEngine([*STEPS, a_done(nearest=places)]))).json() for places in ((a_nearest(),), ())]

    contents = [reply["choices"][0]["message"]["content"] for reply in replies]
    assert contents[0] == contents[1]
    assert [len(reply["treeline"]["nearest"]) for reply in replies] == [1, 0]


@pytest.mark.parametrize("stream", [False, True])
def test_what_the_documents_do_not_answer_is_said_in_words(stream: bool) -> None:
    reply = ask(client_of(FakeEngine([*STEPS, a_done(None)])), stream=stream)
    if stream:
        chunks = chunks_in(reply.text)
        content, facts = content_of(chunks), chunks[-1]
    else:
        content, facts = reply.json()["choices"][0]["message"]["content"], reply.json()

    assert content.startswith("I don't know. ")
    assert (facts["citations"], facts["treeline"]["answered"]) == ([], False)


def test_earlier_messages_reach_the_engine_as_turns() -> None:
    engine = FakeEngine(ANSWER)
    ask(
        client_of(engine),
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is wind?"},
        {"role": "assistant", "content": [{"type": "text", "text": LINKED.replace("Wind turns blades", "Moving air")}]},
        {"role": "assistant", "content": None},
        {"role": "user", "content": [{"type": "text", "text": "What does it "}, {"type": "text", "text": "turn?"}]},
    )

    assert engine.questions == ["What does it \nturn?"]
    assert engine.conversations == [(Turn("user", "What is wind?"), Turn("assistant", "Moving air. [1]"))]


def test_the_same_question_in_another_conversation_is_another_question() -> None:
    engine = FakeEngine(ANSWER)
    client = client_of(engine)
    before = {"role": "user", "content": "What is wind?"}
    replies = [ask(client, USER), ask(client, before, USER), ask(client, before, USER)]

    assert [reply.json()["treeline"]["cache_hit"] for reply in replies] == [False, False, True]
    assert engine.started == 2


@pytest.mark.promise("G01")
def test_a_model_that_writes_is_given_the_clients_wishes() -> None:
    engine = FakeEngine(ANSWER)
    client = client_of(engine, llm={"provider": "openai", "model": "one", "base_url": "http://127.0.0.1:9/v1"})
    system = {"role": "system", "content": "Be brief."}
    wishes = {"temperature": 0.2, "max_tokens": 90, "max_completion_tokens": 5}
    reply = ask(client, system, USER, **wishes, seed=1)
    ask(client, USER, max_tokens=-1)
    ask(client, system, {"role": "user", "content": "Who turns?"}, **wishes, writer="quotes")
    again = ask(client, system, USER, **wishes, seed=1)

    assert [one.manner for one in engine.inquiries] == [Manner("Be brief.", 5, 0.2), AS_SET, AS_SET]
    assert reply.json()["treeline"]["ignored"] == ["seed"]
    assert again.json()["treeline"]["cache_hit"]


def test_what_only_tunes_a_model_is_passed_over_and_named() -> None:
    system = {"role": "system", "content": "Be brief."}
    reply = ask(client_of(FakeEngine(ANSWER)), system, USER, temperature=0.2, max_tokens=5, seed=None)

    assert reply.status_code == 200
    assert reply.json()["treeline"]["ignored"] == ["max_tokens", "messages with role system", "temperature"]


def test_what_is_done_anyway_is_not_named() -> None:
    sent = {"n": 1, "logprobs": False, "modalities": ["text"], "response_format": {"type": "text"}}
    none = {"tools": [], "functions": [], "tool_choice": "none", "function_call": "none"}
    reply = ask(client_of(FakeEngine(ANSWER)), **sent, **none)

    assert (reply.status_code, reply.json()["treeline"]["ignored"]) == (200, [])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "fields",
    [
        {"tools": [TOOL], "tool_choice": "auto", "parallel_tool_calls": True},
        {"functions": [TOOL["function"]], "function_call": "auto"},
        {"metadata": {"a": "b"}, "user": "me", "store": False, "service_tier": "auto", "reasoning_effort": "low"},
        {"seed": 1, "stop": ["END"], "presence_penalty": 0, "max_completion_tokens": 9, "top_logprobs": 0},
        {"prediction": {"type": "content", "content": "Wind"}},
    ],
)
def test_offered_tools_and_other_options_of_clients_are_named_and_answered(
    fields: dict[str, Any], stream: bool
) -> None:
    reply = ask(client_of(FakeEngine(ANSWER)), **fields, stream=stream)
    facts = chunks_in(reply.text)[-1] if stream else reply.json()

    assert reply.status_code == 200
    assert facts["treeline"]["ignored"] == sorted(fields)
    assert facts["treeline"]["answered"] is True


def test_calls_of_tools_in_the_conversation_are_passed_over_and_named() -> None:
    engine = FakeEngine(ANSWER)
    messages: list[dict[str, Any]] = [
        {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
        {"role": "user", "content": "What is the time?"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "content": "Noon.", "tool_call_id": "call_1"},
        {"role": "assistant", "content": "It is noon."},
        USER,
    ]
    reply = ask(client_of(engine), *messages)

    assert engine.conversations == [(Turn("user", "What is the time?"), Turn("assistant", "It is noon."))]
    assert reply.json()["treeline"]["ignored"] == [
        "messages with role developer", "messages with role tool", "messages with tool calls",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "ignored"),
    [
        ("question", ["tools"]),
        ("follow_up_question", ["tools"]),
        ("title", ["max_tokens"]),
        ("follow_ups", []),
        ("tags", []),
        (
            "tuned",
            [
                "frequency_penalty", "max_tokens", "messages with role system", "min_p", "presence_penalty",
                "reasoning_effort", "seed", "stop", "temperature", "top_k", "top_p",
            ],
        ),
    ],
)  # fmt: skip
def test_what_open_webui_sends_is_answered(name: str, ignored: list[str]) -> None:
    engine = FakeEngine(ANSWER)
    body = json.loads((OPEN_WEBUI / f"{name}.json").read_text())
    reply = client_of(engine).post("/v1/chat/completions", json=body)

    assert reply.status_code == 200
    assert engine.questions == [body["messages"][-1]["content"]]
    if body["stream"]:
        chunks = chunks_in(reply.text)
        content, facts = content_of(chunks), next(chunk for chunk in chunks if "treeline" in chunk)
    else:
        content, facts = reply.json()["choices"][0]["message"]["content"], reply.json()
    assert content == LINKED
    assert facts["treeline"]["ignored"] == ignored


def test_filters_limits_and_the_time_reach_the_engine() -> None:
    engine = FakeEngine(ANSWER)
    filters = {"filters": [{"key": "doc_id", "value": "a"}]}
    ask(client_of(engine), filters=filters, max_passages=3, query_time="2024-02-28")

    assert (engine.filters, engine.limits, engine.query_times) == ([filters], [3], ["2024-02-28"])


@pytest.mark.parametrize("top_k", [0, -1, 40])
def test_top_k_is_the_samplers_and_does_not_limit_the_passages(top_k: int) -> None:
    engine = FakeEngine(ANSWER)
    reply = ask(client_of(engine), top_k=top_k)

    assert (reply.status_code, reply.json()["treeline"]["ignored"]) == (200, ["top_k"])
    assert engine.limits == [None]


@pytest.mark.parametrize(
    ("fields", "param", "message"),
    [
        ({"messages": []}, "messages", "at least 1 item"),
        ({"messages": [{"role": "user", "content": " "}]}, "messages", "blank"),
        ({"messages": [USER, {"role": "assistant", "content": "It"}]}, "messages", "last message"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages", "text"),
        ({"n": 2}, "n", "offer n other than 1;"),
        ({"logprobs": True}, "logprobs", "offer logprobs other than false;"),
        ({"modalities": ["text", "audio"]}, "modalities", 'offer modalities other than ["text"];'),
        ({"audio": {"voice": "alloy"}}, "audio", "offer audio;"),
        ({"tools": [TOOL], "tool_choice": "required"}, "tool_choice", 'other than "none" or "auto";'),
        ({"tools": [TOOL], "tool_choice": TOOL}, "tool_choice", 'other than "none" or "auto";'),
        ({"function_call": {"name": "clock"}}, "function_call", 'other than "none" or "auto";'),
        ({"response_format": {"type": "json_object"}}, "response_format", 'other than {"type": "text"};'),
        ({"response_format": {"type": "json_schema", "json_schema": {}}}, "response_format", "offer response_format"),
    ],
)
def test_what_is_not_on_offer_is_refused_in_openais_form(fields: dict[str, Any], param: str, message: str) -> None:
    engine = FakeEngine(ANSWER)
    reply = client_of(engine).post("/v1/chat/completions", json={"model": "default", "messages": [USER], **fields})
    error = reply.json()["error"]

    assert reply.status_code == 400
    assert (error["type"], error["param"]) == ("invalid_request_error", param)
    assert message in error["message"]
    assert engine.started == 0


def test_an_unknown_model_is_told_in_openais_form_without_repeating_it() -> None:
    reply = ask(client_of(FakeEngine()), model="../secret")

    assert reply.status_code == 404
    assert reply.json()["error"]["code"] == "model_not_found"
    assert "Models are corpora: default." in reply.json()["error"]["message"]
    assert "secret" not in reply.text


def test_other_addresses_below_v1_have_openais_errors_as_well() -> None:
    reply = client_of(FakeEngine()).get("/v1/embeddings", headers={"accept": "text/html"})

    assert (reply.status_code, reply.json()["error"]["type"]) == (404, "invalid_request_error")


def test_a_failure_before_the_stream_has_a_status_and_one_within_it_an_error() -> None:
    engine = FakeEngine([*STEPS, LLMError("It broke.", "Mend it.")])
    whole, streamed = ask(client_of(engine)), ask(client_of(engine), stream=True)

    assert (whole.status_code, whole.json()["error"]["type"]) == (503, "server_error")
    assert chunks_in(streamed.text)[-1] == {
        "error": {"message": "It broke. Mend it.", "type": "server_error", "param": None, "code": "llm_failed"}
    }


def test_text_that_was_sent_and_then_withdrawn_is_followed_by_a_word_about_it() -> None:
    done = a_done("It turns.", warnings=(AnswerWarning("llm_failed", "The model broke."),))
    script: Script = [
        *STEPS,
        Token("Wind"),
        Step("write", "w"),
        Restarted("It broke."),
        Token("It "),
        Token("turns."),
        done,
    ]
    content = content_of(chunks_in(ask(client_of(FakeEngine(script)), stream=True).text))

    assert content.startswith("Wind\n")
    assert "withdrawn: It broke." in content
    assert content.partition("**Sources**")[0].endswith("It turns.\n\n")


@pytest.mark.parametrize("answer", ["Quotes, as far as they came.", None])
def test_so_is_text_that_nobody_withdrew_before_the_time_was_over(answer: str | None) -> None:
    done = a_done(answer)
    content = content_of(chunks_in(ask(client_of(FakeEngine([*STEPS, Token("Wind"), done])), stream=True).text))

    assert content.startswith("Wind\n")
    assert "withdrawn: " in content
    assert content.partition("withdrawn: ")[2].partition("**Sources**")[0].strip().endswith(done.message)


@pytest.mark.parametrize(
    "body",
    [b"", b"question=canary-7731", b'["canary-7731"]', b"null", b"[" * 100_000, b'{"model": "canary-7731"}',
     b'{"model": 7, "messages": "canary-7731"}', b'{"model": "default", "messages": [{"role": "canary-7731"}]}',
     b'{"model": "default", "messages": [{"role": "user", "content": "canary-7731 \\ud800"}], "max_passages": 0}'],
)  # fmt: skip
def test_a_body_that_makes_no_sense_is_a_400_that_repeats_nothing(body: bytes) -> None:
    client = client_of(FakeEngine(ANSWER))
    reply = client.post("/v1/chat/completions", content=body, headers={"content-type": "application/json"})

    assert reply.status_code == 400
    assert reply.json()["error"]["type"] == "invalid_request_error"
    assert "canary" not in reply.text


def test_half_a_character_and_nul_in_a_message_become_replacement_characters() -> None:
    engine = FakeEngine(ANSWER)
    body = b'{"model": "default", "messages": [{"role": "user", "content": "W\\u0000at \\ud800?"}]}'
    reply = client_of(engine).post("/v1/chat/completions", content=body, headers={"content-type": "application/json"})

    assert reply.status_code == 200
    assert engine.questions == ["W\ufffdat ??"]


@pytest.mark.promise("C16")
async def test_an_answer_needs_no_thread_of_the_pool_that_slow_routes_hold() -> None:
    transport = httpx.ASGITransport(app=client_of(FakeEngine(ANSWER)).app)
    with busy_pool():
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
            body = {"model": "default", "messages": [USER]}
            reply = await asyncio.wait_for(client.post("/v1/chat/completions", json=body), KILL_S)

    assert reply.status_code == 200


@pytest.mark.parametrize("stream", [False, True])
def test_a_full_service_refuses_and_a_kept_answer_needs_no_slot(stream: bool) -> None:
    client = client_of(FakeEngine(ANSWER), serve={"slots": 1, "queue": 0})
    assert ask(client).status_code == 200
    client.app.state.service.slots.enter(Deadline(240))  # type: ignore[attr-defined]  # a FastAPI application

    refused = ask(client, {"role": "user", "content": "What else?"}, stream=stream)

    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "rate_limit_exceeded")
    assert refused.json()["error"]["type"] == "rate_limit_error"
    assert int(refused.headers["retry-after"]) > 0
    assert ask(client, stream=stream).status_code == 200
