"""Run the application under uvicorn or gunicorn, and stop it without cutting answers.

Flow: `main.py` has an application -> **here** -> connections, until a signal comes. Then the service cancels its jobs
and gives its questions a few seconds (`dependencies.py`); every answer is sent to its end.
"""

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

import uvicorn

from api.connections import TimedProtocol
from errors import RagError, error_line
from settings import ServeSettings

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import Receive, Scope, Send

    from api.workers.team import Team

# For what ignores its deadline; longer than the grace that `/run` gives its streams.
SHUTDOWN_S = 30
MAX_HEADER_BYTES = 64 * 1024
BACKLOG = 2048
# How uvicorn speaks HTTP. h11 bounds the size of headers, httptools does not.
_PROTOCOL: dict[str, Any] = {
    "http": TimedProtocol,
    "h11_max_incomplete_event_size": MAX_HEADER_BYTES,
    "ws": "none",
    "server_header": False,
    "log_config": None,
    "access_log": False,  # `watching/middleware.py` logs requests
}


def uvicorn_options(serve: ServeSettings) -> dict[str, Any]:
    """Return uvicorn's settings for a service: only its proxies may say who the client is."""
    return {**_PROTOCOL, "proxy_headers": serve.proxies is not None, "forwarded_allow_ips": serve.proxies or ""}


def private_options() -> dict[str, Any]:
    """Return uvicorn's settings for what workers hand over: they say who their client is."""
    return {**_PROTOCOL, "proxy_headers": True, "forwarded_allow_ips": "127.0.0.1"}


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
    service = app.state.service
    options = uvicorn_options(service.settings.serve)
    config = uvicorn.Config(app, lifespan="off", timeout_graceful_shutdown=SHUTDOWN_S, **options)
    _Server(config, service.stop).run(sockets=[listener])


class HostedApplication:
    """An application that opens when its server starts it, for servers that import an application by its name.

    Args:
        opened: opens the application, as one of a team of workers if there is one, and closes it at the end of the
            block.

    Attributes:
        team: the workers that this process is one of, if there are several; set before the server starts it.
    """

    def __init__(self, opened: Callable[["Team | None"], AbstractContextManager["FastAPI"]]) -> None:
        self._opened = opened
        self._app: FastAPI | None = None
        self.team: Team | None = None

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
                app = self._app = stack.enter_context(self._opened(self.team))
            except RagError as error:
                await send({"type": "lifespan.startup.failed", "message": error_line(error, as_json=False).rstrip()})
                return
            _call_on_sigterm(app.state.service.stop)
            async with _private(app, self.team):
                await send({"type": "lifespan.startup.complete"})
                await receive()
        await send({"type": "lifespan.shutdown.complete"})


@asynccontextmanager
async def _private(app: "FastAPI", team: "Team | None") -> AsyncIterator[None]:
    """Serve what other workers hand over to this one, if it is the one that writes."""
    if team is None or not app.state.part.writes:
        yield
        return
    config = uvicorn.Config(app, lifespan="off", timeout_graceful_shutdown=SHUTDOWN_S, **private_options())
    server = uvicorn.Server(config)
    serving = asyncio.ensure_future(server._serve([team.private]))  # its `serve` would take the signals
    try:
        yield
    finally:
        server.should_exit = True
        await serving


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
