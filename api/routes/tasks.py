"""`/task`: run a pipeline of steps now or later, watch it, cancel it.

Flow: a body -> `pipelines/tasks/queue.py` checks and runs it -> `pipelines/tasks/view.py` -> JSON. Tasks have their own
slots, so no question waits for one.
"""

import asyncio
from concurrent.futures import Future
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse

from api.dependencies import Service, ServiceDep
from api.views.negotiation import JSONReply
from errors import TasksUnavailableError
from pipelines.body import MAX_STEPS
from pipelines.tasks import view

router = APIRouter()

PipelineBody = Annotated[Any, Body()]
"""Any JSON: `pipelines/body.py` says what is wrong with it, and in which step."""


@router.post("/task/run")
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
    return PlainTextResponse(service.pipelines.tasks.submit(body))


@router.get("/task/progress/{task_id}")
async def progress(task_id: str, service: ServiceDep) -> JSONReply:
    """Say how far a task is, and at its end what it found."""
    tasks, most_bytes = service.pipelines.tasks, _most_bytes(service)
    task, live = await run_in_threadpool(tasks.get, task_id)

    def shown() -> JSONReply:
        state = tasks.state_of(task_id) if task.state == "finished" else None
        facts = tasks.store.facts(task_id)
        return JSONReply(
            view.progress(task, live, facts, state, registry=service.pipelines.registry, most_bytes=most_bytes)
        )

    return await (service.reading_table(shown) if task.state == "finished" else run_in_threadpool(shown))


class RowsWanted(BaseModel):
    """Which rows of a table, and how much of their texts."""

    model_config = ConfigDict(extra="forbid")

    offset: int = Field(0, ge=0, le=10_000_000)
    limit: int = Field(100, ge=1, le=1000)
    cell_chars: int = Field(2000, ge=1, le=100_000)


@router.get("/task/table/{task_id}/{step}")
async def table(
    task_id: str,
    step: Annotated[int, Path(ge=1, le=MAX_STEPS)],
    wanted: Annotated[RowsWanted, Query()],
    service: ServiceDep,
) -> JSONReply:
    """Return rows of the table that a step left, even while later steps run."""

    def page() -> JSONReply:
        snapshot = service.pipelines.tasks.state_of(task_id, step).history[-1]
        return JSONReply(view.table(snapshot, _most_bytes(service), **wanted.model_dump()))

    return await service.reading_table(page)


@router.get("/task/cancel/{task_id}", response_class=PlainTextResponse)
def cancel(task_id: str, service: ServiceDep) -> PlainTextResponse:
    """Cancel a task immediately; an ended one does not change."""
    service.pipelines.tasks.cancel(task_id)
    return PlainTextResponse("Success")


def _submit(service: Service, body: object) -> tuple[str, "Future[None]"]:
    tasks = service.pipelines.tasks
    task_id = tasks.submit(body)
    return task_id, tasks.end_of(task_id)


def _most_bytes(service: Service) -> int:
    return service.settings.pipelines.max_reply_mb * 1_000_000
