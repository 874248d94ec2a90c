"""A service with keys asks for one everywhere but where probes look."""

from base64 import b64encode

import pytest
from fastapi import FastAPI
from starlette.types import Message

from tests.fakes.engines import FakeEngine, a_done
from tests.fakes.http import client_of

KEYS = {"keys": "first-key-0123456789,second-key-0123456789"}
OPEN = {("get", "/"), ("get", "/health"), ("get", "/ready")}
KEY = {"Authorization": "Bearer first-key-0123456789"}
ASK = {"question": "What turns?"}


def basic(password: str) -> str:
    return f"Basic {b64encode(f'me:{password}'.encode()).decode()}"


@pytest.mark.fault("E3")
def test_every_route_but_those_of_probes_refuses_a_client_without_a_key() -> None:
    engine = FakeEngine([a_done()])
    client = client_of(engine, serve=KEYS)
    assert isinstance(client.app, FastAPI)
    routes = {(method, path) for path, methods in client.app.openapi()["paths"].items() for method in methods}

    refused = {
        (method, path) for method, path in routes if client.request(method, path, json={}).status_code in {401, 403}
    }

    assert routes > OPEN
    assert refused == routes - OPEN
    assert engine.questions == []


@pytest.mark.fault("E5")
@pytest.mark.parametrize(
    "header",
    [
        {},
        {"Authorization": "Bearer sk-mistaken"},
        {"Authorization": "Bearer "},
        {"Authorization": "Bearer"},
        {"Authorization": "first-key-0123456789"},
        {"Authorization": "Bearer first-key-0123456789,second-key-0123456789"},
        {"Authorization": basic("wrong")},
        {"Authorization": "Basic first-key-0123456789"},
        {"Authorization": "Basic \xff"},
        {"Api-Key": ""},
    ],
    ids=str,
)
def test_a_wrong_key_is_told_with_a_remedy_and_not_repeated(header: dict[str, str]) -> None:
    sent = {name.encode(): value.encode("latin-1") for name, value in header.items()}
    reply = client_of(FakeEngine([a_done()]), serve=KEYS).post("/query", json=ASK, headers=sent)

    assert (reply.status_code, reply.headers["www-authenticate"]) == (401, "Bearer")
    error = reply.json()["error"]
    assert error["code"] == "key_needed"
    assert error["detail"].startswith("The key is missing or wrong. Send one of the service's keys as `Authorization:")
    assert "sk-mistaken" not in reply.text
    assert "first-key-0123456789" not in reply.text


@pytest.mark.parametrize(
    "header",
    [
        {"Authorization": "Bearer first-key-0123456789"},
        {"Authorization": "bearer second-key-0123456789"},
        {"Authorization": basic("second-key-0123456789")},
        {"Api-Key": "second-key-0123456789"},
        {"Api-Key": "first-key-0123456789", "Authorization": "Bearer of something else"},
    ],
    ids=str,
)
def test_each_key_opens_in_each_way(header: dict[str, str]) -> None:
    client = client_of(FakeEngine([a_done()]), serve=KEYS)

    assert client.post("/query", json=ASK, headers=header).status_code == 200
    assert client.post("/run", json=ASK, headers=header).status_code == 200


def test_openais_clients_get_their_own_error() -> None:
    reply = client_of(FakeEngine([a_done()]), serve=KEYS).get("/v1/models", headers={"Authorization": "Bearer no"})

    assert reply.status_code == 401
    assert reply.json()["error"].items() >= {"type": "authentication_error", "code": "invalid_api_key"}.items()


@pytest.mark.fault("E3")
@pytest.mark.parametrize("path", ["/run", "/query", "/retrieve", "/ingest", "/v1/chat/completions", "/mcp", "/nowhere"])
def test_the_key_is_asked_before_anything_of_the_body_is_read(path: str) -> None:
    client = client_of(FakeEngine(), serve=KEYS)

    assert client.post(path, content=b"{", headers={"content-type": "application/json"}).status_code == 401
    assert client.post(path, content=b"x" * 30_000_000).status_code == 401


async def test_what_a_body_holds_is_not_read_for_a_client_without_a_key() -> None:
    client = client_of(FakeEngine(), serve=KEYS)
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/query",
        "headers": [(b"host", b"testserver")],
        "query_string": b"",
        "raw_path": b"/query",
    }
    sent: list[Message] = []

    async def receive() -> Message:
        raise AssertionError("the body was read")

    async def send(message: Message) -> None:
        sent.append(message)

    await client.app(scope, receive, send)

    assert sent[0]["status"] == 401


def test_without_keys_in_the_settings_nobody_is_asked() -> None:
    assert client_of(FakeEngine([a_done()])).post("/query", json=ASK).status_code == 200
