"""`GET` and `POST /login`, `POST /logout`: a person's browser shows its key once, and then sends it as a cookie.

Flow: a form -> **here** -> the cookie that `security/auth.py` reads. The cookie is the key itself, so nothing about
those who are signed in is kept: it opens every worker and replica, and nothing once its key is revoked. No script reads
it (`HttpOnly`), no page of another site has it sent (`SameSite=Strict`), and it ends with the browser.

A link from another site, as from a chat, comes without the cookie. The page of the refusal therefore leads here by
itself; that step is the service's own, so it has the cookie, and who is signed in is sent on.
"""

from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from api.caller import CALLER, NOBODY, address_of
from api.dependencies import ServiceDep
from api.security.auth import COOKIE, cookie_value
from api.security.keyring import Keyring

MAX_NEXT_CHARS = 8000
MAX_FORM_BYTES = 100_000

router = APIRouter(include_in_schema=False)


@router.get("/login")
def form(request: Request, service: ServiceDep, next: str | None = None) -> Response:
    """Show the form; send a person who is signed in on to `next`."""
    key = CALLER.get()
    if key is NOBODY:
        return service.pages.login(request, _local(next))
    if key is None or next is not None:
        return _sent_on(request, next)
    return service.pages.login(request, _local(next), signed_in_as=key.name)


@router.post("/login")
async def login(request: Request, service: ServiceDep) -> Response:
    """Set the cookie if the key is one, and send the browser on."""
    fields = parse_qs((await request.body())[:MAX_FORM_BYTES].decode(errors="replace"))
    key, to = fields.get("key", [""])[0].strip(), fields.get("next", [None])[0]
    keyring: Keyring = request.app.state.keyring
    if keyring.guarded and keyring.find_for(address_of(request.scope), [key], by_hand=True) is None:
        return service.pages.login(request, _local(to), refused=True)
    reply = _sent_on(request, to)
    secure = request.url.scheme == "https" or (service.settings.serve.public_url or "").startswith("https://")
    reply.set_cookie(
        COOKIE, cookie_value(key), path=_root(request) or "/", secure=secure, httponly=True, samesite="strict"
    )
    return reply


@router.post("/logout")
def logout(request: Request) -> Response:
    """Take the cookie back."""
    reply = RedirectResponse(f"{_root(request)}/login", 303)
    reply.delete_cookie(COOKIE, path=_root(request) or "/", httponly=True, samesite="strict")
    return reply


def _sent_on(request: Request, to: str | None) -> Response:
    return RedirectResponse(_root(request) + _local(to), 303)


def _local(to: str | None) -> str:
    """Return where to go on, if that is an address of this service; else the page."""
    local = to is not None and to.startswith("/") and not to.startswith(("//", "/\\")) and to.isprintable()
    return to if to is not None and local and len(to) <= MAX_NEXT_CHARS else "/ui"


def _root(request: Request) -> str:
    return str(request.scope.get("root_path", ""))
