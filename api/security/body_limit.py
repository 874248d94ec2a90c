"""Refuse request bodies that are too large, before they are read into memory.

Flow: server -> keys -> **here** -> routes, of this process or the writer's. Starlette's own limit answers in plain
text; this one raises, so that the refusal has the form of every other error.
"""

from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY_BYTES = 1_000_000
# Pages come as HTML, of which five take some 3 MB.
MAX_BYTES_AT = {"/answer": 20_000_000}


def too_large(max_bytes: int) -> HTTPException:
    """Return the refusal of a body."""
    return HTTPException(413, f"The body is larger than {max_bytes // 1_000_000} MB.")


class BodyLimit:
    """ASGI middleware: 413 for a body over the limit, whether its length is declared or not.

    Args:
        app: what stands behind it.
        max_bytes: of a body.
        max_bytes_at: of a body by path, where that differs.
    """

    def __init__(
        self, app: ASGIApp, max_bytes: int = MAX_BODY_BYTES, max_bytes_at: Mapping[str, int] = MAX_BYTES_AT
    ) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._max_bytes_at = max_bytes_at

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with a counting `receive`."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = Headers(scope=scope).get("content-length", "")
        received = 0
        max_bytes = self._max_bytes_at.get(scope["path"], self._max_bytes)

        async def limited() -> Message:
            nonlocal received
            if declared.isdecimal() and int(declared) > max_bytes:
                raise too_large(max_bytes)
            message = await receive()
            received += len(message.get("body", b""))
            if received > max_bytes:
                raise too_large(max_bytes)
            return message

        await self._app(scope, limited, send)
