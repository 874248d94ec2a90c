"""Every way in which a server fails has its kind and its remedy; what may pass is tried again, within patience."""

import asyncio
import json
from collections.abc import Callable, Coroutine

import httpx
import pytest
from tenacity import AsyncRetrying

import remote
from errors import ModelError, ModelServerError
from remote import Kind, Remote, RemoteError, together, tried_again, while_wanted

KEY = "sésame"
SERVER = Remote.of_model("thinking server", "http://thinks.example/v1/", "RAG_X__", "MODEL TIMEOUT_S", KEY)
Handler = Callable[[httpx.Request], Coroutine[None, None, httpx.Response]]


def asked(handler: Handler, server: Remote = SERVER, limit_s: float = 10) -> bytes:
    async def ask() -> bytes:
        async with server.client(transport=httpx.MockTransport(handler)) as client:
            return await server.send(client, "POST", "/think", limit_s=limit_s, json={})

    return asyncio.run(ask())


def failed(handler: Handler, server: Remote = SERVER, limit_s: float = 10) -> RemoteError:
    with pytest.raises(RemoteError) as caught:
        asked(handler, server, limit_s)
    return caught.value


def replying(status: int, body: object = "", **headers: str) -> Handler:
    async def handle(_: httpx.Request) -> httpx.Response:
        return httpx.Response(status, content=body if isinstance(body, bytes) else json.dumps(body), headers=headers)

    return handle


def test_a_request_goes_to_its_path_with_the_key() -> None:
    seen: list[httpx.Request] = []

    async def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, content=b"yes")

    other = Remote("source", "http://s.example", "URL", "KEY", key=KEY, key_header="x-api-key")

    assert asked(handle) == asked(handle, other) == b"yes"
    assert [str(one.url) for one in seen] == ["http://thinks.example/v1/think", "http://s.example/think"]
    assert (b"authorization", f"Bearer {KEY}".encode()) in [(n.lower(), v) for n, v in seen[0].headers.raw]
    assert (b"x-api-key", KEY.encode()) in [(n.lower(), v) for n, v in seen[1].headers.raw]


@pytest.mark.parametrize(
    ("statuses", "kind", "passing", "remedy"),
    [
        ([401, 403], "key_refused", False, "Set RAG_X__API_KEY."),
        ([302, 404, 405, 410], "not_found", False, "RAG_X__BASE_URL, RAG_X__MODEL"),
        ([408, 409, 425, 429], "busy", True, "Wait"),
        ([500, 502, 504], "server_error", True, "log"),
        ([503], "unavailable", True, "Wait"),
        ([400, 413, 422], "rejected", False, "RAG_X__MODEL"),
    ],
)
def test_each_status_has_its_kind(statuses: list[int], kind: Kind, passing: bool, remedy: str) -> None:
    for status in statuses:
        error = failed(replying(status, {"error": {"message": "Too much."}}, location="http://127.0.0.1:1/"))

        assert (error.kind, error.passing, f"HTTP {status}" in error.fact) == (kind, passing, True)
        assert ("Too much" in error.fact) == (kind != "key_refused")
        assert remedy in error.remedy
        assert isinstance(error.of_model(), ModelServerError if passing else ModelError)


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (httpx.ConnectError("refused"), "unreachable"),
        (httpx.ConnectTimeout("late"), "unreachable"),
        (httpx.UnsupportedProtocol("ftp"), "unreachable"),
        (httpx.ReadTimeout("late"), "slow"),
        (TimeoutError(), "slow"),
        (httpx.ReadError("reset"), "cut"),
        (httpx.RemoteProtocolError("ended"), "cut"),
        (httpx.DecodingError("no gzip"), "bad_reply"),
    ],
    ids=repr,
)
def test_each_break_of_the_connection_has_its_kind(raised: Exception, kind: Kind) -> None:
    async def handle(_: httpx.Request) -> httpx.Response:
        raise raised

    assert failed(handle).kind == kind


def test_a_whole_reply_has_to_come_within_its_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    async def stall(_: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError

    assert failed(stall, limit_s=0.01).kind == "slow"
    monkeypatch.setattr(remote, "MAX_REPLY_BYTES", 10)
    assert failed(replying(200, "x" * 20)).kind == "too_large"


def test_an_address_that_is_none_cannot_be_reached() -> None:
    assert failed(replying(200), Remote.of_model("server", "http://[::1", "RAG_X__", "", "")).kind == "unreachable"


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": f"Not {KEY}, no."}},
        {"error": f"Not {KEY}, no."},
        {"detail": f"Not {KEY}, no."},
        f"Not {KEY}, no.".encode(),
    ],
    ids=["openai", "error", "detail", "text"],
)
def test_the_servers_own_words_are_shown_without_the_key(body: object) -> None:
    assert "(HTTP 400): Not …, no." in failed(replying(400, body)).fact
    assert KEY not in repr(SERVER)


def test_words_that_are_nested_too_deeply_are_shown_as_they_are() -> None:
    assert "(HTTP 400): [[[" in failed(replying(400, b"[" * 100_000)).fact


def tries(retries: int, most_s: float, *outcomes: RemoteError | str) -> tuple[RemoteError | str, list[float]]:
    """Return how it ends, and the pauses that are made."""
    left, pauses = list(outcomes), list[float]()

    async def once() -> str:
        outcome = left.pop(0)
        if isinstance(outcome, RemoteError):
            raise outcome
        return outcome

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async def run() -> str:
        done: str = await AsyncRetrying(**tried_again(retries, lambda: most_s), sleep=sleep)(once)
        return done

    try:
        return asyncio.run(run()), pauses
    except RemoteError as error:
        return error, pauses


DOWN, REFUSED = RemoteError("It is down.", "", "server_error"), RemoteError("No.", "", "rejected")
BUSY = failed(replying(429, **{"retry-after": "7"}))


def test_pauses_grow_until_it_passes() -> None:
    done, pauses = tries(3, 60, DOWN, DOWN, DOWN, "done")

    assert done == "done"
    assert remote.PAUSE_S <= pauses[0] < pauses[1] < pauses[2]


@pytest.mark.parametrize(
    ("outcomes", "ends", "pauses"),
    [
        ((BUSY, "done"), "done", [7]),
        ((RemoteError("", "", "bad_reply"),), "bad_reply", []),
        ((REFUSED,), "rejected", []),
    ],
)
def test_a_server_that_asks_for_a_pause_gets_it_and_what_lasts_is_not_tried_again(
    outcomes: tuple[RemoteError | str, ...], ends: str, pauses: list[float]
) -> None:
    done, made = tries(3, 60, *outcomes)

    assert (getattr(done, "kind", done), made) == (ends, pauses)


@pytest.mark.parametrize(("retries", "most_s", "tried"), [(2, 60, 3), (0, 60, 1), (9, 5, 1)])
def test_patience_ends(retries: int, most_s: float, tried: int) -> None:
    done, pauses = tries(retries, most_s, *[BUSY] * 10)

    assert done is BUSY
    assert len(pauses) == tried - 1


def test_work_that_nobody_wants_is_ended_and_a_failure_ends_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "CHECK_S", 0.001)
    ended: list[str] = []

    async def work(name: str) -> str:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(name)
        return name

    async def fails() -> str:
        await asyncio.sleep(0)
        raise DOWN

    class LeftError(Exception):
        pass

    left = iter((False, False, True))

    def check() -> None:
        if next(left):
            raise LeftError

    with pytest.raises(LeftError):
        asyncio.run(while_wanted(work("unwanted"), check))
    with pytest.raises(RemoteError):
        asyncio.run(together([work("beside"), fails()]))
    assert ended == ["unwanted", "beside"]
