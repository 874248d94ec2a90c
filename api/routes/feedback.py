"""`POST /feedback`, `GET /feedback`: what people say about answers and passages, and all of it as JSON lines.

Flow: body, or a program that collects -> **here** -> `api/recorder.py` -> `index/feedback/`.
"""

from collections.abc import AsyncGenerator
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response, StreamingResponse

from api.caller import require_corpus
from api.dependencies import ServiceDep
from api.openapi import replied, streamed
from api.schemas.replies.service import FeedbackReply, JudgedRecord
from api.schemas.requests import CorporaName, FeedbackBody
from api.views.negotiation import JSONReply, to_json
from index.corpus import ALL, member_names
from index.feedback.store import Kind

FromCorpus = Annotated[
    CorporaName | None,
    Query(description="Only what came from this corpus, or from these, `a+b`, asked together.", examples=["papers"]),
]

router = APIRouter()


@router.post("/feedback", responses=replied(FeedbackReply))
async def give(body: FeedbackBody, service: ServiceDep) -> JSONReply:
    """Keep a verdict; one on the same part of the same answer replaces it."""
    id_ = (body.answer_id or body.retrieval_id or "")[-32:]  # without a prefix of OpenAI's forms
    kind: Kind = "answer" if body.answer_id is not None else "retrieval"
    await service.recorder.judge(id_, kind, body.target(), body.verdict, (body.text or "").strip() or None)
    return JSONReply(FeedbackReply.filled(**{f"{kind}_id": id_}, verdict=body.verdict))


@router.get("/feedback", response_class=Response, responses=streamed("application/x-ndjson", JudgedRecord))
async def export(service: ServiceDep, *, corpus: FromCorpus = None) -> Response:
    """Return everything that was judged, oldest first: one JSON object a line."""
    for name in member_names(corpus or ALL):
        require_corpus(name)
    found = service.recorder.judged(corpus)
    # The first one now: once the stream has begun it would be too late to say that the file is damaged.
    first = await anext(found, None)
    return StreamingResponse(_lines(first, found), media_type="application/x-ndjson")


async def _lines(
    first: dict[str, Any] | None, rest: AsyncGenerator[dict[str, Any], None]
) -> AsyncGenerator[bytes, None]:
    if first is not None:
        yield to_json(first) + b"\n"
        async for record in rest:
            yield to_json(record) + b"\n"
