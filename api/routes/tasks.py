"""`/task`: run a pipeline of steps now or later, watch it, cancel it.

Flow: a body -> `pipelines/tasks/queue.py` checks and runs it -> `pipelines/tasks/view.py` -> JSON. Tasks have their own
slots, so no question waits for one.
"""

import asyncio
from concurrent.futures import Future
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse

from api.caller import ADMIN, CALLER, mark_of
from api.dependencies import Service, ServiceDep
from api.openapi import replied
from api.schemas.replies.pipelines import TableReply, TaskReply
from api.security.own_tasks import OwnTask
from api.views.negotiation import JSONReply
from errors import RagError, TasksUnavailableError
from pipelines.body import MAX_STEPS
from pipelines.tasks import view
from sources.addresses import ANY

# Rows in `data`; the reply says how many are left out, and `GET /task/table` returns them.
MAX_REPLY_BYTES = 16_000_000

router = APIRouter(dependencies=[OwnTask])

PipelineBody = Annotated[
    Any,
    Body(
        description="The pipeline: `query`, `parameters` for all steps, and the steps by their numbers from 1, each "
        "with `id` and `parameters`. `GET /pipeline/info` lists the steps, `GET /pipeline/examples` whole pipelines.",
        examples=[
            {
                "query": "What turns blades?",
                "parameters": {"limit": 10},
                "1": {"id": "corpus_datasource", "parameters": {"output_column": "full-text"}},
            }
        ],
    ),
]
"""Any JSON: `pipelines/body.py` says what is wrong with it, and in which step."""


TaskId = Annotated[str, Path(description="Id of the task, as `/task/enqueue` returned it.")]


@router.post("/task/run", responses=replied(TaskReply))
async def run(body: PipelineBody, service: ServiceDep) -> JSONReply:
    """Run a pipeline and answer when it has ended; a client that leaves does not stop it."""
    task_id, ended = await run_in_threadpool(_submit, service, body)
    await asyncio.wait({asyncio.wrap_future(ended)})
    address = f"/task/progress/{task_id}"
    task, _ = await run_in_threadpool(service.pipelines.tasks.get, task_id)
    if not task.has_ended:
        raise TasksUnavailableError(
            "The service is being stopped; the task goes on at its next start.", f"Ask GET {address} then."
        )
    reply = await progress(task_id, service)
    reply.headers["Location"] = address
    return reply


@router.post("/task/enqueue", response_class=PlainTextResponse)
def enqueue(body: PipelineBody, service: ServiceDep) -> PlainTextResponse:
    """Put a pipeline in line and return the task's id."""
    return PlainTextResponse(_submit(service, body)[0])


@router.get("/task/progress/{task_id}", responses=replied(TaskReply))
async def progress(task_id: TaskId, service: ServiceDep) -> JSONReply:
    """Say how far a task is, and at its end what it found."""
    tasks = service.pipelines.tasks
    task, live = await run_in_threadpool(tasks.get, task_id)

    def shown() -> JSONReply:
        state = tasks.state_of(task_id) if task.state == "finished" else None
        facts = tasks.store.facts(task_id)
        return JSONReply(
            view.progress(task, live, facts, state, registry=service.pipelines.registry, most_bytes=MAX_REPLY_BYTES)
        )

    return await (service.reading_table(shown) if task.state == "finished" else run_in_threadpool(shown))


class RowsWanted(BaseModel):
    """Which rows of a table, and how much of their texts."""

    model_config = ConfigDict(extra="forbid")

    offset: int = Field(0, ge=0, le=10_000_000, description="Rows that are left out at the beginning.")
    limit: int = Field(100, ge=1, le=1000, description="Rows, at most; 1 to 1,000.")
    cell_chars: int = Field(2000, ge=1, le=100_000, description="Characters of a text, at most; a longer one is cut.")


@router.get("/task/table/{task_id}/{step}", responses=replied(TableReply))
async def table(
    task_id: TaskId,
    step: Annotated[int, Path(ge=1, le=MAX_STEPS, description="Number of the step, from 1.", examples=[1])],
    wanted: Annotated[RowsWanted, Query()],
    service: ServiceDep,
) -> JSONReply:
    """Return rows of the table that a step left, even while later steps run."""

    def page() -> JSONReply:
        state = service.pipelines.tasks.state_of(task_id, step)
        return JSONReply(view.table(state, MAX_REPLY_BYTES, **wanted.model_dump()))

    return await service.reading_table(page)


@router.get("/task/cancel/{task_id}", response_class=PlainTextResponse)
def cancel(task_id: TaskId, service: ServiceDep) -> PlainTextResponse:
    """Cancel a task immediately; an ended one does not change."""
    service.pipelines.tasks.cancel(task_id)
    return PlainTextResponse("Success")


def _submit(service: Service, body: object) -> tuple[str, "Future[None]"]:
    _check_rights(service, body)
    tasks = service.pipelines.tasks
    task_id = tasks.submit(body, partial(mark_of, key=CALLER.get()))
    return task_id, tasks.end_of(task_id)


def _check_rights(service: Service, body: object) -> None:
    """Refuse a server that the settings do not name, where they allow any, to keys without the scope `admin`."""
    key = CALLER.get()
    if service.settings.sources.mosaic_url != ANY or key is None or key.allows(ADMIN) or not isinstance(body, dict):
        return
    given = [step.get("parameters") for step in body.values() if isinstance(step, dict)]
    if any(isinstance(one, dict) and one.get("url") for one in [body.get("parameters"), *given]):
        raise RagError("Your key may not name a server.", "Ask for a key with the scope `admin`.", "key_scope")
