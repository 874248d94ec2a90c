"""A service with keys asks for one everywhere but where probes look."""

from base64 import b64encode

import pytest
from fastapi import FastAPI

from tests.fakes.engines import FakeEngine, a_done
from tests.fakes.http import client_of

KEYS = {"keys": "first-key,second-key"}
OPEN = {("get", "/"), ("get", "/health"), ("get", "/ready")}
ASK = {"question": "What turns?"}


def basic(password: str) -> str:
    return f"Basic {b64encode(f'me:{password}'.encode()).decode()}"


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


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"Authorization": "Bearer sk-mistaken"},
        {"Authorization": "Bearer "},
        {"Authorization": "Bearer"},
        {"Authorization": "first-key"},
        {"Authorization": "Bearer first-key,second-key"},
        {"Authorization": basic("wrong")},
        {"Authorization": "Basic first-key"},
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
    assert "first-key" not in reply.text


@pytest.mark.parametrize(
    "header",
    [
        {"Authorization": "Bearer first-key"},
        {"Authorization": "bearer second-key"},
        {"Authorization": basic("second-key")},
        {"Api-Key": "second-key"},
        {"Api-Key": "first-key", "Authorization": "Bearer of something else"},
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


def test_a_browser_that_follows_a_citation_is_asked_for_a_password() -> None:
    reply = client_of(FakeEngine(), serve=KEYS).get("/documents/wind.md", headers={"accept": "text/html"})

    assert (reply.status_code, reply.headers["www-authenticate"]) == (401, 'Basic realm="Treeline"')
    assert reply.headers["content-type"].startswith("text/html")


def test_without_keys_in_the_settings_nobody_is_asked() -> None:
    assert client_of(FakeEngine([a_done()])).post("/query", json=ASK).status_code == 200
