"""Answer a question in its mode: in one pass, or by a research loop.

Flow: an edge (HTTP route, command line, evaluation) -> **here** -> `Engine.stream`, with the loop of `loop.py` as its
evidence where the mode is `agent`, or `auto` and `router.py` chooses it. Rounds take a language model; without one a
question goes in one pass. Everything else about an answer is the same in both: how the question is read, the gate, the
synthesizers, the citations.
"""

from collections.abc import AsyncGenerator
from dataclasses import replace
from functools import partial
from typing import Protocol

from query_engine.engine import GatheringOver
from query_engine.inquiry import Inquiry
from query_engine.retrieval.multi_part import Evidence, SearchContext
from query_engine.runtime.deadline import Deadline
from query_engine.schema.events import Event
from query_engine.schema.retrieval_result import Retrieval
from research.loop import Research
from research.router import takes_rounds
from research.schema import Engine, Search
from settings import Settings


class AnsweringFromSources(Protocol):
    """What is asked of sources; `sources.engine.SourceEngine` is one."""

    def stream(self, inquiry: Inquiry, gathering: GatheringOver | None = None) -> AsyncGenerator[Event, None]:
        """Answer from what `gathering` finds, event by event; closing it waits for its threads."""
        ...


def stream(engine: Engine, inquiry: Inquiry, search: Search | None = None) -> AsyncGenerator[Event, None]:
    """Answer a question by its mode; the events, and what closing does, are those of `Engine.stream`.

    Args:
        engine: answers.
        inquiry: the question and what belongs to it.
        search: finds passages for a query of the loop, in place of the engine's own search. The passages may be from
            documents that the engine's corpus does not hold.

    Raises:
        QuestionError: the question cannot be asked as it stands (before the first event).
        FilterError: the filter is empty or has no meaning.
    """
    return engine.stream(inquiry, None if inquiry.mode == "single" else partial(_gather, inquiry, engine, search))


def stream_from_sources(sources: AnsweringFromSources, inquiry: Inquiry) -> AsyncGenerator[Event, None]:
    """Answer a question from sources by its mode; each query of a loop is a search of theirs. See `stream`."""
    return sources.stream(inquiry, None if inquiry.mode == "single" else partial(partial, _gather, inquiry))


class InMode:
    """An engine that answers in the mode of the settings: for programs that ask one.

    Args:
        engine: answers.
        settings: the mode.
    """

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._engine = engine
        self._settings = settings

    def stream(self, inquiry: Inquiry) -> AsyncGenerator[Event, None]:
        """Answer as `stream` does."""
        return stream(self._engine, replace(inquiry, mode=self._settings.answer.mode))


def _gather(inquiry: Inquiry, engine: Engine, search: Search | None, question: str, context: SearchContext) -> Evidence:
    """Return what gathers the passages of a question that may go in rounds."""
    if (helper := engine.helper) is None:
        if search is not None:
            context = replace(context, search=lambda one: search(one, context.deadline))
        return engine.one_pass(question, context)
    if inquiry.mode == "agent" or takes_rounds(question, helper, context.deadline):
        return Research(question, context, search or partial(_search, engine, inquiry), helper)
    return engine.one_pass(question, context)


def _search(engine: Engine, inquiry: Inquiry, question: str, deadline: Deadline, /) -> Retrieval:
    """Search the engine's corpus, with the inquiry's filters and steering."""
    return engine.retrieve(replace(inquiry, text=question, deadline=deadline))
