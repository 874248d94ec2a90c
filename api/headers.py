"""Headers that tell browsers to trust a reply no further than it needs; what a route says by itself stands.

Flow: every reply -> **here** -> the client. A reply is data: no page may frame it, and nothing in it runs or loads.
"""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
SECURE_ONLY = {"Strict-Transport-Security": "max-age=31536000"}


class SecurityHeaders:
    """ASGI middleware.

    Args:
        app: what stands behind it.
        over_tls: clients reach the service by https, and shall go on doing so.
        cors: pages of other origins may read replies.
    """

    def __init__(self, app: ASGIApp, *, over_tls: bool, cors: bool) -> None:
        self._app = app
        self._headers = HEADERS | (SECURE_ONLY if over_tls else {})
        if cors:
            self._headers["Cross-Origin-Resource-Policy"] = "cross-origin"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and put the headers on its reply."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)
