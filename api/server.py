"""Run the application under uvicorn or gunicorn, and stop it without cutting answers.

Flow: `main.py` has an application -> **here** -> connections, until a signal comes. Then the service cancels its jobs
and gives its questions a few seconds (`dependencies.py`); every answer is sent to its end.
"""

import asyncio
import signal
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

import uvicorn

from errors import RagError, error_line

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import Receive, Scope, Send

# For what ignores its deadline; longer than the grace that `/run` gives its streams.
SHUTDOWN_S = 30
MAX_HEADER_BYTES = 64 * 1024
BACKLOG = 2048
# How uvicorn speaks HTTP. h11 bounds the size of headers, httptools does not.
PROTOCOL: dict[str, Any] = {
    "http": "h11",
    "h11_max_incomplete_event_size": MAX_HEADER_BYTES,
    "ws": "none",
    "server_header": False,
    "log_config": None,
}


def exit_on_sigterm() -> None:
    """Make SIGTERM raise `SystemExit(143)` in the main thread, so that everything open is closed on the way out."""
    signal.signal(signal.SIGTERM, _terminated)


def run_server(app: "FastAPI", listener: socket.socket) -> None:
    """Serve on a listening socket. After a signal: no new connections, running answers finish, the signal is raised.

    Args:
        app: made by `create_app`.
        listener: the socket.

    Raises:
        SystemExit: SIGTERM came.
        KeyboardInterrupt: SIGINT came.
    """
    config = uvicorn.Config(app, lifespan="off", timeout_graceful_shutdown=SHUTDOWN_S, **PROTOCOL)
    _Server(config, app.state.service.stop).run(sockets=[listener])


class HostedApplication:
    """An application that opens when its server starts it, for servers that import an application by its name.

    Args:
        opened: opens the application and, at the end of the block, closes it.
    """

    def __init__(self, opened: Callable[[], AbstractContextManager["FastAPI"]]) -> None:
        self._opened = opened
        self._app: FastAPI | None = None

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Open and close with the server's lifespan; in between, hand on every request."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif self._app is not None:
            await self._app(scope, receive, send)

    async def _live(self, receive: "Receive", send: "Send") -> None:
        await receive()
        with ExitStack() as stack:
            try:
                app = self._app = stack.enter_context(self._opened())
            except RagError as error:
                await send({"type": "lifespan.startup.failed", "message": error_line(error, as_json=False).rstrip()})
                return
            _call_on_sigterm(app.state.service.stop)
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, on_stop: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_stop = on_stop

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._on_stop()
        await super().shutdown(sockets)


def _terminated(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + signal.SIGTERM)


def _call_on_sigterm(stop: Callable[[], None]) -> None:
    """Call `stop` on the running loop when SIGTERM comes, before the server's own handler."""
    loop, of_server = asyncio.get_running_loop(), signal.getsignal(signal.SIGTERM)

    def handle(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(stop)
        if callable(of_server):
            of_server(number, frame)

    signal.signal(signal.SIGTERM, handle)
