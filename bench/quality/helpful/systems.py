"""What is compared: our engine as it comes, and two baselines that show a passage as it was found.

Flow: `build.py` (engine, stock recipe) -> **here** -> `asking.py`.

A baseline never declines as long as it finds anything: whether a reader is better served by sentences that were chosen,
and by an "I don't know", is what the comparison tells.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Protocol

from bench.quality.helpful.asking import FIRST_LEAF, OURS, STOCK, CitedQuote, System, SystemAnswer
from eval.metrics import Ranked
from query_engine.inquiry import Inquiry
from query_engine.schema.events import Done, Event
from query_engine.schema.passage import Passage
from research.modes import Answering, stream
from settings import Mode, Settings

TextOf = Callable[[str], str | None]


class Streams(Protocol):
    """Answers a question as a stream that ends in one `Done`; `Engine` does."""

    def stream(self, inquiry: Inquiry) -> AsyncIterator[Event]:
        """Yield the events of one answer."""


def ours(engine: Streams, text_of: TextOf) -> System:
    """Our engine: the answer that every view shows."""

    async def ask(question: str) -> SystemAnswer:
        done: Event | None = None
        async for event in engine.stream(Inquiry(question)):
            done = event
        return _answer_of(done)

    return System(OURS, ask, text_of)


def by_mode(engine: Answering, mode: Mode, settings: Settings, text_of: TextOf) -> System:
    """Our engine, asked in a mode: `single` or `agent`."""

    async def ask(question: str) -> SystemAnswer:
        done: Event | None = None
        async for event in stream(engine, Inquiry(question, mode=mode), settings):
            done = event
        return _answer_of(done)

    return System(mode, ask, text_of)


def first_leaf(retrieve: Callable[[str], Sequence[Passage]], text_of: TextOf) -> System:
    """The first leaf of our retrieval, whole, as the answer.

    Args:
        retrieve: finds leaves, best first; merges nothing.
        text_of: doc_id -> the document's text.
    """

    async def ask(question: str) -> SystemAnswer:
        found = retrieve(question)
        if not found:
            return SystemAnswer(None)
        leaf = found[0]
        return SystemAnswer(leaf.text, (CitedQuote(leaf.doc_id, leaf.start, leaf.end, leaf.text),))

    return System(FIRST_LEAF, ask, text_of)


def stock(retrieve: Callable[[str], Sequence[Ranked]], text_of: TextOf) -> System:
    """The first passage of the stock recipe, whole, as the answer; the recipe does not say where it stands."""

    async def ask(question: str) -> SystemAnswer:
        found = retrieve(question)
        if not found:
            return SystemAnswer(None)
        return SystemAnswer(found[0].text, (CitedQuote(found[0].doc_id, -1, -1, found[0].text),))

    return System(STOCK, ask, text_of)


def _answer_of(done: Event | None) -> SystemAnswer:
    assert isinstance(done, Done), "a stream ends in Done"
    quotes = (CitedQuote(one.doc_id, one.start, one.end, one.quote) for one in done.citations)
    return SystemAnswer(done.answer, tuple(quotes), tuple(map(str, done.warnings)))
