"""From a question to a cited answer, as one stream of events. This is the main path; read it first.

Flow: the routes (`/query`, `/run`), the command line and the evaluation harness are views of `Engine.stream`:

    understand (`understanding.py`) -> search, for each part (`search.py`, `retrieval/multi_part.py`)
        -> read and decide (`reader/`, `answerability/`) -> show (`synthesis/fallback_chain.py`)

Questions about the collection itself are answered from the catalogue, without a search. Built by
`build.py`. What a stage does is its own module's business; the engine orders them and tells readers what happened. The
stages are a plain iterator, run in one thread; `answer_stream.py` reads it from the event loop and enforces the
deadline.
"""

import hashlib
import json
import time
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Sequence
from functools import partial

from llama_index.core.base.embeddings.base import BaseEmbedding

from index.corpus import Corpus
from index.embedding.cached import is_multilingual
from query_engine import steps
from query_engine.answer_stream import answer_stream
from query_engine.answerability.classifier import Confidence, assess
from query_engine.answerability.identified import (
    Unnamed,
    in_quotes,
    is_identified,
    unnamed_identifiers,
    with_names,
)
from query_engine.answerability.missing_words import missing_words
from query_engine.collection.listing import ListingSynthesizer, row_sources
from query_engine.collection.rows import Rows, find_rows
from query_engine.inquiry import Inquiry
from query_engine.llms.helper import PromptHelper
from query_engine.question.condense import Condenser
from query_engine.question.decompose import ONE_PASS, Plan, Planner, other_language
from query_engine.question.validation import clean_question
from query_engine.reader.leaves import stored_documents
from query_engine.reader.nearest import nearest_places
from query_engine.reader.reading import LeafReader
from query_engine.reader.window import ReadWindow
from query_engine.retrieval.multi_part import Evidence, Gathering, SearchContext
from query_engine.retrieval.papers import PaperSearch
from query_engine.retrieval.pipeline import RetrievalPipeline
from query_engine.retrieval.sections import sections
from query_engine.runtime.deadline import Deadline
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Done, Event, Retrieved
from query_engine.schema.passage import Passage
from query_engine.schema.retrieval_result import Retrieval
from query_engine.schema.source import Source
from query_engine.schema.turn import Turn
from query_engine.search import CorpusSearch
from query_engine.synthesis.base import Synthesizer, Writer
from query_engine.synthesis.extractive import ExtractiveSynthesizer
from query_engine.synthesis.fallback_chain import Answer, write
from query_engine.synthesis.per_part import PerPartSynthesizer
from query_engine.synthesis.quoting import NothingSynthesizer
from query_engine.understanding import Understanding
from settings import VERSION, RetrievalSettings, Settings

LOW_CONFIDENCE = AnswerWarning("low_confidence", "The passages are about this, but perhaps do not answer it.")
# `{}` is the documents' language.
OTHER_LANGUAGE = (
    "The documents are in {}, and the corpus's embedding model matches no other language with it: passages may be "
    "missed. Ask in {}, or `RAG_EMBED__MODEL=multilingual python -m ingestion reembed`."
)
ONE_SEARCH = AnswerWarning("one_search", "Several searches take a language model; without one the question got one.")

Gather = Callable[[str, SearchContext], Evidence]
"""Finds the passages that a question is answered from."""


class Engine:
    """Answers questions from one corpus.

    Args:
        corpus: an open corpus.
        embedder: the model the corpus was built with.
        reader: reads passages, for the gate.
        models: who writes, in order: each is asked when the one before it failed.
        settings: retrieval options and the gate's threshold.
        pipeline: what is done before and after the search for leaves; nothing by default.
        helper: asks the language model on the side; None where there is none.
        writer: by whom `models` were chosen; None: by the settings.

    Attributes:
        corpus, reader, pipeline, helper: as given.
        search: finds passages.
        looked_s: when it was last known to show what is committed, on the monotonic clock.
    """

    def __init__(
        self,
        corpus: Corpus,
        embedder: BaseEmbedding,
        reader: LeafReader,
        models: Sequence[Writer],
        *,
        settings: Settings,
        pipeline: RetrievalPipeline | None = None,
        helper: PromptHelper | None = None,
        writer: str | None = None,
    ) -> None:
        self.corpus = corpus
        self.looked_s = time.monotonic()
        self._embedder = embedder
        self.reader = reader
        self._models = tuple(models)
        self._quoting = ExtractiveSynthesizer(reader)
        self._settings = settings
        self.pipeline = pipeline or RetrievalPipeline()
        self.search = CorpusSearch(corpus, embedder, settings.retrieval, self.pipeline)
        self._understanding = Understanding(corpus, Condenser(helper), settings.answer)
        self._planner = Planner(helper)
        self.helper = helper
        self._writer = writer

    def retrieve(
        self, inquiry: Inquiry, options: RetrievalSettings | None = None, pipeline: RetrievalPipeline | None = None
    ) -> Retrieval:
        """Find passages; blocks. `turns` and `top_k` of the inquiry are not read.

        Args:
            inquiry: its deadline limits expansion and reranking; None sets no limit.
            options: default to the settings.
            pipeline: defaults to what the settings chose.

        Raises:
            QuestionError: the question cannot be asked as it stands.
            FilterError: the filter is empty or has no meaning.
            OutOfTimeError: the client has left.
        """
        return self.search.passages(
            clean_question(inquiry.text),
            versions=self.search.versions(inquiry.filters),
            steering=inquiry.steering,
            options=options,
            pipeline=pipeline,
            deadline=inquiry.deadline,
        )

    def papers(self) -> PaperSearch:
        """Return the search for paragraphs of papers."""
        return PaperSearch(self.corpus, self._embedder)

    def stream(self, inquiry: Inquiry, gather: Gather | None = None) -> AsyncGenerator[Event, None]:
        """Answer a question; see `schema/events.py` for the order of events.

        The last event comes before the deadline. Closing the iterator stops all work and waits until it has stopped.
        The question is checked when the first event is awaited.

        Args:
            inquiry: the question and what belongs to it; `writer` is not read, `mode` is for those who pass `gather`.
            gather: finds the passages that the answer is written from, once the question has been read; one pass over
                the corpus if None.

        Raises:
            QuestionError: the question cannot be asked as it stands (in place of the first event).
            FilterError: the filter is empty or has no meaning.
        """
        stages = partial(self.stages, inquiry, gather=gather)
        return answer_stream(inquiry, self._settings.answer, stages)

    def one_pass(self, question: str, context: SearchContext) -> Evidence:
        """Return what `stream` gathers by itself: the question's own search, and one for each of its parts."""
        return Gathering(question, self._plan, context)

    def stages(
        self, inquiry: Inquiry, answer: Answer, deadline: Deadline, gather: Gather | None = None
    ) -> Generator[Event, None, None]:
        """Go through the stages, `answer` growing with them; its threads have ended when this has.

        The plain iterator behind `stream`, which enforces the deadline: for those that do something before it.
        """
        try:
            yield from self._answer(inquiry, answer, deadline, gather or self.one_pass)
        finally:
            answer.join()

    def _answer(self, inquiry: Inquiry, answer: Answer, deadline: Deadline, gather: Gather) -> Iterator[Event]:
        answer.fingerprint = self.fingerprint()
        if (yield from self._understanding.read(inquiry, answer, deadline)):
            return
        question = answer.question
        yield steps.searching(question, self.corpus.name)
        if not self.corpus.documents.count():
            yield steps.empty(self.corpus.name)
            yield answer.done("no_retrieval", message=steps.EMPTY, corpus=self.corpus.name)
            return
        versions = self.search.versions(inquiry.filters)
        if versions is not None and not versions:
            yield steps.filtered_out()
            yield answer.done("no_retrieval", message=steps.FILTERED_OUT)
            return
        gathering = gather(question, self._context(inquiry, versions, answer, deadline))
        yield from gathering.steps()
        retrieval = gathering.retrieval
        answer.timings_ms.update(retrieval.timings_ms)
        rows = self._rows(question, retrieval)
        answer.sources = self._sources(retrieval, rows, answer.turns) if self._models else ()
        answer.passages = tuple(one.passage for one in answer.sources) or retrieval.passages
        answer.passages = answer.passages[: inquiry.top_k]
        answer.warnings += retrieval.warnings
        if not is_multilingual(self._embedder) and (language := other_language(inquiry.text, retrieval.passages)):
            answer.warnings.append(AnswerWarning("other_language", OTHER_LANGUAGE.format(language, language)))
        if inquiry.mode == "agent" and self.helper is None:
            answer.warnings.append(ONE_SEARCH)
        yield from steps.found(answer.passages)
        yield Retrieved(answer.passages)
        confidence = gathering.confidence(self._judge(question, retrieval.passages))
        windows = self.reader.read(question, retrieval.passages).windows if retrieval.passages else ()
        unnamed = unnamed_identifiers(inquiry.text, self.corpus, windows)
        listed = any(one.certain for one in rows)
        expected = listed or (self._is_likely(question, confidence, windows) and not unnamed.beside_others)
        warnings = unnamed.warnings(quoted=not self._models)  # language models read more than the windows
        answer.warnings += warnings
        yield from map(steps.warned, warnings)
        if not expected and not (self._models and retrieval.passages):
            yield steps.declined(confidence)
            reason = "generated_no_answer_low_confidence" if retrieval.passages else "no_retrieval"
            yield self._declined(inquiry.text, answer, reason, confidence, retrieval.passages, unnamed=unnamed)
            return
        in_doubt = not listed and (not expected or confidence.value < self._settings.answer.low_confidence)
        yield steps.doubtful(confidence) if in_doubt else steps.confident(confidence)
        quoting = self._quoting_for(gathering, rows, expected=expected)
        yield from write(self._models, quoting, answer, deadline, self._settings.llm.max_words)
        if answer.text.strip():
            if answer.synthesizer == quoting.name:  # a language model has decided by itself, and lists its sources
                self._beside_quotes(answer, retrieval.passages, in_doubt=in_doubt)
            yield answer.done("generated_answer")
        else:
            yield steps.nothing_written(confidence)
            reason = "generated_no_answer_but_confident" if expected else "generated_no_answer_low_confidence"
            yield self._declined(inquiry.text, answer, reason, confidence, retrieval.passages, unnamed=unnamed)

    def _context(
        self, inquiry: Inquiry, versions: frozenset[str] | None, answer: Answer, deadline: Deadline
    ) -> SearchContext:
        """Return what gathering works with; `versions` are those that may be searched, None for all."""
        wanted = max(self._settings.retrieval.top_k, inquiry.top_k or 0)
        options = self._settings.retrieval.model_copy(update={"top_k": wanted})
        search = partial(
            self.search.passages, versions=versions, steering=inquiry.steering, options=options, deadline=deadline
        )
        return SearchContext(
            search,
            self._judge,
            self._quoted,
            self.corpus.lexical_index,
            self._settings.answer.min_confidence,
            options,
            deadline,
            answer.threads,
        )

    def _beside_quotes(self, answer: Answer, found: Sequence[Passage], *, in_doubt: bool) -> None:
        """Add what is shown with quotes: doubt, and the next places."""
        if in_doubt:
            answer.warnings.append(LOW_CONFIDENCE)
        answer.nearest = nearest_places(self.reader, answer.question, found, answer.citations.all(answer.cited))

    def _declined(
        self,
        asked: str,
        answer: Answer,
        reason: str,
        confidence: Confidence,
        found: Sequence[Passage],
        *,
        unnamed: Unnamed,
    ) -> Done:
        """Close a declined answer with what was missing, and with the places where a reader may look."""
        if not found:
            return answer.done(reason, steps.NOTHING_FOUND)
        answer.nearest = nearest_places(self.reader, answer.question, answer.passages)
        missing = (*unnamed.absent, *unnamed.elsewhere) or missing_words(
            asked, confidence, found, self.corpus.lexical_index
        )
        return answer.done(reason, steps.UNMENTIONED, words=in_quotes(missing)) if missing else answer.done(reason)

    def _plan(self, question: str, deadline: Deadline, found: Sequence[Passage]) -> Plan:
        return self._planner.plan(question, deadline, found) if self._settings.answer.plan else ONE_PASS

    def _judge(self, question: str, passages: Sequence[Passage]) -> Confidence:
        return assess(question, passages, self.corpus.lexical_index, self._embedder, self.reader)

    def _quoted(self, question: str, passages: Sequence[Passage]) -> str:
        windows = self.reader.read(question, passages).windows if passages else ()
        return with_names(windows[0]) if windows else ""

    def _is_likely(self, question: str, confidence: Confidence, windows: Sequence[ReadWindow]) -> bool:
        """Whether the passages are likely to answer."""
        words = self.corpus.lexical_index.words_of(question)
        return confidence.value >= self._settings.answer.min_confidence or is_identified(question, windows, words)

    def _rows(self, question: str, retrieval: Retrieval) -> tuple[Rows, ...]:
        found = (*retrieval.passages, *retrieval.left_out)
        return find_rows(question, found, stored_documents(self.corpus.documents), self.corpus.lexical_index)

    def _sources(self, retrieval: Retrieval, rows: Sequence[Rows], turns: Sequence[Turn]) -> tuple[Source, ...]:
        """Return what language models read: rows that are asked for, then the sections around what was found.

        Passages are read as they are where the settings merge none. Rows take up half of the room at most.
        """
        room = min(self._settings.answer.max_context_chars, self._models[0].room_chars(turns))
        listed = row_sources(rows, room // 2)
        if not self._settings.retrieval.merge:
            return (*listed, *map(Source, retrieval.passages))
        found = (*retrieval.passages, *retrieval.left_out)
        room -= sum(len(one.passage.text) for one in listed)
        return (*listed, *sections(found, stored_documents(self.corpus.documents), room))

    def _quoting_for(self, gathering: Evidence, rows: Sequence[Rows], *, expected: bool) -> Synthesizer:
        """Return who quotes where no language model answers.

        A language model decides itself whether the sources answer; quotes need the gate's consent. A question whose
        parts can be answered separately gets a quote for each, one for rows of a table gets those.
        """
        if not expected:
            return NothingSynthesizer()
        if rows:
            return ListingSynthesizer(rows)
        if gathering.parts:
            return PerPartSynthesizer(self._quoting, gathering.parts)
        return self._quoting

    def fingerprint(self) -> str:
        """Hash of everything that decides an answer: version, settings, models, documents; 16 hex digits."""
        parts = {
            "version": VERSION,
            "settings": self._settings.model_dump(
                mode="json", include={"retrieval", "rerank", "expansion", "answer", "llm"}
            ),
            "writer": self._writer,
            "identity": self.corpus.manifest.identity.fingerprint(),
            "documents": self.corpus.documents.state(),
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]


GatheringOver = Callable[[Engine, Callable[[str, Deadline], Retrieval]], Gather]
"""The same over an engine whose corpus grows: given that engine, and a search that brings more into it."""
