"""A person signs in once with a key; the browser's cookie does what the header does for programs, and no more."""

import pytest
from starlette.testclient import TestClient

from tests.fakes.engines import FakeEngine, a_done
from tests.fakes.http import client_of

KEY = "a-key-0123456789;=\\"
HTML = {"accept": "text/html"}
OWN_PAGE = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}
ASK = {"question": "What turns?"}


@pytest.fixture
def client() -> TestClient:
    return client_of(FakeEngine([a_done()]), serve={"keys": KEY})


def sign_in(client: TestClient, key: str = KEY, to: str = "/ui") -> int:
    reply = client.post("/login", data={"key": key, "next": to}, headers=OWN_PAGE, follow_redirects=False)
    return int(reply.status_code)


def test_a_browser_without_a_key_is_led_to_the_form_and_back_and_opens_no_password_box(client: TestClient) -> None:
    refused = client.get("/documents/wind.md?corpus=default&start=3", headers=HTML)

    assert refused.status_code == 401
    assert "basic" not in refused.headers["www-authenticate"].lower()
    assert "login?next=/documents/wind.md%3Fcorpus%3Ddefault%26start%3D3" in refused.text
    form = client.get("/login?next=/documents/wind.md%3Fcorpus%3Ddefault", headers=HTML)
    assert 'value="/documents/wind.md?corpus=default"' in form.text
    assert "form-action 'self'" in form.headers["content-security-policy"]


def test_the_cookie_opens_what_the_key_opens(client: TestClient) -> None:
    reply = client.post("/login", data={"key": KEY, "next": "/corpora"}, headers=OWN_PAGE, follow_redirects=False)

    assert (reply.status_code, reply.headers["location"]) == (303, "/corpora")
    cookie = reply.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert KEY.lower() not in cookie
    assert client.get("/corpora").status_code == 200
    assert client.post("/query", json=ASK, headers=OWN_PAGE).status_code == 200
    assert client.get("/login?next=/stats", follow_redirects=False).headers["location"] == "/stats"


def test_a_wrong_key_gets_no_cookie(client: TestClient) -> None:
    assert sign_in(client, "a-key-9999999999") == 401
    assert client.get("/corpora").status_code == 401


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://testserver:8001"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        (OWN_PAGE, 200),
    ],
)
def test_a_cookie_alone_writes_nothing_for_other_pages(headers: dict[str, str], status: int) -> None:
    client = client_of(FakeEngine([a_done()]), serve={"keys": KEY, "allowed_hosts": None, "host": "0.0.0.0"})
    assert sign_in(client) == 303

    assert client.post("/query", json=ASK, headers=headers).status_code == status


def test_a_page_of_another_site_cannot_sign_a_person_in(client: TestClient) -> None:
    reply = client.post("/login", data={"key": KEY}, headers={"Origin": "https://evil.example"})

    assert reply.status_code == 403


@pytest.mark.parametrize(
    "to", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", ""]
)
def test_nobody_is_sent_on_to_another_site(client: TestClient, to: str) -> None:
    reply = client.post("/login", data={"key": KEY, "next": to}, headers=OWN_PAGE, follow_redirects=False)

    assert reply.headers["location"] == "/ui"


def test_signing_out_takes_the_cookie_back(client: TestClient) -> None:
    sign_in(client)
    assert client.get("/corpora").status_code == 200

    client.post("/logout", headers=OWN_PAGE, follow_redirects=False)

    assert client.get("/corpora").status_code == 401


def test_over_tls_the_cookie_is_sent_over_tls_only() -> None:
    serve = {"keys": KEY, "public_url": "https://rag.example"}
    reply = client_of(FakeEngine(), serve=serve).post(
        "/login", data={"key": KEY}, headers=OWN_PAGE, follow_redirects=False
    )

    assert "secure" in reply.headers["set-cookie"].lower()
    assert "strict-transport-security" in reply.headers


def test_without_keys_there_is_nothing_to_sign_in_to() -> None:
    reply = client_of(FakeEngine()).get("/login", follow_redirects=False)

    assert (reply.status_code, reply.headers["location"]) == (303, "/ui")


def test_the_page_learns_who_is_signed_in_and_by_a_cookie_alone(client: TestClient) -> None:
    assert client.get("/ui/config", headers={"Api-Key": KEY}).json()["signed_in_as"] is None
    sign_in(client)

    assert client.get("/ui/config").json()["signed_in_as"]
