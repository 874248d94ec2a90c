"""An address that tries one key after the other is stopped, and no other client is."""

from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.testclient import TestClient

from api.security import guesses
from api.security.auth import COOKIE, cookie_value
from api.security.guesses import MOST_WRONG, WINDOW_S, Guesses
from api.security.keyring import add_key
from api.server import uvicorn_options
from errors import TooManyRequestsError
from settings import ServeSettings
from tests.fakes.engines import FakeEngine, a_done
from tests.fakes.http import client_of

pytestmark = pytest.mark.fault("E16")

RIGHT = "a-right-key-0123456789"
OWN_PAGE = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}
Try = Callable[[TestClient, str], Any]


@pytest.fixture
def app() -> Any:
    return client_of(FakeEngine([a_done()]), serve={"keys": RIGHT}).app


def at(app: Any, address: str = "192.0.2.1") -> TestClient:
    return TestClient(app, client=(address, 1234), follow_redirects=False)


def by_form(client: TestClient, key: str) -> Any:
    return client.post("/login", data={"key": key}, headers=OWN_PAGE)


def by_header(client: TestClient, key: str) -> Any:
    return client.get("/stats", headers={"Api-Key": key})


def by_question(client: TestClient, key: str) -> Any:
    return client.post("/query", json={"question": "What?"}, headers={"Authorization": f"Bearer {key}"})


def by_password(client: TestClient, key: str) -> Any:
    return client.get("/corpora", headers={"Authorization": f"Basic {b64encode(f'me:{key}'.encode()).decode()}"})


def by_cookie(client: TestClient, key: str) -> Any:
    return client.get("/stats", headers={"Cookie": f"{COOKIE}={cookie_value(key)}"})


def by_probe(client: TestClient, key: str) -> Any:
    return client.get("/ready", headers={"Api-Key": key})


def by_paper(client: TestClient, key: str) -> Any:
    return client.post("/vector", json={"question": "What?"}, headers={"Api-Key": key})


def by_nowhere(client: TestClient, key: str) -> Any:
    return client.get("/nowhere", headers={"Api-Key": key})


WAYS = [by_form, by_header, by_question, by_password, by_cookie, by_probe, by_paper, by_nowhere]


def use_up(client: TestClient, way: Try) -> list[int]:
    return [way(client, f"a-wrong-key-{number:010}").status_code for number in range(MOST_WRONG)]


@pytest.mark.parametrize("way", WAYS)
def test_one_address_may_try_a_few_keys(app: Any, way: Try) -> None:
    assert 429 not in use_up(at(app), way)

    refused, right = way(at(app), "a-wrong-key-of-too-many"), way(at(app), RIGHT)

    assert refused.status_code == 429
    assert 0 < int(refused.headers["retry-after"]) <= WINDOW_S
    assert (right.status_code, right.text) == (429, refused.text), "a right key looks like a wrong one"
    assert "set-cookie" not in right.headers
    assert way(at(app, "192.0.2.2"), RIGHT).status_code not in {401, 403, 429}
    assert at(app).get("/health").status_code == 200, "what needs no key goes on"


@pytest.mark.parametrize("other", WAYS)
def test_all_ways_count_together(app: Any, other: Try) -> None:
    for number in range(MOST_WRONG):
        WAYS[number % len(WAYS)](at(app), f"a-wrong-key-{number:010}")

    assert other(at(app), RIGHT).status_code == 429


def test_one_wrong_key_of_a_program_shuts_nobody_out_and_a_form_counts_each_try(app: Any) -> None:
    for _ in range(2 * MOST_WRONG):
        assert by_header(at(app), "a-key-that-was-revoked").status_code == 401
    assert by_header(at(app), RIGHT).status_code == 200

    statuses = [by_form(at(app), "a-mistyped-key").status_code for _ in range(2 * MOST_WRONG)]

    assert statuses[-1] == 429


def test_right_keys_and_requests_without_one_count_nothing(app: Any) -> None:
    for _ in range(3 * MOST_WRONG):
        assert by_header(at(app), RIGHT).status_code == 200
        assert by_form(at(app), RIGHT).status_code == 303
        assert at(app).get("/stats").status_code == 401
    use_up(at(app, "192.0.2.9"), by_header)
    assert by_header(at(app), RIGHT).status_code == 200


def test_who_has_a_key_cannot_try_others_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    mine = add_key(path, "mine", ["read"], None, None)
    client = at(client_of(FakeEngine(), serve={"keys_file": path}).app)

    def tried(key: str) -> int:
        headers = {"Api-Key": key, "Authorization": f"Bearer {mine}"}
        return int(client.post("/cache/clear", headers=headers).status_code)

    statuses = [tried(f"a-wrong-key-{number:010}") for number in range(MOST_WRONG + 1)]

    assert statuses == [403] * MOST_WRONG + [429]


@pytest.mark.parametrize(
    ("proxies", "shut_out"), [("192.0.2.1", {"203.0.113.7"}), (None, {"203.0.113.7", "203.0.113.8"})]
)
def test_a_proxy_of_the_settings_tells_the_address(app: Any, proxies: str | None, shut_out: set[str]) -> None:
    config = uvicorn.Config(app, lifespan="off", **uvicorn_options(ServeSettings(proxies=proxies)))
    config.load()
    client = at(config.loaded_app)

    def asked(address: str, key: str) -> int:
        return int(client.get("/stats", headers={"Api-Key": key, "X-Forwarded-For": address}).status_code)

    for number in range(MOST_WRONG):
        asked("203.0.113.7", f"a-wrong-key-{number:010}")

    assert {address for address in ("203.0.113.7", "203.0.113.8") if asked(address, RIGHT) == 429} == shut_out


class Clock:
    now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def is_refused(counted: Guesses, address: str) -> bool:
    try:
        counted.check(address)
    except TooManyRequestsError:
        return True
    return False


def test_the_address_may_try_again_when_it_was_told() -> None:
    clock = Clock()
    counted = Guesses(clock)
    for number in range(MOST_WRONG):
        counted.note("192.0.2.1", str(number), by_hand=False)
        clock.now_s += 1
    with pytest.raises(TooManyRequestsError) as refused:
        counted.check("192.0.2.1")

    clock.now_s += refused.value.wait_s

    assert not is_refused(counted, "192.0.2.1")
    counted.note("192.0.2.1", "one more", by_hand=False)
    assert is_refused(counted, "192.0.2.1"), "only one place was free"


@pytest.mark.parametrize(
    ("address", "same", "other"),
    [
        ("2001:db8::1", "2001:db8::ffff:1", "2001:db8:0:1::1"),
        ("192.0.2.1", "::ffff:192.0.2.1", "192.0.2.2"),
        ("fe80::1%eth0", "fe80::2%eth0", "fe81::1"),
        ("", "", "testclient"),
    ],
)
def test_a_client_with_many_addresses_is_one(address: str, same: str, other: str) -> None:
    counted = Guesses(Clock())
    for number in range(MOST_WRONG):
        counted.note(address, str(number), by_hand=False)

    assert (is_refused(counted, same), is_refused(counted, other)) == (True, False)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guesses, "MAX_ADDRESSES", 5)
    clock = Clock()
    counted = Guesses(clock)
    for number in range(50):
        for guess in range(3):
            counted.note(f"192.0.2.{number}", str(guess), by_hand=True)

    assert len(counted._tried) == 5
    clock.now_s += WINDOW_S + 1
    counted.note("192.0.2.1", "0", by_hand=False)
    assert len(counted._tried) == 1
