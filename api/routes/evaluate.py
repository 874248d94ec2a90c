"""`POST /evaluate`: one whole answer, with everything an offline evaluation needs in extra keys.

Flow: body -> `answering/forms.py` -> **here** -> JSON. It reads the same events as `/run`.
"""

from fastapi import APIRouter, Request

from api.answering.forms import ask_in_form
from api.answering.runner import RunnerDep
from api.answering.sse import finish
from api.dependencies import ServiceDep
from api.openapi import replied
from api.schemas.replies.answers import EvaluateReply
from api.schemas.requests import EvaluateBody
from api.views.negotiation import JSONReply

router = APIRouter()


@router.post("/evaluate", responses=replied(EvaluateReply))
async def evaluate(body: EvaluateBody, request: Request, service: ServiceDep, runner: RunnerDep) -> JSONReply:
    """Answer; `query_id` is the request's `iid`, `generated_response` is never empty."""
    asked = await ask_in_form(service, runner, request, body.query, body)
    done = await finish(asked.events, request)
    links = service.links(request, asked.corpus)
    return JSONReply(EvaluateReply.build(done, body.iid, links, answer_id=asked.id))
