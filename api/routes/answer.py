"""`POST /answer`: an answer only from the web pages that come with the question.

Flow: body -> `answering/runner.py` -> `sources/given_pages.py` -> **here** -> JSON as `/query` replies it. Nothing is
kept, and no address in a page is fetched.
"""

from dataclasses import replace

from fastapi import APIRouter, Request

from api.answering.runner import RunnerDep
from api.answering.sse import finish
from api.dependencies import ServiceDep
from api.openapi import replied
from api.schemas.replies.answers import QueryReply
from api.schemas.requests import AnswerBody
from api.views.negotiation import JSONReply
from query_engine.inquiry import Inquiry

router = APIRouter()


@router.post("/answer", responses=replied(QueryReply))
async def answer(body: AnswerBody, request: Request, service: ServiceDep, runner: RunnerDep) -> JSONReply:
    """Answer; `answer` is null where the pages do not answer the question, and where there are none."""
    given = service.given
    assert given is not None, "a service with this route has it"
    inquiry = Inquiry(body.question, top_k=body.top_k, query_time=body.query_time, writer=body.writer)
    pages = [page.value() for page in body.pages]
    asked = runner.answer_outside(
        given.name,
        lambda deadline: given.stream(replace(inquiry, deadline=deadline), pages),
        body.writer,
        recorded=inquiry,
    )
    done = await finish(asked.events, request)
    links = service.links(request, asked.corpus)
    return JSONReply(QueryReply.build(done, links, include_context=body.include_context, answer_id=asked.id))
