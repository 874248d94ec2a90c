"""`POST /run`: the streamed answer, as the competition's arena reads it.

Flow: body -> `asking.py` -> **here** -> one server-sent event a record (`run_view.py` says what a record is).
"""

from fastapi import APIRouter, Request
from sse_starlette import EventSourceResponse

from api.asking import ask
from api.run_view import RunView
from api.schemas import RunBody
from api.service import ServiceDep
from api.streaming import Pace, stream_records

SEND_TIMEOUT_S = 30
PING_S = 15
SHUTDOWN_GRACE_S = 25

router = APIRouter()


@router.post("/run", response_class=EventSourceResponse)
async def run(body: RunBody, request: Request, service: ServiceDep) -> EventSourceResponse:
    """Stream snapshots of the answer; the last record is `complete` and holds the whole answer."""
    asked = await ask(service, body.question, body)
    view = RunView(service.links(request, asked.corpus).numbered)
    return EventSourceResponse(
        stream_records(asked.events, view, Pace()),
        headers={"Cache-Control": "no-cache"},
        ping=PING_S,
        # A reader that stopped reading must not hold the engine for ever.
        send_timeout=SEND_TIMEOUT_S,
        # Without a grace period a SIGTERM would cut running answers at once.
        shutdown_grace_period=SHUTDOWN_GRACE_S,
    )
