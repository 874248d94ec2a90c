"""Sessions of `/mcp` that nobody ends, and requests that share an id, over the real SDK."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from api.app import create_app
from api.jobs.queue import Jobs
from api.mcp import http
from settings import Settings
from tests.fakes.engines import FakeEngine, FakeEngines, a_done
from tests.fakes.ingesting import FakeIngester

AppOf = Callable[[FakeEngine, int], FastAPI]
URL = "http://127.0.0.1:8000/mcp"
HEADERS = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
ASK = {"name": "ask", "arguments": {"question": "What turns?"}}


@pytest.fixture
def app_of(monkeypatch: pytest.MonkeyPatch) -> AppOf:
    def make(engine: FakeEngine, sessions: int) -> FastAPI:
        monkeypatch.setattr(http, "MAX_SESSIONS", sessions)
        settings = Settings(feedback={"enabled": False}, serve={"slots": 4})
        return create_app(FakeEngines({"default": engine}), settings, FakeIngester(), Jobs())

    return make


class Clients:
    """Clients that speak the protocol's sessions by hand, and end none."""

    def __init__(self, app: FastAPI) -> None:
        self._http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), headers=HEADERS)

    async def open(self) -> httpx2.Response:
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        return await self._http.post(URL, json=_call(1, "initialize", about))

    async def opened(self) -> str:
        reply = await self.open()
        assert reply.status_code == 200
        return str(reply.headers["mcp-session-id"])

    async def call(self, session: str, id_: int | str, method: str, params: Any = None) -> httpx2.Response:
        return await self._http.post(URL, json=_call(id_, method, params or {}), headers={"mcp-session-id": session})

    async def close(self, session: str) -> httpx2.Response:
        return await self._http.delete(URL, headers={"mcp-session-id": session})


def _call(id_: int | str, method: str, params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def _result(reply: httpx2.Response) -> Any:
    assert reply.status_code == 200
    (data,) = [line for line in reply.text.splitlines() if line.startswith("data:")]
    return json.loads(data.removeprefix("data:"))["result"]


async def test_sessions_that_nobody_ends_shut_nobody_out(app_of: AppOf) -> None:
    clients = Clients(app_of(FakeEngine(), 3))
    used, *others = [await clients.opened() for _ in range(3)]
    assert _result(await clients.call(used, 2, "tools/list"))["tools"]

    later = [await clients.opened() for _ in range(2)]

    assert [(await clients.call(session, 3, "tools/list")).status_code for session in others] == [404, 404]
    for session in (used, *later):
        assert _result(await clients.call(session, 4, "tools/list"))["tools"]


async def test_an_ended_session_makes_room(app_of: AppOf) -> None:
    clients = Clients(app_of(FakeEngine(), 2))
    first, second = await clients.opened(), await clients.opened()

    assert (await clients.close(second)).status_code == 200
    await clients.opened()

    assert _result(await clients.call(first, 2, "tools/list"))["tools"]


async def test_a_session_that_is_answered_keeps_its_place_and_others_are_told_when_to_come(app_of: AppOf) -> None:
    begun, go = asyncio.Event(), asyncio.Event()
    clients = Clients(app_of(_waiting_engine(begun, go), 1))
    session = await clients.opened()
    call = asyncio.ensure_future(clients.call(session, 2, "tools/call", ASK))
    await begun.wait()

    refused = await clients.open()
    go.set()

    assert (refused.status_code, refused.headers["retry-after"].isdecimal()) == (503, True)
    assert _result(await call)["structuredContent"]["answer"]
    await clients.opened()


async def test_each_request_with_the_id_of_another_one_is_answered(app_of: AppOf) -> None:
    begun, go = asyncio.Event(), asyncio.Event()
    clients = Clients(app_of(_waiting_engine(begun, go), 1))
    session = await clients.opened()
    first = asyncio.ensure_future(clients.call(session, 7, "tools/call", ASK))
    await begun.wait()

    repeated = [await clients.call(session, id_, "tools/list") for id_ in (7, "7")]
    other = await clients.call(session, 8, "tools/list")
    go.set()

    assert [(reply.status_code, reply.json()["id"]) for reply in repeated] == [(400, None)] * 2
    assert _result(other)["tools"]
    assert _result(await first)["structuredContent"]["answer"]
    assert _result(await clients.call(session, 7, "tools/list"))["tools"], "the id is free again"


def _waiting_engine(begun: asyncio.Event, go: asyncio.Event) -> FakeEngine:
    script: list[Any] = [begun.set, go, a_done()]
    return FakeEngine(script)
