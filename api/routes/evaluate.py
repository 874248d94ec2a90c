"""`POST /evaluate`: one whole answer, with everything an offline evaluation needs in extra keys.

Flow: body -> `asking.py` -> **here** -> JSON. It reads the same events as `/run`.
"""

from fastapi import APIRouter, Request

from api.answer_view import to_reply
from api.asking import AskerDep
from api.negotiation import JSONReply
from api.schemas import EvaluateBody
from api.service import ServiceDep
from api.streaming import finish

router = APIRouter()


@router.post("/evaluate")
async def evaluate(body: EvaluateBody, request: Request, service: ServiceDep, asker: AskerDep) -> JSONReply:
    """Answer; `query_id` is the request's `iid`, `generated_response` is never empty."""
    asked = await asker.ask(body.query, body)
    done = await finish(asked.events, request)
    return JSONReply(to_reply(done, body.iid, service.links(request, asked.corpus)))
