"""What routes reply is what `/openapi.json` says: each status, and the type of each body."""

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from query_engine.schema.events import Token
from tests.fakes.engines import FakeEngine, a_done
from tests.fakes.http import client_of
from tests.fakes.ingesting import FakeIngester

HTML = {"accept": "text/html"}
MCP = {"accept": "application/json, text/event-stream"}
QUESTION = {"question": "What turns?"}
CHAT = {"model": "default", "messages": [{"role": "user", "content": "What turns?"}]}
FILE = {"files": [("file", ("wind.md", b"# Wind"))]}

Case = tuple[str, str, str, int, dict[str, Any]]
REQUESTS: list[Case] = [  # method, route, path, status, what is sent
    ("GET", "/", "/", 200, {}),
    ("GET", "/", "/", 307, {"headers": HTML}),
    ("GET", "/ready", "/ready", 200, {}),
    ("POST", "/query", "/query", 200, {"json": QUESTION}),
    ("POST", "/query", "/query", 404, {"json": QUESTION | {"corpus": "none"}}),
    ("POST", "/query", "/query", 404, {"json": QUESTION | {"corpus": "none"}, "headers": HTML}),
    ("POST", "/query", "/query", 413, {"content": b"x" * 1_000_001}),
    ("POST", "/query", "/query", 422, {"json": {}}),
    ("POST", "/query/stream", "/query/stream", 200, {"json": QUESTION}),
    ("POST", "/run", "/run", 200, {"json": QUESTION}),
    ("POST", "/react_streaming", "/react_streaming", 422, {"json": {}}),
    ("POST", "/v1/chat/completions", "/v1/chat/completions", 200, {"json": CHAT}),
    ("POST", "/v1/chat/completions", "/v1/chat/completions", 200, {"json": CHAT | {"stream": True}}),
    ("POST", "/v1/chat/completions", "/v1/chat/completions", 400, {"json": {}}),
    ("GET", "/v1/models/{name}", "/v1/models/none", 404, {}),
    ("GET", "/pages/{page}/{doc_id}", "/pages/1/none.pdf", 404, {}),
    ("GET", "/task/progress/{task_id}", "/task/progress/none", 404, {}),
    ("POST", "/task/enqueue", "/task/enqueue", 422, {"json": {}}),
    ("GET", "/feedback", "/feedback", 503, {}),
    ("GET", "/runs/{name}/report", "/runs/none/report", 404, {}),
    ("POST", "/ingest", "/ingest", 202, {"json": {"path": "wind.md", "wait": False}}),
    ("POST", "/ingest", "/ingest", 403, {"json": {"path": "/etc"}}),
    ("GET", "/ingest/{job_id}", "/ingest/none", 404, {}),
    ("POST", "/documents", "/documents", 202, FILE),
    ("POST", "/documents", "/documents", 422, {"content": b""}),
    ("POST", "/mcp", "/mcp", 400, {"content": b"no JSON", "headers": MCP | {"content-type": "application/json"}}),
    ("POST", "/mcp", "/mcp", 400, {"content": b"no JSON", "headers": MCP}),
]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    folder = tmp_path_factory.mktemp("described")
    (folder / "wind.md").write_text("Wind.")
    return a_client(folder)


def a_client(folder: Path, **serve: Any) -> TestClient:
    engine = FakeEngine([Token("Wind turns."), a_done()])
    groups: dict[str, Any] = {"index": {"dir": folder}, "ingest": {"root": folder}, "serve": serve}
    return client_of(engine, ingester=FakeIngester(), **groups)


@pytest.mark.parametrize("case", REQUESTS, ids=lambda case: f"{case[0]} {case[2]} {case[3]}")
def test_each_status_and_type_of_a_reply_is_described(case: Case, client: TestClient) -> None:
    method, route, path, status, sent = case
    with client:
        reply = client.request(method, path, follow_redirects=False, **sent)

    assert reply.status_code == status
    check_described(client, method, route, reply.status_code, reply.headers.get("content-type", ""))


@pytest.mark.parametrize("route", ["/query", "/v1/chat/completions", "/mcp"])
def test_a_missing_key_is_described(route: str, tmp_path: Path) -> None:
    client = a_client(tmp_path, keys="a-long-enough-key-0123456789")

    reply = client.post(route, json={})

    assert reply.status_code == 401
    assert "401" in client.get("/openapi.json").json()["paths"][route]["post"]["responses"]
    check_described(client, "POST", route, 401, reply.headers["content-type"])


def check_described(client: TestClient, method: str, route: str, status: int, media_type: str) -> None:
    described = client.get("/openapi.json").json()["paths"][route][method.lower()]["responses"]
    reply = described.get(str(status)) or described["default"]
    assert status >= 400 or str(status) in described
    if media_type:
        assert media_type.partition(";")[0] in reply["content"]
