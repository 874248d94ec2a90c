"""A user study is opt-in: what people do is noted with a time and a session, what they write only if that is set."""

import csv
import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.fakes.engines import FakeEngine, a_done
from tests.fakes.http import client_of
from tests.fakes.sources import FakePageAnswers

ASK = {"question": "Who is my neighbour?"}


@contextmanager
def served(folder: Path, feedback: bool = False, notes: str = "events") -> Iterator[TestClient]:
    groups: dict[str, Any] = {"study": {"notes": notes}, "index": {"dir": str(folder)}}
    engine = FakeEngine([a_done()])
    client = client_of(engine, given=FakePageAnswers(), feedback={"enabled": feedback}, **groups)
    yield client
    client.app.state.service.study.close()  # type: ignore[attr-defined]
    client.app.state.service.recorder.close()  # type: ignore[attr-defined]
    client.app.state.service.pipelines.close()  # type: ignore[attr-defined]


def events(client: TestClient) -> list[dict[str, str]]:
    reply = client.get("/study")
    assert reply.headers["content-type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(io.StringIO(reply.text)))


def test_a_service_notes_nothing_unless_it_is_set_to(tmp_path: Path) -> None:
    with served(tmp_path, notes="nothing") as client:
        reply = client.post("/query", json=ASK)

        assert "set-cookie" not in reply.headers
        refused = client.get("/study")
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "study_unavailable")
    assert not (tmp_path / "study.sqlite").exists()


def test_a_search_is_noted_without_its_words(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        client.post("/query", json=ASK, headers={"X-Study-Session": "p-17"})
        client.get("/corpora", headers={"X-Study-Session": "p-17"})

        (event,) = events(client)

    assert (event["session"], event["kind"], event["route"]) == ("p-17", "search", "POST /query")
    assert (event["subject"], event["verdict"], event["text"]) == ("", "", "")
    assert datetime.fromisoformat(event["time"]).tzinfo is not None
    assert float(event["seconds"]) >= 0
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"neighbour" not in kept
    assert b"testclient" not in kept


def test_a_browser_keeps_its_session(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        first = client.post("/query", json=ASK)
        second = client.post("/query", json=ASK)

        sessions = {event["session"] for event in events(client)}

    assert "HttpOnly; SameSite=Lax" in first.headers["set-cookie"]
    assert "set-cookie" not in second.headers
    assert len(sessions) == 1


@pytest.mark.parametrize("session", ["", "a b", "x" * 65, "é"])
def test_a_session_that_is_none_is_replaced(tmp_path: Path, session: str) -> None:
    with served(tmp_path) as client:
        client.post("/query", json=ASK, headers={b"X-Study-Session": session.encode("latin-1")})

        (event,) = events(client)

    assert len(event["session"]) == 32


@pytest.mark.parametrize(
    ("path", "body", "text"),
    [
        ("/query", ASK, ASK["question"]),
        ("/evaluate", {"query": "Why?", "iid": "1"}, "Why?"),
        ("/v1/chat/completions", {"model": "default", "messages": [{"role": "user", "content": "=Why?"}]}, "'=Why?"),
        ("/task/run", {"pipeline": {"query": "How?", "1": {"id": "corpus_datasource"}}}, "How?"),
    ],
)
def test_texts_are_noted_where_that_is_set(tmp_path: Path, path: str, body: dict[str, Any], text: str) -> None:
    with served(tmp_path, notes="texts") as client:
        assert client.post(path, json=body).status_code == 200

        (event,) = events(client)

    assert (event["kind"], event["route"], event["text"]) == ("search", f"POST {path}", text)


@pytest.mark.promise("D24")
def test_verdicts_opened_documents_and_chats_are_noted(tmp_path: Path) -> None:
    with served(tmp_path, feedback=True) as client:
        answer = client.post("/query", json=ASK).json()["answer_id"]
        client.post("/feedback", json={"answer_id": answer, "verdict": "good", "text": "Thanks, Jo"})
        task = client.post("/task/run", json={"query": "How?", "1": {"id": "corpus_datasource"}})
        params = {"model": "extractive", "column": "full-text", "task_id": task.headers["Location"].rpartition("/")[2]}
        chat = client.get("/task/chat/new", params=params).text
        client.get(f"/task/chat/{chat}", params={"message": "I am Jo"})
        client.get("/documents/none.md")

        noted = [(one["kind"], one["route"], one["subject"], one["verdict"], one["text"]) for one in events(client)]

    assert noted == [
        ("search", "POST /query", "", "", ""),
        ("verdict", "POST /feedback", answer, "good", ""),
        ("search", "POST /task/run", "", "", ""),
        ("chat", "GET /task/chat/new", "", "", ""),
        # What opens a chat is nobody else's business.
        ("chat", "GET /task/chat/{chat_id}", hashlib.sha256(chat.encode()).hexdigest()[:16], "", ""),
    ]


def test_messages_of_chats_are_texts(tmp_path: Path) -> None:
    with served(tmp_path, notes="texts") as client:
        task = client.post("/task/run", json={"query": "How?", "1": {"id": "corpus_datasource"}})
        params = {"model": "extractive", "column": "full-text", "task_id": task.headers["Location"].rpartition("/")[2]}
        chat = client.get("/task/chat/new", params=params).text
        client.get(f"/task/chat/{chat}", params={"message": "Größe?"})

        assert events(client)[-1]["text"] == "Größe?"


def test_a_full_disk_costs_events_and_no_answer(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "study.sqlite").write_bytes(b"no database" * 1000)
    with served(tmp_path) as client:
        assert client.post("/query", json=ASK).status_code == 200
        assert client.get("/study").status_code == 503

    assert "An event of the user study was not noted" in caplog.text


def test_a_key_is_asked_for(tmp_path: Path) -> None:
    client = client_of(
        FakeEngine(), study={"notes": "events"}, index={"dir": str(tmp_path)}, serve={"keys": "k1-0123456789abc"}
    )

    assert client.get("/study").status_code == 401
    client.post("/query", json=ASK)
    client.app.state.service.study.close()  # type: ignore[attr-defined]
    assert not (tmp_path / "study.sqlite").exists()
