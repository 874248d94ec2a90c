"""`POST /run`: the streamed answer, as the competition's arena reads it.

Flow: body -> `asking.py` -> **here** -> one server-sent event a record (`run_view.py` says what a record is).
"""

from fastapi import APIRouter, Request
from sse_starlette import EventSourceResponse

from api.asking import AskerDep
from api.run_view import RunView
from api.schemas import RunBody
from api.service import ServiceDep
from api.streaming import Pace, sse_response, stream_records

router = APIRouter()


@router.post("/run", response_class=EventSourceResponse)
async def run(body: RunBody, request: Request, service: ServiceDep, asker: AskerDep) -> EventSourceResponse:
    """Stream snapshots of the answer; the last record is `complete` and holds the whole answer."""
    asked = await asker.ask(body.question, body)
    view = RunView(service.links(request, asked.corpus).numbered)
    return sse_response(stream_records(asked.events, view, Pace()))
