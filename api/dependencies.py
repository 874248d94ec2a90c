"""What the routes share: engines, settings, page templates and jobs, handed out by one dependency.

Flow: `app.create_app` makes one `Service` -> **here** -> routes. What loads models or takes minutes is a protocol, so
that the HTTP layer runs without it; nothing here opens a corpus or writes an answer.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Protocol, TypeVar

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from api.admission import AdmissionQueue
from api.caller import require_corpus
from api.conversations import Conversations
from api.hosts import Hosts
from api.jobs.queue import Jobs, Result
from api.jobs.write_locks import WriteLocks
from api.links import Links
from api.recorder import Recorder
from api.study import Study
from api.telemetry.requests import Watching
from api.views.html import Pages
from ingestion.reading.page_renderer import PageRenderer
from ingestion.schema import Progress, RunOptions
from pipelines.build import Pipelines
from query_engine.answer_cache import AnswerCache
from query_engine.inquiry import Inquiry
from query_engine.retrieval.pipeline import RetrievalPipeline
from query_engine.runtime.lease_pool import Lease
from query_engine.runtime.threads import SharedThread
from query_engine.schema.events import Event
from query_engine.schema.retrieval_result import Retrieval
from research.modes import AnsweringFromSources
from research.schema import Engine as ResearchingEngine
from settings import RetrievalSettings, Settings
from sources.given_pages import GivenPage

# For running questions when the service stops: those who stop it often wait for ten seconds and then kill it.
STOP_WITHIN_S = 8.0

T = TypeVar("T")


class Engine(ResearchingEngine, Protocol):
    """Answers questions from one corpus."""

    @property
    def pipeline(self) -> RetrievalPipeline:
        """What is done before and after its searches."""
        ...

    def retrieve(
        self, inquiry: Inquiry, options: RetrievalSettings | None = None, pipeline: RetrievalPipeline | None = None
    ) -> Retrieval:
        """Find passages in the documents that meet the filters; blocks."""
        ...

    def fingerprint(self) -> str:
        """Hash everything that decides an answer; blocks."""
        ...


class Engines(Protocol):
    """Opens corpora, and keeps them open as long as they are leased."""

    def lease(self, name: str | None = None, *, create: bool = False, writer: str | None = None) -> Lease[Engine]:
        """Return the engine of a corpus, None meaning the default one; blocks while it is opened, or made.

        `writer` writes its answers; None leaves it to the settings.
        """
        ...

    def lease_open(self, name: str | None = None, *, writer: str | None = None) -> Lease[Engine] | None:
        """Return the engine of a corpus if it is open."""
        ...

    def names(self) -> list[str]:
        """Return the names of the corpora on disk."""
        ...

    def drop(self, name: str) -> None:
        """Delete a corpus with all that belongs to it; blocks until nobody asks it any more."""
        ...

    def rename(self, old: str, new: str) -> None:
        """Give a corpus another name; blocks until nobody asks it any more."""
        ...

    def status(self) -> dict[str, Any]:
        """Return the last known state of corpora and models; waits for nothing."""
        ...

    def look_at_disk(self) -> None:
        """Look for a corpus that holds a document, and ask silent servers; `status` tells of it; blocks."""
        ...


class Ingester(Protocol):
    """Writes into corpora that the engines hold open. Calls block until the end of the ingestion."""

    def ingest(
        self,
        corpus: str,
        path: Path,
        options: RunOptions,
        tell: Callable[[Progress], None],
        stop: threading.Event,
    ) -> Result:
        """Bring a file or folder into a corpus, which is made if it does not exist."""
        ...

    def retry(
        self,
        corpus: str,
        tell: Callable[[Progress], None],
        stop: threading.Event,
        within: Sequence[Path] | None = None,
    ) -> Result:
        """Read the files of a corpus again that could not be read, or those of them in some folders."""
        ...


class SourceAnswers(AnsweringFromSources, Protocol):
    """Answers questions from sources instead of a corpus."""

    @property
    def name(self) -> str:
        """What a request names it by, in place of a corpus."""
        ...

    @property
    def sources(self) -> tuple[str, ...]:
        """The names of the sources."""
        ...


class PageAnswers(Protocol):
    """Answers questions from the pages that come with them."""

    @property
    def name(self) -> str:
        """What stands for the pages where a corpus is named."""
        ...

    def stream(
        self, inquiry: Inquiry, pages: Sequence[GivenPage], *, only_sure: bool = True
    ) -> AsyncGenerator[Event, None]:
        """Answer, event by event; closing it waits for its threads.

        Args:
            inquiry: the question.
            pages: to answer from.
            only_sure: quote with high precision, unless the settings say otherwise.
        """
        ...


@dataclass(frozen=True, slots=True)
class Service:
    """Everything a route may need.

    Attributes:
        hosts: its own, of the settings.
        recorder: gives answers their ids, and notes them for feedback.
        study: notes what people do, if that is turned on.
        watching: watches requests.
        ingest_roots: folders that clients may have ingested, whole or in part.
        web: answers where no corpus is named; None if there are no sources.
        given: answers over given pages; None in a service without them.
        disk_look: runs `engines.look_at_disk` for the probes.
        tables: held while the table of a task is read.
        conversations: what responses may follow.
    """

    engines: Engines
    settings: Settings
    hosts: Hosts
    pages: Pages
    ingester: Ingester
    jobs: Jobs
    slots: AdmissionQueue
    answers: AnswerCache
    pipelines: Pipelines
    page_renderer: PageRenderer
    recorder: Recorder
    study: Study
    watching: Watching
    ingest_roots: tuple[Path, ...] = ()
    web: SourceAnswers | None = None
    given: PageAnswers | None = None
    write_locks: WriteLocks = field(default_factory=WriteLocks)
    disk_look: SharedThread = field(default_factory=SharedThread)
    tables: asyncio.Lock = field(default_factory=asyncio.Lock)
    conversations: Conversations = field(default_factory=Conversations)

    def stop(self) -> None:
        """Cancel jobs, interrupt tasks, let questions end within seconds; return immediately. On the loop only."""
        self.jobs.stop()
        self.pipelines.stop()
        self.slots.stop(STOP_WITHIN_S)

    async def reading_table(self, make: Callable[[], T]) -> T:
        """Make a reply in a thread, one at a time: each has the whole table of a task in memory."""
        async with self.tables:
            return await run_in_threadpool(make)

    def sources_for(self, corpus: str | None) -> SourceAnswers | None:
        """Return what answers a question from sources; None if it is for a corpus.

        Args:
            corpus: that the request names.

        Raises:
            RagError: the caller's key is for some corpora, and the sources are none of them.
        """
        if self.web is None or corpus not in {None, self.web.name}:
            return None
        require_corpus(self.web.name)
        return self.web

    def links(self, request: Request, corpus: str) -> Links:
        """Return the maker of links into `corpus` for the client of this request."""
        return Links(self.hosts.base_url(request), corpus)


async def current_service(request: Request) -> Service:
    """Return the service that `create_app` put on the application.

    Asynchronous, because anything else would wait for a thread of the pool, and the probes with it.
    """
    service: Service = request.app.state.service
    return service


ServiceDep = Annotated[Service, Depends(current_service)]
