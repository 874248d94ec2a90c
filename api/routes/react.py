"""`POST /react`, `POST /react_streaming`: answers from papers by several searches, as clients of ASK-xDD ask for them.

Flow: key and body -> `answering/runner.py` -> `research/react.py` -> **here** -> JSON, or lines of JSON as it goes
(`views/react.py`).
"""

import asyncio

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from api.answering.runner import QuestionRunner, RunnerDep, StartedAnswer
from api.answering.sse import Pace, finish, stream_records
from api.dependencies import ServiceDep
from api.openapi import replied, streamed
from api.routes.papers import SCREENING_TOP_K, nothing_found, paper_question, warned
from api.schemas.replies.answers import ReactRecord, ReactReply
from api.schemas.requests import ReactBody
from api.views.negotiation import JSONReply
from api.views.react import ReactView, to_react_reply
from query_engine.schema.events import Step
from query_engine.synthesis.build import writer_names
from research.react import PaperTrail
from research.react import react as answer_from_papers
from settings import LLMSettings

# ASK-xDD's default, which its clients send.
DEFAULT_MODEL = "gpt-4"

router = APIRouter()


@router.post("/react", responses=replied(ReactReply))
async def react(body: ReactBody, request: Request, service: ServiceDep, runner: RunnerDep) -> JSONReply:
    """Answer from paragraphs of papers; `[n]` in the answer is the nth of `used_docs`."""
    writer, notices = chosen_writer(body, service.settings.llm)
    trail = _trail(body)
    asked = await _asked(trail, body.corpus, writer, runner)
    done = await finish(asked.events, request)
    if done.answer is None and not done.passages:
        raise nothing_found()
    return JSONReply(to_react_reply(done, trail, notices), headers=warned(body, notices))


@router.post(
    "/react_streaming",
    response_class=StreamingResponse,
    responses=streamed("application/x-ndjson", ReactRecord),
)
async def react_streaming(body: ReactBody, service: ServiceDep, runner: RunnerDep) -> StreamingResponse:
    """Stream `thoughts` and `used_docs` as they come, then `answer`: one JSON object a line."""
    writer, notices = chosen_writer(body, service.settings.llm)
    trail = _trail(body)
    asked = await _asked(trail, body.corpus, writer, runner)
    view = ReactView(trail)
    for notice in notices:
        view.take(Step("warning", notice))
    lines = stream_records(asked.events, view, Pace())
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no", **warned(body, notices)}
    return StreamingResponse(lines, media_type="application/x-ndjson", headers=headers)


async def _asked(trail: PaperTrail, corpus: str | None, writer: str | None, runner: QuestionRunner) -> StartedAnswer:
    return await runner.answer(
        corpus,
        lambda engine, deadline: answer_from_papers(engine, trail, deadline, asyncio.sleep),
        writer,
    )


def _trail(body: ReactBody) -> PaperTrail:
    """Return where the paragraphs will be noted."""
    return PaperTrail(paper_question(body, body.screening_top_k or SCREENING_TOP_K))


def chosen_writer(body: ReactBody, llm: LLMSettings) -> tuple[str | None, list[str]]:
    """Return who is asked to write, and what to say of it: ASK-xDD's default leaves it to the settings."""
    name, known = body.writer or body.model_name, writer_names(llm)
    if body.writer is None and name == DEFAULT_MODEL and name not in known:
        return None, [f"This service does not use {DEFAULT_MODEL}. The answer is by {known[0]}."]
    return name, []
