"""`GET /v1/models`, `POST /v1/chat/completions`: the service as OpenAI's clients see it. Corpora are models.

Flow: body -> `answering/cached.py` -> **here** -> JSON, or chunks (`views/chat.py` says which). The last message is the
question; the engine reads it together with those before it.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from api.answering.cached import ask_or_recall
from api.answering.runner import RunnerDep
from api.answering.sse import Pace, finish, sse_response, stream_records
from api.dependencies import Service, ServiceDep
from api.schemas.chat import ChatBody
from api.schemas.requests import steering_of
from api.views.chat import ChatView, Completion, to_completion
from api.views.linked import without_links
from api.views.negotiation import JSONReply
from errors import IndexDamagedError, UnknownCorpusError
from index.layout.manifest import Manifest
from query_engine.inquiry import Inquiry
from query_engine.runtime.threads import in_thread
from query_engine.schema.events import Event, Step

router = APIRouter(prefix="/v1")


@router.get("/models")
def models(service: ServiceDep) -> JSONReply:
    """List the corpora on disk as models."""
    return JSONReply({"object": "list", "data": [_model(service, name) for name in service.engines.names()]})


@router.get("/models/{name}")
def model(name: str, service: ServiceDep) -> JSONReply:
    """Return one corpus as a model."""
    _check_model(service, name)
    return JSONReply(_model(service, name))


@router.post("/chat/completions", response_model=None)
async def chat(body: ChatBody, request: Request, service: ServiceDep, runner: RunnerDep) -> Response:
    """Answer the last message, whole or in chunks."""
    await in_thread(partial(_check_model, service, body.model))  # not of the pool, which slow work can exhaust
    inquiry = Inquiry(
        body.question,
        body.filters,
        steering_of(body.steering),
        # Answers come back in the conversation as they were shown.
        tuple(replace(turn, text=without_links(turn.text)) for turn in body.turns),
        top_k=body.max_passages,
        query_time=body.query_time,
    )
    asked = await ask_or_recall(service, runner, body.model, inquiry)
    completion = Completion(
        body.model,
        service.links(request, asked.corpus),
        body.prompt,
        body.ignored,
        linked=service.settings.serve.chat_links,
        answer_id=asked.id,
    )
    if body.stream:
        usage = body.stream_options is not None and bool(body.stream_options.include_usage)
        return sse_response(stream_records(asked.events, ChatView(completion, include_usage=usage), Pace()))
    steps: list[Step] = []
    done = await finish(_noting(asked.events, steps), request)
    return JSONReply(to_completion(completion, done, steps))


def _check_model(service: Service, name: str) -> None:
    names = service.engines.names()
    if name not in names:
        known = (
            f"Models are corpora: {', '.join(names)}." if names else "Bring documents in first: no corpus exists yet."
        )
        raise UnknownCorpusError("There is no such model.", known)


def _model(service: Service, name: str) -> dict[str, Any]:
    try:
        made_at = Manifest.read(service.settings.index.dir / name).created_at
        created = int(datetime.fromisoformat(made_at).timestamp())
    except IndexDamagedError:
        created = 0  # listed all the same: asking it says what is wrong
    return {"id": name, "object": "model", "created": created, "owned_by": "treeline"}


async def _noting(events: AsyncGenerator[Event, None], steps: list[Step]) -> AsyncGenerator[Event, None]:
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Step):
                steps.append(event)
            yield event
