"""`/pipeline`: the available steps, saved pipelines, rankings side by side.

Flow: a request -> **here** -> `pipelines/`: the registry, the store, `comparing.py` -> JSON.
"""

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Body
from starlette.responses import PlainTextResponse

from api.dependencies import ServiceDep
from api.views.negotiation import JSONReply
from errors import PipelineError
from pipelines.body import plain, read_plan
from pipelines.build import Pipelines
from pipelines.comparing import compare
from pipelines.examples import examples
from pipelines.tasks.store import SavedPipeline

router = APIRouter()

MAX_NAME_CHARS = 200
# Stands for the query while a pipeline without one is checked.
ANY_QUERY = "query"


@router.get("/pipeline/info")
def info(service: ServiceDep) -> JSONReply:
    """Return the declaration of every step, by id."""
    return JSONReply(service.pipelines.registry.info())


@router.get("/pipeline/examples")
def offered(service: ServiceDep) -> JSONReply:
    """List complete pipelines to begin with: those of the guide that this service can run."""
    return JSONReply({"examples": [one for one in examples() if _can_run(service.pipelines, one["pipeline"])]})


def _can_run(pipelines: Pipelines, body: object) -> bool:
    try:
        read_plan(body, pipelines.registry, pipelines.services)
    except PipelineError:  # for example, a source that is not set up
        return False
    return True


@router.post("/pipeline/save", status_code=201, response_class=PlainTextResponse)
def save(body: Annotated[Any, Body()], service: ServiceDep) -> PlainTextResponse:
    """Keep a pipeline, with or without a query, and return its id; `name` beside `pipeline` names it."""
    given = plain(body)
    name = body.get("name", "") if "pipeline" in body else ""
    if not isinstance(name, str) or len(name) > MAX_NAME_CHARS or not name.isprintable():
        raise PipelineError("The name is no line of up to 200 characters.", "Write another name.")
    pipelines = service.pipelines
    plan = read_plan(given, pipelines.registry, pipelines.services, query=None if "query" in given else ANY_QUERY)
    kept = plan.body if "query" in given else {key: value for key, value in plan.body.items() if key != "query"}
    return PlainTextResponse(pipelines.tasks.store.save_pipeline(kept, name), 201)


@router.get("/pipeline/restore/{pipeline_id}")
def restore(pipeline_id: str, service: ServiceDep) -> JSONReply:
    """Return a saved pipeline, in its plain form."""
    return JSONReply(service.pipelines.tasks.store.pipeline(pipeline_id).body)


@router.get("/pipeline/list")
def saved(service: ServiceDep) -> JSONReply:
    """List the saved pipelines, the newest first."""
    return JSONReply({"pipelines": [_brief(one) for one in service.pipelines.tasks.store.pipelines()]})


@router.get("/pipeline/compare/{task_id}")
def compared(task_id: str, service: ServiceDep) -> JSONReply:
    """Put the rankings of a task side by side, as far as it has come."""
    return JSONReply(compare(service.pipelines.tasks.state_of(task_id)))


def _brief(one: SavedPipeline) -> dict[str, Any]:
    steps = [one.body[number]["id"] for number in sorted((key for key in one.body if key.isdigit()), key=int)]
    created = datetime.fromtimestamp(one.created_s, UTC).isoformat(timespec="seconds")
    return {"id": one.id, "name": one.name, "query": one.body.get("query"), "steps": steps, "created_at": created}
