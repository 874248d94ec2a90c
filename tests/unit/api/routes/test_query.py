import json
from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient

from errors import LLMError
from query_engine.retrieval.steering import Steering
from query_engine.runtime.deadline import Deadline
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Done, Restarted, Retrieved, Step, Token, Unsupported
from query_engine.schema.turn import Turn
from tests.fakes.engines import ORIGIN, FakeEngine, a_done, a_nearest, a_passage
from tests.fakes.http import client_of

STEPS = (Step("search", "**Searching**"), Retrieved((a_passage(),)))
ANSWER = (*STEPS, Token("Wind "), Token("turns "), Token("blades. [1]"), a_done())
QUESTION = {"question": "What turns?"}


def events_in(body: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the server-sent events of a whole stream, comments left out."""
    blocks = [block.splitlines() for block in body.replace("\r\n", "\n").split("\n\n") if block.startswith("event:")]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in blocks]


def streamed(client: TestClient, **body: Any) -> list[tuple[str, dict[str, Any]]]:
    return events_in(client.post("/query/stream", json={**QUESTION, **body}).text)


@pytest.mark.parametrize("said", ["text", "content"])
def test_a_question_is_read_with_the_turns_before_it(said: str) -> None:
    engine = FakeEngine(ANSWER)
    turns = [{"role": "user", said: "What is wind?"}, {"role": "assistant", said: "Moving air. [1]"}]

    reply = client_of(engine).post("/query", json={**QUESTION, "turns": turns})

    assert reply.status_code == 200
    assert engine.inquiries[0].turns == (Turn("user", "What is wind?"), Turn("assistant", "Moving air. [1]"))


@pytest.mark.parametrize(
    "turns",
    [
        [{"role": "system", "text": "x"}],
        [{"role": "user"}],
        [{"role": "user", "text": ""}],
        [{"role": "user", "text": "x", "content": "y"}],
        "x",
        [{}] * 101,
    ],
)
def test_turns_that_are_none_are_refused(turns: object) -> None:
    reply = client_of(FakeEngine(ANSWER)).post("/query", json={**QUESTION, "turns": turns})

    assert (reply.status_code, reply.json()["error"]["field"]) == (422, "turns")


@pytest.mark.promise("E12")
def test_the_reply_is_the_one_that_clients_of_bedrock_rag_eval_read() -> None:
    reply = client_of(FakeEngine(ANSWER)).post("/query", json={**QUESTION, "include_context": True})

    assert reply.status_code == 200
    found = reply.json()
    assert (found["answer"], found["gate_reason"], found["cache_hit"]) == (
        "Wind turns blades. [1]",
        "generated_answer",
        False,
    )
    assert (found["citations"][0]["doc_id"], found["citations"][0]["chunk_id"]) == (
        "guide/wind.md",
        "guide/wind.md#00002",
    )
    assert (found["retrieved_count"], found["max_score"]) == (1, 0.9)
    assert found["retrieved"][0] == {
        "doc_id": "guide/wind.md",
        "chunk_id": "guide/wind.md#00002",
        "score": 0.9,
        "text": "Wind turns blades.",
        "vector_score": 0.8,
        "keyword_score": None,
        "scores": {"dense": 0.8, "fused": 0.9},
        "title": "Wind",
        "start": 10,
        "end": 28,
        "pages": [0],
        **ORIGIN,
    }
    assert found["contexts"] == ["Wind turns blades."]
    assert {"answered", "message", "synthesizer", "warnings", "timings_ms", "fingerprint"} < found.keys()


def test_the_passages_come_only_when_they_are_wanted() -> None:
    found = client_of(FakeEngine(ANSWER)).post("/query", json=QUESTION).json()

    assert (found["retrieved"], found["contexts"], found["retrieved_count"]) == (None, None, 1)


@pytest.mark.promise("E13")
def test_what_the_documents_do_not_answer_is_null_and_cites_nothing() -> None:
    found = client_of(FakeEngine([*STEPS, a_done(None)])).post("/query", json=QUESTION).json()

    assert (found["answer"], found["citations"], found["answered"]) == (None, [], False)
    assert found["gate_reason"] == "generated_no_answer_low_confidence"
    assert found["message"].startswith("I don't know. ")
    assert found["nearest"] == []


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(
    ("done", "declined", "unsupported"),
    [
        (a_done(), None, []),
        (replace(a_done(None, message="I don't know it."), decline_text="I don't know it."), "I don't know it.", []),
        (
            replace(a_done("Port 8443. [1]"), unsupported=(Unsupported(5, 9, "8443"),)),
            None,
            [{"start": 5, "end": 9, "text": "8443"}],
        ),
    ],
)
def test_a_model_s_decline_and_what_no_source_holds_are_told(
    done: Done, declined: str | None, unsupported: list[dict[str, Any]], whole: bool
) -> None:
    client = client_of(FakeEngine([*STEPS, done]))
    found = client.post("/query", json=QUESTION).json() if whole else streamed(client)[-1][1]

    assert (found["decline_text"], found["unsupported"]) == (declined, unsupported)
    assert found["message"] == done.message


def test_where_an_answer_would_stand_comes_with_a_link_without_an_answer() -> None:
    declined = a_done(
        None, nearest=(replace(a_nearest(), headings=("Wind", "Blades")), a_nearest("b.html", "https://example.org/b"))
    )
    found = client_of(FakeEngine([*STEPS, declined])).post("/query", json=QUESTION).json()

    assert found["nearest"][0] == {
        "doc_id": "guide/wind.md",
        "title": "Wind",
        "url": "http://testserver/documents/guide/wind.md?corpus=default&start=10&end=28#cited",
        "start": 10,
        "end": 28,
        "quote": "Wind turns blades.",
        "headings": ["Wind", "Blades"],
    }
    assert found["nearest"][1]["url"] == "https://example.org/b"
    assert client_of(FakeEngine(ANSWER)).post("/query", json=QUESTION).json()["nearest"] == []


@pytest.mark.promise("E11")
def test_what_was_asked_reaches_the_engine() -> None:
    engine = FakeEngine(ANSWER, corpus="papers")
    filters = {"filters": [{"key": "doc_id", "value": "a"}]}
    body = {
        **QUESTION,
        "corpus": "papers",
        "filters": filters,
        "steering": {"move_to": "wind", "move_to_weight": 0.5},
        "top_k": 7,
    }

    assert client_of(engine).post("/query", json=body).status_code == 200
    assert client_of(engine).post("/query", json={**QUESTION, "corpus": "papers"}).status_code == 200
    assert engine.questions[0] == "What turns?"
    assert engine.filters[0] == filters
    assert engine.steerings[0] == Steering("wind", 0.5)
    assert engine.limits == [7, 4]


@pytest.mark.parametrize(
    "body",
    [{}, {"question": " "}, {**QUESTION, "top_k": 0}, {**QUESTION, "iid": "7"}, {**QUESTION, "filters": {}}],
    ids=["no question", "a blank one", "no passages", "an unknown field", "an empty filter"],
)
@pytest.mark.parametrize("path", ["/query", "/query/stream"])
def test_a_body_that_makes_no_sense_is_refused(path: str, body: dict[str, Any]) -> None:
    engine = FakeEngine(ANSWER)

    assert client_of(engine).post(path, json=body).status_code == 422
    assert engine.started == 0


@pytest.mark.promise("E19")
def test_a_stream_tells_steps_then_tokens_then_the_whole_reply() -> None:
    engine = FakeEngine(ANSWER)
    client = client_of(engine, cache={"entries": 0})
    reply = client.post("/query/stream", json=QUESTION)
    events = events_in(reply.text)

    assert reply.headers["content-type"].startswith("text/event-stream")
    assert reply.headers["cache-control"] == "no-cache"
    assert reply.headers["x-accel-buffering"] == "no"
    assert events[0] == ("step", {"kind": "search", "text": "**Searching**"})
    assert "".join(data["token"] for name, data in events if name == "token") == "Wind turns blades. [1]"
    assert events[-1] == ("done", client.post("/query", json=QUESTION).json())
    assert [name for name, _ in events].count("done") == 1


@pytest.mark.promise("E19")
def test_a_kept_answer_streams_like_the_first_one() -> None:
    engine = FakeEngine(ANSWER)
    client = client_of(engine)
    first, again = streamed(client), streamed(client)

    def told(events: list[tuple[str, dict[str, Any]]]) -> str:
        return "".join(data["token"] for name, data in events if name == "token")

    assert engine.started == 1
    assert [name for name, _ in (first[-1], again[-1])] == ["done", "done"]
    assert (first[-1][1]["cache_hit"], again[-1][1]["cache_hit"]) == (False, True)
    assert told(again) == told(first) == "Wind turns blades. [1]"
    assert again[0][1]["kind"] == "cache"
    assert again[-1][1]["answer"] == first[-1][1]["answer"]


def test_both_routes_share_what_is_kept() -> None:
    engine = FakeEngine(ANSWER)
    client = client_of(engine)
    streamed(client)
    found = client.post("/query", json={**QUESTION, "include_context": True}).json()

    assert (engine.started, found["cache_hit"]) == (1, True)
    assert found["retrieved"][0]["text"] == "Wind turns blades."


@pytest.mark.promise("E18", "G25")
def test_new_documents_and_other_questions_are_not_served_from_the_cache() -> None:
    engine = FakeEngine(ANSWER)
    client = client_of(engine)
    for body in ({}, {"top_k": 5}, {"question": "What blows?"}, {"query_time": "2024-02-28"}):
        client.post("/query", json={**QUESTION, **body})
    client.post("/query", json={**QUESTION, "steering": {"move_to": "sea", "move_to_weight": 1}})
    engine.version = "after an ingestion"
    client.post("/query", json=QUESTION)

    assert engine.started == 6


def test_an_answer_during_which_the_documents_changed_is_not_kept() -> None:
    engine = FakeEngine()

    def change() -> None:
        engine.version = "after an ingestion"

    engine._script = [*STEPS, change, a_done()]
    client = client_of(engine)
    client.post("/query", json=QUESTION)
    engine.version = "0123456789abcdef"

    assert client.post("/query", json=QUESTION).json()["cache_hit"] is False


@pytest.mark.promise("G25")
def test_an_answer_that_lacks_something_is_not_kept() -> None:
    engine = FakeEngine([*STEPS, a_done(warnings=(AnswerWarning("llm_failed", "The model broke."),))])
    client = client_of(engine)
    hits = [client.post("/query", json=QUESTION).json()["cache_hit"] for _ in range(2)]

    assert hits == [False, False]


def test_a_corpus_that_is_not_open_is_not_opened_for_a_question_that_finds_no_room() -> None:
    engine = FakeEngine(ANSWER)
    client = client_of(engine, serve={"slots": 1, "queue": 0})
    service = client.app.state.service  # type: ignore[attr-defined]  # a FastAPI application
    client.post("/query", json=QUESTION)
    service.slots.enter(Deadline(240))

    assert client.post("/query", json=QUESTION).json()["cache_hit"] is True
    engines = service.engines.unguarded
    engines.closed.add("default")
    assert client.post("/query", json=QUESTION).status_code == 429
    assert engines.closed == {"default"}
    assert engines.leases == 0


def test_run_and_evaluate_are_never_answered_from_the_cache() -> None:
    engine = FakeEngine(ANSWER)
    client = client_of(engine)
    client.post("/query", json=QUESTION)
    client.post("/run", json=QUESTION)
    client.post("/evaluate", json={"query": "What turns?", "iid": "7"})

    assert engine.started == 3


def test_the_cache_can_be_cleared_and_switched_off() -> None:
    client = client_of(FakeEngine(ANSWER))
    client.post("/query", json=QUESTION)

    assert client.post("/cache/clear").json() == {"cleared": 1}
    assert client.post("/query", json=QUESTION).json()["cache_hit"] is False
    off = client_of(FakeEngine(ANSWER), cache={"entries": 0})
    assert off.post("/cache/clear").json() == {"cleared": 0, "reason": "The cache is off: RAG_CACHE__ENTRIES is 0."}


def test_withdrawn_tokens_are_told_before_new_ones_come() -> None:
    done = a_done("It turns.", warnings=(AnswerWarning("llm_failed", "The model broke."),))
    events = streamed(
        client_of(
            FakeEngine([*STEPS, Token("Wi"), Step("write", "w"), Restarted("It broke."), Token("It turns."), done])
        )
    )

    names = [name for name, _ in events]
    assert names == ["step", "token", "step", "restart", "token", "done"]
    assert events[3][1] == {"reason": "It broke."}
    assert events[-1][1]["warnings"] == ["llm_failed: The model broke."]


@pytest.mark.parametrize(
    ("failure", "code"), [(LLMError("It broke.", "Mend it."), "llm_failed"), (KeyError("secret"), "internal")]
)
def test_a_failure_ends_the_stream_with_an_error_and_is_not_kept(failure: Exception, code: str) -> None:
    engine = FakeEngine([*STEPS, Token("Wind"), failure])
    client = client_of(engine)
    events = streamed(client)

    assert events[-1][0] == "error"
    assert events[-1][1]["code"] == code
    assert "secret" not in events[-1][1]["detail"]
    streamed(client)
    assert engine.started == 2


def test_a_service_without_documents_says_so() -> None:
    found = client_of().post("/query", json=QUESTION).json()

    assert (found["answer"], found["gate_reason"]) == (None, "no_retrieval")
    assert client_of().post("/query", json={**QUESTION, "corpus": "papers"}).status_code == 404
