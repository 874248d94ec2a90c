"""Ask a client for its key, before anything of its request is read but the headers.

Flow: server -> `same_origin.py` -> **here** -> `body_limit.py` -> routes. Two steps: `KeyGate` finds the key of every
request and refuses those without one, at every address but a few; `KeyRequired`, on the routes, asks whether the key is
for this route. What a key's corpora are is asked where they are opened (`guarded_engines.py`). Without keys in the
settings everybody may pass; that such a service listens on loopback only is `listen.py`'s business.

Programs send `Authorization: Bearer KEY`, as OpenAI's do, or the header `Api-Key`, as ASK-xDD's do, or the key as the
password of basic authentication. A person's browser sends the cookie of `routes/login.py`. It sends it by itself, also
for a page that only pretends to be the person, so with a cookie a write must say what page it comes from; whether
that page is of this site, `same_origin.py` has asked by then.
"""

import binascii
import time
from base64 import b64decode, urlsafe_b64decode, urlsafe_b64encode

from fastapi import Depends, Request
from limits import parse
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Receive, Scope, Send

from api.caller import ADMIN, CALLER, IN_SCOPE, INGEST, NOBODY, READ, Key, address_of
from api.errors import send_error
from api.security.keyring import Keyring
from api.security.same_origin import writes
from errors import HostRefusedError, RagError, TooManyRequestsError

FACT = "The key is missing or wrong."
REMEDY = "Send one of the service's keys as `Authorization: Bearer KEY`, or as the header Api-Key; a command of this "
REMEDY += "project sends the first one of its RAG_SERVE__KEYS."

COOKIE = "treeline_key"
OPEN_PATHS = frozenset(("/", "/health", "/ready", "/openapi.json", "/login"))
ASK_XDD_PATHS = frozenset(("/vector", "/hybrid", "/react", "/react_streaming"))
"""Their clients expect another status."""

_ASKS = (
    "/run /evaluate /query /query/stream /retrieve /agent/research /v1/chat/completions /v1/responses /answer /mcp "
    "/feedback /vector /hybrid /react /react_streaming /task/run /task/enqueue"
)
SCOPE_OF = (
    {("POST", path): READ for path in _ASKS.split()}
    | {("POST", path): INGEST for path in ("/ingest", "/documents", "/documents/delete")}
    | {("GET", "/ingest"): INGEST, ("GET", "/ingest/{job_id}"): INGEST, ("DELETE", "/ingest/{job_id}"): INGEST}
    | {("DELETE", "/documents/{doc_id}"): INGEST}
    | {("GET", "/feedback"): ADMIN, ("GET", "/study"): ADMIN}
)
"""What a key must be for, by method and route. Any other GET is reading; any other method is the admin's."""

ABOUT_ALL_CORPORA = ("/pipeline", "/task", "/runs", "/study", "/cache", "/metrics")
"""Routes that cannot tell corpora apart begin so; a key for some corpora does not open them."""


class KeyGate:
    """ASGI middleware: finds the key of a request.

    It replies 401 where one is needed and missing, 429 where it is used too much or too many wrong ones came.

    Args:
        app: what stands behind it.
        keyring: the keys there are.
    """

    def __init__(self, app: ASGIApp, keyring: Keyring) -> None:
        self._app = app
        self._keyring = keyring
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or reply before its body is read."""
        if scope["type"] != "http" or not self._keyring.guarded:
            await self._app(scope, receive, send)
            return
        try:
            key = scope[IN_SCOPE] = self._admitted(scope)
        except RagError as error:
            await send_error(error, scope, receive, send)
            return
        before = CALLER.set(key)
        try:
            await self._app(scope, receive, send)
        finally:
            CALLER.reset(before)

    def _admitted(self, scope: Scope) -> Key:
        headers = Headers(scope=scope)
        sent, in_cookie = _sent(headers), _in_cookie(headers)
        key = self._keyring.find_for(address_of(scope), sent + in_cookie)
        if key is not None and self._keyring.find(sent) is None:
            _require_page(scope, headers)
        if key is None:
            if _is_open(scope["path"]):
                return NOBODY
            code = "key_refused" if scope["path"] in ASK_XDD_PATHS else "key_needed"
            raise RagError(FACT, REMEDY, code)
        rate = None if key.rate is None else parse(key.rate)
        if rate is not None and not self._limiter.hit(rate, key.sha256):
            again_at = self._limiter.get_window_stats(rate, key.sha256).reset_time
            raise TooManyRequestsError(
                f"Your key may send {key.rate} requests.",
                "Ask again after the seconds that the header Retry-After names.",
                max(1, round(again_at - time.time() + 0.5)),
            )
        return key


async def require_scope(request: Request) -> None:
    """Ask whether the caller's key is for this route.

    Raises:
        RagError: it is not.
    """
    error = refusal(CALLER.get(), request.method, request.scope["route"].path_format)
    if error is not None:
        raise error


def _is_open(path: str) -> bool:
    # The page's files say nothing of the documents, and the login is drawn with them.
    return path in OPEN_PATHS or path.startswith("/ui/static/")


def refusal(key: Key | None, method: str, path: str) -> RagError | None:
    """Return why a key does not open a route; None if it does.

    Args:
        key: None opens everything.
        method: of HTTP.
        path: of the route, as `/ingest/{job_id}`.
    """
    if key is None or _is_open(path):
        return None
    scope = SCOPE_OF.get((method, path), READ if method in ("GET", "HEAD") else ADMIN)
    if not key.allows(scope):
        return RagError(f"Your key is not for this: it lacks the scope {scope!r}.", "Ask for another key.", "key_scope")
    if key.corpora is not None and path.startswith(ABOUT_ALL_CORPORA):
        return RagError(
            "Your key is for some corpora only, and this is about all.", "Ask for another key.", "key_scope"
        )
    return None


KeyRequired = Depends(require_scope)


def cookie_value(key: str) -> str:
    """Return a key as a cookie can hold it."""
    return urlsafe_b64encode(key.encode()).decode().rstrip("=")


def _sent(headers: Headers) -> list[str]:
    return [key for key in (headers.get("api-key"), _authorized(headers.get("authorization", ""))) if key]


def _in_cookie(headers: Headers) -> list[str]:
    value = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
    try:
        return [urlsafe_b64decode(value + "=" * (-len(value) % 4)).decode()] if value else []
    except (binascii.Error, ValueError):
        return []


def _require_page(scope: Scope, headers: Headers) -> None:
    """Refuse a write by cookie that does not say which page it comes from, as every browser of today does."""
    if writes(scope) and not ("origin" in headers or "sec-fetch-site" in headers):
        raise HostRefusedError(
            "The request is signed by a cookie alone, and says of no web page that it comes from it.",
            "Send the key as `Authorization: Bearer KEY`.",
        )


def _authorized(header: str) -> str:
    """Return the key that a header `Authorization` holds, or nothing."""
    scheme, _, value = header.partition(" ")
    match scheme.lower():
        case "bearer":
            return value.strip()
        case "basic":
            try:
                return b64decode(value).decode().partition(":")[2]
            except (binascii.Error, ValueError):
                return ""
        case _:
            return ""
