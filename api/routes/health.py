"""`GET /health` for probes, `GET /ready` for operators.

Flow: last known state of corpora and models -> **here** -> JSON. Neither touches a model: a probe every few seconds
must cost nothing.
"""

import platform
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter

from api.dependencies import Engines, ServiceDep
from api.views.negotiation import JSONReply
from errors import CorpusError, CorpusLockedError
from settings import VERSION

LIBRARIES = ("llama-index-core", "chromadb", "tantivy")

router = APIRouter()


@router.get("/health")
def health(service: ServiceDep) -> JSONReply:
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


@router.get("/ready")
def ready(service: ServiceDep) -> JSONReply:
    """Say what is loaded; 503 when an index is damaged or refused, or when no corpus holds a document."""
    _look_for_documents(service.engines)
    status = service.engines.status()
    reasons = _broken(status)
    if not _documents(status):
        reasons.append("No corpus holds a document. Bring some in with `python -m ingestion PATH`.")
    body = {
        "ready": not reasons,
        "reasons": reasons,
        "default_corpus": service.settings.index.corpus,
        "corpora": status["corpora"],
        "embedding": status["embedding"],
        "synthesizer": status["synthesizer"],
        "slots": service.slots.total,
        "questions": {"running": service.slots.running, "waiting": service.slots.waiting},
        "versions": _versions(),
    }
    return JSONReply(body, 503 if reasons else 200)


def _broken(status: dict[str, Any]) -> list[str]:
    """Say why corpora were refused; one that another process holds is in good order."""
    return [why["detail"] for why in status["refused"].values() if why["code"] != CorpusLockedError.code]


def _look_for_documents(engines: Engines) -> None:
    """Open corpora until one holds a document; usually the default one is open and does."""
    for name in engines.names():
        if _documents(engines.status()):
            return
        try:
            engines.get(name)
        except CorpusError:
            continue  # the engines remember it as refused


def _documents(status: dict[str, Any]) -> int:
    return sum(corpus["documents"] for corpus in status["corpora"].values())


def _versions() -> dict[str, str]:
    return {
        "treeline": VERSION,
        "python": platform.python_version(),
        **{library: version(library) for library in LIBRARIES},
    }
