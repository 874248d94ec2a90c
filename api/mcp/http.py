"""`/mcp`: the tools over streamable HTTP.

Flow: `routes/mcp.py` (host, origin and key checked) -> **here** -> the SDK -> `server.py`.

The SDK is loaded with the first request. There are no sessions: each request stands alone, with its own key and its own
manager, which ends all that was begun for it; any process of the service answers it.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from starlette.types import Receive, Scope, Send

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
        self._managing: Callable[[], StreamableHTTPSessionManager] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if self._managing is None:
            self._managing = await in_thread(partial(_load, self._service))
        manager = self._managing()
        async with manager.run():
            await manager.handle_request(scope, receive, send)


def _load(service: Service) -> "Callable[[], StreamableHTTPSessionManager]":
    """Return what makes the manager of a request."""
    from mcp.server.transport_security import TransportSecuritySettings  # noqa: PLC0415  # see above

    from api.mcp.server import build_server  # noqa: PLC0415

    server = build_server(service)
    # Hosts and origins are checked for the whole service.
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)

    def made() -> "StreamableHTTPSessionManager":
        # The SDK's application is not used, only what is behind it.
        server.streamable_http_app(stateless_http=True, transport_security=security)
        return server.session_manager

    return made
