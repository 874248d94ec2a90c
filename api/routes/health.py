"""`GET /health` for probes, `GET /ready` for operators.

Flow: last known state of corpora and models -> **here** -> JSON. Neither touches a model, opens a corpus or waits for
anything that may be busy, a thread of the pool included: a probe every few seconds must cost nothing, and must return.
What has to be looked at to answer `/ready` is looked at in a separate thread, which may outlive the probe.
"""

import asyncio
import os
import platform
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Request

from api.caller import CALLER, NOBODY, may_use
from api.dependencies import ServiceDep
from api.described import replied
from api.schemas.replies.service import HealthReply, ReadyReply
from api.views.negotiation import JSONReply
from api.workers.part import Part
from errors import CorpusLockedError, ModelServerError, StorageError, StoreUnavailableError
from settings import VERSION

LIBRARIES = ("llama-index-core", "chromadb", "tantivy")
VERSIONS = {
    "treeline": VERSION,
    "python": platform.python_version(),
    **{library: version(library) for library in LIBRARIES},
}
# A look at the disk takes milliseconds, unless the disk hangs.
LOOK_S = 0.5

router = APIRouter()


@router.get("/health", responses=replied(HealthReply))
async def health(service: ServiceDep) -> JSONReply:
    """Say that the service is alive, and how index and language model were when last used. Always 200."""
    status = service.engines.status()
    chroma = "damaged or refused" if _broken(status) else "ok" if status["corpora"] else "no corpus is open"
    return JSONReply(
        {
            "status": "ok" if chroma == "ok" and status["llm_ready"] else "degraded",
            "chroma": chroma,
            "llm_ready": status["llm_ready"],
            "llm_reason": "Ask with a key." if CALLER.get() is NOBODY else status["llm_reason"],
        }
    )


@router.get(
    "/ready",
    responses=replied(ReadyReply) | replied(ReadyReply, status=503, description="The same, and why not."),
)
async def ready(service: ServiceDep, request: Request) -> JSONReply:
    """Say what is loaded; where keys are asked for, a client without one learns only whether the service is ready.

    503 when an index is damaged or refused, a server of its stores is silent, or there is neither a document nor a
    source.
    """
    index, status = service.settings.index, service.engines.status()
    if index.chroma_url or index.database_url or not _documents(status) or _may_be_over(status):
        await asyncio.wait({service.disk_look.begin(service.engines.look_at_disk)}, timeout=LOOK_S)
        status = service.engines.status()
    broken = _broken(status)
    reasons = [why for corpus, why in broken.items() if may_use(corpus)]
    has_documents = _documents(status) + sum(status["on_disk"].values())
    if service.web is None and not has_documents:
        reasons.append("No corpus holds a document. Bring some in with `python -m ingestion PATH`.")
    is_ready = not broken and bool(service.web or has_documents)
    if CALLER.get() is NOBODY:
        return JSONReply({"ready": is_ready}, 200 if is_ready else 503)
    part: Part = request.app.state.part
    body = {
        "ready": is_ready,
        "reasons": reasons,
        "default_corpus": service.settings.index.corpus,
        "corpora": {name: told for name, told in status["corpora"].items() if may_use(name)},
        "sources": list(service.web.sources) if service.web else [],
        "embedding": status["embedding"],
        "synthesizer": status["synthesizer"],
        "process": {"pid": os.getpid(), "writes": part.writes, "workers": part.workers},
        "slots": service.slots.total,
        "questions": {"running": service.slots.running, "waiting": service.slots.waiting},
        "versions": VERSIONS,
    }
    return JSONReply(body, 200 if is_ready else 503)


def _broken(status: dict[str, Any]) -> dict[str, str]:
    """Say why corpora were refused; one that another process holds is in good order."""
    refused = status["refused"].items()
    return {name: why["detail"] for name, why in refused if why["code"] != CorpusLockedError.code}


def _may_be_over(status: dict[str, Any]) -> bool:
    """Say whether a corpus was refused because a server did not answer or a disk refused."""
    passing = (StoreUnavailableError.code, ModelServerError.code, StorageError.code)
    return any(why["code"] in passing for why in status["refused"].values())


def _documents(status: dict[str, Any]) -> int:
    return sum(corpus["documents"] for corpus in status["corpora"].values())
