"""Answer for a writer that still opens: how the jobs stand. All other requests wait until it is open.

Flow: `server.py` starts a writer's private server -> **here** -> `routes/jobs.py` until the application is there,
then the application. Libraries, models and corpora take seconds to load, up to a minute on a busy machine; clients that
wait for a job learn at once what became of it when the writer before this one was killed.
"""

import asyncio
import re

from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from api import errors
from api.jobs.queue import Jobs
from api.routes import jobs as routes
from api.security.auth import KeyGate, KeyRequired
from api.security.keyring import Keyring
from api.views.html import Pages
from errors import CorpusError
from settings import ServeSettings

JOBS = re.compile(r"/ingest(/[^/]+)?")


class Opening:
    """ASGI application.

    Args:
        serve: says which keys there are.
        jobs: of this process.
    """

    def __init__(self, serve: ServeSettings, jobs: Jobs) -> None:
        early = FastAPI(openapi_url=None)
        early.state.jobs = jobs
        errors.install(early, Pages())
        early.add_middleware(KeyGate, keyring=Keyring(serve))
        early.include_router(routes.router, dependencies=[KeyRequired])
        self._early = early
        self._app: ASGIApp | None = None
        self._settled = asyncio.Event()

    def settle(self, app: ASGIApp | None) -> None:
        """Hand everything to the application; without one, refuse what waits. Only the first call counts."""
        if not self._settled.is_set():
            self._app = app
            self._settled.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or wait and hand on."""
        if self._app is None and scope["method"] in {"GET", "DELETE"} and JOBS.fullmatch(scope["path"]):
            await self._early(scope, receive, send)
            return
        await self._settled.wait()
        if self._app is not None:
            await self._app(scope, receive, send)
            return
        scope["app"] = self._early
        error = CorpusError("The process that writes could not start.", "See the service's log.", "writer_unavailable")
        await errors.send_error(error, scope, receive, send)
