"""`POST /retrieve`: the passages found for a question, without an answer. For evaluation and debugging.

Flow: body -> `answering/runner.py` -> engine's retrieval -> **here** -> JSON.
"""

from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request

from api.answering.runner import RunnerDep
from api.dependencies import Engine, ServiceDep
from api.described import replied
from api.schemas.replies.answers import RetrieveReply
from api.schemas.requests import RetrieveBody, steering_of
from api.views.negotiation import JSONReply
from query_engine.inquiry import Inquiry
from query_engine.runtime.deadline import Deadline
from query_engine.schema.passage import Passage
from query_engine.schema.retrieval_result import Retrieval
from settings import RetrievalSettings

router = APIRouter()


@router.post("/retrieve", responses=replied(RetrieveReply))
async def retrieve(body: RetrieveBody, request: Request, service: ServiceDep, runner: RunnerDep) -> JSONReply:
    """Return passages, best first, how long each stage took, and which had to be left out."""
    chosen = body.model_dump(include=set(RetrievalSettings.model_fields), exclude_none=True)
    options = service.settings.retrieval.model_copy(update=chosen)
    steering = steering_of(body.steering)

    inquiry = Inquiry(body.question, body.filters, steering)

    def search(engine: Engine, deadline: Deadline) -> tuple[Retrieval, str]:
        pipeline = engine.pipeline.reranked_by(wanted=body.rerank, query=body.rerank_query)
        return engine.retrieve(replace(inquiry, deadline=deadline), options, pipeline), engine.corpus.name

    found, corpus = await runner.search(request, body.corpus, search)
    reply: dict[str, Any] = {
        "passages": [_passage(passage, explain=body.explain) for passage in found.passages],
        "timings_ms": found.timings_ms,
        "warnings": list(map(str, found.warnings)),
        "retrieval_id": service.recorder.retrieval(inquiry, corpus, found.passages),
    }
    if body.explain:
        reply["left_out"] = [_passage(passage, explain=False) for passage in found.left_out]
    return JSONReply(reply)


def _passage(passage: Passage, *, explain: bool) -> dict[str, Any]:
    shown = passage.to_dict()
    leaves, merged, alone = (shown.pop(name) for name in ("hits", "merged", "alone"))
    if explain:
        shown["explanation"] = {"leaves": leaves, "merged": merged or None, "not_merged": alone or None}
    return shown
