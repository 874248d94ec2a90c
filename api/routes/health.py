"""`GET /health` for probes, `GET /ready` for operators.

Flow: last known state of corpora and models -> **here** -> JSON. Neither touches a model, opens a corpus or waits for
anything that may be busy, a thread of the pool included: a probe every few seconds must cost nothing, and must return.
The stores are looked at in a separate thread, at most once a second, which may outlive the request.
"""

import asyncio
import os
import platform
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Request

from api.caller import CALLER, NOBODY, may_use
from api.dependencies import Service, ServiceDep
from api.openapi import replied
from api.schemas.replies.service import HealthReply, QuestionCounts, ReadyReply, ServiceProcess
from api.views.negotiation import JSONReply
from api.workers.role import WorkerRole
from errors import CorpusLockedError, without_paths
from query_engine.steps import QUOTES_NOTE
from query_engine.synthesis.build import EXTRACTIVE, writer_names
from settings import VERSION

LIBRARIES = ("llama-index-core", "chromadb", "tantivy")
VERSIONS = {
    "treeline": VERSION,
    "python": platform.python_version(),
    **{library: version(library) for library in LIBRARIES},
}
# A look at the stores takes milliseconds, unless one of them hangs: then the reply tells what is known without it.
LOOK_S = 0.5
# How long what was seen is told again.
FRESH_S = 1.0

router = APIRouter()


@router.get("/health", responses=replied(HealthReply))
async def health(service: ServiceDep) -> JSONReply:
    """Say that the service is alive, how its stores are, and how the language model was when last used. Always 200."""
    status = await _seen(service)
    chroma = "damaged or refused" if _broken(status) else "ok" if status["corpora"] else "no corpus is open"
    llm_reason = "Ask with a key." if CALLER.get() is NOBODY else without_paths(status["llm_reason"] or "") or None
    return JSONReply(
        HealthReply.filled(
            status="ok" if chroma == "ok" and status["llm_ready"] else "degraded",
            chroma=chroma,
            failing_stores=sorted({store for why in _broken(status).values() for store in why["stores"]}),
            llm_ready=status["llm_ready"],
            llm_reason=llm_reason,
        )
    )


@router.get(
    "/ready",
    responses=replied(ReadyReply) | replied(ReadyReply, status=503, description="The same, and why not."),
)
async def ready(service: ServiceDep, request: Request) -> JSONReply:
    """Say what is loaded; where keys are asked for, a client without one learns only whether the service is ready.

    503 when an index is damaged or refused, a store cannot be read or does not answer, or there is neither a document
    nor a source.
    """
    status = await _seen(service)
    broken = _broken(status)
    reasons = [without_paths(why["detail"]) for corpus, why in broken.items() if may_use(corpus)]
    documents = sum(corpus["documents"] for corpus in status["corpora"].values()) + sum(status["on_disk"].values())
    if service.web is None and not documents:
        reasons.append("No corpus holds a document. Bring some in with `python -m ingestion PATH`.")
    is_ready = not broken and bool(service.web or documents)
    if CALLER.get() is NOBODY:
        return JSONReply(ReadyReply.filled(ready=is_ready), 200 if is_ready else 503)
    role: WorkerRole = request.app.state.role
    reply = ReadyReply.filled(
        ready=is_ready,
        reasons=reasons,
        default_corpus=service.settings.index.corpus,
        corpora={name: told for name, told in status["corpora"].items() if may_use(name)},
        sources=list(service.web.sources) if service.web else [],
        embedding=status["embedding"],
        synthesizer=status["synthesizer"],
        writers=writer_names(service.settings.llm),
        note=QUOTES_NOTE if status["synthesizer"] == EXTRACTIVE else None,
        process=ServiceProcess.filled(role, pid=os.getpid()),
        slots=service.slots.total,
        questions=QuestionCounts.filled(service.slots),
        versions=VERSIONS,
    )
    return JSONReply(reply, 200 if is_ready else 503)


async def _seen(service: Service) -> dict[str, Any]:
    """Return the state of corpora and models as it was seen last, after a look that ends soon."""
    await asyncio.wait({service.disk_look.begin(service.engines.look_at_disk, FRESH_S)}, timeout=LOOK_S)
    return service.engines.status()


def _broken(status: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Say why corpora were refused; one that another process holds is in good order."""
    return {name: why for name, why in status["refused"].items() if why["code"] != CorpusLockedError.code}
