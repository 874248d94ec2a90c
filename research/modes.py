"""Answer a question in its mode: in one pass, or by a research loop.

Flow: an edge (HTTP route, command line, evaluation) -> **here** -> `Engine.stream`, with the loop of `loop.py` as its
evidence where the mode is `agent`, or `auto` and `router.py` chooses it. Everything else about an answer is the same in
both: how the question is read, the gate, the synthesizers, the citations.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from query_engine.engine import GatheringOver
from query_engine.inquiry import Inquiry
from query_engine.retrieval.multi_part import Evidence, SearchContext
from query_engine.retrieval.pipeline import RetrievalPipeline
from query_engine.runtime.deadline import Deadline
from query_engine.runtime.threads import ended, start_thread
from query_engine.schema.events import Event
from query_engine.schema.retrieval_result import Retrieval
from research.loop import Research, Tools
from research.router import Routed, route
from research.schema import ModelHelper, Search
from settings import Settings


class Answering(Protocol):
    """What is asked of an engine; `query_engine.engine.Engine` is one."""

    @property
    def pipeline(self) -> RetrievalPipeline:
        """What is done before and after its searches."""
        ...

    @property
    def helper(self) -> ModelHelper | None:
        """Asks the language model on the side."""
        ...

    def retrieve(self, inquiry: Inquiry, options: Any = None, pipeline: RetrievalPipeline | None = None) -> Retrieval:
        """Find passages; blocks."""
        ...

    def one_pass(self, question: str, context: SearchContext) -> Evidence:
        """Return what `stream` gathers by itself."""
        ...

    def stream(
        self, inquiry: Inquiry, gather: Callable[[str, SearchContext], Evidence] | None = None
    ) -> AsyncGenerator[Event, None]:
        """Answer from what `gather` finds, event by event; closing it waits for its threads."""
        ...


class AnsweringFromSources(Protocol):
    """What is asked of sources; `sources.engine.SourceEngine` is one."""

    def stream(self, inquiry: Inquiry, gathering: GatheringOver | None = None) -> AsyncGenerator[Event, None]:
        """Answer from what `gathering` finds, event by event; closing it waits for its threads."""
        ...


async def stream(
    engine: Answering, inquiry: Inquiry, settings: Settings, search: Search | None = None
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
    if inquiry.mode == "single":
        async with aclosing(engine.stream(inquiry)) as events:
            async for event in events:
                yield event
        return
    loops = _Loops(inquiry, settings)
    try:
        async with aclosing(engine.stream(inquiry, loops.over(engine, search))) as events:
            async for event in events:
                yield event
    finally:
        await loops.ended()


async def stream_from_sources(
    sources: AnsweringFromSources, inquiry: Inquiry, settings: Settings
) -> AsyncGenerator[Event, None]:
    """Answer a question from sources by its mode; each query of a loop is a search of theirs. See `stream`."""
    loops = _Loops(inquiry, settings)
    try:
        async with aclosing(sources.stream(inquiry, None if inquiry.mode == "single" else loops.over)) as events:
            async for event in events:
                yield event
    finally:
        await loops.ended()


class _Loops:
    """Gathers by the mode of a question, and waits for the threads of the loop that it began."""

    def __init__(self, inquiry: Inquiry, settings: Settings) -> None:
        self._inquiry = inquiry
        self._settings = settings
        self._begun: list[Research] = []

    def over(self, engine: Answering, search: Search | None = None) -> Callable[[str, SearchContext], Evidence]:
        """Return what gathers the passages of a question over an engine."""

        def research(question: str, context: SearchContext) -> Evidence:
            loop = Research(question, context, tools_of(engine, self._inquiry, self._settings, search))
            self._begun.append(loop)
            return loop

        def gather(question: str, context: SearchContext) -> Evidence:
            if self._inquiry.mode == "agent":
                return research(question, context)
            ways: dict[str, Callable[[], Evidence]] = {
                "single": partial(engine.one_pass, question, context),
                "agent": partial(research, question, context),
            }
            return Routed(partial(route, question, engine.helper, context.deadline), ways)

        return gather

    async def ended(self) -> None:
        """Wait until no thread of a loop is left."""
        for one in self._begun:
            await ended(asyncio.wrap_future(start_thread(one.ended)))


class InMode:
    """An engine that answers in the mode of the settings: for programs that ask one.

    Args:
        engine: answers.
        settings: the mode, and those of the loop.
    """

    def __init__(self, engine: Answering, settings: Settings) -> None:
        self._engine = engine
        self._settings = settings

    def stream(self, inquiry: Inquiry) -> AsyncGenerator[Event, None]:
        """Answer as `stream` does."""
        return stream(self._engine, replace(inquiry, mode=self._settings.answer.mode), self._settings)


def tools_of(engine: Answering, inquiry: Inquiry, settings: Settings, search: Search | None = None) -> Tools:
    """Return what a loop over an engine works with; see `stream`."""
    return Tools(
        search=search or corpus_search(engine, inquiry),
        helper=engine.helper,
        reranking=engine.pipeline.reranking,
        options=settings.research,
        sufficient_from=settings.answer.low_confidence,
    )


def corpus_search(engine: Answering, inquiry: Inquiry) -> Search:
    """Return the search of the engine's corpus, with the inquiry's filters and steering, and without reranking."""
    pipeline = engine.pipeline.reranked_by(wanted=False, query=None)

    def search(question: str, deadline: Deadline, /) -> Retrieval:
        asked = replace(inquiry, text=question, deadline=deadline)
        return engine.retrieve(asked, None, pipeline)

    return search
