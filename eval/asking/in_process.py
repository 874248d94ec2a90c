"""Ask the engine in this process, about its corpus or over the pages that came with a question.

Flow: `build.py` -> **here** -> `asking.py`. The answer is that of `Engine.stream`, as for every door.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, aclosing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from errors import FilterError, QuestionError, RagError
from eval.asking.target import NoReplyError, in_time, look_up
from eval.cases import Case, GivenPage
from eval.rows import Quote, Row, Seen, says_unknown
from index.documents.store import Document, DocumentStore
from query_engine.inquiry import Inquiry
from query_engine.runtime.threads import in_thread
from query_engine.schema.events import Done, Event

logger = logging.getLogger(__name__)


class Answers(Protocol):
    """Answers a question as a stream that ends in one `Done`; `Engine` does."""

    def stream(self, inquiry: Inquiry) -> AsyncGenerator[Event, None]:
        """Yield the events of one answer."""


OpenEngine = Callable[[Sequence[Document]], AbstractContextManager[Answers]]
"""Opens an engine over documents alone; blocks."""
ReadPages = Callable[[Sequence[GivenPage]], tuple[list[Document], list[str]]]
"""Returns the documents of pages, and `url: reason` for pages that cannot be read; blocks."""


@dataclass(slots=True)
class InProcess:
    """The engine in this process. Pages are read, and engines opened over them, for one question at a time.

    Attributes:
        engine: of the corpus; None where every question comes with pages.
        documents: of the corpus, to look up what is cited.
        filters: which documents of the corpus may be found; None allows all.
        top_k: passages that an answer is written from, at most; None leaves it to the settings.
        read_pages, open_engine: for questions that come with pages; None where none does.
        fingerprint: of the run; pages belong to the question and do not change it.
    """

    engine: Answers | None = None
    documents: DocumentStore | None = None
    filters: Mapping[str, Any] | None = None
    top_k: int | None = None
    read_pages: ReadPages | None = None
    open_engine: OpenEngine | None = None
    fingerprint: str = ""
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def ask(self, case: Case) -> Row:
        """Ask once; with pages, `seconds` begin before they are read.

        Raises:
            NoReplyError: the question is refused, the engine failed, or its time was over before anything was found.
        """
        with as_no_reply(case, "engine"):
            return await self._over_pages(case) if case.pages else await self._in_corpus(case)

    async def _in_corpus(self, case: Case) -> Row:
        assert self.engine is not None, "a question without pages is asked of a corpus"
        inquiry = Inquiry(case.question, self.filters, top_k=self.top_k, query_time=case.query_time)
        row = await ask_engine(self.engine, inquiry, case.id, time.perf_counter())
        return await look_up(row, case, self._text) if self.documents else row

    async def _text(self, doc_id: str) -> str | None:
        assert self.documents is not None
        document = await in_thread(partial(self.documents.get, doc_id))
        return document.text if document else None

    async def _over_pages(self, case: Case) -> Row:
        assert self.read_pages is not None, "a question with pages is asked over them"
        assert self.open_engine is not None, "likewise"
        started = time.perf_counter()
        # A cancelled call, e.g. by a time limit, waits for its thread: the next question may use what that uses.
        async with self._reading:
            documents, unread = await in_thread(partial(self.read_pages, case.pages))
            row = await ask_about(self.open_engine, documents, case, started, self.top_k)
        notes = tuple(f"page_unread: {reason}" for reason in unread)
        return row.model_copy(update={"fingerprint": self.fingerprint, "warnings": (*row.warnings, *notes)})


@contextmanager
def as_no_reply(case: Case, what: str) -> Iterator[None]:
    """Turn any failure in the `with` block into a `NoReplyError`, bugs included: one question must not end the run.

    A bug is one of `what`, e.g. the engine.
    """
    try:
        yield
    except NoReplyError:
        raise
    except RagError as error:
        refused = isinstance(error, QuestionError | FilterError)
        raise NoReplyError(error.fact, error.remedy, refused=refused) from error
    except Exception as error:
        logger.exception("A bug, met by the question %s.", case.id)
        fact = f"The {what} failed by a bug: {type(error).__name__}: {error}."
        raise NoReplyError(fact, "See the traceback on stderr.", lasting=True) from error


async def ask_about(
    open_engine: OpenEngine, documents: Sequence[Document], case: Case, started: float, top_k: int | None = None
) -> Row:
    """Return the row of an answer from these documents alone; see `ask_engine`. Callers allow one call at a time."""
    stack = ExitStack()
    try:
        engine = await in_thread(partial(stack.enter_context, open_engine(documents)))
        inquiry = Inquiry(case.question, top_k=top_k, query_time=case.query_time)
        row = await ask_engine(engine, inquiry, case.id, started)
        texts = {document.doc_id: document.text for document in documents}

        async def text(doc_id: str) -> str | None:
            return texts.get(doc_id)

        return await look_up(row, case, text)
    finally:
        await in_thread(stack.close)


async def ask_engine(engine: Answers, inquiry: Inquiry, case_id: str, started: float) -> Row:
    """Return the row of an answer; `started` is a reading of `time.perf_counter`."""
    first_record_s: float | None = None
    done: Event | None = None
    async with aclosing(engine.stream(inquiry)) as events:
        async for event in events:
            first_record_s = first_record_s or time.perf_counter() - started
            done = event
    assert isinstance(done, Done), "a stream ends in Done"
    return in_time(row_of(done, case_id, time.perf_counter() - started, first_record_s))


def row_of(done: Done, case_id: str, seconds: float, first_record_s: float | None) -> Row:
    """Return a finished answer as a row, as `POST /evaluate` would tell it."""
    return Row(
        id=case_id,
        outcome="declined" if done.answer is None or says_unknown(done.message) else "answered",
        answer=done.message,
        reason=done.gate_reason,
        citations=tuple(Quote.model_validate(citation, from_attributes=True) for citation in done.citations),
        passages=tuple(Seen.model_validate(passage, from_attributes=True) for passage in done.passages),
        nearest=tuple(one.quote for one in done.nearest),
        synthesizer=done.synthesizer,
        warnings=tuple(map(str, done.warnings)),
        timings_ms=done.timings_ms,
        seconds=seconds,
        first_record_s=first_record_s,
        fingerprint=done.fingerprint,
    )
