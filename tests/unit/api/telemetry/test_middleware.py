"""Each request has an id and one line in the log."""

import json
import logging
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.logs import formatter
from errors import LLMError
from query_engine.schema.events import Token
from tests.fakes.engines import FakeEngine, a_done
from tests.fakes.http import client_of

QUESTION = {"question": "What is the salary of Ada Lovelace?"}
Lines = Callable[[], list[dict[str, Any]]]


class Collecting(logging.Handler):
    """Keeps lines as they are written: what a line says of its request is known only then."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(formatter("json"))
        self.lines: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(json.loads(self.format(record)))


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[list[dict[str, Any]]]:
    """Return the lines of the service."""
    handler, logger = Collecting(), logging.getLogger("api")
    logger.addHandler(handler)
    with caplog.at_level(logging.INFO, "api"):
        yield handler.lines
    logger.removeHandler(handler)


@pytest.fixture
def lines(log: list[dict[str, Any]]) -> Lines:
    """Return those that tell requests."""
    return lambda: [line for line in log if line["event"] == "request"]


def answering(**serve: Any) -> TestClient:
    return client_of(FakeEngine([Token("Wind."), a_done()]), serve=serve)


def test_the_line_says_what_was_asked_of_whom_and_how_it_went(lines: Lines) -> None:
    reply = answering().post("/query", json=QUESTION)

    (line,) = lines()
    assert line.pop("duration_ms") >= 0
    assert re.fullmatch(r"[0-9a-f]{32}", line["request_id"])
    assert reply.headers["X-Request-ID"] == line.pop("request_id")
    assert {name: line[name] for name in line.keys() - {"timestamp", "logger"}} == {
        "event": "request",
        "level": "info",
        "method": "POST",
        "route": "/query",
        "status": 200,
        "corpus": "default",
        "author": "extractive",
        "reason": "generated_answer",
    }


def test_a_kept_answer_says_so(lines: Lines) -> None:
    client = answering()
    for _ in range(2):
        client.post("/query", json=QUESTION)

    assert [(line.get("kept"), line["reason"]) for line in lines()] == [
        (None, "generated_answer"),
        (True, "generated_answer"),
    ]


def test_a_stream_is_told_at_its_end(lines: Lines) -> None:
    answering().post("/run", json=QUESTION)

    (line,) = lines()
    assert (line["route"], line["status"], line["reason"]) == ("/run", 200, "generated_answer")


def test_a_search_names_its_corpus(lines: Lines) -> None:
    answering().post("/retrieve", json=QUESTION)

    assert [line["corpus"] for line in lines()] == ["default"]


@pytest.mark.fault("E6")
@pytest.mark.parametrize("path", ["/query", "/run", "/retrieve"])
def test_the_question_is_told_only_where_a_setting_says_so(path: str, lines: Lines) -> None:
    answering().post(path, json=QUESTION)
    answering(log_questions=True).post(path, json=QUESTION)

    without, with_it = lines()
    assert "salary" not in str(without)
    assert with_it["question"] == QUESTION["question"]


@pytest.mark.fault("E6")
def test_neither_path_nor_query_is_told(lines: Lines) -> None:
    client = answering()
    client.get("/documents/salaries.md?corpus=default")
    client.get("/salaries?of=everybody")

    told = lines()
    assert [line.get("route") for line in told] == ["/documents/{doc_id:path}", None]
    assert "salaries" not in str(told)


def test_an_error_is_told_by_its_code(lines: Lines) -> None:
    client = client_of(FakeEngine([LLMError("It is gone.", "Fetch it.", code="gone")]))
    client.post("/query", json={})
    client.post("/query", json=QUESTION)
    client.post("/run", json=QUESTION)

    assert [(line["status"], line["error"]) for line in lines()] == [
        (422, "invalid_request"),
        (503, "gone"),
        (200, "gone"),  # the stream had begun
    ]


def test_a_bug_is_told_and_its_reply_has_the_id(lines: Lines) -> None:
    reply = client_of(FakeEngine([ZeroDivisionError("secret")])).post("/query", json=QUESTION)

    (line,) = lines()
    assert (line["status"], line["error"]) == (500, "internal")
    assert reply.headers.get_list("X-Request-ID") == [line["request_id"]]


@pytest.mark.parametrize("given", ["a1", "0af7651916cd43dd8448eb211c80319c", "web-7:42.x_Y"])
def test_an_id_that_a_client_gives_is_taken(given: str, lines: Lines) -> None:
    reply = answering().get("/health", headers={"X-Request-ID": given})

    assert reply.headers["X-Request-ID"] == lines()[0]["request_id"] == given


@pytest.mark.parametrize("given", ["", "two words", "a\tb", "x" * 129, "née", '"}'])
def test_a_malformed_one_is_replaced(given: str, lines: Lines) -> None:
    reply = answering().get("/health", headers=[(b"X-Request-ID", given.encode())])

    assert reply.headers["X-Request-ID"] == lines()[0]["request_id"] != given


def test_a_refused_request_has_an_id_too() -> None:
    client = answering(keys="a-key-of-sixteen-characters")

    assert client.get("/documents").headers["X-Request-ID"]
    assert client.get("/health", headers={"Host": "elsewhere.example"}).headers["X-Request-ID"]


def test_other_lines_of_a_request_carry_its_id(log: list[dict[str, Any]]) -> None:
    client = client_of(FakeEngine([lambda: logging.getLogger("api.test").warning("It rains."), a_done()]))

    reply = client.post("/run", json=QUESTION)

    (line,) = [line for line in log if line["event"] == "It rains."]
    assert line["request_id"] == reply.headers["X-Request-ID"]
