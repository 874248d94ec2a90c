"""Refuse writes that a page of another site sends through the user's browser, and requests to a name of another host.

Flow: server -> **here** -> `body_limit.py` -> routes. A browser sends `Origin` with every request that may write, and
programs send none. With a GET, as of an image's address, it sends `Sec-Fetch-Site` alone; mosaicRAG's form makes some
GETs write, so that one is read there as well. A service on loopback without keys trusts the machine, so there the
`Host` of every request is checked as well: a foreign page may give its own name the address 127.0.0.1, and is then of
the same origin.
"""

from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from errors import HostRefusedError, RagError
from loopback import is_loopback
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
        public = urlsplit(serve.public_url or "")
        self._known = {host.lower() for host in (public.netloc, *serve.known_hosts()) if host}
        self._on_loopback = is_loopback(serve.host)
        self._checks_host = bool(serve.allowed_hosts) or (self._on_loopback and not serve.known_keys())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or reply 403 before its body is read."""
        if scope["type"] == "http":
            try:
                writes = scope["method"] not in SAFE_METHODS or scope["path"].startswith(WRITING_GETS)
                self._check(Headers(scope=scope), writes=writes)
            except HostRefusedError as error:
                # Raised here it would be outside the handlers of errors, and end as status 500.
                reply = await scope["app"].exception_handlers[RagError](Request(scope), error)
                await reply(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _check(self, headers: Headers, *, writes: bool) -> None:
        host = headers.get("host", "")
        if self._checks_host and not self._is_known(host):
            raise HostRefusedError("The request names a host that the service does not answer to.", REMEDY)
        if writes and not self._may_write(headers, host):
            raise HostRefusedError("The request comes from a web page that may not use the service.", REMEDY)

    def _may_write(self, headers: Headers, host: str) -> bool:
        if origins := headers.getlist("origin"):
            return all(self._is_from(origin, host) for origin in origins)
        # A page of the same site may have another host, which only on loopback is one of this machine.
        sender = headers.get("sec-fetch-site", "none")
        return sender in ("none", "same-origin") or (sender == "same-site" and self._on_loopback)

    def _is_from(self, origin: str, host: str) -> bool:
        """Say whether a page is of the host that it asks, or of a known one; `null` is the origin of a hidden page."""
        scheme, separator, sender = origin.partition("://")
        if not separator or scheme not in ("http", "https"):
            return False
        return self._is_known(sender) or (bool(_name(sender)) and _name(sender) == _name(host))

    def _is_known(self, host: str) -> bool:
        name = _name(host)
        if not name:
            return False
        return (self._on_loopback and is_loopback(name)) or _is_listed(host.lower(), name, self._known)


def _is_listed(host: str, name: str, known: Collection[str]) -> bool:
    """Say whether `host`, `NAME[:PORT]`, is known by itself, or its name with any port."""
    return host in known or name in known or f"[{name}]" in known


def _name(host: str) -> str:
    """Return the name in `NAME[:PORT]`, in lower case and without brackets; nothing if there is none."""
    try:
        parts = urlsplit(f"//{host}")
    except ValueError:
        return ""
    return "" if parts.path or parts.username is not None else (parts.hostname or "")
