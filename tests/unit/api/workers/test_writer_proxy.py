"""What a reader hands over, to whom, and what it says when there is nobody."""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient
from starlette.responses import PlainTextResponse, StreamingResponse

from api.app import create_app
from api.jobs.queue import Jobs
from api.workers.role import WorkerRole
from index.layout.access import Reading
from settings import Settings
from tests.fakes.engines import FakeEngines
from tests.fakes.ingesting import FakeIngester
from tests.servers.databases import free_port

ClientOf = Callable[[str | None], TestClient]

ASKED, LEFT = threading.Event(), threading.Event()
"""The writer has begun with what it never ends, and has seen that its client left."""


@pytest.fixture(scope="module")
def writer() -> Iterator[str]:
    app = FastAPI()

    @app.api_route("/{path:path}", methods=["GET", "POST", "DELETE"])
    async def any_route(path: str, request: Request) -> Any:
        if path == "task/table/long/1":
            return StreamingResponse((b"piece " for _ in range(1000)), media_type="text/csv")
        if path == "task/progress/slow":
            ASKED.set()
            while (await request.receive())["type"] != "http.disconnect":
                pass
            LEFT.set()
        if path == "ingest/odd":
            return PlainTextResponse("not here", 404, {"Location": "/ingest/odd", "Set-Cookie": "seen=1; Path=/"})
        body = await request.body()
        told = (
            "host",
            "authorization",
            "x-forwarded-for",
            "x-forwarded-proto",
            "x-request-id",
            "content-type",
            "cookie",
        )
        return {
            "method": request.method,
            "path": request.scope["raw_path"].decode() + "?" + request.url.query,
            "bytes": len(body),
            "peer": request.client and request.client.port,
            **{name: request.headers.get(name) for name in told},
        }

    with _serving(app) as url:
        yield url


@pytest.fixture
def client_of() -> Iterator[ClientOf]:
    """Yield what makes a running reader, as its client sees it, for a writer's address."""
    with ExitStack() as stack:

        def make(writer_url: str | None) -> TestClient:
            role = WorkerRole(Reading(), writer_url)
            app = create_app(FakeEngines({}), Settings(), FakeIngester(), Jobs(), role=role)
            return stack.enter_context(TestClient(app, base_url="http://localhost"))

        yield make


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/ingest"),
        ("GET", "/ingest/7"),
        ("DELETE", "/ingest/7"),
        ("POST", "/documents?corpus=papers"),
        ("POST", "/documents/delete"),
        ("DELETE", "/documents/a%2Fb%20c?corpus=x%26y"),
        ("GET", "/task/progress/7"),
        ("POST", "/pipeline/save"),
    ],
)
def test_what_belongs_to_the_writer_comes_to_it_as_it_was_sent(
    client_of: ClientOf, writer: str, method: str, path: str
) -> None:
    body = {"content": b"{}" * 100_000} if method == "POST" else {}

    reply = client_of(writer).request(method, path, headers={"Authorization": "Bearer k"}, **body).json()  # type: ignore[arg-type]

    assert reply["method"] == method
    assert reply["path"] == (path if "?" in path else path + "?")
    assert reply["bytes"] == (200_000 if body else 0)
    assert reply["host"] == "localhost"
    assert reply["authorization"] == "Bearer k"
    assert reply["x-forwarded-for"] == "testclient"


@pytest.mark.fault("E4")
def test_the_writer_believes_this_process_and_not_the_client(client_of: ClientOf, writer: str) -> None:
    forged = {"X-Forwarded-For": "6.6.6.6", "X-Forwarded-Proto": "https"}

    reply = client_of(writer).post("/ingest", headers=forged)

    assert (reply.json()["x-forwarded-for"], reply.json()["x-forwarded-proto"]) == ("testclient", "http")
    assert reply.headers.get_list("x-request-id") == [reply.json()["x-request-id"]]


def test_who_replies_counts_the_request(client_of: ClientOf, writer: str) -> None:
    client = client_of(writer)
    client.post("/ingest", json={})
    client.get("/health")

    counted = [line for line in client.get("/metrics").text.splitlines() if "http_requests_total{" in line]

    assert len(counted) == 1
    assert 'route="/health"' in counted[0]


def test_requests_share_connections_to_the_writer_and_nothing_else(client_of: ClientOf, writer: str) -> None:
    client = client_of(writer)
    client.get("/ingest/odd")
    client.cookies.clear()
    first, second = client.post("/ingest", json={}).json(), client.get("/task/progress/7").json()

    assert first["peer"] == second["peer"]
    assert first["cookie"] is None


def test_a_writer_that_was_replaced_is_asked_anew(client_of: ClientOf) -> None:
    app = FastAPI()
    app.add_api_route("/ingest/7", lambda: "here")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        client = client_of(f"http://127.0.0.1:{listener.getsockname()[1]}")
        for _ in range(2):
            with _serving(app, listener.dup()):
                assert client.get("/ingest/7").json() == "here"


@pytest.mark.parametrize("path", ["/health", "/documents", "/documents/a.md", "/corpora", "/stats", "/ingestion", "/"])
def test_what_any_process_can_do_stays_here(client_of: ClientOf, path: str) -> None:
    nobody = f"http://127.0.0.1:{free_port()}"

    assert "writer" not in client_of(nobody).get(path, follow_redirects=False).text


def test_status_headers_and_long_replies_come_back(client_of: ClientOf, writer: str) -> None:
    client = client_of(writer)

    odd, long = client.get("/ingest/odd"), client.get("/task/table/long/1")

    assert (odd.status_code, odd.text, odd.headers["location"]) == (404, "not here", "/ingest/odd")
    assert long.text == "piece " * 1000
    assert long.headers["content-type"].startswith("text/csv")


@pytest.mark.parametrize("body", [None, b"{}"])
def test_the_writer_learns_that_a_client_left_before_the_reply(
    client_of: ClientOf, writer: str, body: bytes | None
) -> None:
    ASKED.clear()
    LEFT.clear()
    path = "/task/progress/slow"
    scope = {
        **{"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b""},
        **{"scheme": "http", "client": ("10.0.0.7", 1)},
        "headers": [(b"host", b"localhost"), *([(b"content-length", b"2")] if body else [])],
    }
    messages = [{"type": "http.request", "body": body or b"", "more_body": False}]

    async def receive() -> Any:
        if messages:
            return messages.pop()
        await asyncio.to_thread(ASKED.wait, 10)
        return {"type": "http.disconnect"}

    async def send(_: Any) -> None:
        raise AssertionError("nobody reads it")

    asyncio.run(asyncio.wait_for(client_of(writer).app(scope, receive, send), 30))

    assert LEFT.wait(10)


@pytest.mark.fault("D2")
@pytest.mark.parametrize("declared", [True, False])
def test_a_body_that_is_too_large_is_refused_here(client_of: ClientOf, writer: str, *, declared: bool) -> None:
    body = b"{" + b" " * 1_500_000

    reply = client_of(writer).post("/ingest", content=body if declared else iter([body[:9], body[9:]]))

    assert reply.status_code == 413
    assert reply.json()["error"]["code"] == "body_too_large"


def test_a_writer_that_does_not_answer_is_told_and_when_to_ask_again(client_of: ClientOf) -> None:
    reply = client_of(f"http://127.0.0.1:{free_port()}").post("/ingest", json={"path": "x"})

    assert reply.status_code == 503
    assert reply.json()["error"]["code"] == "writer_unavailable"
    assert int(reply.headers["retry-after"]) > 0


@pytest.mark.parametrize(("method", "path"), [("POST", "/ingest"), ("DELETE", "/documents/a.md"), ("GET", "/task/run")])
def test_without_a_writer_it_is_refused_with_the_way_out(client_of: ClientOf, method: str, path: str) -> None:
    reply = client_of(None).request(method, path)

    assert reply.status_code == 403
    assert reply.json()["error"]["code"] == "read_only"
    assert "RAG_SERVE__WRITER_URL" in reply.json()["error"]["detail"]


@contextmanager
def _serving(app: FastAPI, given: socket.socket | None = None) -> Iterator[str]:
    with given or socket.socket() as listener:
        if given is None:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
        server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_config=None))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join()
