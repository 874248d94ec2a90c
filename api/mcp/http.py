"""`/mcp`: the tools over streamable HTTP.

Flow: `routes/mcp.py` (host, origin and key checked) -> **here** -> `sessions.py` -> the SDK's sessions -> `server.py`.

The SDK is loaded with the first request. Its sessions live in one task on the event loop, which ends with the loop. A
GET would open a stream that lasts as long as the session and brings nothing, so the route takes none.
"""

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from starlette.types import Message, Receive, Scope, Send

from api.dependencies import Service
from api.mcp.sessions import Sessions
from query_engine.runtime.threads import in_thread

if TYPE_CHECKING:  # loaded with the first request
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

# Open sessions; a new one beyond this closes the one that has been idle longest.
MAX_SESSIONS = 100
SESSION_IDLE_S = 1800.0


class McpEndpoint:
    """The ASGI application behind `/mcp`.

    Args:
        service: whose engines the tools ask.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loading: asyncio.Future[Sessions] | None = None
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        sessions = await self._loaded()
        left = asyncio.Event()

        async def receive_noting_leave() -> Message:
            message = await receive()
            if message["type"] == "http.disconnect":
                left.set()
            return message

        from api.mcp.server import LEFT  # noqa: PLC0415  # loaded by now

        await sessions({**scope, LEFT: left}, receive_noting_leave, send)

    async def _loaded(self) -> Sessions:
        loop = asyncio.get_running_loop()
        failed = self._loading is not None and self._loading.done() and self._loading.exception() is not None
        if self._loading is None or self._loop is not loop or failed:
            self._loop, self._loading = loop, asyncio.ensure_future(self._load())
        return await asyncio.shield(self._loading)

    async def _load(self) -> Sessions:
        manager = await in_thread(partial(_load, self._service))
        started = asyncio.Event()
        self._running = asyncio.ensure_future(_run(manager, started))
        await started.wait()
        return Sessions(manager.handle_request, MAX_SESSIONS)


def _load(service: Service) -> "StreamableHTTPSessionManager":
    from mcp.server.transport_security import TransportSecuritySettings  # noqa: PLC0415  # see above

    from api.mcp.server import build_server  # noqa: PLC0415

    server = build_server(service)
    # Its application is not used, only the sessions behind it. Hosts and origins are checked for the whole service.
    server.streamable_http_app(
        session_idle_timeout=SESSION_IDLE_S,
        max_sessions=MAX_SESSIONS,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return server.session_manager


async def _run(manager: "StreamableHTTPSessionManager", started: asyncio.Event) -> None:
    async with manager.run():
        started.set()
        await asyncio.Event().wait()
