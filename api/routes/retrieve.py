"""`POST /retrieve`: the passages found for a question, without an answer. For evaluation and debugging.

Flow: body -> `answering/runner.py` -> engine's retrieval -> **here** -> JSON.
"""

from dataclasses import replace

from fastapi import APIRouter, Request

from api.answering.runner import RunnerDep
from api.dependencies import Engine, ServiceDep
from api.openapi import replied
from api.schemas.replies.answers import RetrieveReply
from api.schemas.requests import RetrieveBody, steering_of
from api.views.negotiation import JSONReply
from query_engine.inquiry import Inquiry
from query_engine.runtime.deadline import Deadline
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
    retrieval_id = service.recorder.retrieval(inquiry, corpus, found.passages)
    return JSONReply(RetrieveReply.build(found, retrieval_id, explain=body.explain))
