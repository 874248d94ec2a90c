"""Settings -> engines, one for each corpus that is asked for; models are loaded once and shared.

Flow: `main.py`, the command line, the evaluation and the measurements -> **here** -> `engine.py`.
"""

import logging
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from threading import Lock
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding

from errors import (
    INSTALL_TORCH,
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
    packages_for,
)
from index.build import Embedding, Embeddings, open_corpus, servers_of
from index.corpus import ALL, Corpus, corpus_names, exists, member_names
from index.disk import failing_store, repair
from index.documents.rights import Groups
from index.documents.store import Document
from index.embedding.cached import CachedEmbedding
from index.embedding.followed import FollowedEmbedding
from index.joined import JoinedCorpus
from index.layout.access import Access, Writing
from index.lexical.language import document_language
from index.maintenance.corpora import documents_on_disk, drop, rename
from index.memory_stores import open_memory_corpus
from index.replica import make_folders
from index.visible import visible
from query_engine.engine import Engine
from query_engine.given_documents.corpus import NAME, add_documents
from query_engine.llms.base import LoadedModel
from query_engine.llms.helper import PromptHelper
from query_engine.reader.leaves import stored_documents
from query_engine.reader.model import PassageReader, shipped_reader
from query_engine.reader.reading import LeafReader
from query_engine.retrieval.expansion import build_expansions, check_expansion
from query_engine.retrieval.leaf_texts import leaf_texts
from query_engine.retrieval.pipeline import RetrievalPipeline
from query_engine.retrieval.reranking.base import Reranker, Reranking
from query_engine.retrieval.reranking.build import build_reranker
from query_engine.runtime import memory, open_files
from query_engine.runtime.lease_pool import Lease, LeasePool
from query_engine.synthesis.build import build_language_models
from settings import Settings

logger = logging.getLogger(__name__)

# Delay before a server that did not answer, or a disk that refused, is tried again.
RETRY_S = 10.0
# Least time between two checks for commits of another process, which happen between questions.
LOOK_S = 1.0
# A store that is being probed for longer does not answer: longer than any server's own time limit for a question.
SILENT_S = 3.0
# Least confidence for an answer where a wrong one costs as much as a right one gains.
SURE_CONFIDENCE = 0.8
# Most corpora kept open, fewer if the limit of open files is low; the one idle longest is closed first.
OPEN_CORPORA = 64


class Engines:
    """Engines by corpus name. Calls block unless they say otherwise; safe from many threads.

    Args:
        settings: which models, where the corpora are.
        access: how corpora are opened; None: as their writer, for a program that is not a service.

    Attributes:
        embeddings: the models of the corpora, each loaded once.
        passage_reader: reads what was found.

    Raises:
        ModelError: a model is missing or damaged.
        SettingsError: the settings of models, reranking or expansion contradict each other.
    """

    def __init__(self, settings: Settings, *, access: Access | None = None) -> None:
        self._settings = settings
        self._access = access or Writing()
        self.embeddings = Embeddings(settings)
        self._cached: dict[int, CachedEmbedding] = {}
        self._cached_lock = Lock()
        self._loaded(self.embeddings.of(settings.index.corpus))  # now, so that a missing model stops the start
        check_expansion(settings)
        self._language_models = build_language_models(settings)
        self.passage_reader = _passage_reader(settings)
        self._model = self._language_models.query_model
        self._reranker = build_reranker(settings, self._model)
        self._open_engines = LeasePool(self._open, _close, OPEN_CORPORA, open_files.has_room_for)
        self._refused: dict[str, CorpusError | ModelServerError] = {}
        self._failing: dict[str, list[CorpusError]] = {}  # open corpora, and what their probes raised
        self._probed: tuple[str, str, float] | None = None  # corpus, store, and since when, on the monotonic clock
        self._on_disk: dict[str, int] = {}
        self._next_retry_s = 0.0  # on the monotonic clock

    @property
    def embedding(self) -> Embedding:
        """The model for what belongs to no corpus, such as texts of pipelines and collections of others."""
        return self.embeddings.named()

    @property
    def embedder(self) -> BaseEmbedding:
        """The same model, loaded; it remembers the vectors of the last questions."""
        return self._loaded(self.embedding)

    @property
    def reranker(self) -> Reranker | None:
        """The reranker of the settings; None if none is set."""
        return self._reranker

    @property
    def query_model(self) -> LoadedModel | None:
        """The language model that plans, rephrases and ranks; None if none is set."""
        return self._model

    def lease(
        self,
        name: str | None = None,
        *,
        create: bool = False,
        writer: str | None = None,
        groups: Groups | None = None,
    ) -> Lease[Engine]:
        """Return the engine of a corpus (None: the default one), opening it if need be; give it back after use.

        It stays open until its place is needed for another, and is not closed as long as anyone holds a lease. Where
        another process writes, what it committed `LOOK_S` ago or longer is there; a lease shows one state to its end.

        Args:
            name: of the corpus; `a+b` of several, whose documents the engine reads as one corpus, and `*` of all.
            create: make the corpus if it does not exist; it is one.
            writer: writes the engine's answers, see `synthesis.build.writer_names`; None leaves it to the settings. Its
                model is loaded if need be.
            groups: only documents that these may see are there; None: all.

        Raises:
            RagError: there is no such writer.
            UnknownCorpusError: there is no such corpus, and `create` is off.
            TooManyCorporaError: so many others are in use that it cannot be opened.
            CorpusError: it is locked, damaged, or was built with other settings.
            ModelError: the server of the embedding model fails, or the writer's model cannot be loaded.
        """
        if create:
            return self._current(self._named(name), create=True)
        names = self._members(name)
        with ExitStack() as held:
            return self._made([held.enter_context(self._current(one)) for one in names], held, writer, groups)

    def lease_open(
        self, name: str | None = None, *, writer: str | None = None, groups: Groups | None = None
    ) -> Lease[Engine] | None:
        """Return what `lease` does if all it needs is open or loaded and shows what is committed, else None.

        Waits for nothing, or where another process writes, for a look into the database at most.
        """
        names = self._members(name)
        if not self._language_models.is_loaded(writer):
            return None
        with ExitStack() as held:
            engines = []
            for one in names:
                lease = self._current_open(one)
                if lease is None:
                    return None
                engines.append(held.enter_context(lease))
            return self._made(engines, held, writer, groups)

    def get(self, name: str | None = None, *, create: bool = False, writer: str | None = None) -> Engine:
        """Return the engine of a corpus, leased until `close`: for programs that ask one. See `lease`."""
        return self.lease(name, create=create, writer=writer).item

    @contextmanager
    def for_documents(
        self, documents: Sequence[Document], name: str = NAME, *, only_sure: bool = True, writer: str | None = None
    ) -> Iterator[Engine]:
        """Open an engine over these documents alone, which live in memory until the end of the `with` block.

        Args:
            documents: what came with a question, such as pages that a search engine found; few, as they are cut and
                embedded now.
            name: of their corpus, for people.
            only_sure: quote with high precision, if `RAG_ANSWER__ONLY_SURE` does not say. Nobody chose pages that came
                with a question: they may be about something else.
            writer: see `lease`.

        Raises:
            RagError: there is no such writer.
            ModelError: the embedding model failed, or the writer's model cannot be loaded.
            IndexDamagedError: a store failed.
        """
        settings = self._settings
        sentences = settings.answer.sentence_leaves
        languages = (document_language(one.metadata.get("language"), one.text) for one in documents)
        embedding = self.embeddings.fitting(Counter(language for language in languages if language))
        try:
            with closing(open_memory_corpus(name, embedding.manifest)) as corpus:
                add_documents(corpus, documents, settings.chunk, embedding, sentences=sentences)
                yield self._engine(corpus, only_sure=only_sure, writer=writer)
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
        embedding = self.embeddings.recorded(engine.corpus.manifest)
        add_documents(engine.corpus, documents, settings.chunk, embedding, sentences=sentences)

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a question for collections of others, shape (dimension,); blocks."""
        return self.embedder.get_query_embedding(text)

    def names(self) -> list[str]:
        """Corpora on disk, sorted; a reader makes the folders of those that it finds in its database."""
        if self._settings.serve.role == "reader":
            make_folders(self._settings.index.dir, servers_of(self._settings))
        return corpus_names(self._settings.index.dir)

    def status(self) -> dict[str, Any]:
        """Return what is known without asking any store or model, and without waiting.

        Keys: `corpora` (open ones: name -> documents, leaves, and generation: the number of the commit that is shown),
        `on_disk` (others that were looked at: name -> documents), `refused` (those that cannot be opened or read: name
        -> error's code and detail, and `stores`, the names of those of its stores that fail as far as that is known),
        `embedding` (the default corpus's model), `synthesizer` (provider), `llm_ready` and `llm_reason` (how its last
        answer went).
        """
        return {
            "corpora": {
                name: {
                    "documents": totals.documents,
                    "leaves": totals.leaves,
                    "generation": engine.corpus.generation,
                }
                for name, engine in self._open_engines.open_items().items()
                if self._is_there(name) and (totals := engine.corpus.documents.last_totals())
            },
            "on_disk": dict(self._on_disk),
            "refused": {name: _told(errors) for name, errors in self._errors().items()},
            "embedding": self.embeddings.of(self._settings.index.corpus).manifest.model,
            "synthesizer": self._settings.llm.provider,
            "llm_ready": self._language_models.ready,
            "llm_reason": self._language_models.reason,
        }

    def look_at_disk(self) -> None:
        """Look for a corpus that holds a document, without opening any, so that `status` knows of it; blocks.

        Open and refused corpora are left out: more is known of them. The stores of open ones are probed, and corpora
        that another process has changed are reopened, even without a question. Those refused because a server did not
        answer or a disk refused are tried again every `RETRY_S`; no other corpus is opened. One call at a time.
        """
        self._probe_stores()
        self._retry_unavailable()
        found: dict[str, int] = {}
        known = self._open_engines.open_items().keys() | self._refused.keys()
        for name in self.names():
            if name not in known and not any(found.values()):
                try:
                    found[name] = documents_on_disk(name, self._settings, self.embeddings.of(name).manifest)
                except (IndexDamagedError, IndexMismatchError) as error:
                    self._refused[name] = error
                except RagError:
                    found[name] = 0  # a server that does not answer now may do so later
        self._on_disk = found

    def drop(self, name: str) -> None:
        """Delete a corpus with all that belongs to it, once nobody asks it any more; blocks.

        Raises:
            UnknownCorpusError: there is no such corpus.
            TooManyCorporaError: it is in use.
            CorpusLockedError: another process holds it.
            StoreUnavailableError: a server does not answer; the corpus is still there.
        """
        with self._closed(name):
            drop(name, self._settings)

    def rename(self, old: str, new: str) -> None:
        """Give a corpus another name, once nobody asks it any more; blocks. Raises what `drop` does.

        Raises:
            SettingsError: there is a corpus `new`.
        """
        with self._closed(old):
            rename(old, new, self._settings)

    def close(self) -> None:
        """Close every corpus, and the connections to the server of an embedding model."""
        self._open_engines.close()
        self.embeddings.close()

    @contextmanager
    def _closed(self, name: str) -> Iterator[None]:
        """Have a corpus closed in every process until the end of the `with` block."""
        with self._open_engines.closed(name):
            self._access.let_go(self._settings.index.dir / name)
            yield
        self._refused.pop(name, None)

    def _retry_unavailable(self) -> None:
        if time.monotonic() < self._next_retry_s:
            return
        for name, error in list(self._refused.items()):
            if isinstance(error, StoreUnavailableError | StorageError | ModelServerError):
                with suppress(CorpusError, ModelError):  # `status` tells of it
                    self.lease(name).release()
        self._next_retry_s = time.monotonic() + RETRY_S

    def _probe_stores(self) -> None:
        names = self._open_engines.open_items().keys()
        for name in names:
            errors = self._failures(name)
            if errors and not self._failing.get(name):
                logger.warning("Corpus %r cannot be read: %s", name, " ".join(map(str, errors)))
            self._failing = {**self._failing, name: errors}
        self._failing = {name: errors for name, errors in self._failing.items() if name in names and errors}

    def _failures(self, name: str) -> list[CorpusError]:
        """Return what a probe of each store of an open corpus raises."""
        errors: list[CorpusError] = []
        try:
            self._probed = (name, "documents", time.monotonic())  # they say whether the corpus is current
            lease = self._current_open(name)
            self._probed = None  # opening it again may take its time
            with lease or self._current(name) as engine:
                for store, probe in engine.corpus.probes().items():
                    self._probed = (name, store, time.monotonic())
                    try:
                        with failing_store(store):
                            probe()
                    except CorpusError as error:
                        errors.append(error)
                    except BaseException as error:  # noqa: BLE001  # a panic of a store's library is not an Exception
                        fact = f"The {store} of corpus {name!r} failed: {type(error).__name__}."
                        errors.append(IndexDamagedError(fact, repair(name)))
                        errors[-1].store = store
        except (UnknownCorpusError, TooManyCorporaError, ModelError):
            return []  # it is gone, has no room now, or is in `_refused`
        except CorpusError as error:
            return [error]
        finally:
            self._probed = None
        return errors

    def _errors(self) -> dict[str, list[CorpusError | ModelServerError]]:
        """Return why corpora cannot be opened or read, by name."""
        found: dict[str, list[CorpusError | ModelServerError]] = {
            **{name: [*errors] for name, errors in self._failing.items()},
            **{name: [error] for name, error in self._refused.items()},
        }
        if (probed := self._probed) and time.monotonic() - probed[2] > SILENT_S and not found.get(probed[0]):
            name, store, _ = probed
            error = StoreUnavailableError(
                f"The {store} of corpus {name!r} have not answered for {SILENT_S:g} s.",
                "Check the store's server, or the disk; the service goes on by itself.",
            )
            error.store = store
            found[name] = [error]
        return {name: errors for name, errors in found.items() if errors}

    def _current(self, name: str, *, create: bool = False) -> Lease[Engine]:
        """Return the engine of one corpus, opened again if it does not show what is committed."""
        while True:
            lease = self._open_engines.lease(name, create=create)
            if self._is_current(name, lease):
                return lease

    def _current_open(self, name: str) -> Lease[Engine] | None:
        lease = self._open_engines.lease_open(name)
        return lease if lease is not None and self._is_current(name, lease) else None

    def _is_current(self, name: str, lease: Lease[Engine]) -> bool:
        """Say whether an engine shows what is committed, and its folder was not deleted.

        If not, give it back, and have the next lease open another.
        """
        engine = lease.item
        now_s = time.monotonic()
        is_there = self._is_there(name)
        if is_there and (not self._access.read_only or now_s < engine.looked_s + LOOK_S):
            return True
        try:
            with failing_store("documents"):
                outdated = not is_there or engine.corpus.is_outdated()
        except IndexDamagedError:
            outdated = True  # another corpus may have its name now; opening it tells
        except BaseException:
            lease.release()
            raise
        if outdated:
            lease.release()
            self._open_engines.retire(name, engine)
            return False
        engine.looked_s = now_s
        return True

    def _is_there(self, name: str) -> bool:
        """Say whether the folder of a corpus still exists."""
        return exists(self._settings.index.dir / name)

    def _named(self, name: str | None) -> str:
        return name or self._settings.index.corpus

    def _members(self, name: str | None) -> Sequence[str]:
        """Return the corpora that a name stands for."""
        if name != ALL:
            return member_names(self._named(name))
        if names := self.names():
            return names
        raise UnknownCorpusError("No corpus exists yet.", "Make one with `python -m ingestion PATH --corpus NAME`.")

    def _made(
        self, engines: Sequence[Engine], held: ExitStack, writer: str | None, groups: Groups | None
    ) -> Lease[Engine]:
        """Return an engine over what these groups see of the corpora of others; it takes over what is held."""
        corpora = [visible(engine.corpus, groups) for engine in engines]
        if writer is None and corpora == [engines[0].corpus]:
            return Lease(engines[0], held.pop_all().close)
        engine = self._engine(corpora[0] if len(corpora) == 1 else JoinedCorpus(corpora), writer=writer)
        return Lease(engine, held.pop_all().close)

    def _open(self, name: str, create: bool) -> Engine:
        if self._access.read_only and create and name not in self.names():
            raise CorpusError.read_only(name)
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
            manifest = self.embeddings.of(name).opening_manifest()
            corpus = open_corpus(name, self._settings, manifest, create=create, access=self._access)
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

    def _engine(self, corpus: Corpus, *, only_sure: bool = False, writer: str | None = None) -> Engine:
        models = self._language_models.chosen(writer)
        answer = self._settings.answer
        documents = stored_documents(corpus.documents)
        embedder = FollowedEmbedding(lambda: [self._loaded(self.embeddings.recorded(one)) for one in corpus.models()])
        newest = self._settings.retrieval.prefer_newest
        reader = LeafReader(self.passage_reader, documents, corpus.lexical_index, embedder, prefer_newest=newest)
        settings = self._settings
        # A language model decides itself whether the passages answer.
        if not models.writers and (only_sure if answer.only_sure is None else answer.only_sure):
            sure = answer.model_copy(update={"min_confidence": max(answer.min_confidence, SURE_CONFIDENCE)})
            settings = settings.model_copy(update={"answer": sure})
        helping = models.query_model
        helper = None if helping is None else PromptHelper(helping, settings.llm.max_new_tokens)
        return Engine(
            corpus,
            embedder,
            reader,
            models.writers,
            settings=settings,
            pipeline=self._pipeline(corpus, embedder, helping),
            helper=helper,
            writer=writer,
        )

    def _loaded(self, embedding: Embedding) -> CachedEmbedding:
        """Return a model that remembers the vectors of the last questions, loading it if need be."""
        with self._cached_lock:
            if id(embedding) not in self._cached:
                self._cached[id(embedding)] = CachedEmbedding(
                    embedding.embedder,
                    self._settings.embed.kept_vectors,
                    multilingual=embedding.multilingual,
                    dimension=embedding.manifest.identity.dimension,
                )
            return self._cached[id(embedding)]

    def _pipeline(self, corpus: Corpus, embedder: BaseEmbedding, model: LoadedModel | None) -> RetrievalPipeline:
        expansions = build_expansions(self._settings, corpus, embedder, model)
        # Who chooses quotes wants no language model, not even for the ranking.
        if self._reranker is None or (model is None and self._settings.rerank.method == "listwise"):
            return RetrievalPipeline(expansions)
        # The title often says what the leaf is about: a company, a year, a person.
        texts_of = partial(leaf_texts, corpus.documents, titled=True)
        return RetrievalPipeline(expansions, Reranking(self._reranker, texts_of, self._settings.rerank))


def _passage_reader(settings: Settings) -> PassageReader:
    """Return the reader of the settings, the shipped one by default."""
    if settings.answer.reader is None:
        return shipped_reader()
    with packages_for("RAG_ANSWER__READER", INSTALL_TORCH):
        from query_engine.reader.extractor import SpanExtractor  # noqa: PLC0415  # imports PyTorch
    return SpanExtractor(settings.answer.reader)


def _close(engine: Engine) -> None:
    engine.corpus.close()


def _told(errors: Sequence[CorpusError | ModelServerError]) -> dict[str, Any]:
    stores = {error.store for error in errors if isinstance(error, CorpusError) and error.store}
    return {"code": errors[0].code, "detail": " ".join(map(str, errors)), "stores": sorted(stores)}
