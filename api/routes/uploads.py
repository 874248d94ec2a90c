"""`POST /documents`: take files of the client into a corpus, and keep them.

Flow: a multipart body -> Starlette's parser, which keeps large files on disk -> a staging folder -> a job, like those
of `ingest.py`, reads its files -> `ingestion/uploads.py` keeps those that came into the corpus.
"""

import shutil
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Sequence
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from api.caller import caller_name
from api.dependencies import Service, ServiceDep
from api.jobs.queue import Result, Writes
from api.routes.ingest import BEGUN, check_opens, reply_of
from api.schemas.requests import OneCorpus
from api.views.negotiation import JSONReply
from errors import IngestRefusedError, StorageError, UploadError
from index.documents.rights import ALLOW
from index.documents.store import Metadata
from ingestion.reading.fields import groups
from ingestion.schema import Progress, RunOptions
from ingestion.uploads import ROOT_NAME, Uploads, check_name, check_staged
from settings import IngestSettings

MAX_FILES = 1000
MAX_SHOWN_CHARS = 240
MAX_ALLOW_CHARS = 8000
HOW = (
    "Send each file as a part of `multipart/form-data`, as `curl -F file=@NAME` does. Options belong into the address."
)
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
    allow: Annotated[
        str,
        Query(
            max_length=MAX_ALLOW_CHARS,
            description="Groups whose keys see the documents, with commas between them; every key if left out.",
            examples=["staff,board"],
        ),
    ] = "",
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
    metadata: Metadata = {ALLOW: named} if (named := groups(allow)) else {}
    await run_in_threadpool(check_opens, service, name)
    with ExitStack() as staging:
        folder = await run_in_threadpool(staging.enter_context, uploads.staging())
        async with _received(request) as sent:
            files = await run_in_threadpool(_keep_all, sent, folder, settings.ingest)
        writes = Writes(name, frozenset(f"{ROOT_NAME}/{file}" for file in files["files"]))
        work = _work(service, uploads, folder, name, metadata)
        job = service.jobs.submit({"corpus": name} | files, work, caller_name(request), writes)
        job.at_end(staging.pop_all().close)
    return await reply_of(job, None if wait else 0)


def _work(service: Service, uploads: Uploads, staged: Path, corpus: str, metadata: Metadata) -> Callable[..., Result]:
    def work(tell: Callable[[Progress], None], stop: threading.Event) -> Result:
        def run(folder: Path, names: tuple[str, ...]) -> Result:
            options = RunOptions(root_name=ROOT_NAME, metadata=metadata, files=names)
            ingest = partial(service.ingester.ingest, corpus, folder, options, tell, stop)
            return service.watching.metrics.ingestion(ingest)

        with service.write_locks.hold_for_job(corpus), service.engines.lease(corpus, create=True) as engine:
            return uploads.take(staged, engine.corpus, run)

    return work


class _WholeBody(MultiPartParser):
    """Starlette's parser, which would take a body that was cut off for a whole one."""

    _ended = False

    def __init__(self, request: Request) -> None:
        super().__init__(request.headers, self._until_end(request), max_files=MAX_FILES, max_fields=0)

    async def _until_end(self, request: Request) -> AsyncGenerator[bytes, None]:
        async for chunk in request.stream():
            yield chunk
        if not self._ended:
            raise MultiPartException("It was cut off before its end.")

    def on_end(self) -> None:
        self._ended = True


@asynccontextmanager
async def _received(request: Request) -> AsyncIterator[Sequence[UploadFile]]:
    """Yield the files of a request, which are deleted with the end of the block.

    Raises:
        UploadError: the body is not a whole multipart body of 1 to 1,000 files.
        StorageError: the disk is full or refuses.
        HTTPException: 413, the body is too large.
        ClientDisconnect: the client left.
    """
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise UploadError("The body is not multipart/form-data.", HOW)
    try:
        form = await _WholeBody(request).parse()
    except MultiPartException as error:
        raise UploadError(f"The body does not consist of 1 to {MAX_FILES:,} files. {error.message}", HOW) from error
    except OSError as error:
        raise _not_written(error) from error
    try:
        files = [file for _, file in form.multi_items() if isinstance(file, UploadFile)]
        if not files:
            raise UploadError("The upload holds no file.", HOW)
        yield files
    finally:
        await form.close()


def _keep_all(sent: Sequence[UploadFile], folder: Path, settings: IngestSettings) -> dict[str, list[Any]]:
    """Put files into an empty folder; return their names and the refusals, as the job's request tells them.

    Raises:
        UploadError: all are refused.
        StorageError: the disk is full or refuses.
    """
    taken: list[str] = []
    refused: dict[str, UploadError] = {}
    for file in sent:
        try:
            taken.append(_keep(file, folder, taken, settings))
        except UploadError as error:
            refused[(file.filename or "")[:MAX_SHOWN_CHARS]] = error
        except OSError as error:
            raise _not_written(error) from error
    if not taken:
        facts = dict.fromkeys(error.fact for error in refused.values())
        raise UploadError(" ".join(facts), next(iter(refused.values())).remedy)
    told = [{"source": name, "reason": error.public} for name, error in refused.items()]
    return {"files": taken} | ({"refused": told} if told else {})


def _keep(file: UploadFile, folder: Path, taken: Collection[str], settings: IngestSettings) -> str:
    name = check_name(file.filename or "", images=settings.ocr)
    if name in taken:
        raise UploadError(f"Two files of the upload are called {name!r}.", "Send them one after the other.")
    with (folder / name).open("xb") as kept:
        shutil.copyfileobj(file.file, kept)
    try:
        check_staged(folder / name, settings.max_file_bytes)
    except UploadError:
        (folder / name).unlink()
        raise
    return name


def _not_written(error: OSError) -> StorageError:
    return StorageError(
        f"The upload cannot be written: {error.strerror}.",
        "Free some space where uploads and temporary files are kept.",
    )
