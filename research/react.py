"""Answer a question from paragraphs of papers: the research loop, with ASK-xDD's conditions on every search.

Flow: `POST /react`, `/react_streaming` -> **here** -> `modes.py` with `retrieval/papers.py` as its search -> the
engine's events. A language model that fails for a temporary reason while it writes the answer is asked again, up to six
times within the deadline, with growing pauses; then the answer is quotes. Clients of ASK-xDD would rather wait for a
model than get quotes; elsewhere a failing model is replaced immediately.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from query_engine.inquiry import Inquiry
from query_engine.retrieval.papers import PaperQuestion, Paragraph
from query_engine.runtime.deadline import Deadline
from query_engine.schema.events import Done, Event, Step
from query_engine.schema.passage import Passage
from query_engine.schema.retrieval_result import Retrieval, ms_since
from query_engine.synthesis.fallback_chain import QUOTING_S
from research import modes
from research.given_passages import given
from research.schema import Engine, Papers

TRIES = 6
FIRST_PAUSE_S, MAX_PAUSE_S = 0.5, 16.0
# No other try helps: the request itself is wrong, or the reply is of no use.
PERMANENT = frozenset({"llm_key_refused", "llm_not_found", "llm_rejected", "llm_wrong_type", "llm_unforeseen"})

Sleep = Callable[[float], Any]


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
        return Retrieval(passages, {"retrieve": ms_since(started)})

    def paragraphs(self, passages: Iterable[Passage]) -> list[Paragraph]:
        """Return the paragraphs that these passages are."""
        return [self._found[one.node_id] for one in passages if one.node_id in self._found]


async def react(
    engine: Engine, trail: PaperTrail, deadline: Deadline, sleep: Sleep = asyncio.sleep
) -> AsyncGenerator[Event, None]:
    """Yield what the engine says, and what is tried again; the last event is one `Done`, before the deadline.

    Args:
        engine: of the corpus.
        trail: holds the question, and then what was found for it.
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
    async with aclosing(modes.stream(engine, inquiry, search)) as events:
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


def pause_s(attempt: int) -> float:
    """Return the seconds to wait after the `attempt`th try, from 1."""
    return min(MAX_PAUSE_S, FIRST_PAUSE_S * 2.0 ** (attempt - 1))


def may_pass(code: str) -> bool:
    """Say whether a failure of a language model may be over at another try."""
    return code.startswith("llm_") and code not in PERMANENT
