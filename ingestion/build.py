"""Settings -> one ingestion run: opens the corpus, loads the embedder, starts the reader, and closes them all.

Flow: the command line, HTTP jobs and the measurements -> **here** -> `pipeline/pipeline.py`.
"""

import logging
import tempfile
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import groupby, islice, takewhile
from pathlib import Path

from errors import SettingsError, UnreadableError
from index.build import Embedding, Embeddings, open_corpus, servers_of
from index.corpus import Corpus, check_corpus_name, exists
from index.disk import private_folder
from index.documents.sources import SourceNote
from index.documents.splitter import TreeSplitter
from index.embedding.choice import LOOKED_AT, choose, is_misfit
from index.folder_stores import open_folder
from index.layout.lock import CorpusLock
from index.layout.swap import finish_swap, rebuilt, swap_in
from index.lexical.language import document_language
from ingestion.pipeline.chunk_embed import LocalPreparation, Preparation
from ingestion.pipeline.cutter import Cutter
from ingestion.pipeline.diff import FileReader
from ingestion.pipeline.pipeline import BEAT_S, Pipeline, Report
from ingestion.pipeline.prefetch import Prefetched
from ingestion.reading.files import Skipped, SourceFile, list_files
from ingestion.reading.reader import Kept, Reader
from ingestion.schema import RunOptions, Summary, Tell
from settings import Settings

logger = logging.getLogger(__name__)


def ingest(
    path: Path,
    settings: Settings,
    *,
    corpus: str,
    options: RunOptions | None = None,
    rebuild: bool = False,
    embeddings: Embeddings | None = None,
    on_progress: Tell = lambda _progress: None,
    stop: threading.Event | None = None,
) -> Summary:
    """Bring a folder, or one file, into the named corpus, which is made if it does not exist.

    Args:
        path: what to ingest; doc_ids are relative to this folder (or to the file's folder).
        settings: how to cut and embed; must match what the corpus was built with. With `RAG_EMBED__MODEL=auto` the
            corpus's own model embeds, which its first documents choose.
        corpus: its name.
        options: of the run.
        rebuild: rebuild the corpus from `path`, beside the old one, and put it in its place at the end.
        embeddings: of these settings, if they are there already: several runs then load a model once.
        on_progress: called after each file.
        stop: set it, from any thread, to end the run without the batch that is being written.

    Raises:
        SettingsError: the corpus name is none, or one file shall be pruned.
        UnreadableError: `path` does not exist, cannot be looked into, or holds nothing to rebuild or to keep.
        CorpusError: the corpus is locked, damaged, or was built with other settings.
        ModelError: the embedding model cannot be loaded, or its server fails; what is committed stays.
        ClusterError: `settings.ingest.ray_address` is not a cluster, or its workers die.
    """
    check_corpus_name(corpus)
    list_files(path)  # first, so that a misspelt path makes no corpus
    path = path.resolve()
    options = options or RunOptions()
    if options.prune and not path.is_dir():
        raise SettingsError(f"{path} is one file; nothing can have vanished from it.", "Prune a whole folder.")
    embeddings = embeddings or Embeddings(settings)
    run = _Run(path, settings, embeddings, options, on_progress, stop or threading.Event())
    if options.dry_run and (rebuild or not exists(settings.index.dir / corpus)):
        with tempfile.TemporaryDirectory() as nothing:
            return run.into(open_folder(Path(nothing) / corpus, embeddings.named().manifest, create=True))
    if rebuild:
        return _rebuild(run, settings, embeddings.named(), corpus)
    return run.into(open_corpus(corpus, settings, embeddings.of(corpus).opening_manifest(), create=True))


def ingest_into(
    corpus: Corpus,
    path: Path,
    settings: Settings,
    embeddings: Embeddings,
    *,
    options: RunOptions,
    on_progress: Tell,
    stop: threading.Event,
) -> Summary:
    """Do what `ingest` does with a corpus that is open already, and stays open: a service's own.

    Args:
        corpus: open for writing.
        path: absolute, with all links resolved; links that it got since are not followed.
        settings: how to cut and embed.
        embeddings: of these settings.
        options: of the run.
        on_progress: called after each file.
        stop: set it, from any thread, to end the run without the batch that is being written.

    Raises:
        UnreadableError: `path` does not exist or cannot be looked into.
        CorpusError: a store failed.
    """
    return _Run(path, settings, embeddings, options, on_progress, stop).with_open(corpus)


def retry_failed(
    corpus: Corpus,
    settings: Settings,
    embeddings: Embeddings,
    *,
    on_progress: Tell = lambda _progress: None,
    stop: threading.Event | None = None,
    within: Sequence[Path] | None = None,
) -> Summary:
    """Read the files again that could not be read, or not completely, and nothing else.

    Files that are gone are passed over; they count as vanished at their root's next ingestion. So are those of
    ingestions that did not read one of the folders `within` or a part of it, unless that is None: also what a file
    includes then lies in them.

    Raises:
        CorpusError: a store failed.
    """
    total = Summary(corpus.name)
    stop = stop or threading.Event()
    homes = None if within is None else [folder.resolve() for folder in within]
    failed = [note for note in corpus.ledger.incomplete() if homes is None or _is_in(Path(note.root), homes)]
    notes = sorted(failed, key=lambda note: (_run_of(note), note.source))
    for (root, root_name, _), group in groupby(notes, key=_run_of):
        listed = list(group)
        metadata = listed[0].options.get("metadata", {})
        options = RunOptions(root_name=root_name, metadata=metadata, retry=True)
        run = _Run(Path(root), settings, embeddings, options, on_progress, stop)
        entries = [SourceFile(n.path, n.file, n.path.stat().st_size) for n in listed if n.path.is_file()]
        sizes = sum(entry.size for entry in entries)
        total.add(run.with_entries(corpus, entries, (len(entries), sizes), whole=False))
    return total


@dataclass(frozen=True, slots=True)
class _Run:
    """One path with its options, to be brought into one corpus."""

    path: Path
    settings: Settings
    embeddings: Embeddings
    options: RunOptions
    on_progress: Tell
    stop: threading.Event

    def into(self, corpus: Corpus) -> Summary:
        """Ingest, and close the corpus."""
        with closing(corpus):
            return self.with_open(corpus)

    def with_open(self, corpus: Corpus) -> Summary:
        """Ingest what is listed below the path, or those of its files that the options name."""
        names, limits = self.options.files, self.settings.ingest
        how = {"images": limits.ocr, "hard_links": limits.hard_links}
        listed = partial(list_files, self.path, only=names, resolved=True, **how)
        totals, entries = _totals(listed(), self.stop), listed()
        kept: Kept = {}
        if self.embeddings.chooses and not corpus.documents.count():
            self._choose_model(corpus, listed(), totals, kept)
        whole = names is None and self.path.is_dir()
        return self.with_entries(corpus, entries, totals, whole=whole, kept={} if limits.ocr else kept)

    def with_entries(
        self,
        corpus: Corpus,
        entries: Iterable[SourceFile | Skipped],
        totals: tuple[int, int],
        *,
        whole: bool,
        kept: Kept | None = None,
    ) -> Summary:
        """Ingest these entries; unless they are the whole root, what is not among them has not vanished."""
        root = self.path if self.path.is_dir() else self.path.parent
        with self._means(corpus, kept) as (reader, preparation):
            pipeline = Pipeline(corpus, reader, preparation, on_progress=self.on_progress, stop=self.stop)
            summary = pipeline.run(entries, str(root), self.options, totals, whole=whole)
        if self.embeddings.chooses:
            warn_of_misfit(corpus)
        return summary

    def _choose_model(
        self, corpus: Corpus, entries: Iterable[SourceFile | Skipped], totals: tuple[int, int], kept: Kept
    ) -> None:
        """Give an empty corpus the model that fits the first documents; they are read without OCR, and kept."""
        limits = self.settings.ingest.model_copy(update={"ocr": False})
        languages: Counter[str] = Counter()
        with Reader(limits, papers="topic" in self.options.metadata, stop=self.stop) as reader:
            files = (entry for entry in entries if isinstance(entry, SourceFile))
            found = reader.keeping(files, kept)
            told = Report(Summary(corpus.name), totals, self.on_progress)
            with Prefetched(islice(found, LOOKED_AT), max_weight=1) as read:
                for document in read.beating(BEAT_S):
                    if document is None:  # the first file may take minutes: who waits for this run knows of it
                        told.under_way(str(self.path))
                    elif language := document_language(document.metadata.get("language"), document.text):
                        languages[language] += 1
        if corpus.documents.count():  # another run was let through meanwhile, and has chosen
            return
        choice = choose(languages)
        corpus.adopt(self.embeddings.named(choice.model).manifest)
        logger.info("Corpus %r is embedded with %s (%s).", corpus.name, choice.model, choice.reason)

    @contextmanager
    def _means(self, corpus: Corpus, kept: Kept | None) -> Iterator[tuple[FileReader, Preparation]]:
        """Open what reads files and makes trees and vectors: this process, or Ray's workers."""
        settings, embedding = self.settings, self.embeddings.recorded(corpus.manifest)
        papers = "topic" in self.options.metadata
        if settings.ingest.ray_address:
            from ingestion.distributed.ray_run import RayCrew, RayPreparation, RayReader  # noqa: PLC0415  # optional

            with RayCrew(embedding.settings, papers=papers, stop=self.stop) as crew:
                yield RayReader(crew), RayPreparation(crew)
        else:
            splitter = TreeSplitter(settings.chunk, embedding.model.count_tokens, embedding.passage_tokens)
            with (
                Cutter(
                    settings.ingest, settings.chunk, embedding.model, embedding.passage_tokens, stop=self.stop
                ) as cutter,
                Reader(settings.ingest, papers=papers, stop=self.stop, kept=kept, on_first=cutter.start) as reader,
            ):
                yield reader, LocalPreparation(corpus, embedding, splitter, cutter, embedding.batch_leaves)


def warn_of_misfit(corpus: Corpus) -> None:
    """Log a warning where most documents are in another language than the corpus's model knows."""
    languages = corpus.catalogue.languages()
    if is_misfit(corpus.manifest.model, languages):
        logger.warning(
            "Most documents of corpus %r are not in English, which its embedding model %r was made for. "
            "`python -m ingestion reembed --corpus %s` takes the one that fits.",
            corpus.name,
            corpus.manifest.model,
            corpus.name,
        )


def _rebuild(run: _Run, settings: Settings, embedding: Embedding, corpus: str) -> Summary:
    target = settings.index.dir / corpus
    scratch, servers = rebuilt(target), servers_of(settings)
    finish_swap(target)
    private_folder(target)
    with CorpusLock(target):
        servers.discard(scratch)
        try:
            summary = run.into(open_folder(scratch, embedding.opening_manifest(), servers, create=True))
            if summary.stopped:
                return summary
            if not summary.documents:
                raise UnreadableError(
                    f"{run.path} holds no document that can be read; corpus {corpus!r} stays as it was.",
                    "Check the path, or see why its files are skipped.",
                )
            swap_in(target, servers)
        finally:
            servers.discard(scratch)
    summary.corpus = corpus
    return summary


def _is_in(path: Path, folders: Iterable[Path]) -> bool:
    try:
        return any(map(path.resolve().is_relative_to, folders))
    except (OSError, RuntimeError):  # a loop of links
        return False


def _run_of(note: SourceNote) -> tuple[str, str, str]:
    """Return what the files that one run reads have in common: root, its name, and the options as a sortable text."""
    return note.root, note.source.removesuffix(note.file).removesuffix("/"), str(note.options)


def _totals(entries: Iterable[SourceFile | Skipped], stop: threading.Event) -> tuple[int, int]:
    files = size = 0
    for entry in takewhile(lambda _: not stop.is_set(), entries):
        if isinstance(entry, SourceFile):
            files += 1
            size += entry.size
    return files, size
