"""`POST /agent/research`: a topic, taken apart, answered part by part and summed up.

Flow: body, as clients of bedrock-rag-eval send it -> `answering/runner.py` (one slot for all sub-questions) ->
`research/topic/topic_research.py` -> **here** -> JSON (`schemas/replies/research.py`).
"""

from collections.abc import AsyncGenerator, Sequence

from fastapi import APIRouter, Request

from api.answering.runner import RunnerDep
from api.answering.sse import finish
from api.dependencies import Engine, ServiceDep
from api.openapi import replied
from api.schemas.replies.research import ResearchReply
from api.schemas.requests import ResearchBody, steering_of
from api.views.negotiation import JSONReply
from query_engine.inquiry import Inquiry
from query_engine.runtime.deadline import Deadline
from query_engine.schema.events import Event
from query_engine.schema.passage import Passage
from query_engine.synthesis.build import has_model
from research.given_passages import given
from research.topic.topic_research import ResearchDone, research_topic

router = APIRouter()


@router.post("/agent/research", responses=replied(ResearchReply))
async def research(body: ResearchBody, request: Request, service: ServiceDep, runner: RunnerDep) -> JSONReply:
    """Answer sub-questions of a topic; what the documents do not answer is a gap."""
    inquiry = Inquiry(body.topic, body.filters, steering_of(body.steering), query_time=body.query_time)
    settings = service.settings
    by_model = has_model(settings.llm, body.writer)

    def events(engine: Engine, deadline: Deadline) -> AsyncGenerator[Event, None]:
        def write(asked: Inquiry, passages: Sequence[Passage]) -> AsyncGenerator[Event, None]:
            return engine.stream(asked, given(passages))

        return research_topic(
            engine,
            engine.stream,
            inquiry,
            settings.retrieval,
            body.max_subquestions,
            write=write if by_model else None,
            deadline=deadline,
        )

    asked = await runner.answer(body.corpus, events, body.writer)
    done = await finish(asked.events, request)
    links = service.links(request, asked.corpus)
    found = done.research if isinstance(done, ResearchDone) else None
    return JSONReply(ResearchReply.build(body.topic, done, found, links, include_context=body.include_context))
