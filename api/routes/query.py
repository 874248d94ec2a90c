"""`POST /query`, `POST /query/stream`, `POST /cache/clear`: answers as clients of bedrock-rag-eval ask for them.

Flow: body -> `answering/cached.py` -> **here** -> JSON, or server-sent events (`views/query.py` says which).
"""

from functools import partial

from fastapi import APIRouter, Request
from sse_starlette import EventSourceResponse

from api.answering.cached import ask_or_recall
from api.answering.rounds import with_links
from api.answering.runner import RunnerDep, inquiry_of
from api.answering.sse import Pace, finish, sse_response, stream_records
from api.dependencies import Service, ServiceDep
from api.openapi import replied, streamed
from api.schemas.replies.answers import FailureEvent, QueryReply, RestartEvent, StepEvent, TokenEvent
from api.schemas.replies.service import ClearedReply
from api.schemas.requests import QueryBody
from api.views.negotiation import JSONReply
from api.views.query import QueryView
from query_engine.inquiry import Inquiry
from query_engine.schema.turn import Turn

router = APIRouter()


@router.post("/query", responses=replied(QueryReply))
async def query(body: QueryBody, request: Request, service: ServiceDep, runner: RunnerDep) -> JSONReply:
    """Answer; `answer` is null where the documents do not answer the question."""
    asked = await ask_or_recall(service, runner, body.corpus, _inquiry(body, service))
    done = await finish(asked.events, request)
    links = service.links(request, asked.corpus)
    return JSONReply(QueryReply.build(done, links, include_context=body.include_context, answer_id=asked.id))


@router.post(
    "/query/stream",
    response_class=EventSourceResponse,
    responses=streamed("text/event-stream", TokenEvent, StepEvent, RestartEvent, QueryReply, FailureEvent),
)
async def query_stream(
    body: QueryBody, request: Request, service: ServiceDep, runner: RunnerDep
) -> EventSourceResponse:
    """Stream the answer; the last event is `done` with what `/query` replies, or `error`."""
    asked = await ask_or_recall(service, runner, body.corpus, _inquiry(body, service))
    links = service.links(request, asked.corpus)
    view = QueryView(links, include_context=body.include_context, answer_id=asked.id)
    return sse_response(stream_records(asked.events, view, Pace(), partial(with_links, links=links)))


@router.post("/cache/clear", responses=replied(ClearedReply))
async def clear_cache(service: ServiceDep) -> JSONReply:
    """Forget all kept answers; `cleared` says how many there were."""
    off = {} if service.settings.cache.entries else {"reason": "The cache is off: RAG_CACHE__ENTRIES is 0."}
    return JSONReply(ClearedReply.filled(cleared=service.answers.clear(), **off))


def _inquiry(body: QueryBody, service: Service) -> Inquiry:
    turns = tuple(Turn(turn.role, turn.text) for turn in body.turns)
    return inquiry_of(body.question, body, service.settings, turns)
