"""`GET /v1/models`, `POST /v1/chat/completions`, `POST /v1/responses`: the service as OpenAI's clients see it.

Flow: body -> `answering/cached.py` -> **here** -> JSON, or pieces of it (`views/chat.py`, `views/responses.py`).
Corpora are models. The last message is the question; the engine reads it together with those before it.
`CORPUS:agent` is the corpus, asked in that mode; `a+b` are two corpora, read as one, and `*` are all.
"""

from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Annotated, cast, get_args

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from api.answering.cached import ask_or_recall
from api.answering.rounds import with_links
from api.answering.runner import QuestionRunner, RunnerDep, StartedAnswer
from api.answering.sse import Pace, finish, sse_response, stream_records
from api.caller import CALLER
from api.dependencies import Service, ServiceDep
from api.linked import without_links
from api.openapi import replied, streamed
from api.schemas.chat import ChatBody, OpenAIBody, ResponsesBody
from api.schemas.replies.answers import message_of
from api.schemas.replies.service import (
    CompletionChunk,
    CompletionReply,
    Model,
    ModelsReply,
    OpenAIErrorReply,
    ResponseEvent,
    ResponseReply,
)
from api.schemas.requests import steering_of
from api.views.chat import ChatView, Completion, to_completion
from api.views.negotiation import JSONReply
from api.views.responses import ResponseView
from errors import IndexDamagedError, UnknownCorpusError
from index.corpus import ALL, member_names
from index.layout.manifest import Manifest
from query_engine.inquiry import Inquiry
from query_engine.runtime.threads import in_thread
from query_engine.schema.events import Done, Event, Step
from query_engine.schema.manner import AS_SET
from query_engine.schema.turn import Turn
from query_engine.synthesis.build import has_model
from settings import Mode

router = APIRouter(prefix="/v1")

ModelName = Annotated[
    str,
    Path(
        description="A corpus, several as `a+b`, or `*` for all, perhaps with a mode behind a colon.",
        examples=["default", "papers:agent"],
    ),
]


@router.get("/models", responses=replied(ModelsReply))
def models(service: ServiceDep) -> JSONReply:
    """List the corpora on disk as models, then `*`, all of several; each also in the modes that are not the settings'.

    A model may also be several of them, `a+b`.
    """
    others = [f":{mode}" for mode in get_args(Mode) if mode != service.settings.answer.mode]
    corpora = service.engines.names()
    every = [ALL] if len(corpora) > 1 else []
    names = [f"{corpus}{mode}" for corpus in [*corpora, *every] for mode in ("", *others)]
    return JSONReply(ModelsReply.filled(object="list", data=[_model(service, name) for name in names]))


@router.get("/models/{name}", responses=replied(Model))
def model(name: ModelName, service: ServiceDep) -> JSONReply:
    """Return one corpus as a model, or several, or either in a mode."""
    _check_model(service, name)
    return JSONReply(_model(service, name))


@router.post(
    "/chat/completions",
    response_model=None,
    responses=streamed("text/event-stream", CompletionChunk, OpenAIErrorReply, also=CompletionReply),
)
async def chat(body: ChatBody, request: Request, service: ServiceDep, runner: RunnerDep) -> Response:
    """Answer the last message, whole or in chunks."""
    asked = await _ask(body, body.turns, service, runner)
    links = service.links(request, asked.corpus)
    linked = partial(with_links, links=links)
    completion = Completion(
        body.model,
        links,
        body.prompt_text,
        body.ignored(by_model=_by_model(body, service)),
        linked=service.settings.serve.chat_links,
        answer_id=asked.id,
    )
    if body.stream:
        usage = body.stream_options is not None and bool(body.stream_options.include_usage)
        return sse_response(stream_records(asked.events, ChatView(completion, include_usage=usage), Pace(), linked))
    told: list[Event] = []
    done = await finish(asked.events, request, told.append)
    return JSONReply(to_completion(completion, done, [one for one in map(linked, told) if isinstance(one, Step)]))


@router.post(
    "/responses",
    response_model=None,
    responses=streamed("text/event-stream", ResponseEvent, OpenAIErrorReply, also=ResponseReply),
)
async def respond(body: ResponsesBody, request: Request, service: ServiceDep, runner: RunnerDep) -> Response:
    """Answer the last message of the input, whole or as typed events."""
    key = CALLER.get()
    owner = key.sha256 if key else ""
    before = service.conversations.find(owner, body.previous_response_id) if body.previous_response_id else ()
    turns = (*before, *body.turns)
    asked = await _ask(body, turns, service, runner)
    links = service.links(request, asked.corpus)
    prompt = "\n".join([*(turn.text for turn in before), body.prompt_text])
    ignored = body.ignored(by_model=_by_model(body, service))
    view = ResponseView(Completion(body.model, links, prompt, ignored, answer_id=asked.id), body)

    def kept(event: Event) -> Event:
        if isinstance(event, Done) and body.store is not False:
            said = Turn("user", body.question), Turn("assistant", message_of(event))
            service.conversations.keep(owner, view.id, (*turns, *said))
        return event

    if body.stream:
        return sse_response(stream_records(asked.events, view, Pace(), kept))
    done = await finish(asked.events, request)
    kept(done)
    return JSONReply(view.whole(done))


async def _ask(body: OpenAIBody, turns: tuple[Turn, ...], service: Service, runner: QuestionRunner) -> StartedAnswer:
    await in_thread(partial(_check_model, service, body.model))  # not of the pool, which slow work can exhaust
    corpus, _, mode = body.model.partition(":")
    inquiry = Inquiry(
        body.question,
        body.filters,
        steering_of(body.steering),
        # Answers come back in the conversation as they were shown.
        tuple(replace(turn, text=without_links(turn.text)) for turn in turns),
        top_k=body.max_passages,
        query_time=body.query_time,
        mode=cast("Mode", mode) or service.settings.answer.mode,
        writer=body.writer,
        manner=body.manner if _by_model(body, service) else AS_SET,
    )
    return await ask_or_recall(service, runner, corpus, inquiry)


def _by_model(body: OpenAIBody, service: Service) -> bool:
    return has_model(service.settings.llm, body.writer)


def _check_model(service: Service, name: str) -> None:
    names = service.engines.names()
    corpus, colon, mode = name.partition(":")
    there = set(member_names(corpus)) <= set(names) or (corpus == ALL and names)
    if not there or (colon and mode not in get_args(Mode)):
        known = (
            f"Models are corpora: {', '.join(names)}. Several are `a+b`, all are `*`. Each may be followed by a mode: "
            f"{', '.join(f':{mode}' for mode in get_args(Mode))}."
            if names
            else "Bring documents in first: no corpus exists yet."
        )
        raise UnknownCorpusError("There is no such model.", known)


def _model(service: Service, name: str) -> Model:
    corpora = name.partition(":")[0]
    members = service.engines.names() if corpora == ALL else member_names(corpora)
    created = max(_made_at(service, corpus) for corpus in members)
    return Model.filled(id=name, object="model", created=created, owned_by="treeline")


def _made_at(service: Service, corpus: str) -> int:
    try:
        made_at = Manifest.read(service.settings.index.dir / corpus).created_at
    except IndexDamagedError:
        return 0  # listed all the same: asking it says what is wrong
    return int(datetime.fromisoformat(made_at).timestamp())
