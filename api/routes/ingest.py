"""`/ingest`: bring files below the operator's folders into a corpus, watch it, cancel it.

Flow: a body -> the path is checked here -> `jobs/queue.py` runs `jobs/ingester.py` -> `jobs/view.py` -> JSON.
"""

import threading
from collections.abc import Callable
from pathlib import Path

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool

from api.dependencies import Service, ServiceDep
from api.described import typed
from api.jobs.queue import Job, Result
from api.jobs.view import show, show_briefly
from api.schemas.requests import IngestBody
from api.security.ingest_paths import locate
from api.views.negotiation import JSONReply
from errors import SettingsError
from ingestion.schema import Progress

BEGUN = typed("application/json", status=202, description="The job, which goes on; Location is its address.")

router = APIRouter()


@router.post("/ingest", responses=BEGUN)
async def ingest(body: IngestBody, service: ServiceDep) -> JSONReply:
    """Start a job: 202 and its address at once, or with `wait` 200 and what it did.

    A client that waits and leaves does not stop the job.
    """
    job = await run_in_threadpool(_submit, service, body)
    return await reply_of(job, wait=body.wait)


@router.get("/ingest")
def jobs(service: ServiceDep) -> JSONReply:
    """List the jobs of this process, the newest first."""
    return JSONReply({"jobs": [show_briefly(job) for job in service.jobs.recent()]})


@router.get("/ingest/{job_id}")
def job_state(job_id: str, service: ServiceDep) -> JSONReply:
    """Say how far a job is, and at its end what it did."""
    return JSONReply(show(service.jobs.get(job_id)))


@router.delete("/ingest/{job_id}", responses=typed("application/json", status=202, description="It still writes."))
def cancel(job_id: str, service: ServiceDep) -> JSONReply:
    """Cancel a job; what it has committed stays. 202 while it still writes its last batch."""
    job = service.jobs.cancel(job_id)
    return JSONReply(show(job), 200 if job.finished_at else 202)


async def reply_of(job: Job, *, wait: bool) -> JSONReply:
    """Reply 202 and the job's address, or with `wait` 200 and what it did at its end; raises its error."""
    if not wait:
        return JSONReply(show(job), 202, {"Location": f"/ingest/{job.id}"})
    await job.finished()
    if job.error:
        raise job.error
    return JSONReply(show(job))


def check_opens(service: Service, corpus: str) -> None:
    """Raise what keeps an existing corpus from opening now, not in a job that nobody may look at; blocks."""
    if corpus in service.engines.names():
        with service.engines.lease(corpus):
            pass


def _submit(service: Service, body: IngestBody) -> Job:
    corpus = body.corpus or service.settings.index.corpus
    path = None if body.retry else _path(service, body)
    if body.retry:
        with service.engines.lease(corpus):
            pass  # one that does not exist has nothing to retry
    check_opens(service, corpus)
    request = body.model_dump(exclude={"wait"}, exclude_defaults=True) | {"corpus": corpus}
    return service.jobs.submit(request | ({"path": str(path)} if path else {}), _work(service, body, corpus))


def _work(service: Service, body: IngestBody, corpus: str) -> Callable[..., Result]:
    def work(tell: Callable[[Progress], None], stop: threading.Event) -> Result:
        with service.write_locks.hold(corpus):
            if body.retry:
                return service.ingester.retry(corpus, tell, stop)
            return service.ingester.ingest(corpus, _path(service, body), body.options(), tell, stop)

    return work


def _path(service: Service, body: IngestBody) -> Path:
    path = locate(service.ingest_roots, body.path or "")
    if body.prune and not path.is_dir():
        raise SettingsError("The path is one file; nothing can have vanished from it.", "Prune a whole folder.")
    return path
