"""Answer a question from paragraphs of papers: the research loop, with ASK-xDD's conditions on every search.

Flow: `POST /react`, `/react_streaming` -> **here** -> `modes.py` with `retrieval/papers.py` as its search -> the
engine's events. A language model that fails for a temporary reason is retried (`patience.py`), in the loop and for the
answer, up to six times within the deadline; then the answer is quotes.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Protocol

from query_engine.inquiry import Inquiry
from query_engine.retrieval.multi_part import Evidence, SearchContext
from query_engine.retrieval.papers import PaperQuestion, Paragraph
from query_engine.retrieval.pipeline import RetrievalPipeline
from query_engine.runtime.deadline import Deadline
from query_engine.schema.events import Done, Event, Step
from query_engine.schema.passage import Passage
from query_engine.schema.retrieval_result import Retrieval
from query_engine.synthesis.fallback_chain import QUOTING_S
from research import modes
from research.given_passages import given
from research.patience import TRIES, PatientHelper, may_pass, pause_s
from research.schema import ModelHelper
from settings import Settings

Sleep = Callable[[float], Any]


class Papers(Protocol):
    """Searches papers."""

    def search(self, question: PaperQuestion) -> Iterable[Paragraph]:
        """Find paragraphs, nearest first; blocks."""
        ...


class Engine(modes.Answering, Protocol):
    """Answers questions from one corpus, and searches its papers."""

    def papers(self) -> Papers:
        """Return what searches the corpus's papers."""
        ...


class PaperTrail:
    """The paragraphs that were found for one question.

    Args:
        question: its conditions hold for every search.
    """

    def __init__(self, question: PaperQuestion) -> None:
        self._question = question
        self._found: dict[str, Paragraph] = {}

    @property
    def question(self) -> str:
        """What is asked."""
        return self._question.text

    def search(self, papers: Papers, query: str, deadline: Deadline) -> Retrieval:
        """Find paragraphs for a query; blocks."""
        started = time.perf_counter()
        found = list(papers.search(replace(self._question, text=query)))
        deadline.check_wanted("while papers were searched")
        passages = tuple(paragraph.passage(rank) for rank, paragraph in enumerate(found, 1))
        for passage, paragraph in zip(passages, found, strict=True):
            self._found.setdefault(passage.node_id, paragraph)
        return Retrieval(passages, {"retrieve": round((time.perf_counter() - started) * 1000, 1)})

    def paragraphs(self, passages: Iterable[Passage]) -> list[Paragraph]:
        """Return the paragraphs that these passages are."""
        return [self._found[one.node_id] for one in passages if one.node_id in self._found]


async def react(
    engine: Engine, trail: PaperTrail, settings: Settings, deadline: Deadline, sleep: Sleep = asyncio.sleep
) -> AsyncGenerator[Event, None]:
    """Yield what the engine says, and what is tried again; the last event is one `Done`, before the deadline.

    Args:
        engine: of the corpus.
        trail: holds the question, and then what was found for it.
        settings: of the loop and the models.
        deadline: of everything; closing the iterator stops the work.
        sleep: waits between two tries.
    """
    papers = engine.papers()

    def search(query: str, limit: Deadline, /) -> Retrieval:
        return trail.search(papers, query, limit)

    # The catalogue knows nothing of the papers' conditions.
    limit = deadline.subtask(deadline.left_s())
    inquiry = Inquiry(trail.question, mode="agent", deadline=limit, about_collection=False)
    done: Done | None = None
    async with aclosing(modes.stream(_Patient(engine), inquiry, settings, search)) as events:
        async for event in events:
            if isinstance(event, Done):
                done = event
            else:
                yield event
    assert done is not None, "the engine's events end with Done"
    for attempt in range(1, TRIES):
        failed = next((warning for warning in done.warnings if may_pass(warning.code)), None)
        if failed is None or deadline.left_s() < pause_s(attempt) + QUOTING_S:
            break
        yield Step("warning", f"**The language model failed** (try {attempt} of {TRIES}): {failed.text}")
        await sleep(pause_s(attempt))
        again = replace(inquiry, mode="single", deadline=deadline.subtask(deadline.left_s()))
        async with aclosing(engine.stream(again, given(done.passages))) as events:
            async for event in events:
                if isinstance(event, Done):
                    done = replace(event, timings_ms={**done.timings_ms, **event.timings_ms})
    yield done


class _Patient:
    """An engine whose helper is patient."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.pipeline: RetrievalPipeline = engine.pipeline
        self.helper: ModelHelper | None = None if engine.helper is None else PatientHelper(engine.helper)

    def retrieve(self, inquiry: Inquiry, options: Any = None, pipeline: RetrievalPipeline | None = None) -> Retrieval:
        """Find passages; blocks."""
        return self._engine.retrieve(inquiry, options, pipeline)

    def one_pass(self, question: str, context: SearchContext) -> Evidence:
        """Return what one search gathers."""
        return self._engine.one_pass(question, context)

    def stream(
        self, inquiry: Inquiry, gather: Callable[[str, SearchContext], Evidence] | None = None
    ) -> AsyncGenerator[Event, None]:
        """Answer, event by event."""
        return self._engine.stream(inquiry, gather)
