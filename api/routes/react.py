"""`POST /react`, `POST /react_streaming`: answers from papers by several searches, as clients of ASK-xDD ask for them.

Flow: key and body -> `answering/runner.py` -> `research/react.py` -> **here** -> JSON, or lines of JSON as it goes
(`views/react.py`).
"""

import asyncio

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from api.answering.lines import stream_lines
from api.answering.runner import QuestionRunner, RunnerDep, StartedAnswer
from api.answering.sse import finish
from api.dependencies import Service, ServiceDep
from api.described import typed
from api.routes.papers import OBSOLETE, SCREENING_TOP_K, paper_question
from api.schemas.requests import ReactBody
from api.security.auth import AskXddKeyRequired
from api.views.negotiation import JSONReply
from api.views.react import error_record, records_of, to_react_reply
from errors import NothingFoundError, UnknownModelError
from query_engine.synthesis.build import public_name
from research.react import PaperTrail
from research.react import react as answer_from_papers
from settings import LLMSettings

router = APIRouter()


@router.post("/react", dependencies=[AskXddKeyRequired])
async def react(body: ReactBody, request: Request, service: ServiceDep, runner: RunnerDep) -> JSONReply:
    """Answer from paragraphs of papers; `[n]` in the answer is the nth of `used_docs`."""
    trail = _trail(body, service)
    asked = await _asked(trail, body, service, runner)
    done = await finish(asked.events, request)
    if done.answer is None and not done.passages:
        raise NothingFoundError(
            "No paragraph meets what was asked.",
            "Ask with fewer conditions or a larger distance; `GET /documents` shows the topics and types there are.",
        )
    return JSONReply(to_react_reply(done, trail), headers=_warned(body))


@router.post(
    "/react_streaming",
    dependencies=[AskXddKeyRequired],
    response_class=StreamingResponse,
    responses=typed("application/x-ndjson"),
)
async def react_streaming(
    body: ReactBody, request: Request, service: ServiceDep, runner: RunnerDep
) -> StreamingResponse:
    """Stream `thoughts` and `used_docs` as they come, then `answer`: one JSON object a line."""
    trail = _trail(body, service)
    asked = await _asked(trail, body, service, runner)
    lines = stream_lines(asked.events, request, lambda event: records_of(event, trail), error_record)
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no", **_warned(body)}
    return StreamingResponse(lines, media_type="application/x-ndjson", headers=headers)


async def _asked(trail: PaperTrail, body: ReactBody, service: Service, runner: QuestionRunner) -> StartedAnswer:
    return await runner.answer(
        body.corpus,
        lambda engine, deadline: answer_from_papers(engine, trail, service.settings, deadline, asyncio.sleep),
    )


def _trail(body: ReactBody, service: Service) -> PaperTrail:
    """Return where the paragraphs will be noted.

    Raises:
        UnknownModelError: the body names a model that is not the one that writes here.
    """
    known = model_names(service.settings.llm)
    if body.model_name is not None and body.model_name not in known:
        raise UnknownModelError.of(body.model_name, known)
    return PaperTrail(paper_question(body, body.screening_top_k or SCREENING_TOP_K))


def model_names(llm: LLMSettings) -> list[str]:
    """Return the names by which a client may mean the model that writes; none where none is named."""
    name = public_name(llm)
    return [] if name is None else [name]


def _warned(body: ReactBody) -> dict[str, str]:
    return {} if body.article_terms is None else {"Warning": OBSOLETE}
