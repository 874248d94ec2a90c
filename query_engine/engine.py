"""From a question to a cited answer, as one stream of events. This is the main path; read it first.

Flow: `/run`, `/evaluate`, the command line and the evaluation harness are views of `Engine.stream`:

    question (made to stand on its own) -> plan -> leaves (dense + lexical, fused) -> merged passages, for each part
        -> gate -> synthesizers (`synthesis/fallback_chain.py`) -> citations -> done

Small talk and questions about the collection itself are answered from the catalogue (`collection/answers.py`), without
a search. Built by `build.py`. What a stage does is its own module's business; the engine orders them, tells the reader
what happened, and falls back to quotes from the same passages if a model fails. The stages are a plain iterator, run in
one thread; `answer_stream.py` reads it from the event loop and enforces the deadline.
"""

import hashlib
import json
import logging
import time
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding

from index.corpus import Corpus
from index.lexical.language import question_language
from query_engine import steps
from query_engine.answer_stream import answer_stream
from query_engine.answerability.classifier import Confidence, assess
from query_engine.answerability.missing_words import missing_words
from query_engine.collection.answers import answer_about_collection
from query_engine.collection.extract import documents_of
from query_engine.collection.outcomes import Outcome, OutcomeSynthesizer, find_outcome
from query_engine.collection.rows import find_rows, show_rows
from query_engine.inquiry import Inquiry
from query_engine.llms.helper import PromptHelper
from query_engine.question.condense import Condenser
from query_engine.question.decompose import ONE_PASS, Plan, Planner
from query_engine.question.document_names import without_document_names
from query_engine.question.framing import without_frame
from query_engine.question.spelling import Correction, corrected
from query_engine.question.validation import clean_question
from query_engine.reader.nearest import nearest_sentences
from query_engine.reader.reading import LeafReader
from query_engine.retrieval.expansion.steering import Steering
from query_engine.retrieval.hybrid import LeafRetriever
from query_engine.retrieval.leaf_texts import leaf_texts
from query_engine.retrieval.merging.retriever import MergingRetriever
from query_engine.retrieval.multi_part import Evidence, Gathering, Narrowed, SearchContext
from query_engine.retrieval.papers import PaperSearch
from query_engine.retrieval.pipeline import RetrievalPipeline
from query_engine.runtime.deadline import Deadline
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Done, Event, Retrieved
from query_engine.schema.passage import Passage
from query_engine.schema.query import Query
from query_engine.schema.retrieval_result import Retrieval
from query_engine.synthesis.base import Synthesizer
from query_engine.synthesis.fallback_chain import QUOTING_S, Answer, ms_since, write
from query_engine.synthesis.narrowed import NarrowedSynthesizer
from query_engine.synthesis.per_part import PerPartSynthesizer
from query_engine.synthesis.quoting import QuotingSynthesizer
from query_engine.synthesis.unsaid import unsaid
from query_engine.text.words import WORD
from settings import VERSION, RetrievalSettings, Settings

logger = logging.getLogger(__name__)

LOW_CONFIDENCE = AnswerWarning("low_confidence", "The passages are about this, but perhaps do not answer it.")
NOT_STEERED = AnswerWarning("steering_skipped", "Only the search by meaning can be steered, and the mode is lexical.")
# Only the first documents that were found are checked for names that a question has.
NAMED_DOCUMENTS = 4
# With fewer leaves all of them are read anyway.
NAMED_LEAVES = 4

Gather = Callable[[str, SearchContext], Evidence]
"""Finds the passages that a question is answered from."""


class Engine:
    """Answers questions from one corpus.

    Args:
        corpus: an open corpus.
        embedder: the model the corpus was built with.
        reader: reads passages, for the gate.
        synthesizers: who writes, in order: each is asked when the one before it failed. The last one never fails.
        settings: retrieval options and the gate's threshold.
        pipeline: what is done before and after the search for leaves; nothing by default.
        condenser: reads the conversation before a question; by words alone by default.
        planner: takes apart questions that ask for several things; by grammar alone by default.
        helper: asks the language model on the side; None where there is none.

    Attributes:
        corpus, pipeline, helper: as given.
    """

    def __init__(
        self,
        corpus: Corpus,
        embedder: BaseEmbedding,
        reader: LeafReader,
        synthesizers: Sequence[Synthesizer],
        settings: Settings,
        *,
        pipeline: RetrievalPipeline | None = None,
        condenser: Condenser | None = None,
        planner: Planner | None = None,
        helper: PromptHelper | None = None,
    ) -> None:
        self.corpus = corpus
        self._embedder = embedder
        self._reader = reader
        self._synthesizers = tuple(synthesizers)
        self._settings = settings
        self.pipeline = pipeline or RetrievalPipeline()
        self._condenser = condenser or Condenser()
        self._planner = planner or Planner()
        self.helper = helper

    def retriever(
        self, options: RetrievalSettings | None = None, pipeline: RetrievalPipeline | None = None
    ) -> MergingRetriever:
        """Return a LlamaIndex retriever over the corpus; what is left out is as the settings say."""
        options = options or self._settings.retrieval
        return MergingRetriever(self.corpus, self.leaf_retriever(options), options, pipeline or self.pipeline)

    def leaf_retriever(self, options: RetrievalSettings) -> LeafRetriever:
        """Return the search for leaves, before they are reordered and merged."""
        return LeafRetriever(self.corpus, self._embedder, options)

    def papers(self) -> PaperSearch:
        """Return the search for paragraphs of papers."""
        return PaperSearch(self.corpus, self._embedder)

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
        question = clean_question(inquiry.text)
        versions = self._versions(inquiry.filters)
        return self._retrieve(question, versions, inquiry.steering, options, pipeline, deadline=inquiry.deadline)

    def stream(self, inquiry: Inquiry, gather: Gather | None = None) -> AsyncGenerator[Event, None]:
        """Answer a question; see `schema/events.py` for the order of events.

        The last event comes before the deadline. Closing the iterator stops all work and waits until it has stopped.
        The question is checked when the first event is awaited.

        Args:
            inquiry: the question and what belongs to it; its `mode` is not read.
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
        if (yield from self._read(inquiry, answer, deadline)):
            return
        question = answer.question
        yield steps.searching(question, self.corpus.name)
        if not self.corpus.documents.count():
            yield steps.empty(self.corpus.name)
            yield answer.done("no_retrieval", message=steps.EMPTY, corpus=self.corpus.name)
            return
        versions = self._versions(inquiry.filters)
        if versions is not None and not versions:
            yield steps.filtered_out()
            yield answer.done("no_retrieval", message=steps.FILTERED_OUT)
            return
        wanted = max(self._settings.retrieval.top_k, inquiry.top_k or 0)
        options = self._settings.retrieval.model_copy(update={"top_k": wanted})
        search = partial(
            self._retrieve, versions=versions, steering=inquiry.steering, options=options, deadline=deadline
        )
        index = self.corpus.lexical_index
        judge = partial(self._judge, leaves=index.count() if versions is None else index.count_versions(versions))
        gathering = gather(question, self._search_context(search, judge, options, deadline))
        yield from gathering.steps()
        retrieval = gathering.retrieval
        answer.timings_ms.update(retrieval.timings_ms)
        told = (question, retrieval.passages, self.corpus.documents.get_versions, index)
        outcome = find_outcome(*told)
        # A language model reads rows by itself.
        rows = find_rows(*told) if len(self._synthesizers) == 1 else None
        answer.passages = _passages_with(
            outcome.passages if outcome else rows.passages if rows else (), retrieval.passages, inquiry.top_k
        )
        answer.warnings += retrieval.warnings
        yield from steps.found(answer.passages)
        yield Retrieved(answer.passages)
        if rows:
            yield from show_rows(rows, answer)
            return
        read = gathering.narrowed.question if gathering.narrowed else question
        confidence = gathering.confidence(judge(read, retrieval.passages))
        named = outcome is not None and outcome.named  # then the answer is where it is looked for
        if not named and confidence.value < self._settings.answer.min_confidence:
            yield steps.declined(confidence)
            reason = "generated_no_answer_low_confidence" if retrieval.passages else "no_retrieval"
            yield self._declined(inquiry.text, answer, reason, confidence, retrieval.passages)
            return
        if not named and confidence.value < self._settings.answer.low_confidence:
            answer.warnings.append(LOW_CONFIDENCE)
            yield steps.doubtful(confidence)
        else:
            yield steps.confident(confidence)
        if outcome:
            yield steps.outcome_read(outcome.kind, outcome.passages[0].title)
        max_words = self._settings.llm.max_words
        yield from write(unsaid(self._writers(gathering, outcome), answer), answer, deadline, max_words)
        if answer.text.strip():
            yield answer.done("generated_answer")
        else:
            yield steps.nothing_written(confidence)
            yield self._declined(
                inquiry.text, answer, "generated_no_answer_but_confident", confidence, retrieval.passages
            )

    def _declined(
        self, asked: str, answer: Answer, reason: str, confidence: Confidence, found: Sequence[Passage]
    ) -> Done:
        """Close a declined answer with what was missing, and with the places where a reader may look."""
        if not found:
            return answer.done(reason, steps.NOTHING_FOUND)
        answer.nearest = nearest_sentences(self._reader, answer.question, answer.passages, answer.said)
        if answer.repeated:
            return answer.done(reason, steps.NOTHING_NEW)
        missing = missing_words(asked, confidence, found, self.corpus.lexical_index)
        words = ", ".join(f'"{word}"' for word in missing or confidence.contradicted)
        if not words:
            return answer.done(reason)
        return answer.done(reason, steps.UNMENTIONED if missing else steps.CONTRADICTED, words=words)

    def _read(self, inquiry: Inquiry, answer: Answer, deadline: Deadline) -> Generator[Event, None, bool]:
        """Make the question one that can be searched for; return True if it needs no search.

        It was about the collection, and is answered, or it has a word that is refused.
        """
        asked = answer.question
        if (yield from self._refused(asked, answer)) or (
            yield from answer_about_collection(self.corpus, answer, inquiry.filters)
        ):
            return True
        if inquiry.turns:
            yield steps.looking_back(len(inquiry.turns))
            condensed = self._condenser.condense(inquiry.turns, asked, deadline)
            answer.question = clean_question(condensed.question)
            answer.warnings += condensed.warnings
            if condensed.how != "unchanged":
                answer.said = tuple(turn.text for turn in inquiry.turns if turn.role == "assistant")
            yield steps.condensed(condensed)
        plain = without_frame(answer.question)
        if plain != answer.question:
            answer.question = plain
            yield steps.unframed(plain)
        if self._settings.answer.spelling:
            answer.question, corrections = self._spelled(answer.question)
            if corrections:
                yield steps.spelled(corrections)
        return answer.question != asked and (
            (yield from self._refused(answer.question, answer))
            or (yield from answer_about_collection(self.corpus, answer, inquiry.filters))
        )

    def _refused(self, question: str, answer: Answer) -> Generator[Event, None, bool]:
        """Decline a question that has a word that the settings refuse; return whether it has."""
        words = set(WORD.findall(question.casefold()))
        word = next((one for one in self._settings.answer.refused() if one in words), None)
        if word is None:
            return False
        yield steps.refused(word)
        yield answer.done("no_retrieval", steps.REFUSED, word=word)
        return True

    def _spelled(self, question: str) -> tuple[str, tuple[Correction, ...]]:
        return corrected(question, self.corpus.lexical_index, partial(leaf_texts, self.corpus.documents))

    def _plan(self, question: str, deadline: Deadline) -> Plan:
        return self._planner.plan(question, deadline) if self._settings.answer.plan else ONE_PASS

    def _search_context(
        self,
        search: Callable[..., Retrieval],
        judge: Callable[[str, Sequence[Passage]], Confidence],
        options: RetrievalSettings,
        deadline: Deadline,
    ) -> SearchContext:
        least = self._settings.answer.min_confidence
        narrow = partial(self._narrowed, search=search)
        return SearchContext(search, judge, self.corpus.lexical_index, least, options, deadline, narrow)

    def _narrowed(
        self, question: str, passages: Sequence[Passage], *, search: Callable[..., Retrieval]
    ) -> Narrowed | None:
        """Return the question as it is asked of the documents that it names; None if it names none."""
        if not self._settings.answer.narrow or question_language(question) != "en":
            return None
        found = documents_of(passages, self.corpus.documents.get_versions)[:NAMED_DOCUMENTS]
        known = [document for document in found if len(document.tree.leaves) >= NAMED_LEAVES]
        plain = without_document_names(question, known)
        if plain is None:
            return None
        named = frozenset(one.version for one in known if one.doc_id in plain.documents)
        return Narrowed(plain.question, plain.names, plain.documents, partial(search, versions=named))

    def _judge(self, question: str, passages: Sequence[Passage], *, leaves: int) -> Confidence:
        return assess(question, passages, self.corpus.lexical_index, self._embedder, self._reader, leaves=leaves)

    def _writers(self, gathering: Evidence, outcome: Outcome | None) -> Sequence[Synthesizer]:
        """Return the synthesizers; the last one, who quotes, is asked each part that can be answered by itself.

        Where documents were named, it is asked without their names.
        """
        *models, quoting = self._synthesizers
        if outcome:
            return [*models, OutcomeSynthesizer(outcome)]
        if not isinstance(quoting, QuotingSynthesizer):
            return self._synthesizers
        if gathering.apart:
            return [*models, PerPartSynthesizer(quoting, gathering.parts, 2 * self._settings.answer.max_words)]
        if gathering.narrowed:
            return [*models, NarrowedSynthesizer(quoting, gathering.narrowed.question)]
        return self._synthesizers

    def _versions(self, filters: Mapping[str, Any] | None) -> frozenset[str] | None:
        return None if filters is None else self.corpus.catalogue.versions(filters)

    def _retrieve(
        self,
        question: str,
        versions: frozenset[str] | None,
        steering: Steering | None,
        options: RetrievalSettings | None = None,
        pipeline: RetrievalPipeline | None = None,
        *,
        deadline: Deadline | None = None,
    ) -> Retrieval:
        started = time.perf_counter()
        options = options or self._settings.retrieval
        # What can be left out leaves time for quoting what was found without it.
        spared = None if deadline is None else deadline.sparing(QUOTING_S)
        query = Query(question, versions=versions, deadline=spared)
        warnings: tuple[AnswerWarning, ...] = ()
        if steering is not None and options.mode == "lexical":
            warnings = (NOT_STEERED,)
        elif steering is not None:
            query = steering.steer(query, self._embedder)
        found = self.retriever(options, pipeline).search(query)
        warnings += found.warnings
        for warning in warnings:
            logger.warning("A stage was left out: %s", warning)
        return Retrieval(found.passages, {"retrieve": ms_since(started), **found.timings_ms}, warnings, found.left_out)

    def fingerprint(self) -> str:
        """Hash of everything that decides an answer: version, settings, models, documents; 16 hex digits."""
        parts = {
            "version": VERSION,
            "settings": self._settings.model_dump(
                mode="json", include={"retrieval", "rerank", "expansion", "answer", "research", "llm"}
            ),
            "identity": self.corpus.manifest.identity.fingerprint(),
            "documents": self.corpus.documents.state(),
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]


def _passages_with(first: Sequence[Passage], found: Sequence[Passage], top_k: int | None) -> tuple[Passage, ...]:
    """Return passages with others before them, which are cited: all of these, and none twice."""
    places = {(one.doc_id, one.start, one.end) for one in first}
    others = [one for one in found if (one.doc_id, one.start, one.end) not in places]
    return (*first, *others)[: top_k and max(top_k, len(first))]


GatheringOver = Callable[[Engine, Callable[[str, Deadline], Retrieval]], Gather]
"""The same over an engine whose corpus grows: given that engine, and a search that brings more into it."""
