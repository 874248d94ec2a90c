"""What runs in the processes that are killed: a whole ingestion.

The ingestion is the program's own (`ingestion.build.ingest`), with words' hashes for an embedding model and small
batches, so that a run of two seconds has a dozen commits. It writes a journal as it goes, a line an event, which
survives its death.
"""

import json
import os
import resource
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ingestion.build
import ingestion.pipeline.chunk_embed
from index.corpus import Corpus
from index.documents.splitter import TreeSplitter
from index.documents.store import StoredDocument
from index.layout.manifest import Manifest
from ingestion.console.signals import StopSignals
from ingestion.schema import RunOptions
from settings import ChunkSettings, IndexSettings, Settings
from tests.fakes.corpora import MANIFEST
from tests.fakes.cutting import DirectCutter
from tests.fakes.embedding import WordHashEmbedding
from tests.fakes.library import OwnReader
from tests.torture.faults import Fault, arrange

CORPUS = "torture"
CHUNK = ChunkSettings(root_tokens=384, middle_tokens=192, leaf_tokens=64)
BATCH_LEAVES = 48


@dataclass(frozen=True, slots=True)
class Job:
    """One run of an ingestion.

    Attributes:
        files: folder to ingest.
        index: folder of corpora.
        journal: file that events are appended to.
        prune: remove documents of vanished files.
        rebuild: build the corpus again.
        fault: what goes wrong.
        max_file_bytes: no file of the process may grow beyond; 0 for no such bound.
    """

    files: Path
    index: Path
    journal: Path
    prune: bool = False
    rebuild: bool = False
    fault: Fault | None = None
    max_file_bytes: int = 0


class Journal:
    """Events of a process, written at once, line by line."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def tell(self, event: str, **values: Any) -> None:
        """Append one event."""
        os.write(self._descriptor, (json.dumps({"event": event, **values}) + "\n").encode())


class _FakeEmbedding:
    """Stands in for `index.build.Embedding`: no model is loaded."""

    def __init__(self, journal: Journal) -> None:
        self.model = SimpleNamespace(count_tokens=lambda text: 3 * len(text.split()), text_tokens=254)
        self.manifest = MANIFEST
        self.passage_tokens = 254
        self.batch_leaves = None
        self.embedder = _CountingEmbedder(journal)

    def opening_manifest(self) -> Manifest:
        return self.manifest

    def close(self) -> None:
        """There is no server to leave."""


class _FakeEmbeddings:
    """Stands in for `index.build.Embeddings`: every corpus has the same."""

    chooses = False

    def __init__(self, journal: Journal) -> None:
        self._only = _FakeEmbedding(journal)

    def named(self) -> _FakeEmbedding:
        return self._only

    def of(self, _corpus: str) -> _FakeEmbedding:
        return self._only

    def recorded(self, _manifest: Manifest) -> _FakeEmbedding:
        return self._only


class _CountingEmbedder(WordHashEmbedding):
    def __init__(self, journal: Journal) -> None:
        super().__init__()
        self._journal = journal

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        vectors = super()._get_text_embeddings(texts)
        self._journal.tell("embedded", leaves=len(texts))
        return vectors


def nothing() -> None:
    """Do nothing, in a separate process."""


def ingest(job: Job) -> None:
    """Run one ingestion to its end, or to the fault's."""
    journal = Journal(job.journal)
    journal.tell("started", pid=os.getpid())
    settings = Settings(index=IndexSettings(dir=job.index), chunk=CHUNK)
    _patch(journal)
    if job.fault:
        arrange(job.fault, journal.tell)
    if job.max_file_bytes:
        _limit_files(job.max_file_bytes)
    try:
        options = RunOptions(prune=job.prune)
        with StopSignals(notice="") as signals:
            summary = ingestion.build.ingest(
                job.files, settings, corpus=CORPUS, options=options, rebuild=job.rebuild, stop=signals.stop
            )
    except Exception as error:  # noqa: BLE001  # the journal reports it
        journal.tell("raised", error=type(error).__name__, message=str(error))
        sys.exit(1)
    journal.tell("done", **summary.to_dict())
    sys.exit(signals.exit_code)


def _patch(journal: Journal) -> None:
    replaced: dict[tuple[object, str], object] = {
        (ingestion.build, "Embeddings"): lambda _settings: _FakeEmbeddings(journal),
        (ingestion.build, "Reader"): OwnReader,
        (ingestion.build, "Cutter"): _own_cutter,
        (ingestion.pipeline.chunk_embed, "BATCH_LEAVES"): BATCH_LEAVES,
        (Corpus, "replace"): _journaled(Corpus.replace, journal),
    }
    for (owner, name), value in replaced.items():
        setattr(owner, name, value)


def _own_cutter(_settings: Any, chunk: ChunkSettings, model: Any, window_tokens: int, **_options: Any) -> DirectCutter:
    return DirectCutter(TreeSplitter(chunk, model.count_tokens, window_tokens))


def _journaled(replace: Callable[..., bool], journal: Journal) -> Callable[..., bool]:
    def journaled(
        corpus: Corpus,
        documents: Sequence[StoredDocument],
        embeddings: Any,
        removed: Sequence[str] = (),
        *rest: Any,
        **named: Any,
    ) -> bool:
        visible = replace(corpus, documents, embeddings, removed, *rest, **named)
        if visible:
            shown = {document.doc_id: document.version for document in documents}
            journal.tell("committed", shown=shown, removed=[name for name in removed if name not in shown])
        return visible

    return journaled


def _limit_files(max_bytes: int) -> None:
    """Let writes beyond a size fail with an error, as on a disk that is full."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (max_bytes, max_bytes))
