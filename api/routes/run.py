"""`POST /run`: the streamed answer, as the competition's arena reads it.

Flow: body -> `answering/forms.py` -> **here** -> one server-sent event a record (`views/run.py` says what a record
is). A header names the answer for feedback.
"""

from functools import partial

from fastapi import APIRouter, Request
from sse_starlette import EventSourceResponse

from api.answering.forms import ask_in_form
from api.answering.rounds import with_links
from api.answering.runner import RunnerDep
from api.answering.sse import Pace, sse_response, stream_records
from api.dependencies import ServiceDep
from api.linked import closest_passages
from api.openapi import RUN_FAILURES, streamed
from api.schemas.replies.answers import RunRecord
from api.schemas.requests import RunBody
from api.views.run import RunView

ANSWER_ID = "X-Answer-Id"

router = APIRouter()


@router.post(
    "/run", response_class=EventSourceResponse, responses=streamed("text/event-stream", RunRecord) | RUN_FAILURES
)
async def run(body: RunBody, request: Request, service: ServiceDep, runner: RunnerDep) -> EventSourceResponse:
    """Stream snapshots of the answer; the last record is `complete` and holds the whole answer."""
    asked = await ask_in_form(service, runner, request, body.question, body)
    links = service.links(request, asked.corpus)
    view = RunView(lambda citations: list(links.numbered(citations).values()), partial(closest_passages, links=links))
    response = sse_response(stream_records(asked.events, view, Pace(), partial(with_links, links=links)))
    if asked.id is not None:
        response.headers[ANSWER_ID] = asked.id  # the records have no place for it: their keys are the contract's
    return response
