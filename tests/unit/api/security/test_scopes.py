"""What a key opens: routes by its scopes, documents by its corpora, as often as its rate says."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from api.security.keyring import add_key, revoke_key
from tests.fakes.corpora import stored
from tests.fakes.engines import FakeEngine, a_done
from tests.fakes.http import client_of, refusal_in

ASK = {"question": "What turns?"}
NUMBERS = itertools.count()


class Guarded:
    """A service with the corpora `default` and `secret`, and keys that tests make."""

    def __init__(self, folder: Path, **groups: Any) -> None:
        self.path = folder / "keys.json"
        documents = [stored("wind.md", "Wind turns blades.")]
        engines = [FakeEngine([a_done()], documents), FakeEngine([a_done()], documents, corpus="secret")]
        serve = {"keys_file": self.path, **groups.pop("serve", {})}
        self.client: TestClient = client_of(*engines, serve=serve, **groups)

    def key(self, *scopes: str, corpora: list[str] | None = None, rate: str | None = None) -> dict[str, str]:
        return {"Api-Key": add_key(self.path, f"key {next(NUMBERS)}", scopes, corpora, rate)}


@pytest.fixture
def service(tmp_path: Path) -> Guarded:
    return Guarded(tmp_path)


def routes_of(app: object) -> set[tuple[str, str]]:
    assert isinstance(app, FastAPI)
    return {(method.upper(), path) for path, methods in app.openapi()["paths"].items() for method in methods}


def test_every_route_is_closed_to_a_key_without_its_scope(service: Guarded) -> None:
    headers = service.key()
    open_routes = {("GET", "/"), ("GET", "/health"), ("GET", "/ready")}
    closed = {
        (method, path)
        for method, path in routes_of(service.client.app)
        if service.client.request(method, path, headers=headers, json=_body(path)).status_code == 403
    }

    assert routes_of(service.client.app) - closed == open_routes


def _body(path: str) -> dict[str, Any]:
    bodies: dict[str, dict[str, Any]] = {
        "/v1/chat/completions": {"model": "default", "messages": [{"role": "user", "content": "What?"}]},
        "/v1/responses": {"model": "default", "input": "What?"},
        "/evaluate": {"query": "What?", "iid": "1"},
        "/ingest": {"path": "x"},
        "/documents/delete": {"filter": {"filters": [{"key": "doc_id", "value": "x"}]}, "dry_run": True},
        "/feedback": {"id": "0" * 32, "rating": "up"},
    }
    return bodies.get(path, ASK)


def test_reading_is_not_writing_and_writing_is_not_reading(service: Guarded) -> None:
    reader, writer, admin = service.key("read"), service.key("ingest"), service.key("admin")
    delete = {"filter": {"filters": [{"key": "doc_id", "value": "none"}]}}

    def statuses(headers: dict[str, str]) -> list[int]:
        client = service.client
        return [
            client.post("/query", json=ASK, headers=headers).status_code,
            client.post("/documents/delete", json=delete, headers=headers).status_code,
            client.post("/cache/clear", headers=headers).status_code,
        ]

    assert statuses(reader) == [200, 403, 403]
    assert statuses(writer) == [403, 200, 403]
    assert statuses(admin) == [200, 200, 200]


def test_the_refusal_names_the_scope_and_nothing_of_the_key(service: Guarded) -> None:
    headers = service.key("read")

    reply = service.client.post("/cache/clear", headers=headers)

    assert reply.json()["error"]["code"] == "key_scope"
    assert "admin" in reply.text
    assert headers["Api-Key"] not in reply.text


@pytest.mark.fault("E12")
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/query", ASK | {"corpus": "secret"}),
        ("POST", "/run", ASK | {"corpus": "secret"}),
        ("POST", "/retrieve", ASK | {"corpus": "secret"}),
        ("POST", "/vector", ASK | {"corpus": "secret"}),
        ("POST", "/evaluate", {"query": "What?", "iid": "1", "corpus": "secret"}),
        ("POST", "/ingest", {"path": ".", "corpus": "secret"}),
        ("POST", "/ingest", {"path": ".", "corpus": "made-by-me"}),
        ("POST", "/ingest", {"retry": True, "corpus": "secret"}),
        ("POST", "/documents?corpus=secret", None),
        ("POST", "/documents/delete", {"corpus": "secret", "filter": {"filters": [{"key": "doc_id", "value": "x"}]}}),
        ("DELETE", "/documents/wind.md?corpus=secret", None),
        ("DELETE", "/corpora/secret", None),
        ("PATCH", "/corpora/secret", {"name": "default"}),
        ("GET", "/documents?corpus=secret", None),
        ("GET", "/documents/wind.md?corpus=secret", None),
        ("GET", "/documents/wind.md/original?corpus=secret", None),
        ("GET", "/marks/wind.md?corpus=secret&start=0&end=1", None),
        ("GET", "/pages/1/wind.md?corpus=secret", None),
        ("GET", "/stats?corpus=secret", None),
        ("POST", "/task/run", {"query": "What?", "pipeline": {"1": {"id": "corpus"}}}),
        ("GET", "/pipeline/list", None),
        ("GET", "/runs", None),
        ("GET", "/metrics", None),
        ("GET", "/feedback", None),
        ("GET", "/feedback?corpus=secret", None),
        ("GET", "/feedback?corpus=default%2Bsecret", None),
    ],
)
def test_a_key_for_one_corpus_opens_no_other(tmp_path: Path, method: str, path: str, body: object) -> None:
    service = Guarded(tmp_path, ingest={"root": tmp_path})
    mine, everybodys = service.key("admin", corpora=["default"]), service.key("admin")

    refused = service.client.request(method, path, json=body, headers=mine)

    assert (refused.status_code, refusal_in(refused)["code"]) == (403, "key_scope")
    assert service.client.request(method, path, json=body, headers=everybodys).status_code != 403


@pytest.mark.fault("E12")
def test_other_corpora_are_not_even_named(tmp_path: Path) -> None:
    service = Guarded(tmp_path)
    mine = service.key("read", corpora=["default"])

    for path in ("/v1/models", "/ui/config", "/corpora", "/ready"):
        assert "secret" not in service.client.get(path, headers=mine).text
    chat = {"model": "secret", "messages": [{"role": "user", "content": "What?"}]}
    assert service.client.post("/v1/chat/completions", json=chat, headers=mine).status_code == 404
    assert service.client.post("/query", json=ASK, headers=mine).status_code == 200


@pytest.mark.fault("E12")
def test_a_cached_answer_of_another_corpus_is_not_given(tmp_path: Path) -> None:
    service = Guarded(tmp_path)
    question = ASK | {"corpus": "secret"}
    assert service.client.post("/query", json=question, headers=service.key("read")).status_code == 200

    mine = service.key("read", corpora=["default"])

    assert service.client.post("/query", json=question, headers=mine).status_code == 403


@pytest.mark.fault("E7")
def test_a_rate_is_each_keys_own(service: Guarded) -> None:
    slow, other = service.key("read", rate="2/hour"), service.key("read", rate="2/hour")

    statuses = [service.client.get("/stats", headers=slow).status_code for _ in range(3)]
    refused = service.client.get("/stats", headers=slow)

    assert statuses == [200, 200, 429]
    assert refused.json()["error"]["code"] == "too_many_requests"
    assert 0 < int(refused.headers["retry-after"]) <= 3601
    assert service.client.get("/stats", headers=other).status_code == 200


def test_a_revoked_key_opens_nothing(service: Guarded) -> None:
    key = {"Api-Key": add_key(service.path, "a", ["read"], None, None)}
    assert service.client.get("/stats", headers=key).status_code == 200

    revoke_key(service.path, "a")

    assert service.client.get("/stats", headers=key).status_code == 401


@pytest.mark.promise("G19")
def test_a_probe_learns_whether_the_service_is_ready_and_nothing_else(service: Guarded) -> None:
    ready, health = service.client.get("/ready"), service.client.get("/health")

    assert (ready.status_code, ready.json()) == (200, {"ready": True})
    assert "No language model" not in health.text
    assert set(service.client.get("/ready", headers=service.key("read")).json()) > {"ready", "corpora", "versions"}


@pytest.mark.fault("E4")
def test_citations_do_not_lead_to_a_host_that_the_client_made_up(tmp_path: Path) -> None:
    service = Guarded(tmp_path, serve={"allowed_hosts": None, "host": "0.0.0.0"})
    forged = service.key("read") | {"Host": "evil.example"}
    known = Guarded(tmp_path, serve={"allowed_hosts": "rag.example"})

    cited = service.client.post("/query", json=ASK, headers=forged).json()["citations"][0]["url"]
    listed = known.client.post("/query", json=ASK, headers=forged | {"Host": "rag.example"}).json()

    assert cited.startswith("/documents/guide/wind.md?")
    assert listed["citations"][0]["url"].startswith("http://rag.example/documents/")


@pytest.mark.parametrize("path", ["/health", "/nowhere", "/query", "/openapi.json", "/ui", "/stats"])
def test_every_reply_tells_browsers_to_trust_it_little(service: Guarded, path: str) -> None:
    for headers in ({}, service.key("read")):
        reply = service.client.get(path, headers=headers)

        assert reply.headers["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]
        assert "access-control-allow-origin" not in reply.headers


def test_so_does_a_reply_to_what_nobody_foresaw() -> None:
    serve = {"public_url": "https://rag.example", "cors_origins": "https://app.example"}
    client = client_of(FakeEngine([RuntimeError("a bug")]), serve=serve)

    reply = client.post("/query", json=ASK, headers={"Origin": "https://app.example"})

    assert reply.status_code == 500
    assert reply.json()["error"]["code"] == "internal"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["strict-transport-security"]
    assert reply.headers["access-control-allow-origin"] == "https://app.example"
    assert reply.headers["cross-origin-resource-policy"] == "cross-origin"


@pytest.mark.fault("E13")
def test_pages_of_other_origins_may_read_only_where_they_are_named(tmp_path: Path) -> None:
    service = Guarded(tmp_path, serve={"cors_origins": "https://app.example"})
    key = service.key("read")

    def asked(origin: str) -> Any:
        return service.client.post("/query", json=ASK, headers=key | {"Origin": origin})

    assert asked("https://app.example").headers["access-control-allow-origin"] == "https://app.example"
    assert asked("https://evil.example").status_code == 403
    preflight = {"Origin": "https://app.example", "Access-Control-Request-Method": "POST"}
    assert service.client.options("/query", headers=preflight).status_code == 200


@pytest.mark.promise("D15")
def test_where_any_server_may_be_named_only_an_admin_names_one(tmp_path: Path) -> None:
    service = Guarded(tmp_path, sources={"mosaic_url": "*"})
    step = {"id": "mosaic_datasource", "parameters": {"url": "http://127.0.0.1:9"}}
    bodies = [
        {"query": "What?", "1": step},
        {"query": "What?", "parameters": step["parameters"], "1": {"id": step["id"]}},
    ]

    for body in bodies:
        for path in ("/task/run", "/task/enqueue"):
            refused = service.client.post(path, json=body, headers=service.key("read", "ingest"))
            assert (refused.status_code, refused.json()["error"]["code"]) == (403, "key_scope")
            assert "public" in service.client.post(path, json=body, headers=service.key("admin")).text
