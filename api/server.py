"""Run the application under uvicorn or gunicorn, and stop it without cutting answers.

Flow: `main.py` has an application -> **here** -> connections, until a signal comes. Then the service cancels its jobs
and gives its questions a few seconds (`dependencies.py`); every answer is sent to its end.
"""

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

import uvicorn

from errors import RagError, error_line
from settings import ServeSettings, Settings

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import Receive, Scope, Send

    from api.jobs.queue import Jobs
    from api.workers.group import WorkerGroup
    from api.workers.role import WorkerRole

# For what ignores its deadline; longer than the grace that `/run` gives its streams.
SHUTDOWN_S = 30
MAX_HEADER_BYTES = 64 * 1024
BACKLOG = 2048
# How uvicorn speaks HTTP. h11 bounds the size of headers, httptools does not; a proxy cuts off clients that stall.
_PROTOCOL: dict[str, Any] = {
    "http": "h11",
    "h11_max_incomplete_event_size": MAX_HEADER_BYTES,
    "ws": "none",
    "server_header": False,
    "log_config": None,
    "access_log": False,  # `telemetry/middleware.py` logs requests
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


@dataclass(frozen=True, slots=True)
class Plan:
    """What is known of an application before its libraries are loaded.

    Attributes:
        settings: all of them.
        group: the workers that this process is one of; None if it is alone.
        role: what this process does among them; None if it is alone.
    """

    settings: Settings
    group: "WorkerGroup | None" = None
    role: "WorkerRole | None" = None


class HostedApplication:
    """An application that opens when its server starts it, for servers that import an application by its name.

    Args:
        planned: says quickly, of one of a group of workers if there is one, what is to be opened.
        opened: opens it, with the jobs that it shall run if those are there already; closes it at the end of the
            block.

    Attributes:
        group: the workers that this process is one of, if there are several; set before the server starts it.
    """

    def __init__(
        self,
        planned: Callable[["WorkerGroup | None"], Plan],
        opened: Callable[[Plan, "Jobs | None"], AbstractContextManager["FastAPI"]],
    ) -> None:
        self._planned, self._opened = planned, opened
        self._app: FastAPI | None = None
        self.group: WorkerGroup | None = None

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
                plan = self._planned(self.group)
                async with _private(plan) as (jobs, settle):
                    # In a thread: the private server answers meanwhile.
                    app = self._app = await asyncio.to_thread(stack.enter_context, self._opened(plan, jobs))
                    _call_on_sigterm(app.state.service.stop)
                    settle(app)
                    await send({"type": "lifespan.startup.complete"})
                    await receive()
            except RagError as error:
                await send({"type": "lifespan.startup.failed", "message": error_line(error, as_json=False).rstrip()})
                return
        await send({"type": "lifespan.shutdown.complete"})


@asynccontextmanager
async def _private(plan: Plan) -> AsyncIterator[tuple["Jobs | None", Callable[["FastAPI | None"], None]]]:
    """Serve what other workers hand over to this one, if it is the one that writes.

    Yields:
        Its jobs, if it is, and what is to be told of the application once that is open.
    """
    group, role = plan.group, plan.role
    if group is None or role is None or role.job_notes is None:
        yield None, lambda _app: None
        return
    from api.jobs.notes import JobNotes  # noqa: PLC0415  # gunicorn's parent, which reads this file, needs none of it
    from api.jobs.queue import Jobs  # noqa: PLC0415
    from api.opening import Opening  # noqa: PLC0415

    jobs = Jobs(JobNotes(role.job_notes))
    opening = Opening(plan.settings.serve, jobs)
    config = uvicorn.Config(opening, lifespan="off", timeout_graceful_shutdown=SHUTDOWN_S, **private_options())
    server = uvicorn.Server(config)
    serving = asyncio.ensure_future(server._serve([group.private]))  # its `serve` would take the signals
    try:
        yield jobs, opening.settle
    finally:
        opening.settle(None)
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
