"""`/mcp`: the tools over streamable HTTP.

Flow: `routes/mcp.py` (host, origin and key checked) -> **here** -> the SDK -> `server.py`.

The SDK is loaded with the first request, and lives in one task on the event loop, which ends with the loop. There are
no sessions: each request stands alone, with its own key, and any process of the service answers it.
"""

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from starlette.types import Message, Receive, Scope, Send

from api.dependencies import Service
from query_engine.runtime.threads import in_thread

if TYPE_CHECKING:  # loaded with the first request
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager


class McpEndpoint:
    """The ASGI application behind `/mcp`.

    Args:
        service: whose engines the tools ask.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loading: asyncio.Future[StreamableHTTPSessionManager] | None = None
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        manager = await self._loaded()
        left = asyncio.Event()

        async def receive_noting_leave() -> Message:
            message = await receive()
            if message["type"] == "http.disconnect":
                left.set()
            return message

        from api.mcp.server import LEFT  # noqa: PLC0415  # loaded by now

        await manager.handle_request({**scope, LEFT: left}, receive_noting_leave, send)

    async def _loaded(self) -> "StreamableHTTPSessionManager":
        loop = asyncio.get_running_loop()
        failed = self._loading is not None and self._loading.done() and self._loading.exception() is not None
        if self._loading is None or self._loop is not loop or failed:
            self._loop, self._loading = loop, asyncio.ensure_future(self._load())
        return await asyncio.shield(self._loading)

    async def _load(self) -> "StreamableHTTPSessionManager":
        manager = await in_thread(partial(_load, self._service))
        started = asyncio.Event()
        self._running = asyncio.ensure_future(_run(manager, started))
        await started.wait()
        return manager


def _load(service: Service) -> "StreamableHTTPSessionManager":
    from mcp.server.transport_security import TransportSecuritySettings  # noqa: PLC0415  # see above

    from api.mcp.server import build_server  # noqa: PLC0415

    server = build_server(service)
    # Its application is not used, only what is behind it. Hosts and origins are checked for the whole service.
    server.streamable_http_app(
        stateless_http=True,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return server.session_manager


async def _run(manager: "StreamableHTTPSessionManager", started: asyncio.Event) -> None:
    async with manager.run():
        started.set()
        await asyncio.Event().wait()
