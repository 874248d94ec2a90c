"""Cut and embed a corpus again from its stored text, with the model, prefixes and sizes of the settings.

Flow: `python -m ingestion reembed` -> **here**: the old corpus's documents -> `pipeline/pipeline.py` into a new corpus
beside it -> put in its place. No source file is read. Questions are answered from the old corpus until the new one is
whole; stopped or killed, the same command goes on with what it had made.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path

from errors import IndexDamagedError
from index.build import Embeddings, servers_of
from index.corpus import Corpus, exists
from index.documents.blobs import without_blobs
from index.documents.sources import SourceNote
from index.documents.splitter import TreeSplitter
from index.documents.store import Document, StoredDocument
from index.folder_stores import open_folder
from index.layout.access import Writing
from index.layout.locations import Servers
from index.layout.manifest import Manifest
from index.layout.swap import rebuilt, reembedded, swap_in
from index.maintenance.corpora import corpus_folder
from ingestion.pipeline.chunk_embed import LocalPreparation, Preparation
from ingestion.pipeline.cutter import Cutter
from ingestion.pipeline.diff import Change, Step, fingerprint
from ingestion.pipeline.pipeline import stages
from ingestion.schema import Progress, RunStopped, Summary, Tell
from settings import Settings


def reembed(
    name: str,
    settings: Settings,
    *,
    on_progress: Tell = lambda _progress: None,
    stop: threading.Event | None = None,
) -> Summary:
    """Bring the named corpus to what the settings say, cut as this release cuts; does nothing if it is that already.

    Args:
        name: of the corpus.
        settings: the new model, prefixes and chunk sizes; `auto` takes the model that fits all documents.
        on_progress: called after each commit; its files and bytes are documents.
        stop: set it, from any thread, to end after the batch that is being written.

    Returns:
        `new` documents were embedded, `unchanged` ones had been before.

    Raises:
        UnknownCorpusError: there is no such corpus.
        CorpusLockedError: another process holds it.
        IndexDamagedError: the old corpus cannot be read.
        StorageError: the disk is full, or refuses.
        ModelError: the embedding model cannot be loaded.
    """
    target = corpus_folder(name, settings)
    servers = servers_of(settings)
    with closing(open_folder(target, Manifest.read(target), servers, access=Writing(alone=True))) as old:
        embedding = Embeddings(settings).fitting(old.catalogue.languages())
        manifest = embedding.opening_manifest()
        if _same(old.manifest, manifest) and _current(old):
            return Summary(name, unchanged=old.documents.count())
        beside = reembedded(target)
        with closing(_scratch(beside, manifest, servers)) as new:
            splitter = TreeSplitter(settings.chunk, embedding.model.count_tokens, embedding.passage_tokens)
            stop = stop or threading.Event()
            with Cutter(
                settings.ingest, settings.chunk, embedding.model, embedding.passage_tokens, stop=stop
            ) as cutter:
                copying = Copying(
                    old, new, LocalPreparation(new, embedding, splitter, cutter, embedding.batch_leaves), stop
                )
                summary = copying.run(on_progress)
        if not summary.stopped:
            servers.discard(rebuilt(target))
            beside.rename(rebuilt(target))
            old.close_stores()
            swap_in(target, servers)
    return summary


def _same(one: Manifest, other: Manifest) -> bool:
    return one.precision == other.precision and one.same_model(other)


def _current(corpus: Corpus) -> bool:
    """Tell whether every document was read and cut by this release."""
    pipeline = fingerprint(corpus)
    return all(document.version == document.hash(pipeline) for document in corpus.documents.each())


def _scratch(beside: Path, manifest: Manifest, servers: Servers) -> Corpus:
    """Open the corpus that an earlier run began, if it began with these settings; otherwise a new one."""
    try:
        started = exists(beside) and _same(Manifest.read(beside), manifest)
    except IndexDamagedError:
        started = False
    if not started:
        servers.discard(beside)
    return open_folder(beside, manifest, servers, create=True)


class Copying:
    """Brings the documents of one corpus into another.

    Args:
        old: is read.
        new: is written; what it holds already is passed over.
        preparation: makes trees and vectors for the new one.
        stop: set it, from any thread, to end after the batch that is being written.
    """

    def __init__(self, old: Corpus, new: Corpus, preparation: Preparation, stop: threading.Event) -> None:
        self._old = old
        self._new = new
        self._preparation = preparation
        self._stop = stop
        self._summary = Summary(old.name)

    def run(self, on_progress: Tell = lambda _progress: None) -> Summary:
        """Copy everything, what is known of the source files included.

        Raises:
            CorpusError: a store failed; what is committed is passed over by the next run.
            ModelError: the embedder cannot be loaded.
        """
        started = time.monotonic()
        summary = self._summary
        self._new.sweep()
        known = self._new.documents.versions()
        self._new.delete(sorted(known.keys() - self._old.documents.versions().keys()))
        try:
            steps = self._changes(known)
            with closing(stages(steps, self._new, self._preparation, self._stop)) as committed:
                for batch in filter(None, committed):
                    self._count(batch)
                    on_progress(self._progress(batch))
            self._new.ledger.note([self._carried(note) for note in self._old.ledger.all()])
        except RunStopped:
            summary.stopped = True
        summary.duration_s = round(time.monotonic() - started, 2)
        return summary

    def _changes(self, known: dict[str, str]) -> Iterator[Step]:
        pipeline = fingerprint(self._new)
        for stored in self._old.documents.each():
            document = _plain(stored)
            version = document.hash(pipeline)
            if known.get(document.doc_id) == version:
                self._summary.unchanged += 1
            else:
                note = self._old.ledger.get(document.source) or SourceNote(document.source, "", document.source)
                yield Change(document, version, document.doc_id in known, replace(note, digest=None))

    def _count(self, batch: list[Step]) -> None:
        for step in batch:
            if isinstance(step, Change) and step.tree is not None:
                self._summary.new += 1
                self._summary.leaves += len(step.tree.leaves)
                self._summary.embedded += step.embedded

    def _progress(self, batch: list[Step]) -> Progress:
        last, total = batch[-1] if batch else None, self._old.documents.count()
        done = self._summary.new + self._summary.unchanged
        source = last.document.doc_id if isinstance(last, Change) else ""
        return Progress(source, None, None, done, total, done, total, self._summary.new, self._summary.leaves)

    def _carried(self, note: SourceNote) -> SourceNote:
        """Return the note with the digest that the next ingestion will compare with."""
        content, made_with, included = (note.digest or "").partition(f"/{fingerprint(self._old)}")
        current = bool(made_with) and included[:1] in {"", "/"}
        return replace(note, digest=f"{content}/{fingerprint(self._new)}{included}" if current else None)


def _plain(stored: StoredDocument) -> Document:
    """Return the document as a reader of this release would, without what holds no words."""
    document = Document(**{item.name: getattr(stored, item.name) for item in fields(Document)})
    rest = without_blobs(document.text, document.pages)
    return replace(document, text=rest.text, pages=rest.offsets)
