"""`POST /ingest`: bring files below the operator's folders into a corpus.

Flow: a body -> the path is checked here -> `jobs/queue.py` runs `jobs/ingester.py` -> JSON.
"""

import pathlib
import threading
from collections.abc import Callable

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool

from api.caller import CALLER, caller_name, require_corpus
from api.dependencies import Service, ServiceDep
from api.jobs.queue import Job, Result, Writes
from api.openapi import replied
from api.schemas.replies.corpora import JobReply
from api.schemas.requests import IngestBody
from api.security.ingest_paths import IngestPaths
from api.views.negotiation import JSONReply
from errors import SettingsError
from ingestion.schema import Progress

# Clients of bedrock-rag-eval send a path and read the counts from the reply.
REPLY_WITHIN_S = 10.0
FOLDERS = frozenset({"folders"})
"""What of a corpus comes from folders: two such jobs may mean the same files, and do not interrupt each other."""
BEGUN = replied(JobReply, description="The job, which has ended.") | replied(
    JobReply, status=202, description="The job, which goes on; Location is its address."
)

router = APIRouter()


@router.post("/ingest", responses=BEGUN)
async def ingest(body: IngestBody, service: ServiceDep, request: Request) -> JSONReply:
    """Start a job: 200 and what it did if it ends within 10 seconds, else 202 and its address.

    With `wait` the reply comes at the end, without it (`false`) at once. A client that leaves does not stop the job.
    """
    job = await run_in_threadpool(submit, service, body, caller_name(request))
    return await reply_of(job, {True: None, False: 0.0, None: REPLY_WITHIN_S}[body.wait])


async def reply_of(job: Job, wait_s: float | None) -> JSONReply:
    """Reply 200 and what the job did, or raise its error, if it ends in time; else reply 202 and its address.

    Args:
        job: just submitted.
        wait_s: how long to wait for its end; 0 replies 202 at once, None waits without limit.
    """
    if wait_s == 0 or not await job.finished(wait_s):
        return JSONReply(JobReply.build(job), 202, {"Location": f"/ingest/{job.id}"})
    if job.error:
        raise job.error
    return JSONReply(JobReply.build(job))


def check_opens(service: Service, corpus: str) -> None:
    """Raise what keeps a job from a corpus: the caller's key, or what keeps an existing one from opening now; blocks.

    Now, and not in the job: nobody may look at that, and it has no caller.
    """
    require_corpus(corpus)
    if corpus in service.engines.names():
        with service.engines.lease(corpus):
            pass


def submit(service: Service, body: IngestBody, client: str = "") -> Job:
    """Start the job that is asked for; blocks while the corpus is opened.

    Args:
        service: takes it.
        body: what is asked for.
        client: who asks, see `caller_name`; the service itself if empty.

    Raises:
        RagError: it is refused: for its path, its corpus, or because too many are waiting.
    """
    corpus = body.corpus or service.settings.index.corpus
    require_corpus(corpus)  # before its folder is looked at
    paths = IngestPaths(CALLER.get(), corpus, service.settings, service.ingest_roots)
    path = None if body.retry else _path(paths, body)
    if body.retry:
        with service.engines.lease(corpus):
            pass  # one that does not exist has nothing to retry
    check_opens(service, corpus)
    request = body.model_dump(exclude={"wait"}, exclude_defaults=True) | {"corpus": corpus}
    request |= {"path": str(path)} if path else {}
    writes = Writes(corpus, None if body.retry else FOLDERS)
    return service.jobs.submit(request, _work(service, body, paths), client, writes)


def _work(service: Service, body: IngestBody, paths: IngestPaths) -> Callable[..., Result]:
    corpus = paths.corpus

    def work(tell: Callable[[Progress], None], stop: threading.Event) -> Result:
        def run() -> Result:
            if body.retry:
                return service.ingester.retry(corpus, tell, stop, paths.retried())
            return service.ingester.ingest(corpus, _path(paths, body), body.options(), tell, stop)

        with service.write_locks.hold_for_job(corpus):
            return service.watching.metrics.ingestion(run)

    return work


def _path(paths: IngestPaths, body: IngestBody) -> pathlib.Path:
    path = paths.locate(body.path or "")
    if body.prune and not path.is_dir():
        raise SettingsError("The path is one file; nothing can have vanished from it.", "Prune a whole folder.")
    return path
