"""Refuse writes that a page of another site sends through the user's browser, and requests to a name of another host.

Flow: server -> **here** -> `auth.py` -> `body_limit.py` -> routes. A browser sends `Origin` with every request that may
write, and programs send none. With a GET, as of an image's address, it sends `Sec-Fetch-Site` alone; mosaicRAG's form
makes some GETs write, so that one is read there as well. A service on loopback without keys trusts the machine, so
there the `Host` of every request is checked as well: a foreign page may give its own name the address 127.0.0.1, and is
then of the same origin.
"""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from api.errors import send_error
from api.hosts import Hosts
from errors import HostRefusedError
from settings import ServeSettings

SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))
# They cancel tasks, keep chats, and spend the time of a model.
WRITING_GETS = ("/task/cancel/", "/task/chat/")
REMEDY = "If it may, add its host to RAG_SERVE__ALLOWED_HOSTS, or set RAG_SERVE__PUBLIC_URL behind a proxy."


class SameOrigin:
    """ASGI middleware: 403 for writes from pages of other hosts, and to hosts that the service does not answer to.

    Args:
        app: what stands behind it.
        serve: where the service listens, and which other hosts are its own.
    """

    def __init__(self, app: ASGIApp, serve: ServeSettings) -> None:
        self._app = app
        self._hosts = Hosts(serve)
        self._checks_host = bool(serve.allowed_hosts) or (self._hosts.on_loopback and not serve.asks_for_keys)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or reply 403 before its body is read."""
        if scope["type"] == "http":
            try:
                self._check(Headers(scope=scope), writes=writes(scope))
            except HostRefusedError as error:
                await send_error(error, scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _check(self, headers: Headers, *, writes: bool) -> None:
        host = headers.get("host", "")
        if self._checks_host and not self._hosts.is_own(host):
            raise HostRefusedError("The request names a host that the service does not answer to.", REMEDY)
        if writes and not self._may_write(headers, host):
            raise HostRefusedError("The request comes from a web page that may not use the service.", REMEDY)

    def _may_write(self, headers: Headers, host: str) -> bool:
        if origins := headers.getlist("origin"):
            return all(self._hosts.may_write(origin, host) for origin in origins)
        return headers.get("sec-fetch-site", "none") in ("none", "same-origin")


def writes(scope: Scope) -> bool:
    """Say whether a request may change something."""
    return scope["method"] not in SAFE_METHODS or scope["path"].startswith(WRITING_GETS)
