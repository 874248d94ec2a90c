"""`/task/chat`: a conversation about the documents that a task found, and about nothing else.

Flow: a message -> the task's documents and the turns before (`pipelines/tasks/chats.py`) -> `answering/runner.py` ->
`sources/given_pages.py`, as for `POST /answer` -> `views/task_chat.py` -> text. What was said is kept.
"""

from dataclasses import replace
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse

from api.answering.runner import RunnerDep
from api.answering.sse import finish
from api.dependencies import Service, ServiceDep
from api.schemas.requests import ModelName, Question
from api.security.own_tasks import OwnTask
from api.views.negotiation import warning_header
from api.views.task_chat import is_whole, to_chat_text
from pipelines.parameters import MAX_NAME_CHARS
from pipelines.tasks.chats import Chat
from query_engine.inquiry import Inquiry
from query_engine.synthesis.build import EXTRACTIVE, QUOTES, writer_names
from sources.given_pages import GivenPage

router = APIRouter(dependencies=[OwnTask])

MAX_ID_CHARS = 100
TASK = "Id of the finished task."
Id = Annotated[str, Query(max_length=MAX_ID_CHARS, description=TASK)]
ChatId = Annotated[str, Path(description="Id of the chat, as `/task/chat/new` returned it.")]


@router.get("/task/chat/new", response_class=PlainTextResponse)
def begin(
    service: ServiceDep,
    model: Annotated[ModelName, Query(description="The language model that answers; quotes if it is not served.")],
    column: Annotated[
        str,
        Query(
            min_length=1,
            max_length=MAX_NAME_CHARS,
            description="Column of the task's table that holds the texts.",
            examples=["full-text"],
        ),
    ],
    task_id: Id,
) -> PlainTextResponse:
    """Begin a chat over a column of a finished task's table, and return its id."""
    chat_id = service.pipelines.tasks.chats.begin(task_id, column, model)
    return PlainTextResponse(chat_id, headers=warning_header(_unserved(service, model)))


@router.get("/task/chat/{chat_id}", response_class=PlainTextResponse)
async def say(
    chat_id: ChatId,
    request: Request,
    service: ServiceDep,
    runner: RunnerDep,
    message: Annotated[
        Question, Query(description="The question, 1 to 8,000 characters.", examples=["What turns the blades?"])
    ],
    *,
    task_id: Annotated[str | None, Query(max_length=MAX_ID_CHARS, description=TASK)] = None,
) -> PlainTextResponse:
    """Answer a message from the documents alone; the header `Warning` tells what lowers the answer.

    A model that is not served is answered for by quotes.
    """
    given = service.given
    assert given is not None, "a service with this route has it"
    chat, pages = await service.reading_table(partial(_opened, service, chat_id, task_id))
    unserved = _unserved(service, chat.model)
    inquiry = Inquiry(message, turns=chat.turns, writer=QUOTES if unserved else chat.model)
    asked = runner.answer_outside(
        given.name,
        # What a pipeline searched for is quoted as a corpus is.
        lambda deadline: given.stream(replace(inquiry, deadline=deadline), pages, only_sure=False),
    )
    done = await finish(asked.events, request)
    text = to_chat_text(done, message)
    if is_whole(done):
        await run_in_threadpool(service.pipelines.tasks.chats.add, chat_id, message, text)
    return PlainTextResponse(text, headers=warning_header([*unserved, *map(str, done.warnings)]))


def _unserved(service: Service, model: str) -> list[str]:
    """Return what to tell of a chat's model; nothing where it is served."""
    known = writer_names(service.settings.llm)
    served = f"served are {', '.join(known)}" if len(known) > 1 else "this service has no language model"
    return (
        []
        if model in {EXTRACTIVE, *known}
        else [f"The model {model!r} is not served: {served}. Answers quote the documents."]
    )


def _opened(service: Service, chat_id: str, task_id: str | None) -> tuple[Chat, list[GivenPage]]:
    chats = service.pipelines.tasks.chats
    chat = chats.get(chat_id, task_id)
    return chat, chats.pages(chat)
