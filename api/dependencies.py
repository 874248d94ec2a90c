"""What the routes share: engines, settings, page templates and jobs, handed out by one dependency.

Flow: `app.create_app` makes one `Service` -> **here** -> routes. The protocols say how much of the query engine the
HTTP layer uses; nothing here opens a corpus or writes an answer.
"""

import threading
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Protocol

from fastapi import Depends, Request

from api.admission import AdmissionQueue
from api.jobs.queue import Jobs, Result
from api.jobs.write_locks import WriteLocks
from api.recorder import Recorder
from api.views.html import Pages
from api.views.links import Links
from index.documents.catalogue import DocumentBrief, Statistics
from index.documents.sources import SourceNote
from index.documents.store import StoredDocument
from index.layout.manifest import Manifest
from ingestion.schema import Progress, RunOptions
from query_engine.answer_cache import AnswerCache
from query_engine.inquiry import Inquiry
from query_engine.retrieval.papers import PaperQuestion, Paragraph
from query_engine.retrieval.pipeline import RetrievalPipeline
from query_engine.runtime.lease_pool import Lease
from query_engine.runtime.threads import SharedThread
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Event
from query_engine.schema.passage import Passage
from settings import RetrievalSettings, Settings

# For running questions when the service stops: those who stop it often wait for ten seconds and then kill it.
STOP_WITHIN_S = 8.0


class Documents(Protocol):
    """Finds documents by id."""

    def get(self, doc_id: str) -> StoredDocument | None:
        """Return one document, or None."""
        ...

    def state(self) -> str:
        """Name what all documents hold together."""
        ...


class Catalogue(Protocol):
    """Lists and counts documents."""

    def find(self, filters: object) -> list[str]:
        """Return the doc_ids that meet a filter."""
        ...

    def briefs(
        self, after: str | None = None, limit: int = 100, *, filters: object | None = None
    ) -> list[DocumentBrief]:
        """Return a page of documents."""
        ...

    def statistics(self) -> Statistics:
        """Count everything."""
        ...


class Ledger(Protocol):
    """Knows the source files."""

    def failed(self) -> Sequence[SourceNote]:
        """Return those of which something could not be read."""
        ...


class Corpus(Protocol):
    """An open corpus, as far as the routes look into it."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def documents(self) -> Documents:
        """Its documents."""
        ...

    @property
    def catalogue(self) -> Catalogue:
        """The list of its documents."""
        ...

    @property
    def ledger(self) -> Ledger:
        """Its source files."""
        ...

    @property
    def manifest(self) -> Manifest:
        """What it was made with."""
        ...

    def size_bytes(self) -> int:
        """What it takes on disk."""
        ...

    def delete(self, doc_ids: Iterable[str]) -> int:
        """Remove documents, and return how many there were."""
        ...


class Retrieval(Protocol):
    """What a search found."""

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Best first."""
        ...

    @property
    def timings_ms(self) -> dict[str, float]:
        """By stage."""
        ...

    @property
    def warnings(self) -> tuple[AnswerWarning, ...]:
        """What was left out."""
        ...


class Papers(Protocol):
    """Searches papers."""

    def search(self, question: PaperQuestion) -> Sequence[Paragraph]:
        """Find paragraphs, nearest first; blocks."""
        ...


class Engine(Protocol):
    """Answers questions from one corpus."""

    @property
    def corpus(self) -> Corpus:
        """The corpus it reads."""
        ...

    @property
    def pipeline(self) -> RetrievalPipeline:
        """What is done before and after its searches."""
        ...

    def retrieve(
        self, inquiry: Inquiry, options: RetrievalSettings, pipeline: RetrievalPipeline | None = None
    ) -> Retrieval:
        """Find passages in the documents that meet the filters; blocks."""
        ...

    def papers(self) -> Papers:
        """Return what searches the corpus's papers."""
        ...

    def stream(self, inquiry: Inquiry) -> AsyncGenerator[Event, None]:
        """Answer from the documents that meet the filters, event by event; closing it waits for its threads."""
        ...

    def fingerprint(self) -> str:
        """Hash everything that decides an answer; blocks."""
        ...


class Engines(Protocol):
    """Opens corpora, and keeps them open as long as they are leased."""

    def lease(self, name: str | None = None) -> Lease[Engine]:
        """Return the engine of a corpus, None meaning the default one; blocks while it is opened."""
        ...

    def lease_open(self, name: str | None = None) -> Lease[Engine] | None:
        """Return the engine of a corpus if it is open."""
        ...

    def names(self) -> list[str]:
        """Return the names of the corpora on disk."""
        ...

    def status(self) -> dict[str, Any]:
        """Return the last known state of corpora and models; waits for nothing."""
        ...

    def look_at_disk(self) -> None:
        """Look for a corpus that holds a document, and retry silent servers; `status` tells of it; blocks."""
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

    def retry(self, corpus: str, tell: Callable[[Progress], None], stop: threading.Event) -> Result:
        """Read the files of a corpus again that could not be read."""
        ...


@dataclass(frozen=True, slots=True)
class Service:
    """Everything a route may need.

    Attributes:
        ingest_roots: folders that clients may have ingested, whole or in part.
        recorder: gives answers their ids, and notes them for feedback.
        disk_look: runs `engines.look_at_disk` for the probes.
    """

    engines: Engines
    settings: Settings
    pages: Pages
    ingester: Ingester
    jobs: Jobs
    slots: AdmissionQueue
    answers: AnswerCache
    ingest_roots: tuple[Path, ...] = ()
    write_locks: WriteLocks = field(default_factory=WriteLocks)
    recorder: Recorder = field(default_factory=Recorder.off)
    disk_look: SharedThread = field(default_factory=SharedThread)

    def stop(self) -> None:
        """Cancel all jobs, and let all questions end within seconds; returns at once. On the event loop only."""
        self.jobs.stop()
        self.slots.stop(STOP_WITHIN_S)

    def links(self, request: Request, corpus: str) -> Links:
        """Return the maker of links into `corpus` for the client of this request."""
        return Links(self.settings.serve.public_url or str(request.base_url), corpus)


async def current_service(request: Request) -> Service:
    """Return the service that `create_app` put on the application.

    Asynchronous, because anything else would wait for a thread of the pool, and the probes with it.
    """
    service: Service = request.app.state.service
    return service


ServiceDep = Annotated[Service, Depends(current_service)]
