"""Give each request an id, count it, and log it in one line.

Flow: server -> **here**, before everything else -> routes; at the end of the reply `metrics.py` and one line at INFO.
The line names the route and never the path, and has the question only where the settings say so. All other lines that
the request causes carry its id as well.
"""

import logging
import re
import secrets
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bind_contextvars

from api.telemetry.requests import RequestWatch, Watching

HEADER = "X-Request-ID"
REQUEST_ID, ERROR_CODE, HANDED_OVER = "request_id", "error_code", "handed_over"
"""Keys of the scope: the id; the code of the error that the reply tells, if it tells one; whether another process
replied, which counts the request."""
# As nginx has it for a client that left before the reply.
CLIENT_LEFT = 499
_WELL_FORMED = re.compile(r"[A-Za-z0-9._:-]{1,128}")

logger = logging.getLogger(__name__)


class Watched:
    """ASGI middleware.

    Args:
        app: what stands behind it.
        watching: watches.
        questions: the line holds the question.
    """

    def __init__(self, app: ASGIApp, watching: Watching, *, questions: bool) -> None:
        self._app = app
        self._watching = watching
        self._questions = questions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        request_id = scope[REQUEST_ID] = _well_formed(headers.get(HEADER, "")) or secrets.token_hex(16)
        bind_contextvars(request_id=request_id)
        started_s, status = time.perf_counter(), CLIENT_LEFT

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[HEADER] = request_id
            await send(message)

        with self._watching.request(headers) as watch:
            try:
                await self._app(scope, receive, sending)
            except Exception:
                status = 500  # sent after this, by what stands around all middleware
                raise
            finally:
                self._tell(scope, status, time.perf_counter() - started_s, watch)

    def _tell(self, scope: Scope, status: int, seconds: float, watch: RequestWatch) -> None:
        route = getattr(scope.get("route"), "path", None)
        error = scope.get(ERROR_CODE) or watch.failure or ("internal" if status == 500 else None)
        handed_over = scope.get(HANDED_OVER)
        if not handed_over:
            self._watching.metrics.request(scope["method"], route, status, seconds, error)
        told = {
            "method": scope["method"],
            "route": route,
            "status": status,
            "duration_ms": round(seconds * 1000, 1),
            "corpus": watch.corpus,
            "author": watch.author,
            "reason": watch.reason,
            "kept": watch.kept or None,
            "error": error,
            "trace_id": watch.trace_id,
            "question": watch.question if self._questions else None,
            "handed_over": handed_over,
        }
        logger.info("request", extra={name: value for name, value in told.items() if value is not None})


def _well_formed(request_id: str) -> str:
    return request_id if _WELL_FORMED.fullmatch(request_id) else ""
