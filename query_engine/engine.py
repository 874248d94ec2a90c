"""From a question to a cited answer, as one stream of events. This is the main path; read it first.

Flow: `/run`, `/evaluate`, the command line and the evaluation harness are views of `Engine.stream`:

    question -> leaves (dense + lexical, fused) -> merged passages -> gate -> synthesizer -> citations -> done

Built by `build.py`. What a stage does is its own module's business; the engine orders them, tells the reader what
happened, and sees to it that a failing model still ends in an answer from the same passages.
"""

import asyncio
import hashlib
import json
import logging
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.response.schema import Response
from llama_index.core.instrumentation.events.retrieval import RetrievalEndEvent, RetrievalStartEvent
from llama_index.core.instrumentation.events.synthesis import SynthesizeEndEvent, SynthesizeStartEvent
from llama_index_instrumentation import get_dispatcher

from errors import LLMError
from index.corpus import Corpus
from query_engine import steps
from query_engine.citing import Citations
from query_engine.events import Done, Event, Restarted, Retrieved, Token
from query_engine.expansion.steering import Steering
from query_engine.gate import Confidence, assess
from query_engine.leaves import LeafRetriever
from query_engine.merging import MergingRetriever
from query_engine.papers import PaperSearch
from query_engine.passages import Passage
from query_engine.query import Query
from query_engine.question import clean_question
from query_engine.refining import Refinement
from query_engine.synthesizer import Synthesizer
from query_engine.worker import iterate_in_thread
from settings import VERSION, RetrievalSettings, Settings

logger = logging.getLogger(__name__)
dispatcher = get_dispatcher(__name__)

NOT_STEERED = "steering_skipped: Only the search by meaning can be steered, and the mode is lexical."


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What a search found.

    Attributes:
        passages: best first.
        timings_ms: `retrieve`, and of it `expand` and `rerank` where they are set.
        warnings: `code: sentence` for each stage that was left out.
    """

    passages: tuple[Passage, ...]
    timings_ms: dict[str, float]
    warnings: tuple[str, ...] = ()


class Engine:
    """Answers questions from one corpus.

    Args:
        corpus: an open corpus.
        embedder: the model the corpus was built with.
        authors: who writes, in order: each is asked when the one before it failed. The last one never fails.
        settings: retrieval options and the gate's threshold.
        refinement: what is done before and after the search for leaves; nothing by default.
    """

    def __init__(
        self,
        corpus: Corpus,
        embedder: BaseEmbedding,
        authors: Sequence[Synthesizer],
        settings: Settings,
        refinement: Refinement | None = None,
    ) -> None:
        self.corpus = corpus
        self._embedder = embedder
        self._authors = tuple(authors)
        self._settings = settings
        self.refinement = refinement or Refinement()

    def retriever(
        self, options: RetrievalSettings | None = None, refinement: Refinement | None = None
    ) -> MergingRetriever:
        """Return a LlamaIndex retriever over the corpus; what is left out is as the settings say."""
        options = options or self._settings.retrieval
        return MergingRetriever(self.corpus, self.leaf_retriever(options), options, refinement or self.refinement)

    def leaf_retriever(self, options: RetrievalSettings) -> LeafRetriever:
        """Return the search for leaves, before they are reordered and merged."""
        return LeafRetriever(self.corpus, self._embedder, options)

    def papers(self) -> PaperSearch:
        """Return the search for paragraphs of papers."""
        return PaperSearch(self.corpus, self._embedder)

    def retrieve(
        self,
        question: str,
        options: RetrievalSettings | None = None,
        filters: Mapping[str, Any] | None = None,
        refinement: Refinement | None = None,
        steering: Steering | None = None,
    ) -> Retrieval:
        """Find passages; blocks.

        Args:
            question: as it was asked.
            options: default to the settings.
            filters: which documents may be found, see `index.filters.where`; None allows all.
            refinement: default to what the settings chose.
            steering: moves the question; None leaves it.

        Raises:
            QuestionError: the question cannot be asked as it stands.
            FilterError: the filter is empty or has no meaning.
        """
        question = clean_question(question)
        return self._retrieve(question, self._versions(filters), steering, options, refinement)

    async def stream(
        self, question: str, filters: Mapping[str, Any] | None = None, steering: Steering | None = None
    ) -> AsyncGenerator[Event, None]:
        """Answer a question; see `events.py` for the order of events. Closing the iterator stops all work.

        Args:
            question: as it was asked.
            filters: which documents may be found, see `index.filters.where`; None allows all.
            steering: moves the question; None leaves it.

        Raises:
            QuestionError: the question cannot be asked as it stands (before the first event).
            FilterError: the filter is empty or has no meaning.
        """
        question = clean_question(question)
        answer = _Answer(question, time.perf_counter())
        yield steps.searching(question, self.corpus.name)
        answer.fingerprint = await asyncio.to_thread(self.fingerprint)
        if not await asyncio.to_thread(self.corpus.documents.count):
            yield steps.empty(self.corpus.name)
            yield answer.done("no_retrieval", message=steps.EMPTY.format(corpus=self.corpus.name))
            return
        versions = await asyncio.to_thread(self._versions, filters)
        if versions is not None and not versions:
            yield steps.filtered_out()
            yield answer.done("no_retrieval", message=steps.FILTERED_OUT)
            return
        retrieval = await asyncio.to_thread(self._retrieve, question, versions, steering)
        answer.timings_ms.update(retrieval.timings_ms)
        answer.passages = retrieval.passages
        answer.warnings += retrieval.warnings
        for warning in retrieval.warnings:
            yield steps.left_out(warning)
        for step in steps.found(retrieval.passages):
            yield step
        yield Retrieved(retrieval.passages)
        confidence = await asyncio.to_thread(assess, question, retrieval.passages, self.corpus.words, self._embedder)
        if confidence.value < self._settings.answer.min_confidence:
            yield steps.declined(confidence)
            yield answer.done("generated_no_answer_low_confidence" if retrieval.passages else "no_retrieval")
            return
        yield steps.confident(confidence)
        async with aclosing(self._write(answer, confidence)) as events:
            async for event in events:
                yield event

    def _versions(self, filters: Mapping[str, Any] | None) -> frozenset[str] | None:
        return None if filters is None else self.corpus.catalogue.versions(filters)

    def _retrieve(
        self,
        question: str,
        versions: frozenset[str] | None,
        steering: Steering | None,
        options: RetrievalSettings | None = None,
        refinement: Refinement | None = None,
    ) -> Retrieval:
        started = time.perf_counter()
        dispatcher.event(RetrievalStartEvent(str_or_query_bundle=question))
        options = options or self._settings.retrieval
        query = Query(question, versions=versions)
        warnings: tuple[str, ...] = ()
        if steering is not None and options.mode == "lexical":
            warnings = (NOT_STEERED,)
        elif steering is not None:
            query = steering.steer(query, self._embedder)
        found, refined = self.retriever(options, refinement).search(query)
        dispatcher.event(RetrievalEndEvent(str_or_query_bundle=question, nodes=found))
        warnings += refined.warnings
        for warning in warnings:
            logger.warning("A stage was left out: %s", warning)
        timings_ms = {"retrieve": _ms_since(started), **refined.timings_ms}
        return Retrieval(tuple(map(Passage.of, found)), timings_ms, warnings)

    async def _write(self, answer: "_Answer", confidence: Confidence) -> AsyncGenerator[Event, None]:
        """Let the authors write, one after the other until one succeeds."""
        started = time.perf_counter()
        for author in self._authors:
            answer.begin(author.name)
            yield steps.writing(author.name)
            dispatcher.event(SynthesizeStartEvent(query=answer.question))
            try:
                async with aclosing(iterate_in_thread(_writing(author, answer))) as pieces:
                    async for piece in pieces:
                        answer.text += piece
                        yield Token(piece)
            except LLMError as error:
                logger.warning("The %s author failed: %s", author.name, error.fact)
                answer.warnings.append(f"{error.code}: {error.fact}")
                if answer.text:
                    yield Restarted(error.fact)
                yield steps.failed(author.name, error)
                continue
            dispatcher.event(SynthesizeEndEvent(query=answer.question, response=Response(answer.text)))
            break
        answer.timings_ms["write"] = _ms_since(started)
        if answer.text.strip():
            yield answer.done("generated_answer")
        else:
            yield steps.nothing_written(confidence)
            yield answer.done("generated_no_answer_but_confident")

    def fingerprint(self) -> str:
        """Hash of everything that decides an answer: version, settings, models, documents; 16 hex digits."""
        parts = {
            "version": VERSION,
            "settings": self._settings.model_dump(
                mode="json", include={"retrieval", "rerank", "expansion", "answer", "llm"}
            ),
            "identity": self.corpus.manifest.identity.fingerprint(),
            "documents": self.corpus.documents.state(),
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]


class _Answer:
    """The answer while it grows."""

    def __init__(self, question: str, started: float) -> None:
        self.question = question
        self.passages: tuple[Passage, ...] = ()
        self.warnings: list[str] = []
        self.timings_ms: dict[str, float] = {}
        self.fingerprint = ""
        self._started = started
        self.begin(None)

    def begin(self, author: str | None) -> None:
        """Start over with a new author."""
        self.author = author
        self.text = ""
        self.citations = Citations()

    def done(self, gate_reason: str, message: str = steps.NO_ANSWER) -> Done:
        """Close the answer."""
        text = self.text.strip() or None
        self.timings_ms["total"] = _ms_since(self._started)
        return Done(
            answer=text,
            message=text or message,
            citations=self.citations.all() if text else (),
            passages=self.passages,
            gate_reason=gate_reason,
            synthesizer=self.author if text else None,
            warnings=tuple(self.warnings),
            timings_ms=self.timings_ms,
            fingerprint=self.fingerprint,
        )


def _writing(author: Synthesizer, answer: _Answer) -> Callable[[threading.Event], Iterator[str]]:
    return lambda stop: author.write(answer.question, answer.passages, answer.citations, stop)


def _ms_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 1)
