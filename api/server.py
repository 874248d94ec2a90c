"""Run the application under uvicorn, and stop it without cutting answers.

Flow: `main.py` has a bound socket and an application -> **here** -> connections, until a signal comes. Then the service
is told: it cancels its jobs and gives its questions a few seconds (`dependencies.py`); every answer is sent to its end.
"""

import signal
import socket
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

import uvicorn
from fastapi import FastAPI

# For what ignores its deadline; longer than the grace that `/run` gives its streams.
SHUTDOWN_S = 30
MAX_HEADER_BYTES = 64 * 1024
BACKLOG = 2048


def exit_on_sigterm() -> None:
    """Make SIGTERM raise `SystemExit(143)` in the main thread, so that everything open is closed on the way out."""
    signal.signal(signal.SIGTERM, _terminated)


def run_server(app: FastAPI, listener: socket.socket) -> None:
    """Serve on a listening socket. After a signal: no new connections, running answers finish, the signal is raised.

    Args:
        app: made by `create_app`.
        listener: the socket.

    Raises:
        SystemExit: SIGTERM came.
        KeyboardInterrupt: SIGINT came.
    """
    config = uvicorn.Config(
        app,
        # h11 bounds the size of headers, httptools does not.
        http="h11",
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        ws="none",
        lifespan="off",
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=SHUTDOWN_S,
    )
    _Server(config, app.state.service.stop).run(sockets=[listener])


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, on_stop: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_stop = on_stop

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._on_stop()
        await super().shutdown(sockets)


def _terminated(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + signal.SIGTERM)
