"""An engine that knows the answers to some questions and declines the others; its answers as they would be written."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import replace

from index.documents.store import StoredDocument
from query_engine.inquiry import Inquiry
from query_engine.retrieval.multi_part import Evidence, SearchContext
from query_engine.schema.events import Citation, Done, Event, Retrieved, Step
from query_engine.schema.passage import Passage
from tests.fakes.corpora import stored
from tests.fakes.engines import FakeEngine, a_done, a_passage

Quote = tuple[str, str]
"""A document and what it says."""


def quoted(*quotes: Quote, text: str | None = None, url: str | None = None) -> Done:
    """An answer of these quotes, the nth with `[n]`, or of a text that cites them."""
    passages = [
        replace(a_passage(doc_id, words, url), node_id=f"{doc_id}.{at}") for at, (doc_id, words) in enumerate(quotes)
    ]
    return replace(
        a_done(text or " ".join(f"{words} [{number}]" for number, (_, words) in enumerate(quotes, 1))),
        citations=tuple(_citation(number, passage) for number, passage in enumerate(passages, 1)),
        passages=tuple(passages),
    )


def _citation(number: int, passage: Passage) -> Citation:
    # Every quote stands in a place that its words decide, so that the same words are the same place.
    start = passage.start + 100 * (sum(map(ord, passage.text)) % 997)
    return Citation(
        number, passage.doc_id, passage.chunk_id, start, start + len(passage.text), passage.text, passage.url, "Wind"
    )


GUIDE = stored(
    "wind.md",
    "# Wind\n\nWind is air.\n\n## How wind works\n\nThe sun drives it.\n\n## Advantages of wind\n\nIt is free.\n\n"
    + "".join(f"## Part {number}\n\nIt blows.\n\n" for number in range(9)),
    title="Wind",
    version="0a1b2c",
)


class KnowingEngine(FakeEngine):
    """Answers what it knows, and finds a guide to wind.

    Attributes:
        answers: question -> its last event, or what is raised.
        waits: question -> an event to wait for before.
        asked: set once a question was asked.
    """

    def __init__(self, answers: Mapping[str, Done | Exception], guide: StoredDocument = GUIDE) -> None:
        super().__init__(documents=[guide])
        self.answers = answers
        self.asked = asyncio.Event()
        self.waits: dict[str, asyncio.Event] = {}
        whole = a_passage(guide.doc_id, guide.text)
        self.found = (replace(whole, node_id=f"{guide.version}.0", title=guide.title, start=0, end=len(guide.text)),)

    async def stream(
        self, inquiry: Inquiry, gather: Callable[[str, SearchContext], Evidence] | None = None
    ) -> AsyncGenerator[Event, None]:
        self.inquiries.append(inquiry)
        self.gathers.append(gather)
        self.started += 1
        self.asked.set()
        try:
            if inquiry.text in self.waits:
                await self.waits[inquiry.text].wait()
            yield Step("search", "**Searching**")
            done = self.answers.get(inquiry.text) or a_done(None)
            if isinstance(done, Exception):
                raise done
            yield Retrieved(done.passages)
            yield done
        finally:
            self.ended += 1
