"""Refuse request bodies that are too large, before they are read into memory.

Flow: server -> **here** -> routes. Starlette's own limit answers in plain text; this one raises, so that the refusal
has the form of every other error.
"""

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY_BYTES = 1_000_000


class BodyLimit:
    """ASGI middleware: 413 for a body over the limit, whether its length is declared or not."""

    def __init__(self, app: ASGIApp, max_bytes: int = MAX_BODY_BYTES) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with a counting `receive`."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = Headers(scope=scope).get("content-length", "")
        received = 0

        async def limited() -> Message:
            nonlocal received
            if declared.isdecimal() and int(declared) > self._max_bytes:
                raise HTTPException(413)
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._max_bytes:
                raise HTTPException(413)
            return message

        await self._app(scope, limited, send)
