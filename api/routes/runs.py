"""`/runs`: evaluation runs and their reports, as files that are there.

Flow: a request -> `api/web/run_files.py` reads -> **here** -> JSON, or the report as it was written.

A report carries scripts. Its own content security policy gives it an origin that is nobody's and no connection, so that
one from elsewhere can neither ask the service in a reader's name nor send out what it holds.
"""

import pathlib
from typing import Annotated

from fastapi import APIRouter, Path
from starlette.responses import HTMLResponse

from api.dependencies import Service, ServiceDep
from api.openapi import replied
from api.schemas.replies.service import RunsReply
from api.views.negotiation import JSONReply
from api.web.run_files import list_runs, read_report
from errors import RagError

HEADERS = {
    "Content-Security-Policy": "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    "Cache-Control": "no-cache",
}

RunName = Annotated[str, Path(description="The run: `name` in `GET /runs`.", examples=["2026-01-31-squad"])]

router = APIRouter()


@router.get("/runs", responses=replied(RunsReply))
def runs(service: ServiceDep) -> JSONReply:
    """List the runs in the folder of the settings, the newest first, with the figures of their reports."""
    return JSONReply(list_runs(_folder(service)))


@router.get("/runs/{name}/report", response_class=HTMLResponse)
def report(name: RunName, service: ServiceDep) -> HTMLResponse:
    """Return the report of a run as it was written."""
    return HTMLResponse(read_report(_folder(service), name), headers=HEADERS)


def _folder(service: Service) -> pathlib.Path:
    folder = service.settings.serve.runs
    if folder is None:
        raise RagError(
            "This service shows no evaluation runs.",
            "Set RAG_SERVE__RUNS to their folder, and start it again.",
            "unknown_run",
        )
    return folder
