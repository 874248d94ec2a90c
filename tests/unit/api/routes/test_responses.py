import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter
from starlette.testclient import TestClient

from api.conversations import KEPT_S, MAX_CHARS_EACH, Conversations
from errors import LLMError, RagError
from query_engine.schema.events import Restarted, Step, Token
from query_engine.schema.manner import Manner
from query_engine.schema.turn import Turn
from tests.fakes.engines import FakeEngine, Script, a_citation, a_done
from tests.fakes.http import client_of

QUESTION = "What turns?"
TEXT = "Wind turns blades. [1]"
ANSWER = (Step("search", "**Searching**"), Token("Wind "), Token("turns blades. [1]", (a_citation(),)), a_done())
TOOL = {"type": "function", "name": "clock", "parameters": {"type": "object", "properties": {}}}
OPENAI_EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


def ask(client: TestClient, given: object = QUESTION, headers: dict[str, str] | None = None, **fields: Any) -> Any:
    return client.post("/v1/responses", json={"model": "default", "input": given, **fields}, headers=headers)


def events_in(body: str) -> list[dict[str, Any]]:
    records = [record.split("\n") for record in body.replace("\r\n", "\n").strip().split("\n\n")]
    records = [record for record in records if not record[0].startswith(":")]
    assert records.pop() == ["data: [DONE]"]
    events = [json.loads(data.removeprefix("data: ")) for _, data in records]
    assert [name for name, _ in records] == [f"event: {event['type']}" for event in events]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    return events


def uncached(script: Script | Sequence[Any] = ANSWER) -> TestClient:
    return client_of(FakeEngine(list(script)), cache={"entries": 0})


def test_a_whole_reply_has_the_text_and_the_spans_of_its_marks() -> None:
    reply = ask(client_of(FakeEngine(ANSWER))).json()
    part = reply["output"][0]["content"][0]
    (one,) = part["annotations"]

    assert Response.model_validate(reply, strict=True).output_text == part["text"] == TEXT
    assert (reply["status"], reply["store"], reply["previous_response_id"]) == ("completed", True, None)
    assert (one["type"], TEXT[one["start_index"] : one["end_index"]]) == ("url_citation", "[1]")
    assert one["url"].startswith("http://testserver/documents/guide/wind.md?")
    assert reply["citations"][0]["quote"] == "Wind turns blades."
    assert reply["treeline"]["answered"] is True
    assert reply["usage"]["total_tokens"] == reply["usage"]["input_tokens"] + reply["usage"]["output_tokens"]


def test_a_mark_in_code_or_of_no_citation_is_not_annotated() -> None:
    text = "`a[1]` is [2] not [1]."
    part = ask(uncached([Token(text, (a_citation(),)), a_done(text)])).json()["output"][0]["content"][0]

    assert [(one["start_index"], one["end_index"]) for one in part["annotations"]] == [(18, 21)]


@pytest.mark.parametrize(
    "script",
    [ANSWER, [a_done(None)], [Token("A "), Token("b."), a_done("A b. [1]")], [a_done()]],
    ids=["answer", "declined", "cut short", "in one piece"],
)
def test_a_stream_brings_the_same_as_typed_events(script: Sequence[Any]) -> None:
    client = uncached(script)
    events = events_in(ask(client, stream=True).text)
    whole = ask(client).json()
    names = [event["type"].removeprefix("response.") for event in events]
    deltas = names.count("output_text.delta")
    part = whole["output"][0]["content"][0]

    for event in events:
        OPENAI_EVENT.validate_python(event)
    assert names == [
        "created", "in_progress", "output_item.added", "content_part.added", *["output_text.delta"] * deltas,
        *["output_text.annotation.added"] * len(part["annotations"]),
        "output_text.done", "content_part.done", "output_item.done", "completed",
    ]  # fmt: skip
    assert "".join(event.get("delta", "") for event in events) == part["text"]
    assert [event["annotation"] for event in events if "annotation" in event] == part["annotations"]
    assert events[-1]["response"]["output"][0]["content"] == [part]
    assert events[-1]["response"]["usage"] == whole["usage"]
    assert len({event["response"]["id"] for event in events if "response" in event}) == 1


def test_withdrawn_text_has_no_annotations() -> None:
    cited = Token("Old. [1]", (a_citation(),))
    events = events_in(ask(uncached([cited, Restarted("It broke off."), *ANSWER]), stream=True).text)
    (part,) = events[-1]["response"]["output"][0]["content"]
    said = part["text"]

    assert said.endswith(TEXT)
    assert [said[one["start_index"] : one["end_index"]] for one in part["annotations"]] == ["[1]"]
    assert part["annotations"][0]["end_index"] == len(said)


def test_a_failure_is_a_response_that_failed() -> None:
    events = events_in(ask(uncached([Token("Wind"), LLMError("It is down.", "Start it.")]), stream=True).text)

    assert events[-1]["type"] == "response.failed"
    assert events[-1]["response"]["status"] == "failed"
    assert "It is down." in events[-1]["response"]["error"]["message"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_response_follows_another(stream: bool) -> None:
    engine = FakeEngine(ANSWER)
    client = client_of(engine)

    def one(question: str, **fields: Any) -> str:
        reply = ask(client, question, stream=stream, **fields)
        return str((events_in(reply.text)[-1]["response"] if stream else reply.json())["id"])

    first = one("What is wind?")
    second = one("And the sun?", previous_response_id=first)
    one("And rain?", previous_response_id=second)

    said = Turn("assistant", TEXT)
    assert engine.conversations[2] == (Turn("user", "What is wind?"), said, Turn("user", "And the sun?"), said)


def test_only_the_key_that_asked_and_only_a_stored_response_is_followed() -> None:
    client = client_of(FakeEngine(ANSWER), serve={"keys": "one-secret-key-of-ours,another-secret-key-too"})
    mine, other = ({"Api-Key": key} for key in ("one-secret-key-of-ours", "another-secret-key-too"))
    stored = ask(client, headers=mine).json()["id"]
    unstored = ask(client, headers=mine, store=False).json()["id"]
    found = [
        ask(client, headers=key, previous_response_id=id_)
        for key, id_ in [(mine, stored), (other, stored), (mine, unstored), (mine, "resp_none")]
    ]

    assert [reply.status_code for reply in found] == [200, 404, 404, 404]
    assert found[1].json()["error"] == found[3].json()["error"]
    assert found[3].json()["error"]["type"] == "invalid_request_error"


def test_conversations_expire_and_are_bounded() -> None:
    now = [0.0]
    kept = Conversations(lambda: now[0])
    long = Turn("user", "x" * (MAX_CHARS_EACH // 2))
    for number in range(1000):
        kept.keep("", str(number), (long, long, Turn("assistant", "It.")))

    assert kept.find("", "999") == (long, Turn("assistant", "It."))
    with pytest.raises(RagError):
        kept.find("", "0")
    now[0] = KEPT_S + 1
    with pytest.raises(RagError):
        kept.find("", "999")


def test_items_are_a_conversation() -> None:
    engine = FakeEngine(ANSWER)
    items = [
        {"role": "developer", "content": "Be brief."},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "What is wind?"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]},
        {"type": "function_call_output", "call_id": "c", "output": "Noon."},
        {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
         "content": [{"type": "output_text", "text": "Moving air. [1]", "annotations": []}]},
        {"role": "user", "content": QUESTION},
    ]  # fmt: skip
    reply = ask(client_of(engine), items, instructions="Be brief.", temperature=0.5, tools=[TOOL], tool_choice="auto")

    assert engine.questions == [QUESTION]
    assert engine.conversations == [(Turn("user", "What is wind?"), Turn("assistant", "Moving air. [1]"))]
    assert reply.json()["treeline"]["ignored"] == [
        "instructions", "items of type function_call_output", "items of type reasoning",
        "messages with role developer", "temperature", "tool_choice", "tools",
    ]  # fmt: skip


def test_a_model_that_writes_is_given_the_clients_wishes() -> None:
    engine = FakeEngine(ANSWER)
    client = client_of(engine, llm={"provider": "openai", "model": "one", "base_url": "http://127.0.0.1:9/v1"})
    items = [{"role": "developer", "content": "Be kind."}, {"role": "user", "content": QUESTION}]
    wishes: dict[str, Any] = {"instructions": "Be brief.", "temperature": 0.5, "max_output_tokens": 9}
    reply = ask(client, items, **wishes).json()

    assert engine.inquiries[0].manner == Manner("Be brief.\n\nBe kind.", 9, 0.5)
    assert reply["treeline"]["ignored"] == []
    assert {name: reply[name] for name in wishes} == wishes


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"input": ""}, "input"),
        ({"input": []}, "input"),
        ({"input": [{"role": "assistant", "content": "It."}]}, "input"),
        ({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]}, "input"),
        ({"input": [{"type": ["x"]}]}, "input"),
        ({"input": 7}, "input"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"text": {"format": {"type": "json_object"}}}, "text"),
        ({"background": True}, "background"),
        ({"conversation": "conv_1"}, "conversation"),
        ({"prompt": {"id": "pmpt_1"}}, "prompt"),
        ({"previous_response_id": 7}, "previous_response_id"),
    ],
)
def test_a_body_that_cannot_be_used_is_refused_in_openais_form(fields: dict[str, Any], param: str) -> None:
    engine = FakeEngine(ANSWER)
    reply = client_of(engine).post("/v1/responses", json={"model": "default", "input": QUESTION, **fields})

    assert (reply.status_code, reply.json()["error"]["param"]) == (400, param)
    assert engine.started == 0


def test_an_unknown_model_is_not_found() -> None:
    reply = ask(client_of(FakeEngine()), model="gpt")

    assert (reply.status_code, reply.json()["error"]["code"]) == (404, "model_not_found")


def test_feedback_takes_the_id(tmp_path: Any) -> None:
    client = client_of(FakeEngine(ANSWER), feedback={"enabled": True}, index={"dir": tmp_path})
    id_ = ask(client).json()["id"]

    assert client.post("/feedback", json={"answer_id": id_, "verdict": "good"}).status_code == 200


def test_values_that_change_nothing_are_not_named() -> None:
    sent: dict[str, Any] = {
        "text": {"format": {"type": "text"}},
        "background": False,
        "tool_choice": "none",
        "tools": [],
    }

    assert ask(client_of(FakeEngine([*ANSWER[:-1], replace(a_done())])), **sent).json()["treeline"]["ignored"] == []
