"""Ask for an answer in the form that the request or the settings name: an answer, or a report.

Flow: body of `/run`, `/evaluate` -> **here** -> `runner.py`, for a report with `research/topic/report.py` as what makes
the events -> a view. Only the service knows links, so a report's references are added here.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from starlette.requests import Request

from api.answering.runner import QuestionRunner, StartedAnswer, inquiry_of
from api.dependencies import Engine, Service
from api.linked import reference_list
from api.links import Links
from api.schemas.requests import AskingBody
from errors import SettingsError
from query_engine.runtime.deadline import Deadline
from query_engine.schema.events import Done, Event, Token
from research import modes
from research.topic.report import stream_report


async def ask_in_form(
    service: Service, runner: QuestionRunner, request: Request, question: str, body: AskingBody
) -> StartedAnswer:
    """Put a question to the engine of a corpus; errors are those of `QuestionRunner.ask`."""
    settings = service.settings
    inquiry = inquiry_of(question, body, settings)
    if (body.form or settings.answer.form) != "report":
        return await runner.ask(body.corpus, inquiry)
    if service.sources_for(body.corpus) is not None:
        raise SettingsError("A report is written from a corpus, and sources are asked here.", "Name a corpus on disk.")

    def events(engine: Engine, deadline: Deadline) -> AsyncGenerator[Event, None]:
        report = stream_report(engine, partial(modes.stream, engine), inquiry, settings.retrieval, deadline)
        return _with_references(report, service.links(request, engine.corpus.name))

    return await runner.answer(body.corpus, events, inquiry.writer, recorded=inquiry)


async def _with_references(events: AsyncGenerator[Event, None], links: Links) -> AsyncGenerator[Event, None]:
    """Yield the events, the references before the last one and in it; closing it closes `events`."""
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Done) and event.answer is not None and event.citations:
                text = reference_list(event.citations, links)
                yield Token(text)
                yield replace(event, answer=event.answer + text, message=event.message + text)
            else:
                yield event
