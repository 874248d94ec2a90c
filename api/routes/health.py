"""`GET /health` for probes, `GET /ready` for operators.

Flow: last known state of corpora and models -> **here** -> JSON. Neither touches a model, opens a corpus or waits for
anything that may be busy, a thread of the pool included: a probe every few seconds must cost nothing, and must return.
What has to be looked at to answer `/ready` is looked at in a separate thread, which may outlive the probe.
"""

import asyncio
import platform
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter

from api.dependencies import ServiceDep
from api.described import typed
from api.views.negotiation import JSONReply
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


@router.get("/health")
async def health(service: ServiceDep) -> JSONReply:
    """Say that the service is alive, and how index and language model were when last used. Always 200."""
    status = service.engines.status()
    chroma = "damaged or refused" if _broken(status) else "ok" if status["corpora"] else "no corpus is open"
    return JSONReply(
        {
            "status": "ok" if chroma == "ok" and status["llm_ready"] else "degraded",
            "chroma": chroma,
            "llm_ready": status["llm_ready"],
            "llm_reason": status["llm_reason"],
        }
    )


@router.get("/ready", responses=typed("application/json", status=503, description="The same, and why not."))
async def ready(service: ServiceDep) -> JSONReply:
    """Say what is loaded.

    503 when an index is damaged or refused, a server of its stores is silent, or there is neither a document nor a
    source.
    """
    index, status = service.settings.index, service.engines.status()
    if index.chroma_url or index.database_url or not _documents(status) or _may_be_over(status):
        await asyncio.wait({service.disk_look.begin(service.engines.look_at_disk)}, timeout=LOOK_S)
        status = service.engines.status()
    reasons = _broken(status)
    if service.web is None and not _documents(status) + sum(status["on_disk"].values()):
        reasons.append("No corpus holds a document. Bring some in with `python -m ingestion PATH`.")
    body = {
        "ready": not reasons,
        "reasons": reasons,
        "default_corpus": service.settings.index.corpus,
        "corpora": status["corpora"],
        "sources": list(service.web.sources) if service.web else [],
        "embedding": status["embedding"],
        "synthesizer": status["synthesizer"],
        "slots": service.slots.total,
        "questions": {"running": service.slots.running, "waiting": service.slots.waiting},
        "versions": VERSIONS,
    }
    return JSONReply(body, 503 if reasons else 200)


def _broken(status: dict[str, Any]) -> list[str]:
    """Say why corpora were refused; one that another process holds is in good order."""
    return [why["detail"] for why in status["refused"].values() if why["code"] != CorpusLockedError.code]


def _may_be_over(status: dict[str, Any]) -> bool:
    """Say whether a corpus was refused because a server did not answer or a disk refused."""
    passing = (StoreUnavailableError.code, ModelServerError.code, StorageError.code)
    return any(why["code"] in passing for why in status["refused"].values())


def _documents(status: dict[str, Any]) -> int:
    return sum(corpus["documents"] for corpus in status["corpora"].values())
