"""Bound the sessions of `/mcp`, keep each for the key that began it, and refuse a request whose id is taken.

The SDK would never answer one of two requests with one id. To other keys a session is unknown, as one that has ended.

A new session takes the place of the one that was idle longest. Its client gets a 404 and, as the protocol says, begins
a new one. A session is not idle while one of its requests is answered.
"""

import json
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.caller import CALLER, Key
from api.errors import RETRY_AFTER_S
from errors import TooManyQuestionsError

SESSION_ID = "mcp-session-id"
INVALID_REQUEST = -32600
# The SDK names sessions by 32 hex digits.
_UNKNOWN = b"unknown"
REPEATED_ID = "Another request with this id is being answered. Give each request of a session its own id."


@dataclass(frozen=True, slots=True)
class _Session:
    """A session that is open.

    Attributes:
        key: that began it; None if none is asked for.
        running: the ids of its requests that are being answered.
    """

    key: str | None
    running: list[str | None] = field(default_factory=list)


class Sessions:
    """An ASGI application in front of the SDK's. For one event loop.

    Args:
        application: opens a session with an `initialize`, and ends it with a DELETE.
        limit: sessions that may be open at once.
    """

    def __init__(self, application: ASGIApp, limit: int) -> None:
        self._application = application
        self._limit = limit
        # The session that was used last stands last.
        self._open: dict[str, _Session] = {}
        self._opening = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        body = await Request(scope, receive).body()
        name, call = Headers(scope=scope).get(SESSION_ID), _parsed(body)
        again = partial(_again, [{"type": "http.request", "body": body, "more_body": False}], receive)
        session = self._open.get(name or "")
        if name is not None and session is not None and session.key == _name_of(CALLER.get()):
            await self._answer(name, call, scope, again, send)
        elif name is None and call.get("method") == "initialize":
            await self._begin(scope, again, send)
        else:  # it needs no session, or is refused
            await self._application(_without_session(scope), again, send)

    async def _begin(self, scope: Scope, receive: Receive, send: Send) -> None:
        while len(self._open) + self._opening >= self._limit:
            idle = next((name for name, one in self._open.items() if not one.running), None)
            if idle is None:
                break  # the SDK refuses
            del self._open[idle]
            await self._end(idle)
        self._opening += 1
        name = None

        async def note(message: Message) -> None:
            nonlocal name
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if message["status"] == 200:
                    name = headers[SESSION_ID]
                    self._opening -= 1
                    self._open[name] = _Session(_name_of(CALLER.get()), [None])
                elif message["status"] == 503:
                    headers["Retry-After"] = str(RETRY_AFTER_S[TooManyQuestionsError])
            await send(message)

        try:
            await self._application(scope, receive, note)
        finally:
            if name is None:
                self._opening -= 1
            else:
                self._left(name, None)

    async def _answer(self, name: str, call: dict[str, Any], scope: Scope, receive: Receive, send: Send) -> None:
        # The SDK compares ids as text as well.
        id_ = str(call["id"]) if "method" in call and "id" in call else None
        if id_ is not None and id_ in self._open[name].running:
            error = {"code": INVALID_REQUEST, "message": REPEATED_ID}
            # With the id it would look like the reply to the other request.
            await JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, 400)(scope, receive, send)
            return
        self._open[name].running.append(id_)
        try:
            await self._application(scope, receive, send)
        finally:
            if scope["method"] == "DELETE":
                self._open.pop(name, None)
            self._left(name, id_)

    def _left(self, name: str, id_: str | None) -> None:
        session = self._open.pop(name, None)
        if session is not None:
            session.running.remove(id_)
            self._open[name] = session

    async def _end(self, name: str) -> None:
        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(_: Message) -> None:
            pass

        headers = [(SESSION_ID.encode(), name.encode())]
        await self._application({"type": "http", "method": "DELETE", "path": "/mcp", "headers": headers}, receive, send)


def _name_of(key: Key | None) -> str | None:
    return None if key is None else key.sha256


def _without_session(scope: Scope) -> Scope:
    """Return the request with an unknown session in place of the one that it names, if it does."""
    name = SESSION_ID.encode()
    headers = [(one, _UNKNOWN if one.lower() == name else value) for one, value in scope["headers"]]
    return {**scope, "headers": headers}


async def _again(read: list[Message], receive: Receive) -> Message:
    """Return what was read, then what comes."""
    return read.pop() if read else await receive()


def _parsed(body: bytes) -> dict[str, Any]:
    """Return a message; an empty one in place of what is none, which the SDK refuses."""
    try:
        call = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return call if isinstance(call, dict) else {}
