"""`/ingest` once a job is submitted: list the jobs, look at one, cancel it.

Flow: a request -> **here** -> `jobs/queue.py` -> JSON. It needs neither corpus nor model and must not
import their libraries: a writer that has just started answers it before it has loaded them (`api/opening.py`).
"""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request

from api.caller import may_use
from api.jobs.queue import Job, Jobs, unknown_job
from api.openapi import replied
from api.schemas.replies.corpora import BriefJob, JobReply, JobsReply
from api.views.negotiation import JSONReply


def current_jobs(request: Request) -> Jobs:
    """Return the jobs of this process."""
    jobs: Jobs = request.app.state.jobs
    return jobs


JobsDep = Annotated[Jobs, Depends(current_jobs)]
JobId = Annotated[
    str, Path(description="Id of the job: `job` of its reply.", examples=["0112d419189a4402975ef303740e7bc8"])
]

router = APIRouter()


@router.get("/ingest", responses=replied(JobsReply))
def jobs(known: JobsDep) -> JSONReply:
    """List the jobs of this process, the newest first."""
    return JSONReply(
        JobsReply.filled(jobs=[BriefJob.build(job) for job in known.recent() if may_use(job.request["corpus"])])
    )


@router.get("/ingest/{job_id}", responses=replied(JobReply))
def job_state(job_id: JobId, known: JobsDep) -> JSONReply:
    """Say how far a job is, and at its end what it did."""
    return JSONReply(JobReply.build(_job(known, job_id)))


@router.delete(
    "/ingest/{job_id}", responses=replied(JobReply) | replied(JobReply, status=202, description="It still writes.")
)
def cancel(job_id: JobId, known: JobsDep) -> JSONReply:
    """Cancel a job; what it has committed stays. 202 while it still writes its last batch."""
    job = known.cancel(_job(known, job_id).id)
    return JSONReply(JobReply.build(job), 200 if job.finished_at else 202)


def _job(known: Jobs, job_id: str) -> Job:
    """Return a job, unless the caller's key does not open its corpus: then there is none, as for any other id."""
    job = known.get(job_id)
    if not may_use(job.request["corpus"]):
        raise unknown_job()
    return job
