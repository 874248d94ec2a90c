"""`/pipeline`: the available steps, saved pipelines, rankings side by side.

Flow: a request -> **here** -> `pipelines/`: the registry, the store, `comparing.py` -> JSON.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query
from starlette.responses import PlainTextResponse

from api.dependencies import ServiceDep
from api.openapi import replied
from api.schemas.replies.pipelines import (
    CompareReply,
    DeletedPipelineReply,
    ExamplesReply,
    PipelineReply,
    SavedPipeline,
    SavedPipelinesReply,
    StepsReply,
)
from api.security.own_tasks import OwnTask
from api.views.negotiation import JSONReply
from errors import PipelineError
from pipelines.body import plain, read_plan
from pipelines.build import Pipelines
from pipelines.comparing import NAMES, compare
from pipelines.examples import examples

router = APIRouter(dependencies=[OwnTask])

MAX_NAME_CHARS = 200
MAX_ID_CHARS = 100
LISTED, MAX_LISTED = 100, 1000
# Stands for the query while a pipeline without one is checked.
ANY_QUERY = "query"

PipelineId = Annotated[str, Path(description="Id of the saved pipeline, as `/pipeline/save` returned it.")]
SavedBody = Annotated[
    Any,
    Body(
        description="A pipeline as `POST /task/run` takes it, with or without `query`; or an object with it as "
        "`pipeline` and a `name` of up to 200 characters.",
        examples=[{"name": "Wind", "pipeline": {"1": {"id": "corpus_datasource", "parameters": {}}}}],
    ),
]


@router.get("/pipeline/info", responses=replied(StepsReply))
def info(service: ServiceDep) -> JSONReply:
    """Return the declaration of every step, by id."""
    return JSONReply(service.pipelines.registry.info())


@router.get("/pipeline/examples", responses=replied(ExamplesReply))
def offered(service: ServiceDep) -> JSONReply:
    """List complete pipelines to begin with: those of the guide that this service can run."""
    return JSONReply(
        ExamplesReply.filled(examples=[one for one in examples() if _can_run(service.pipelines, one["pipeline"])])
    )


def _can_run(pipelines: Pipelines, body: object) -> bool:
    try:
        read_plan(body, pipelines.registry, pipelines.services)
    except PipelineError:  # for example, a source that is not set up
        return False
    return True


@router.post("/pipeline/save", status_code=201, response_class=PlainTextResponse)
def save(body: SavedBody, service: ServiceDep) -> PlainTextResponse:
    """Keep a pipeline, with or without a query, and return its id; `name` beside `pipeline` names it."""
    given = plain(body)
    name = body.get("name", "") if "pipeline" in body else ""
    if not isinstance(name, str) or len(name) > MAX_NAME_CHARS or not name.isprintable():
        raise PipelineError("The name must be one line of at most 200 characters.", "Write another name.")
    pipelines = service.pipelines
    plan = read_plan(given, pipelines.registry, pipelines.services, query=None if "query" in given else ANY_QUERY)
    kept = plan.body if "query" in given else {key: value for key, value in plan.body.items() if key != "query"}
    return PlainTextResponse(pipelines.tasks.store.save_pipeline(kept, name), 201)


@router.get("/pipeline/restore/{pipeline_id}", responses=replied(PipelineReply))
def restore(pipeline_id: PipelineId, service: ServiceDep) -> JSONReply:
    """Return a saved pipeline, in its plain form."""
    return JSONReply(service.pipelines.tasks.store.pipeline(pipeline_id))


@router.get("/pipeline/list", responses=replied(SavedPipelinesReply))
def saved(
    service: ServiceDep,
    limit: Annotated[int, Query(ge=1, le=MAX_LISTED, description="Pipelines of a page, 1 to 1,000.")] = LISTED,
    after: Annotated[
        str | None, Query(max_length=MAX_ID_CHARS, description="`next` of the page before; left out for the first.")
    ] = None,
) -> JSONReply:
    """List saved pipelines, the newest first; `next` is the following page's `after`."""
    found = service.pipelines.tasks.store.pipelines(limit + 1, after)
    there_is_more = len(found) > limit
    shown = found[:limit]
    return JSONReply(
        SavedPipelinesReply.filled(
            pipelines=list(map(SavedPipeline.build, shown)), next=shown[-1].id if there_is_more else None
        )
    )


@router.delete("/pipeline/{pipeline_id}", responses=replied(DeletedPipelineReply))
def delete(pipeline_id: PipelineId, service: ServiceDep) -> JSONReply:
    """Delete a saved pipeline."""
    service.pipelines.tasks.store.delete_pipeline(pipeline_id)
    return JSONReply(DeletedPipelineReply.filled(deleted=pipeline_id))


@router.get("/pipeline/compare/{task_id}", responses=replied(CompareReply))
async def compared(
    task_id: Annotated[str, Path(description="Id of the task, as `/task/enqueue` returned it.")], service: ServiceDep
) -> JSONReply:
    """Put the rankings of a task side by side, as far as it has come."""
    tasks = service.pipelines.tasks

    def reply() -> JSONReply:
        return JSONReply(compare(tasks.state_of(task_id, columns={*NAMES, *tasks.rank_columns(task_id)})))

    return await service.reading_table(reply)
