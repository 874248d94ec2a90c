"""No page of another site writes to the service through a browser; programs and the service's own page do."""

from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient

from tests.fakes.engines import FakeEngine, a_done
from tests.fakes.http import client_of

ASK = {"question": "What turns?"}
EVIL = "https://evil.example"
NO_LIST = {"allowed_hosts": None}


def served(**serve: Any) -> TestClient:
    return client_of(FakeEngine([a_done()]), serve={**NO_LIST, **serve})


def asked(name: str, origin: str | None = None, **serve: Any) -> int:
    """Return the status of a question under this name, from a page of this origin."""
    headers = {"Host": name} | ({} if origin is None else {"Origin": origin})
    status: int = served(**serve).post("/query", json=ASK, headers=headers).status_code
    return status


@pytest.mark.fault("E4", "E13")
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize(
    "path", ["/query", "/run", "/ingest", "/documents/delete", "/documents/a.md", "/v1/chat/completions", "/mcp", "/x"]
)
def test_every_way_to_write_is_closed_to_pages_of_other_hosts(method: str, path: str) -> None:
    client = client_of(FakeEngine([a_done()]))
    reply = client.request(method, path, json=ASK, headers={"Origin": EVIL})

    assert reply.status_code == 403
    assert "RAG_SERVE__ALLOWED_HOSTS" in reply.text
    assert "evil" not in reply.text


def test_the_refusal_is_told_as_every_other_error() -> None:
    client = client_of(FakeEngine([a_done()]))
    reply = client.post("/query", json=ASK, headers={"Origin": EVIL})
    openai = client.post("/v1/chat/completions", json={}, headers={"Origin": EVIL})

    assert reply.json()["error"]["code"] == "host_refused"
    assert openai.json()["error"]["code"] == "host_refused"
    assert "message" in openai.json()["error"]


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "a@localhost", "", "["]
)
def test_without_keys_on_loopback_no_other_name_may_write(host: str) -> None:
    assert asked(host) == 403
    assert asked(host, f"http://{host}") == 403


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("localhost:8000", "http://localhost:8000"),
        ("LOCALHOST:80", "http://localhost"),
        ("localhost", "https://localhost:443"),
        ("[::1]:8000", "http://[::1]:8000"),
        *((host, None) for host in ("127.0.0.1:8000", "localhost", "LOCALHOST:9", "[::1]:8000", "127.9.9.9")),
    ],
)
def test_the_services_own_page_and_programs_on_this_machine_may_write_to_it(host: str, origin: str | None) -> None:
    assert asked(host, origin) == 200


@pytest.mark.parametrize("origin", ["http://localhost:3000", "http://127.0.0.1:8000", "https://[::1]"])
def test_pages_of_other_programs_of_this_machine_may_not(origin: str) -> None:
    assert asked("localhost:8000", origin) == 403
    assert asked("localhost:8000", origin, allowed_hosts=urlsplit(origin).netloc) == 200


@pytest.mark.parametrize(
    "origin",
    ["null", "", "file://", "https://evil.example", "https://localhost.evil.example", "http://x@localhost", "["],
)
def test_other_pages_may_not(origin: str) -> None:
    assert asked("localhost:8000", origin) == 403


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("rag.example", "https://rag.example"),
        ("RAG.example:8443", "https://rag.example:8443"),
        # A proxy may pass its own name for the service on.
        ("127.0.0.1:8000", "https://docs.example"),
        ("docs.example", "https://docs.example"),
        ("127.0.0.1:8000", "https://chat.example"),
        ("127.0.0.1:8000", "http://10.0.0.5:8443"),
    ],
)
def test_hosts_of_the_settings_are_its_own(host: str, origin: str) -> None:
    known = {"public_url": "https://docs.example/rag", "allowed_hosts": "rag.example,chat.example,10.0.0.5:8443"}

    assert asked(host, origin, **known) == 200
    assert asked(host, EVIL, **known) == 403
    assert asked("127.0.0.1", "http://10.0.0.5:9", **known) == 403


def test_beyond_loopback_any_name_leads_to_the_service_unless_they_are_listed() -> None:
    container: dict[str, Any] = {"host": "0.0.0.0", "open": True}

    assert asked("team-7.arena.example", **container) == 200
    assert asked("team-7.arena.example", "http://team-7.arena.example", **container) == 200
    assert asked("team-7.arena.example", EVIL, **container) == 403
    assert asked("team-7.arena.example", "http://localhost:3000", **container) == 403
    assert asked("team-7.arena.example", **container, allowed_hosts="rag.example") == 403


def test_keys_stand_in_for_the_name_but_not_for_the_origin() -> None:
    client = served(keys="k-0123456789abcd")
    key = {"Authorization": "Bearer k-0123456789abcd", "Host": "rag.example"}

    assert client.post("/query", json=ASK, headers=key).status_code == 200
    assert client.post("/query", json=ASK, headers=key | {"Origin": EVIL}).status_code == 403


def test_reading_needs_no_origin() -> None:
    assert served().get("/health", headers={"Host": "localhost", "Origin": EVIL}).status_code == 200


@pytest.mark.fault("E4")
def test_reading_under_a_foreign_name_is_refused_on_loopback_without_keys() -> None:
    assert served().get("/documents", headers={"Host": "evil.example"}).status_code == 403
    assert served(keys="secret-0123456789").get("/health", headers={"Host": "evil.example"}).status_code == 200


WRITING_GETS = ["/task/chat/new?model=extractive&column=text&task_id=x", "/task/chat/x?message=Hello", "/task/cancel/x"]


@pytest.mark.parametrize("path", WRITING_GETS)
@pytest.mark.parametrize(
    ("headers", "refused"),
    [
        ({"Origin": EVIL}, True),
        ({"Sec-Fetch-Site": "cross-site"}, True),
        ({"Origin": "http://localhost:3000", "Sec-Fetch-Site": "same-site"}, True),
        ({"Origin": "http://localhost:8000", "Sec-Fetch-Site": "same-origin"}, False),
        ({"Sec-Fetch-Site": "same-site"}, True),
        ({"Sec-Fetch-Site": "same-origin"}, False),
        ({"Sec-Fetch-Site": "none"}, False),
        ({}, False),
    ],
)
def test_a_get_that_writes_is_closed_to_pages_of_other_hosts(path: str, headers: dict[str, str], refused: bool) -> None:
    reply = served().get(path, headers={"Host": "localhost:8000", **headers})

    assert (reply.status_code == 403) is refused


def test_beyond_loopback_a_page_of_the_same_site_is_another_host() -> None:
    headers = {"Host": "rag.example", "Sec-Fetch-Site": "same-site"}

    assert served(host="0.0.0.0", open=True).get("/task/cancel/x", headers=headers).status_code == 403
    assert served(host="0.0.0.0", open=True).get("/health", headers=headers).status_code == 200
