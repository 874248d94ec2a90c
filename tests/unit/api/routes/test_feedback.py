"""Every answer and retrieval carries an id, and what people say about it comes back with what they had been given."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.background import MAX_WAITING
from query_engine.schema.events import Step, Token
from tests.fakes.engines import FakeEngine, a_done
from tests.fakes.http import client_of, records_in

ANSWER = (Step("search", "**Searching**"), Step("found", "**Found**"), Token("Wind "), a_done())
QUESTION = {"question": "What turns?"}


def client_in(folder: Path, *engines: FakeEngine, **groups: Any) -> TestClient:
    kept = {"feedback": {"enabled": True}, "index": {"dir": folder}}
    return client_of(*(engines or (FakeEngine(ANSWER),)), **{**kept, **groups})


def exported(client: TestClient, corpus: str | None = None) -> list[dict[str, Any]]:
    reply = client.get("/feedback", params={"corpus": corpus} if corpus else {})
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in reply.text.splitlines()]


def id_from_query(client: TestClient) -> str:
    return str(client.post("/query", json=QUESTION).json()["answer_id"])


def id_from_query_stream(client: TestClient) -> str:
    last = client.post("/query/stream", json=QUESTION).text.split("data: ")[-1]
    return str(json.loads(last)["answer_id"])


def id_from_evaluate(client: TestClient) -> str:
    return str(client.post("/evaluate", json={"query": "What turns?", "iid": "1"}).json()["answer_id"])


def id_from_run(client: TestClient) -> str:
    return client.post("/run", json=QUESTION).headers["x-answer-id"]


def id_from_chat(client: TestClient) -> str:
    body = {"model": "default", "messages": [{"role": "user", "content": "What turns?"}]}
    return str(client.post("/v1/chat/completions", json=body).json()["id"])


def id_from_chat_stream(client: TestClient) -> str:
    body = {"model": "default", "messages": [{"role": "user", "content": "What turns?"}], "stream": True}
    first = client.post("/v1/chat/completions", json=body).text.split("\n")[0]
    return str(json.loads(first.removeprefix("data: "))["id"])


@pytest.mark.promise("G29")
@pytest.mark.parametrize(
    "ask",
    [id_from_query, id_from_query_stream, id_from_evaluate, id_from_run, id_from_chat, id_from_chat_stream],
    ids=lambda ask: ask.__name__,
)
def test_an_answer_of_every_route_can_be_judged(tmp_path: Path, ask: Any) -> None:
    client = client_in(tmp_path)
    answer_id = ask(client)

    reply = client.post("/feedback", json={"answer_id": answer_id, "verdict": "good", "text": " Exactly. "})

    assert reply.json() == {"answer_id": answer_id.removeprefix("chatcmpl-"), "verdict": "good"}
    (record,) = exported(client)
    assert record["question"] == "What turns?"
    assert record["answer"] == "Wind turns blades. [1]"
    assert record["steps"] == ["**Searching**", "**Found**"]
    assert record["citations"][0].items() >= {"doc_id": "guide/wind.md", "start": 10, "end": 28}.items()
    assert record["passages"][0]["text"] == "Wind turns blades."
    assert record["feedback"][0].items() >= {"verdict": "good", "text": "Exactly."}.items()


def test_a_retrieval_can_be_judged_by_its_passages(tmp_path: Path) -> None:
    client = client_in(tmp_path)
    reply = client.post("/retrieve", json=QUESTION).json()
    body = {"retrieval_id": reply["retrieval_id"], "verdict": "relevant", "node_id": reply["passages"][0]["node_id"]}

    assert client.post("/feedback", json=body).status_code == 200

    (record,) = exported(client)
    assert (record["kind"], record["answer"], record["feedback"][0]["node_id"]) == ("retrieval", None, "0a1b2c.4")


def test_a_cached_answer_has_an_id_that_is_not_the_first_readers(tmp_path: Path) -> None:
    client = client_in(tmp_path)
    first, second = (client.post("/query", json=QUESTION).json() for _ in range(2))

    assert (first["cache_hit"], second["cache_hit"]) == (False, True)
    assert first["answer_id"] != second["answer_id"]
    for reply, verdict in ((first, "good"), (second, "bad")):
        client.post("/feedback", json={"answer_id": reply["answer_id"], "verdict": verdict})
    assert [record["feedback"][0]["verdict"] for record in exported(client)] == ["good", "bad"]


def test_an_answer_over_no_documents_has_an_id_too(tmp_path: Path) -> None:
    client = client_of(feedback={"enabled": True}, index={"dir": tmp_path})
    answer_id = id_from_evaluate(client)

    assert client.post("/feedback", json={"answer_id": answer_id, "verdict": "bad"}).status_code == 200


def test_the_records_of_run_keep_the_keys_of_the_contract(tmp_path: Path) -> None:
    records = records_in(client_in(tmp_path).post("/run", json=QUESTION).text)

    keys = {"intermediate_steps", "final_report", "is_intermediate", "complete"}
    assert records[-1].keys() == keys | {"citations"}
    assert all(record.keys() == keys for record in records[:-1])


def test_ids_are_long_and_never_the_same(tmp_path: Path) -> None:
    client = client_in(tmp_path)
    ids = {id_from_evaluate(client) for _ in range(20)}

    assert len(ids) == 20
    assert {len(id_) for id_ in ids} == {32}


def test_an_unknown_id_is_told_with_a_remedy(tmp_path: Path) -> None:
    reply = client_in(tmp_path).post("/feedback", json={"answer_id": "0" * 32, "verdict": "good"})

    assert reply.status_code == 404
    error = reply.json()["error"]
    assert error["code"] == "unknown_answer"
    assert "Send the `answer_id` of a reply soon after it came; RAG_FEEDBACK__KEEP_DAYS" in error["detail"]


@pytest.mark.parametrize(
    "change",
    [
        {"verdict": "great"},
        {"answer_id": None},
        {"answer_id": "../../etc"},
        {"retrieval_id": "0" * 32},
        {"verdict": "relevant"},
        {"node_id": "n1"},
        {"step": 0, "span": {"start": 0, "end": 1}},
        {"step": -1},
        {"step": "0"},
        {"span": {"start": 0}},
        {"span": {"start": 0, "end": 1, "color": "red"}},
        {"text": "x" * 2001},
        {"user": "me@example.org"},
    ],
    ids=str,
)
def test_a_verdict_that_says_nothing_clear_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    client = client_in(tmp_path)
    body = {"answer_id": id_from_query(client), "verdict": "good", **change}

    reply = client.post("/feedback", json=body)

    assert (reply.status_code, reply.json()["error"]["code"]) == (422, "invalid_request")
    assert exported(client) == []


def test_one_corpus_is_exported_alone(tmp_path: Path) -> None:
    client = client_in(tmp_path, FakeEngine(ANSWER), FakeEngine(ANSWER, corpus="energy"))
    for corpus in ("default", "energy"):
        reply = client.post("/query", json={**QUESTION, "corpus": corpus}).json()
        client.post("/feedback", json={"answer_id": reply["answer_id"], "verdict": "good"})

    assert [record["corpus"] for record in exported(client, "energy")] == ["energy"]
    assert len(exported(client)) == 2


def test_off_means_no_ids_no_file_and_a_remedy(tmp_path: Path) -> None:
    client = client_in(tmp_path, feedback={"enabled": False})

    assert client.post("/query", json=QUESTION).json()["answer_id"] is None
    assert client.post("/retrieve", json=QUESTION).json()["retrieval_id"] is None
    assert "x-answer-id" not in client.post("/run", json=QUESTION).headers
    assert id_from_chat(client).startswith("chatcmpl-")
    for reply in (client.post("/feedback", json={"answer_id": "0" * 32, "verdict": "good"}), client.get("/feedback")):
        assert (reply.status_code, reply.json()["error"]["code"]) == (503, "feedback_unavailable")
        assert "RAG_FEEDBACK__ENABLED=true" in reply.json()["error"]["detail"]
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_takes_nothing_costs_the_id_its_use_and_no_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    client = client_in(tmp_path / "file" / "index")

    with caplog.at_level(logging.WARNING):
        reply = client.post("/query", json=QUESTION)
        client.post("/query", json=QUESTION)
        judged = client.post("/feedback", json={"answer_id": reply.json()["answer_id"], "verdict": "good"})

    assert reply.json()["answer"] == "Wind turns blades. [1]"
    assert judged.status_code == 404
    warned = [record.message for record in caplog.records if "not noted" in record.message]
    assert len(warned) == 1, "a full disk is told once a minute"
    assert "Feedback cannot be kept" in warned[0]


def test_answers_that_nobody_can_note_in_time_are_lost_and_not_gathered(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    client = client_in(tmp_path)
    recorder = client.app.state.service.recorder  # type: ignore[attr-defined]
    for _ in range(MAX_WAITING):
        recorder._writer._room.acquire(blocking=False)

    with caplog.at_level(logging.WARNING):
        reply = client.post("/query", json=QUESTION)

    assert reply.json()["answered"]
    assert f"{MAX_WAITING} answers are waiting" in caplog.text
