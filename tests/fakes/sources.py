"""Sources that return what a test gives them, and an engine over documents that needs no model."""

from collections.abc import AsyncGenerator, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from index.documents.store import Document
from query_engine.engine import Engine
from query_engine.inquiry import Inquiry
from query_engine.runtime.deadline import Deadline
from query_engine.schema.events import Done, Event, Step
from query_engine.schema.passage import Passage
from query_engine.schema.retrieval_result import Retrieval
from query_engine.synthesis.fallback_chain import Answer
from sources.base import SourcePage, SourceQuery, SourceResult
from sources.given_pages import GivenPage
from tests.fakes.engines import a_done, a_passage


def a_page(name: str = "betz", text: str = "Albert Betz published the limit in 1919.", title: str = "") -> SourcePage:
    return SourcePage(name, f"https://example.org/{name}", title, text)


@dataclass
class FakeSource:
    """Returns its pages, or raises its failure, for every query, and notes the query."""

    name: str = "clueweb"
    pages: Sequence[SourcePage] = ()
    failure: Exception | None = None
    skipped: int = 0
    queries: list[SourceQuery] = field(default_factory=list)

    def search(self, query: SourceQuery, _deadline: Deadline) -> SourceResult:
        self.queries.append(query)
        if self.failure is not None:
            raise self.failure
        return SourceResult(tuple(self.pages), self.skipped)


class FakeDocumentEngine:
    """Finds the first words of each of its documents, and answers "Done."."""

    def __init__(self) -> None:
        self.documents: list[Document] = []

    def retrieve(self, _inquiry: Inquiry) -> Retrieval:
        return Retrieval(tuple(_passage(document) for document in self.documents), {"retrieve": 1.0})

    def fingerprint(self) -> str:
        return "0123456789abcdef"

    def stages(
        self,
        inquiry: Inquiry,
        answer: Answer,
        _deadline: Deadline,
        gather: object = None,  # noqa: ARG002
    ) -> Generator[Event, None, None]:
        yield Step("search", f"asked {inquiry.text}")
        answer.text = "Done."
        yield answer.done("generated_answer")


@dataclass
class FakeDocumentEngines:
    """Makes such engines.

    Attributes:
        made: the last one.
        batches: sizes of what was added at once.
    """

    made: FakeDocumentEngine = field(default_factory=FakeDocumentEngine)
    batches: list[int] = field(default_factory=list)
    only_sure: bool | None = None
    writer: str | None = None
    open_engines: int = 0

    @contextmanager
    def for_documents(
        self, documents: Sequence[Document], name: str = "", *, only_sure: bool = True, writer: str | None = None
    ) -> Iterator[Engine]:
        assert not documents
        assert name
        self.made, self.only_sure, self.writer = FakeDocumentEngine(), only_sure, writer
        self.open_engines += 1
        try:
            yield cast(Engine, self.made)
        finally:
            self.open_engines -= 1

    def add_documents(self, engine: Any, documents: Sequence[Document]) -> None:
        self.batches.append(len(documents))
        engine.documents += documents


@dataclass
class FakeAnswers:
    """Answers from sources in place of the real ones; notes what it was asked.

    Attributes:
        loops: how often something was given to gather with.
    """

    name: str = "web"
    sources: tuple[str, ...] = ("clueweb",)
    done: Done = field(default_factory=a_done)
    inquiries: list[Inquiry] = field(default_factory=list)
    loops: int = 0

    async def stream(self, inquiry: Inquiry, gathering: object = None) -> AsyncGenerator[Event, None]:
        self.loops += gathering is not None
        self.inquiries.append(inquiry)
        yield Step("search", "**Asking** *clueweb*")
        yield self.done


@dataclass
class FakePageAnswers:
    """Answers over given pages in place of the real ones; notes what it was asked."""

    name: str = "web"
    done: Done = field(default_factory=a_done)
    inquiries: list[Inquiry] = field(default_factory=list)
    pages: list[GivenPage] = field(default_factory=list)
    only_sure: bool | None = None

    async def stream(
        self, inquiry: Inquiry, pages: Sequence[GivenPage] = (), *, only_sure: bool = True
    ) -> AsyncGenerator[Event, None]:
        self.inquiries.append(inquiry)
        self.only_sure = only_sure
        self.pages += pages
        yield Step("search", "**Asking** *clueweb*")
        yield self.done


def _passage(document: Document) -> Passage:
    return a_passage(document.doc_id, document.text, document.url)
