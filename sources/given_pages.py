"""Answer a question only from the web pages that came with it.

Flow: `POST /answer` -> **here**: pages are read in the readers' child processes (`ingestion/reading/`)
-> a corpus in memory -> `Engine.stages` -> the same events as from a corpus. No address is fetched: a page's `url` is
its name and what citations link to.
"""

import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial

from errors import UnreadableError
from index.documents.store import Document
from ingestion.reading.pages import Page, read_page
from ingestion.reading.reader import Reader
from ingestion.reading.text import one_line
from query_engine import steps as engine_steps
from query_engine.answer_stream import answer_stream
from query_engine.engine import Engine
from query_engine.given_documents.corpus import DistinctDocuments
from query_engine.inquiry import Inquiry
from query_engine.runtime.deadline import Deadline
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Event
from query_engine.synthesis.fallback_chain import Answer
from settings import Settings
from sources import corpus, steps
from sources.corpus import DocumentEngines, add_in_time

NAME = "given pages"
SHOWN_TITLE_CHARS = 300
# Somebody waits: a page of 2 MB takes a second or two, and what takes longer than this was made to.
PARSE_TIMEOUT_S = 20.0


@dataclass(frozen=True, slots=True)
class GivenPage:
    """A page as a client sends it.

    Attributes:
        url: its address.
        title: for people; None takes the page's own.
        html: the whole page; None if `text` is given.
        text: plain text in place of HTML.
    """

    url: str
    title: str | None = None
    html: str | None = None
    text: str | None = None


class PageReaders:
    """Readers with their child processes, one for each question that is being read; close it after use."""

    def __init__(self, settings: Settings) -> None:
        limit_s = min(settings.ingest.parse_timeout_s, PARSE_TIMEOUT_S)
        self._settings = settings.ingest.model_copy(update={"parse_timeout_s": limit_s})
        self._idle: list[Reader] = []
        self._closed = False
        self._guard = threading.Lock()

    @contextmanager
    def borrow(self) -> Iterator[Reader]:
        """Return a reader that nobody else uses until the end of the `with` block."""
        with self._guard:
            reader = self._idle.pop() if self._idle else Reader(self._settings)
        try:
            yield reader
        finally:
            with self._guard:
                if self._closed:
                    reader.close()
                else:
                    self._idle.append(reader)

    def close(self) -> None:
        """End the child processes; those in use end after it."""
        with self._guard:
            self._closed = True
            while self._idle:
                self._idle.pop().close()


class PageAnswers:
    """Answers over given pages. Safe to use for several questions at once.

    Args:
        engines: make the engine over the pages.
        readers: read HTML.
        settings: all of them.
    """

    name = NAME

    def __init__(self, engines: DocumentEngines, readers: PageReaders, settings: Settings) -> None:
        self._engines = engines
        self._readers = readers
        self._settings = settings

    def stream(
        self, inquiry: Inquiry, pages: Sequence[GivenPage], *, only_sure: bool = True
    ) -> AsyncGenerator[Event, None]:
        """Answer a question from these pages alone; what `Engine.stream` says holds here too.

        Args:
            inquiry: the question.
            pages: each text is read once.
            only_sure: quote with high precision, as for `Engines.for_documents`.
        """
        engine = partial(self._engines.for_documents, [], NAME, only_sure=only_sure, writer=inquiry.writer)
        stages = partial(self._stages, inquiry, pages, engine)
        return answer_stream(inquiry, self._settings.answer, stages)

    def _stages(
        self,
        inquiry: Inquiry,
        pages: Sequence[GivenPage],
        open_engine: Callable[[], AbstractContextManager[Engine]],
        answer: Answer,
        deadline: Deadline,
    ) -> Generator[Event, None, None]:
        yield steps.reading(len(pages))
        reading = deadline.for_stage(self._settings.answer.deadline_s)
        documents, warnings = self._read(pages, reading)
        with open_engine() as engine:
            added = add_in_time(self._engines, engine, documents, reading)
            if added < len(documents):
                late = f"{len(documents) - added} pages were left out: there was no time to read them."
                warnings.append(AnswerWarning("pages_left_out", late))
            answer.warnings += warnings
            yield steps.read(added, [warning.text for warning in warnings])
            if added:
                yield from engine.stages(inquiry, answer, deadline)
            else:
                answer.fingerprint = engine.fingerprint()
                yield answer.done("no_retrieval", engine_steps.NOTHING_FOUND)

    def _read(self, pages: Sequence[GivenPage], deadline: Deadline) -> tuple[list[Document], list[AnswerWarning]]:
        """Return the documents of the pages that can be read in time, each text once, and what lowers the quality."""
        distinct, documents, warnings = DistinctDocuments(), [], []
        with self._readers.borrow() as reader:
            for number, page in enumerate(dict.fromkeys(pages)):
                deadline.check_wanted("while the pages were read")
                if number and not deadline.left_s():
                    late = "The pages after it were left out: there was no time to read them."
                    warnings.append(AnswerWarning("pages_left_out", f"{page.url}: {late}"))
                    break
                try:
                    document = _document(page, reader)
                except UnreadableError as error:
                    warnings.append(AnswerWarning("page_unread", f"{page.url}: {error.fact}"))
                    continue
                if len(document.text) > corpus.MAX_PAGE_CHARS:
                    cut = f"Only the first {corpus.MAX_PAGE_CHARS:,} characters of its text were read."
                    warnings.append(AnswerWarning("pages_cut", f"{page.url}: {cut}"))
                    document = replace(document, text=document.text[: corpus.MAX_PAGE_CHARS])
                new = distinct.take(document)
                if new is not None:
                    documents.append(new)
        return documents, warnings


def _document(page: GivenPage, reader: Reader) -> Document:
    """Read one page.

    Raises:
        UnreadableError: it holds no text, or cannot be parsed within the limits.
    """
    title = one_line(page.title or "")[:SHOWN_TITLE_CHARS]
    document = read_page(Page(page.url, page.html or "", page.text), reader)
    if page.text is not None:
        return replace(document, title=title or page.url, content_type="web")
    return replace(document, title=title or document.title)
