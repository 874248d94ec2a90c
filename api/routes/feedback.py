"""`POST /feedback`, `GET /feedback`: what people say about answers and passages, and all of it as JSON lines.

Flow: body, or a program that collects -> **here** -> `api/recorder.py` -> `index/feedback/`.
"""

from collections.abc import AsyncGenerator
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response, StreamingResponse

from api.dependencies import ServiceDep
from api.described import typed
from api.schemas.requests import CorpusName, FeedbackBody
from api.views.chat import ID_PREFIX
from api.views.negotiation import JSONReply, to_json
from index.feedback.store import Kind

router = APIRouter()


@router.post("/feedback")
async def give(body: FeedbackBody, service: ServiceDep) -> JSONReply:
    """Keep a verdict; one on the same part of the same answer replaces it."""
    id_ = (body.answer_id or body.retrieval_id or "").removeprefix(ID_PREFIX)
    kind: Kind = "answer" if body.answer_id is not None else "retrieval"
    await service.recorder.judge(id_, kind, body.target(), body.verdict, (body.text or "").strip() or None)
    return JSONReply({f"{kind}_id": id_, "verdict": body.verdict})


@router.get("/feedback", response_class=Response, responses=typed("application/x-ndjson"))
async def export(service: ServiceDep, *, corpus: Annotated[CorpusName | None, Query()] = None) -> Response:
    """Return everything that was judged, oldest first: one JSON object a line."""
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
