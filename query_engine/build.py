"""Settings -> engines, one for each corpus that is asked for; models are loaded once and shared.

Flow: `main.py`, the command line, the evaluation and the measurements -> **here** -> `engine.py`.
"""

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding

from errors import (
    CorpusError,
    IndexDamagedError,
    IndexMismatchError,
    ModelError,
    ModelServerError,
    RagError,
    StorageError,
    StoreUnavailableError,
    TooManyCorporaError,
    UnknownCorpusError,
)
from index.build import Embedding, open_corpus
from index.corpus import Corpus, corpus_names
from index.documents.store import Document
from index.embedding.cached import CachedEmbedding
from index.maintenance.corpora import documents_on_disk
from query_engine.engine import Engine
from query_engine.given_documents.corpus import NAME, add_documents, corpus_for_documents
from query_engine.llms.base import LoadedModel
from query_engine.llms.helper import PromptHelper
from query_engine.question.condense import Condenser
from query_engine.question.decompose import Planner
from query_engine.reader.model import shipped_reader
from query_engine.reader.reading import LeafReader
from query_engine.reader.windows import stored_documents
from query_engine.retrieval.expansion.build import build_expansions, check_expansion
from query_engine.retrieval.leaf_texts import leaf_texts
from query_engine.retrieval.pipeline import Reranking, RetrievalPipeline
from query_engine.retrieval.reranking.base import Reranker
from query_engine.retrieval.reranking.build import build_reranker
from query_engine.runtime import memory, open_files
from query_engine.runtime.lease_pool import Lease, LeasePool
from query_engine.synthesis.base import Synthesizer
from query_engine.synthesis.build import QUOTES, build_language_models
from query_engine.synthesis.extractive import ExtractiveSynthesizer
from query_engine.synthesis.high_precision import HighPrecisionSynthesizer
from query_engine.synthesis.quoting import QuotingSynthesizer
from settings import Settings

logger = logging.getLogger(__name__)

# A server that does not answer, and a disk that refuses, is asked again after so long.
RETRY_S = 10.0


class Engines:
    """Engines by corpus name. Calls block unless they say otherwise; safe from many threads.

    Args:
        settings: which models, where the corpora are.
        service_url: this process's address when it is a service, for others who find a corpus locked.

    Attributes:
        embedding: the model that all corpora share.

    Raises:
        ModelError: a model is missing or damaged.
        SettingsError: the settings of models, reranking or expansion contradict each other.
    """

    def __init__(self, settings: Settings, *, service_url: str | None = None) -> None:
        self._settings = settings
        self._service_url = service_url
        self.embedding = Embedding(settings)
        embedder = self.embedding.embedder  # now, so that a missing model stops the start
        kept, multilingual = settings.embed.kept_vectors, self.embedding.multilingual
        self._embedder = CachedEmbedding(embedder, kept, multilingual=multilingual)
        check_expansion(settings)
        self._language_models = build_language_models(settings, self._embedder)
        self._passage_reader = shipped_reader()
        self._model = self._language_models.query_model
        self._reranker = build_reranker(settings, self._model)
        self._open_engines = LeasePool(self._open, _close, settings.index.open_corpora, open_files.has_room_for)
        self._refused: dict[str, CorpusError | ModelServerError] = {}
        self._silent: dict[str, CorpusError] = {}  # open corpora whose servers do not answer
        self._on_disk: dict[str, int] = {}
        self._next_retry_s = 0.0  # on the monotonic clock

    @property
    def embedder(self) -> BaseEmbedding:
        """The embedding model, which remembers the vectors of the last questions."""
        return self._embedder

    @property
    def reranker(self) -> Reranker | None:
        """The reranker of the settings; None if none is set."""
        return self._reranker

    @property
    def query_model(self) -> LoadedModel | None:
        """The language model that plans, rephrases and ranks; None if none is set."""
        return self._model

    def lease(self, name: str | None = None, *, create: bool = False) -> Lease[Engine]:
        """Return the engine of a corpus (None: the default one), opening it if need be; give it back after use.

        It stays open until its place is needed for another, and is not closed as long as anyone holds a lease.

        Args:
            name: of the corpus.
            create: make the corpus if it does not exist.

        Raises:
            UnknownCorpusError: there is no such corpus, and `create` is off.
            TooManyCorporaError: so many others are in use that it cannot be opened.
            CorpusError: it is locked, damaged, or was built with other settings.
            ModelError: the server of the embedding model fails.
        """
        return self._open_engines.lease(self._named(name), create=create)

    def lease_open(self, name: str | None = None) -> Lease[Engine] | None:
        """Return the engine of a corpus (None: the default one) if it is open; waits for nothing."""
        return self._open_engines.lease_open(self._named(name))

    def get(self, name: str | None = None, *, create: bool = False) -> Engine:
        """Return the engine of a corpus, leased until `close`: for programs that ask one. See `lease`."""
        return self.lease(name, create=create).item

    @contextmanager
    def for_documents(
        self, documents: Sequence[Document], name: str = NAME, *, only_sure: bool = True, model: str | None = None
    ) -> Iterator[Engine]:
        """Open an engine over these documents alone, which live in memory until the end of the `with` block.

        Args:
            documents: what came with a question, such as pages that a search engine found; few, as they are cut and
                embedded now.
            name: of their corpus, for people.
            only_sure: quote with high precision, if `RAG_ANSWER__ONLY_SURE` does not say. Nobody chose pages that came
                with a question: they may be about something else.
            model: that writes, see `synthesis.build.writer_names`; None: those of the settings, one after the other.

        Raises:
            UnknownModelError: there is no such model.
            ModelError: the embedding model failed.
            IndexDamagedError: a store failed.
        """
        settings = self._settings
        sentences = settings.answer.sentence_leaves
        corpus = corpus_for_documents(documents, settings.chunk, self.embedding, sentences=sentences, name=name)
        try:
            with closing(corpus):
                yield self._engine(corpus, only_sure=only_sure, model=model)
        finally:
            memory.give_back()  # it would stay with the process: a tenth more after forty answers

    def add_documents(self, engine: Engine, documents: Sequence[Document]) -> None:
        """Cut and embed further documents into an engine of `for_documents`, which nobody asks meanwhile; blocks.

        Args:
            engine: grows.
            documents: their `doc_id`s are not in its corpus yet.

        Raises:
            ModelError: the embedding model failed.
            IndexDamagedError: a store failed.
        """
        settings = self._settings
        sentences = settings.answer.sentence_leaves
        add_documents(engine.corpus, documents, settings.chunk, self.embedding, sentences=sentences)

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a question, shape (dimension,), as searches use it; blocks."""
        return self._embedder.get_query_embedding(text)

    def names(self) -> list[str]:
        """Corpora on disk, sorted."""
        return corpus_names(self._settings.index.dir)

    def status(self) -> dict[str, Any]:
        """Return what is known without asking any store or model, and without waiting.

        Keys: `corpora` (open ones: name -> documents and leaves), `on_disk` (others that were looked at: name ->
        documents), `refused` (name -> error's code and detail), `embedding` (model), `synthesizer` (provider),
        `llm_ready` and `llm_reason` (how its last answer went).
        """
        return {
            "corpora": {
                name: {"documents": totals.documents, "leaves": totals.leaves}
                for name, engine in self._open_engines.open_items().items()
                if (totals := engine.corpus.documents.last_totals())
            },
            "on_disk": dict(self._on_disk),
            "refused": {
                name: {"code": error.code, "detail": str(error)}
                for name, error in (self._silent | self._refused).items()
            },
            "embedding": self.embedding.manifest.model,
            "synthesizer": self._settings.llm.provider,
            "llm_ready": self._language_models.ready,
            "llm_reason": self._language_models.reason,
        }

    def look_at_disk(self) -> None:
        """Look for a corpus that holds a document, without opening any, so that `status` knows of it; blocks.

        Those that are open or were refused are left out: more is known of them. Servers of open ones are asked whether
        they answer. Only those that were refused because a server did not answer or a disk refused are opened, if
        `RETRY_S` have passed since the last time: nothing else tells whether they can be now.
        """
        self._retry_unavailable()
        self._ask_servers()
        found: dict[str, int] = {}
        known = self._open_engines.open_items().keys() | self._refused.keys()
        for name in self.names():
            if name not in known and not any(found.values()):
                try:
                    found[name] = documents_on_disk(name, self._settings, self.embedding.manifest)
                except (IndexDamagedError, IndexMismatchError) as error:
                    self._refused[name] = error
                except RagError:
                    found[name] = 0  # a server that does not answer now may do so later
        self._on_disk = found

    def close(self) -> None:
        """Close every corpus, and the connections to the server of an embedding model."""
        self._open_engines.close()
        self.embedding.close()

    def _retry_unavailable(self) -> None:
        if time.monotonic() < self._next_retry_s:
            return
        for name, error in list(self._refused.items()):
            if isinstance(error, StoreUnavailableError | StorageError | ModelServerError):
                with suppress(CorpusError, ModelError):  # `status` tells of it
                    self.lease(name).release()
        self._next_retry_s = time.monotonic() + RETRY_S

    def _ask_servers(self) -> None:
        silent: dict[str, CorpusError] = {}
        for name in self._open_engines.open_items():
            if (lease := self._open_engines.lease_open(name)) is not None:
                with lease as engine:
                    try:
                        engine.corpus.ask_servers()
                    except CorpusError as error:
                        silent[name] = error
        self._silent = silent

    def _named(self, name: str | None) -> str:
        return name or self._settings.index.corpus

    def _open(self, name: str, create: bool) -> Engine:
        if not create and name not in self.names():
            self._refused.pop(name, None)
            raise UnknownCorpusError.of(name, self.names())
        try:
            corpus = self._open_corpus(name, create=create)
        except TooManyCorporaError:
            raise
        except (CorpusError, ModelServerError) as error:
            self._refused[name] = error
            raise
        self._refused.pop(name, None)
        return self._engine(corpus)

    def _open_corpus(self, name: str, *, create: bool) -> Corpus:
        try:
            manifest = self.embedding.opening_manifest()
            corpus = open_corpus(name, self._settings, manifest, create=create, service_url=self._service_url)
            try:
                corpus.open_derived()
                corpus.documents.count()  # from now on `status` knows
                if guessed := corpus.documents.unstructured():
                    logger.warning(
                        "The parts of %d documents of corpus %r are guessed: an earlier release read them."
                        " Run `python -m ingestion PATH --corpus %s`; embeddings of unchanged leaves are kept.",
                        guessed,
                        name,
                        name,
                    )
            except BaseException:
                corpus.close()
                raise
        except BaseException as error:
            # Each store reports this differently: some as damage, and Chroma by a panic, which is not an Exception.
            if open_files.exhausted():
                raise TooManyCorporaError(
                    f"Corpus {name!r} cannot be opened: the process may open no more files.",
                    "Ask again when other questions are answered, or raise the limit (`ulimit -n`).",
                ) from error
            raise
        return corpus

    def _engine(self, corpus: Corpus, *, only_sure: bool = False, model: str | None = None) -> Engine:
        reader = LeafReader(
            self._passage_reader, stored_documents(corpus.documents), corpus.lexical_index, self._embedder
        )
        quoting: QuotingSynthesizer = ExtractiveSynthesizer(reader, self._settings.answer.max_words)
        set_so = self._settings.answer.only_sure
        if only_sure if set_so is None else set_so:
            quoting = HighPrecisionSynthesizer(quoting, corpus.lexical_index)
        synthesizers: list[Synthesizer] = [*self._language_models.chosen(model), quoting]
        helper = None if model == QUOTES else self._helper()
        condenser = Condenser(helper, self._settings.expansion.timeout_s) if helper else Condenser()
        return Engine(
            corpus,
            self._embedder,
            reader,
            synthesizers,
            self._settings,
            pipeline=self._pipeline(corpus),
            condenser=condenser,
            planner=Planner(helper, self._settings.answer.plan_timeout_s),
            helper=helper,
        )

    def _helper(self) -> PromptHelper | None:
        return None if self._model is None else PromptHelper(self._model, self._settings.llm.max_new_tokens)

    def _pipeline(self, corpus: Corpus) -> RetrievalPipeline:
        expansions = build_expansions(self._settings, corpus, self._embedder, self._model)
        if self._reranker is None:
            return RetrievalPipeline(expansions)
        # The title often says what the leaf is about: a company, a year, a person.
        texts_of = partial(leaf_texts, corpus.documents, titled=True)
        return RetrievalPipeline(expansions, Reranking(self._reranker, texts_of, self._settings.rerank))


def _close(engine: Engine) -> None:
    engine.corpus.close()
