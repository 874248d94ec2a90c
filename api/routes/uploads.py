"""`POST /documents`: take files of the client into a corpus, and keep them.

Flow: a multipart body -> `api/multipart.py` writes a staging folder -> a job, like those of `ingest.py`, reads its
files -> `ingestion/uploads.py` keeps those that came into the corpus.
"""

import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool

from api.caller import caller_name
from api.dependencies import Service, ServiceDep
from api.jobs.queue import Result, Writes
from api.multipart import receive_files
from api.routes.ingest import BEGUN, check_opens, reply_of
from api.schemas.requests import OneCorpus
from api.views.negotiation import JSONReply
from errors import IngestRefusedError, UploadError
from ingestion.schema import Progress, RunOptions
from ingestion.uploads import ROOT_NAME, Uploads, check_staged

FILES = {
    "type": "array",
    "items": {"type": "string", "format": "binary"},
    "description": "The files, 1 to 1,000, each with its name.",
}
SCHEMA = {"type": "object", "properties": {"file": FILES}, "required": ["file"]}
BODY = {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": SCHEMA}}}}

router = APIRouter()


@router.post("/documents", openapi_extra=BODY, responses=BEGUN)
async def upload(
    request: Request,
    service: ServiceDep,
    *,
    corpus: Annotated[OneCorpus, Query()] = None,
    wait: Annotated[bool, Query(description="Whether the reply comes at the end of the job.", examples=[True])] = False,
) -> JSONReply:
    """Take files and start a job that reads them: 202 and its address at once, or with `wait` 200 and what it did.

    A file replaces the one that was uploaded under its name. Each file is taken or refused by itself: the job's request
    names the refused ones and why. An upload that is refused, fails or is cancelled leaves nothing behind.
    """
    settings = service.settings
    if not settings.ingest.max_upload_mb:
        raise IngestRefusedError("This service takes no uploads.", "Set RAG_INGEST__MAX_UPLOAD_MB, and start it again.")
    name, uploads = corpus or settings.index.corpus, Uploads(settings)
    await run_in_threadpool(check_opens, service, name)
    with ExitStack() as staging:
        folder = await run_in_threadpool(staging.enter_context, uploads.staging())
        names, refused = await receive_files(request, folder, images=settings.ingest.ocr)
        files = await run_in_threadpool(_without_refused, folder, names, refused, settings.ingest.max_file_bytes)
        writes = Writes(name, frozenset(f"{ROOT_NAME}/{file}" for file in files["files"]))
        work = _work(service, uploads, folder, name)
        job = service.jobs.submit({"corpus": name} | files, work, caller_name(request), writes)
        job.at_end(staging.pop_all().close)
    return await reply_of(job, None if wait else 0)


def _work(service: Service, uploads: Uploads, staged: Path, corpus: str) -> Callable[..., Result]:
    def work(tell: Callable[[Progress], None], stop: threading.Event) -> Result:
        def run(folder: Path, names: tuple[str, ...]) -> Result:
            options = RunOptions(root_name=ROOT_NAME, files=names)
            return service.ingester.ingest(corpus, folder, options, tell, stop)

        with service.write_locks.hold_for_job(corpus), service.engines.lease(corpus, create=True) as engine:
            return uploads.take(staged, engine.corpus, run)

    return work


def _without_refused(
    staged: Path, names: list[str], refused: dict[str, UploadError], max_bytes: int
) -> dict[str, list[Any]]:
    """Return the names of the files that can be read, and the refusals, as the job's request tells them."""
    taken = []
    for name in names:
        try:
            check_staged(staged / name, max_bytes)
            taken.append(name)
        except UploadError as error:
            (staged / name).unlink()
            refused[name] = error
    if not taken:
        facts = dict.fromkeys(error.fact for error in refused.values())
        raise UploadError(" ".join(facts), next(iter(refused.values())).remedy)
    told = [{"source": name, "reason": error.public} for name, error in refused.items()]
    return {"files": taken} | ({"refused": told} if told else {})
