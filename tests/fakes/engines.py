"""Engines that follow a script, so that the HTTP layer can be tested without models or stores."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from errors import UnknownCorpusError
from index.corpus import Corpus
from index.documents.filters import where
from index.documents.rights import Groups
from index.documents.store import StoredDocument
from index.layout.manifest import Identity, Manifest
from index.memory_stores import MemoryStores
from query_engine.engine import Engine
from query_engine.inquiry import Inquiry
from query_engine.llms.helper import PromptHelper
from query_engine.retrieval.multi_part import Evidence, SearchContext
from query_engine.retrieval.papers import PaperQuestion, Paragraph
from query_engine.retrieval.pipeline import RetrievalPipeline
from query_engine.runtime.lease_pool import Lease
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Citation, Done, Event, Nearest
from query_engine.schema.hit import LeafHit
from query_engine.schema.passage import Passage
from query_engine.schema.retrieval_result import Retrieval
from settings import RetrievalSettings

Script = Sequence[Event | Exception | asyncio.Event | Callable[[], None]]
"""What an engine does in turn: emit an event, raise, wait until an event is set, or call something."""


ORIGIN: dict[str, Any] = {
    "source_path": "guide/wind.md",
    "content_type": "markdown",
    "chunk_index": 2,
    "metadata": {"language": "en", "tags": ["air"]},
}


def a_passage(doc_id: str = "guide/wind.md", text: str = "Wind turns blades.", url: str | None = None) -> Passage:
    return Passage(
        node_id="0a1b2c.4",
        chunk_id=f"{doc_id}#00002",
        doc_id=doc_id,
        title="Wind",
        url=url,
        level="leaf",
        start=10,
        end=10 + len(text),
        pages=(0,),
        score=0.9,
        scores={"dense": 0.8, "fused": 0.9},
        text=text,
        hits=(LeafHit("0a1b2c.4", 0.9, {"dense": 0.8}, {"dense": 1}),),
        **ORIGIN,
    )


def a_citation(number: int = 1, doc_id: str = "guide/wind.md", url: str | None = None, start: int = 10) -> Citation:
    quote = "Wind turns blades."
    return Citation(number, doc_id, f"{doc_id}#00002", start, start + len(quote), quote, url, "Wind")


def a_nearest(doc_id: str = "guide/wind.md", url: str | None = None, quote: str = "Wind turns blades.") -> Nearest:
    return Nearest(doc_id, "Wind", url, 10, 10 + len(quote), quote)


def a_done(
    answer: str | None = "Wind turns blades. [1]",
    message: str | None = None,
    citations: tuple[Citation, ...] | None = None,
    warnings: tuple[AnswerWarning, ...] = (),
    nearest: tuple[Nearest, ...] = (),
) -> Done:
    """A finished answer; without `answer` a declined one."""
    declined = "I don't know. The passages found do not answer this."
    given = (a_citation(),) if citations is None else citations
    return Done(
        answer=answer,
        message=message if message is not None else answer or declined,
        citations=given if answer else (),
        passages=(a_passage(),),
        gate_reason="generated_answer" if answer else "generated_no_answer_low_confidence",
        synthesizer="extractive" if answer else None,
        warnings=warnings,
        timings_ms={"retrieve": 3.0, "total": 5.0},
        fingerprint="0123456789abcdef",
        nearest=nearest,
    )


MANIFEST = Manifest(
    Identity("fake", "mean", 8, "", "", 2048, 512, 128), "fake", "fp32", "id", "2026-01-01T00:00:00+00:00"
)


class SearchlessCorpus(Corpus):
    """A real corpus in memory with neither vectors nor words, so that no Chroma has to start; nothing can search it.

    Attributes:
        bytes_on_disk: what `size_bytes` returns.
    """

    def __init__(self, name: str, documents: Sequence[StoredDocument]) -> None:
        super().__init__(name, MANIFEST, MemoryStores())
        self.bytes_on_disk = 0
        if documents:
            self.documents.publish(documents, [np.empty((0, 8), np.float32)] * len(documents))

    def size_bytes(self) -> int:
        return self.bytes_on_disk

    def delete(self, doc_ids: Iterable[str]) -> int:
        known = list(self.catalogue.sources(doc_ids))
        self.documents.forget_pending(self.documents.publish([], [], known))
        return len(known)


class FakePapers:
    """Finds what it is given, and notes what it was asked."""

    def __init__(self) -> None:
        self.questions: list[PaperQuestion] = []
        self.found: list[Paragraph] = []

    def search(self, question: PaperQuestion) -> list[Paragraph]:
        self.questions.append(question)
        return self.found


_FIELDS = {
    "questions": "text",
    "filters": "filters",
    "steerings": "steering",
    "deadlines": "deadline",
    "limits": "top_k",
    "conversations": "turns",
    "query_times": "query_time",
}


class FakeEngine:
    """Plays its script for every question and notes what it was asked.

    Attributes:
        inquiries: what `retrieve` and `stream` were asked, in order.
        questions, filters, steerings, deadlines, limits, conversations, query_times: one field of each of them.
        gathers: what `stream` was told to gather with, in order; None for a single pass.
        options, refinements: what `retrieve` was called with, in order.
        pipeline: what `retrieve` does around its search.
        version: what `fingerprint` returns.
        paper_search: what `papers` returns.
        found: the passages that `retrieve` returns.
        started, ended: streams that began to work, and that were closed or played to the end.
    """

    def __init__(self, script: Script = (), documents: Sequence[StoredDocument] = (), corpus: str = "default") -> None:
        self.corpus = SearchlessCorpus(corpus, documents)
        self.inquiries: list[Inquiry] = []
        self.options: list[RetrievalSettings] = []
        self.refinements: list[RetrievalPipeline | None] = []
        self.pipeline = RetrievalPipeline()
        self.helper: PromptHelper | None = None
        self.gathers: list[object] = []
        self.version = "0123456789abcdef"
        self.paper_search = FakePapers()
        self.found: tuple[Passage, ...] = (a_passage(),)
        self.left_out: tuple[Passage, ...] = ()
        self.started = 0
        self.ended = 0
        self._script = script

    def __getattr__(self, name: str) -> list[Any]:
        """Return one field of all inquiries: `questions`, `filters`, `steerings`, `deadlines`, …, in order."""
        if name not in _FIELDS:
            raise AttributeError(name)
        return [getattr(inquiry, _FIELDS[name]) for inquiry in self.inquiries]

    def fingerprint(self) -> str:
        return self.version

    def papers(self) -> FakePapers:
        return self.paper_search

    def retrieve(
        self, inquiry: Inquiry, options: RetrievalSettings | None = None, pipeline: RetrievalPipeline | None = None
    ) -> Retrieval:
        if inquiry.filters is not None:
            where(inquiry.filters)
        self.inquiries.append(inquiry)
        if options is not None:
            self.options.append(options)
        self.refinements.append(pipeline)
        return Retrieval(
            self.found, {"retrieve": 3.0}, (AnswerWarning("rerank_skipped", "It is too slow."),), self.left_out
        )

    def one_pass(self, question: str, context: SearchContext) -> Evidence:  # noqa: ARG002
        raise AssertionError("a script gathers nothing")

    async def stream(
        self, inquiry: Inquiry, gather: Callable[[str, SearchContext], Evidence] | None = None
    ) -> AsyncGenerator[Event, None]:
        self.inquiries.append(inquiry)
        self.gathers.append(gather)
        self.started += 1
        try:
            for act in self._script:
                if isinstance(act, Exception):
                    raise act
                if isinstance(act, asyncio.Event):
                    await act.wait()
                elif callable(act):
                    act()
                else:
                    yield act
        finally:
            self.ended += 1


@dataclass
class FakeEngines:
    """Engines by corpus, which count as open unless `closed` names them.

    Attributes:
        failures: raised instead of opening a corpus.
        writers: that leases were asked for, in order; None where none was chosen.
        leases: those that were not given back.
        looks: how often `look_at_disk` was called.
    """

    engines: Mapping[str, FakeEngine] = field(default_factory=dict)
    failures: Mapping[str, Exception] = field(default_factory=dict)
    default: str = "default"
    facts: dict[str, Any] = field(default_factory=dict)
    closed: set[str] = field(default_factory=set)
    leases: int = 0
    writers: list[str | None] = field(default_factory=list)
    looks: int = 0

    def lease(
        self,
        name: str | None = None,
        *,
        create: bool = False,
        writer: str | None = None,
        groups: Groups | None = None,  # noqa: ARG002
    ) -> Lease[FakeEngine]:
        wanted = name or self.default
        self.writers.append(writer)
        if wanted in self.failures:
            raise self.failures[wanted]
        if create and wanted not in self.engines:
            self.engines = {**self.engines, wanted: FakeEngine(corpus=wanted)}
        if wanted not in self.engines:
            raise UnknownCorpusError.of(wanted, self.names())
        self.closed.discard(wanted)
        self.leases += 1
        return Lease(self.engines[wanted], self._give_back)

    def lease_open(
        self,
        name: str | None = None,
        *,
        writer: str | None = None,
        groups: Groups | None = None,  # noqa: ARG002
    ) -> Lease[FakeEngine] | None:
        wanted = name or self.default
        return self.lease(wanted, writer=writer) if wanted in self.engines.keys() - self.closed else None

    def names(self) -> list[str]:
        return sorted({*self.engines, *self.failures})

    def drop(self, name: str) -> None:
        self.lease(name).release()
        self.engines = {one: engine for one, engine in self.engines.items() if one != name}

    def rename(self, old: str, new: str) -> None:
        engine = self.lease(old).item
        self.drop(old)
        self.engines = {**self.engines, new: engine}

    def status(self) -> dict[str, Any]:
        return {
            "corpora": {name: {"documents": 3, "leaves": 12} for name in self.engines},
            "on_disk": {},
            "refused": {},
            "embedding": "minilm",
            "synthesizer": "extractive",
            "llm_ready": True,
            "llm_reason": "No language model is used.",
            **self.facts,
        }

    def look_at_disk(self) -> None:
        self.looks += 1

    def _give_back(self) -> None:
        self.leases -= 1


@dataclass
class OneEngine:
    """Engines of which there is one, the default: a real one."""

    engine: Engine

    def lease(self, name: str | None = None, **_: Any) -> Lease[Engine]:
        if name not in (None, self.engine.corpus.name):
            raise UnknownCorpusError.of(name, self.names())
        return Lease(self.engine, lambda: None)

    def lease_open(self, name: str | None = None, **_: Any) -> Lease[Engine] | None:
        return self.lease(name) if name in (None, *self.names()) else None

    def names(self) -> list[str]:
        return [self.engine.corpus.name]

    def status(self) -> dict[str, Any]:
        return {}

    def drop(self, name: str) -> None:
        raise AssertionError(f"{name} is not to be dropped")

    def rename(self, old: str, new: str) -> None:
        raise AssertionError(f"{old} is not to be called {new}")

    def look_at_disk(self) -> None:
        raise AssertionError("no probe is asked")
