"""The pages that sources return for one question, as one corpus in memory that grows with each search.

Flow: `engine.py` or a research loop -> **here**: ask all sources in parallel -> drop repeated pages, clean the texts ->
`Engines.add_documents` -> the engine over them, with its tree, fusion, merging, gate and citations. What a source
returns is data: no address in it is ever fetched.

    with open_source_corpus(engines, sources, question) as corpus:
        retrieval = corpus.search("first query", deadline)
        retrieval = corpus.search("second query", deadline)  # over the pages of both
"""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol
from urllib.parse import urlsplit

from errors import OutOfTimeError, SourceError, UnreadableError
from index.documents.store import Document
from ingestion.reading.fields import web_address
from ingestion.reading.text import clean_body, one_line
from query_engine.engine import Engine
from query_engine.given_documents.corpus import DistinctDocuments
from query_engine.inquiry import Inquiry
from query_engine.runtime.deadline import Deadline
from query_engine.runtime.threads import side_by_side
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.retrieval_result import Retrieval, ms_since
from sources.base import Source, SourcePage, SourceQuery, SourceResult
from sources.tries import ATTEMPTS, TIMEOUT_S

NAME = "web"
# Asked of each source for a search.
PAGES = 10
# Read of one page; the rest is cut, with a warning.
MAX_PAGE_CHARS = 100_000
# A first line that is no longer is taken for the title of a page that has none.
MAX_TITLE_CHARS = 120
# Embedded at once: between two such batches the deadline is looked at.
BATCH_CHARS = 100_000
# The code of a `SourceError` that is about the query alone.
REJECTED = "source_rejected"


class DocumentEngines(Protocol):
    """Makes engines over documents in memory; `Engines` does."""

    def for_documents(
        self, documents: Sequence[Document], name: str = NAME, *, only_sure: bool = True, writer: str | None = None
    ) -> AbstractContextManager[Engine]:
        """Open an engine over these documents alone."""
        ...

    def add_documents(self, engine: Engine, documents: Sequence[Document]) -> None:
        """Add documents to such an engine."""
        ...


@dataclass(frozen=True, slots=True)
class Fetched:
    """What one source returned for a query.

    Attributes:
        source: its name.
        pages: new ones, as they were added to the corpus; best first.
        repeated: pages that were there already.
        skipped: records that were broken, or pages without text.
        warnings: for skipped records, cut pages and a failure.
        error: why there are no pages; None if the source answered.
    """

    source: str
    pages: tuple[Document, ...] = ()
    repeated: int = 0
    skipped: int = 0
    warnings: tuple[AnswerWarning, ...] = ()
    error: SourceError | None = None


class SourceCorpus:
    """The pages of one question. `search` and `fetch` may be called from several threads at once.

    Args:
        engines: `add_documents` is used.
        engine: over no documents yet.
        sources: are asked, all for each query.
        question: the person's.

    Attributes:
        engine: over all pages so far: judges and writes. Nobody may ask it while a search goes on.
        pages: how many there are so far.
    """

    def __init__(
        self,
        engines: DocumentEngines,
        engine: Engine,
        sources: Sequence[Source],
        question: str,
    ) -> None:
        self.engine = engine
        self.pages = 0
        self._engines = engines
        self._sources = tuple(sources)
        self._question = question
        self._distinct = DistinctDocuments()
        self._failed: dict[str, SourceError] = {}
        self._searches = 0
        self._fetched: set[str] = set()
        # Writers and readers of a database in memory must not meet.
        self._lock = threading.Lock()

    def search(self, question: str, deadline: Deadline) -> Retrieval:
        """Ask all sources, add their pages, and return the passages of all pages so far that fit the question; blocks.

        A question that was fetched before is not asked again: its pages are there. The passages' `url` and `title` are
        the page's. What a source failed at is a warning, told once.

        Args:
            question: what to search for; it need not be the person's own question.
            deadline: half of what is left is for the sources.

        Raises:
            QuestionError: the question cannot be asked as it stands.
            OutOfTimeError: the client has left.
            ModelError, IndexDamagedError: the pages cannot be embedded or stored.
        """
        started = time.perf_counter()
        fetched = [] if question in self._fetched else self.fetch(question, deadline)
        warnings = tuple(warning for one in fetched for warning in one.warnings)
        fetch_ms = ms_since(started)
        with self._lock:
            if not self.pages:
                return Retrieval((), {"fetch": fetch_ms}, warnings)
            found = self.engine.retrieve(Inquiry(question, deadline=deadline))
        return replace(found, timings_ms={"fetch": fetch_ms, **found.timings_ms}, warnings=warnings + found.warnings)

    def fetch(self, query: str, deadline: Deadline) -> list[Fetched]:
        """Ask all sources side by side, and add the pages; return what came of each, in their order.

        A source that failed is not asked again for this question, unless it refused only the query.

        Raises: as `search`.
        """
        deadline.check_wanted("before the sources were asked")
        limit = deadline.for_stage(ATTEMPTS * TIMEOUT_S)
        asked = [source for source in self._sources if source.name not in self._failed]
        with self._lock:
            self._searches += 1
            self._fetched.add(query)
            iteration = self._searches
        wanted = SourceQuery(query, PAGES, self._question, iteration)
        results = side_by_side(partial(_ask, source, wanted, limit) for source in asked)
        with self._lock:
            return [self._taken(source.name, result, limit) for source, result in zip(asked, results, strict=True)]

    def _taken(self, source: str, result: SourceResult | SourceError, deadline: Deadline) -> Fetched:
        """Add the new pages of a result to the corpus."""
        if isinstance(result, SourceError):
            told = source in self._failed
            if result.code != REJECTED:
                self._failed[source] = result
            return Fetched(source, warnings=() if told else (AnswerWarning.of(result),), error=result)
        rows, warnings = read_pages(result, source)
        taken = [self._distinct.take(document) for _, document in rows]
        documents = [document for document in taken if document is not None]
        added = add_in_time(self._engines, self.engine, documents, deadline)
        self.pages += added
        if added < len(documents):
            left = len(documents) - added
            warnings.append(AnswerWarning("pages_left_out", f"{left} pages of {source} came too late to be read."))
        skipped = result.skipped + len(result.pages) - len(rows)
        return Fetched(source, tuple(documents[:added]), len(taken) - len(documents), skipped, tuple(warnings))


@contextmanager
def open_source_corpus(
    engines: DocumentEngines,
    sources: Sequence[Source],
    question: str,
    writer: str | None = None,
) -> Iterator[SourceCorpus]:
    """Open an empty corpus for one question, which lives in memory until the end of the `with` block.

    Args:
        engines: of the process.
        sources: that are asked.
        question: the person's.
        writer: of the answer, see `Engines.lease`.
    """
    with engines.for_documents([], NAME, only_sure=False, writer=writer) as engine:
        yield SourceCorpus(engines, engine, sources, question)


def add_in_time(engines: DocumentEngines, engine: Engine, documents: Sequence[Document], deadline: Deadline) -> int:
    """Add documents batch by batch as long as there is time, the first batch in any case; return how many were added.

    Args:
        engines: `add_documents` is used.
        engine: one of its.
        documents: none of them is in the engine's corpus.
        deadline: looked at between batches of some `BATCH_CHARS` characters.

    Raises:
        OutOfTimeError: the client has left.
        ModelError, IndexDamagedError: they cannot be embedded or stored.
    """
    added = 0
    while added < len(documents):
        deadline.check_wanted("while the pages were read")
        if added and not deadline.left_s():
            break
        batch, chars = 0, 0
        for document in documents[added:]:
            batch, chars = batch + 1, chars + len(document.text)
            if chars >= BATCH_CHARS:
                break
        engines.add_documents(engine, documents[added : added + batch])
        added += batch
    return added


def read_pages(result: SourceResult, source: str) -> tuple[list[tuple[SourcePage, Document]], list[AnswerWarning]]:
    """Return the pages that hold text, each with its document, and all that lowers their quality.

    Args:
        result: of a search.
        source: its name.
    """
    rows = []
    for page in result.pages:
        with suppress(UnreadableError):
            rows.append((page, document_of(page, source)))
    warnings = list(result.warnings)
    if skipped := result.skipped + len(result.pages) - len(rows):
        warnings.append(AnswerWarning("records_skipped", f"{skipped} broken records of {source} were skipped."))
    if cut := sum(len(page.text) > MAX_PAGE_CHARS for page, _ in rows):
        told = f"Of {cut} long pages of {source} only the first {MAX_PAGE_CHARS:,} characters were read."
        warnings.append(AnswerWarning("pages_cut", told))
    return rows, warnings


def document_of(page: SourcePage, source: str) -> Document:
    """Return a page as a document, its text cleaned and cut after `MAX_PAGE_CHARS` characters.

    Raises:
        UnreadableError: it holds no text.
    """
    text = clean_body(page.text[:MAX_PAGE_CHARS])
    url = web_address(page.url)
    published: dict[str, str] = {"published": page.published} if page.published else {}
    return Document(
        doc_id=url or f"{source}/{page.id}",
        title=one_line(page.title) or _title_from(text, url) or page.id,
        text=text,
        url=url,
        metadata={"source_name": source, **published},
        source=source,
        content_type="web",
    )


def _title_from(text: str, url: str | None) -> str:
    """Return a short first line, else the address without its scheme."""
    first = text.split("\n", 1)[0].strip("#*_= ")
    if first and len(first) <= MAX_TITLE_CHARS:
        return first
    if url is None:
        return ""
    parts = urlsplit(url)
    return f"{parts.hostname}{parts.path}".rstrip("/")


def _ask(source: Source, query: SourceQuery, deadline: Deadline) -> SourceResult | SourceError:
    try:
        return source.search(query, deadline)
    except SourceError as error:
        return error
    except OutOfTimeError:
        deadline.check_wanted("while a source was asked")
        return SourceError(
            f"The source {source.name!r} did not answer within the question's time.",
            "Ask again later, or raise RAG_ANSWER__DEADLINE_S.",
            "source_slow",
        )
