"""`/mcp`: the tools over streamable HTTP.

Flow: `routes/mcp.py` (key checked) -> **here** (host and origin checked) -> the SDK's sessions -> `server.py`.

The SDK is loaded with the first request. Its sessions live in one task on the event loop, which ends with the loop. A
GET would open a stream that lasts as long as the session and brings nothing, so the route takes none.
"""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from api.dependencies import Service
from errors import HostRefusedError
from query_engine.runtime.threads import in_thread
from settings import McpSettings, ServeSettings

if TYPE_CHECKING:  # loaded with the first request
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.server.transport_security import TransportSecurityMiddleware

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class McpEndpoint:
    """The ASGI application behind `/mcp`.

    Args:
        service: whose engines the tools ask.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loading: asyncio.Future[_Loaded] | None = None
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request.

        Raises:
            HostRefusedError: the settings do not allow its host or origin.
        """
        loaded = await self._loaded()
        refused = await loaded.security.validate_request(Request(scope))
        if refused is not None:
            raise _refused_origin() if refused.status_code == 403 else _refused_host()
        left = asyncio.Event()

        async def receive_noting_leave() -> Message:
            message = await receive()
            if message["type"] == "http.disconnect":
                left.set()
            return message

        from api.mcp.server import LEFT  # noqa: PLC0415  # loaded by now

        await loaded.sessions.handle_request({**scope, LEFT: left}, receive_noting_leave, send)

    async def _loaded(self) -> "_Loaded":
        loop = asyncio.get_running_loop()
        failed = self._loading is not None and self._loading.done() and self._loading.exception() is not None
        if self._loading is None or self._loop is not loop or failed:
            self._loop, self._loading = loop, asyncio.ensure_future(self._load())
        return await asyncio.shield(self._loading)

    async def _load(self) -> "_Loaded":
        loaded = await in_thread(partial(_load, self._service))
        started = asyncio.Event()
        self._running = asyncio.ensure_future(_run(loaded.sessions, started))
        await started.wait()
        return loaded


class _Loaded(NamedTuple):
    sessions: "StreamableHTTPSessionManager"
    security: "TransportSecurityMiddleware"


def allowed(mcp: McpSettings, serve: ServeSettings) -> Mapping[str, list[str]]:
    """Return `allowed_hosts` and `allowed_origins` as the SDK takes them: each with any port, unless one is named."""
    public = urlsplit(serve.public_url or "").hostname
    bound = f"[{serve.host}]" if ":" in serve.host else serve.host
    hosts = dict.fromkeys([*LOOPBACK, bound, *([public] if public else []), *_listed(mcp.allowed_hosts)])
    origins = [f"{scheme}://{host}" for scheme in ("http", "https") for host in LOOPBACK]
    origins += _listed(mcp.allowed_origins)
    return {"allowed_hosts": _any_port(hosts), "allowed_origins": _any_port(origins)}


def _any_port(names: "Mapping[str, None] | list[str]") -> list[str]:
    return [form for name in names for form in (name, f"{name}:*")]


def _listed(names: str | None) -> list[str]:
    return names.split(",") if names else []


def _load(service: Service) -> _Loaded:
    from mcp.server.transport_security import (  # noqa: PLC0415  # see above
        TransportSecurityMiddleware,
        TransportSecuritySettings,
    )

    from api.mcp.server import build_server  # noqa: PLC0415

    settings, server = service.settings.mcp, build_server(service)
    # Its application is not used, only the sessions behind it: host and key are checked here, with our errors.
    server.streamable_http_app(
        session_idle_timeout=settings.session_idle_s,
        max_sessions=settings.sessions,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    hosts = TransportSecuritySettings(**allowed(settings, service.settings.serve))
    return _Loaded(server.session_manager, TransportSecurityMiddleware(hosts))


async def _run(sessions: "StreamableHTTPSessionManager", started: asyncio.Event) -> None:
    async with sessions.run():
        started.set()
        await asyncio.Event().wait()


def _refused_host() -> HostRefusedError:
    return HostRefusedError(
        "The request names a host that `/mcp` does not answer to.",
        "Use the address that the service listens on, or add the host to RAG_MCP__ALLOWED_HOSTS.",
    )


def _refused_origin() -> HostRefusedError:
    return HostRefusedError(
        "The request comes from a web page that may not use `/mcp`.",
        "Add its origin to RAG_MCP__ALLOWED_ORIGINS if it may.",
    )
