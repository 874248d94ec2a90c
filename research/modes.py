"""Answer a question in its mode: in one pass, or by a research loop.

Flow: an edge (HTTP route, command line, evaluation) -> **here** -> `Engine.stream`, with the loop of `loop.py` as its
evidence where the mode is `agent`, or `auto` and `router.py` chooses it. Rounds take a language model; without one a
question goes in one pass. Everything else about an answer is the same in both: how the question is read, the gate, the
synthesizers, the citations.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Protocol

from query_engine.engine import GatheringOver
from query_engine.inquiry import Inquiry
from query_engine.retrieval.multi_part import Evidence, SearchContext
from query_engine.runtime.deadline import Deadline
from query_engine.runtime.threads import ended, start_thread
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Done, Event
from query_engine.schema.retrieval_result import Retrieval
from research.loop import Research, Tools
from research.router import takes_rounds
from research.schema import Engine, Search
from settings import Settings

ONE_SEARCH = AnswerWarning("one_search", "Several searches take a language model; without one the question got one.")


class AnsweringFromSources(Protocol):
    """What is asked of sources; `sources.engine.SourceEngine` is one."""

    def stream(self, inquiry: Inquiry, gathering: GatheringOver | None = None) -> AsyncGenerator[Event, None]:
        """Answer from what `gathering` finds, event by event; closing it waits for its threads."""
        ...


def stream(
    engine: Engine, inquiry: Inquiry, settings: Settings, search: Search | None = None
) -> AsyncGenerator[Event, None]:
    """Answer a question by its mode; the events, and what closing does, are those of `Engine.stream`.

    Args:
        engine: answers.
        inquiry: the question and what belongs to it.
        settings: of the loop.
        search: finds passages for a query of the loop, in place of the engine's own search. The passages may be from
            documents that the engine's corpus does not hold.

    Raises:
        QuestionError: the question cannot be asked as it stands (before the first event).
        FilterError: the filter is empty or has no meaning.
    """
    loops = _Loops(inquiry, settings)
    return loops.awaited(engine.stream(inquiry, None if inquiry.mode == "single" else loops.over(engine, search)))


def stream_from_sources(
    sources: AnsweringFromSources, inquiry: Inquiry, settings: Settings
) -> AsyncGenerator[Event, None]:
    """Answer a question from sources by its mode; each query of a loop is a search of theirs. See `stream`."""
    loops = _Loops(inquiry, settings)
    return loops.awaited(sources.stream(inquiry, None if inquiry.mode == "single" else loops.over))


class _Loops:
    """Gathers by the mode of a question, and waits for the threads of the loop that it began."""

    def __init__(self, inquiry: Inquiry, settings: Settings) -> None:
        self._inquiry = inquiry
        self._settings = settings
        self._begun: list[Research] = []
        self._lacks_model = False

    def over(self, engine: Engine, search: Search | None = None) -> Callable[[str, SearchContext], Evidence]:
        """Return what gathers the passages of a question over an engine."""

        def gather(question: str, context: SearchContext) -> Evidence:
            helper = engine.helper
            if helper is None:
                self._lacks_model = self._inquiry.mode == "agent"
                if search is not None:
                    own, deadline = search, context.deadline
                    context = replace(context, search=lambda one: own(one, deadline))
                return engine.one_pass(question, context)
            if self._inquiry.mode == "agent" or takes_rounds(question, helper, context.deadline):
                found_by = search or partial(_search, engine, self._inquiry)
                loop = Research(question, context, Tools(found_by, helper))
                self._begun.append(loop)
                return loop
            return engine.one_pass(question, context)

        return gather

    async def awaited(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        """Yield the events; at the end wait until no thread of a loop is left."""
        try:
            async with aclosing(events):
                async for event in events:
                    if self._lacks_model and isinstance(event, Done):
                        event = replace(event, warnings=(*event.warnings, ONE_SEARCH))  # noqa: PLW2901  # the same event
                    yield event
        finally:
            for one in self._begun:
                await ended(asyncio.wrap_future(start_thread(one.ended)))


class InMode:
    """An engine that answers in the mode of the settings: for programs that ask one.

    Args:
        engine: answers.
        settings: the mode, and those of the loop.
    """

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._engine = engine
        self._settings = settings

    def stream(self, inquiry: Inquiry) -> AsyncGenerator[Event, None]:
        """Answer as `stream` does."""
        return stream(self._engine, replace(inquiry, mode=self._settings.answer.mode), self._settings)


def _search(engine: Engine, inquiry: Inquiry, question: str, deadline: Deadline, /) -> Retrieval:
    """Search the engine's corpus, with the inquiry's filters and steering."""
    return engine.retrieve(replace(inquiry, text=question, deadline=deadline))
