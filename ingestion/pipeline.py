"""Bring the files under a root into a corpus: read -> cut -> embed the leaves -> commit, in small batches.

Flow: `__main__.py` -> `build.py` -> **here** -> `index/corpus.py`. A file whose bytes are known is not even parsed; a
document whose content is known is not embedded again. One unreadable file or record costs itself only. How formats
are parsed is `reading/`'s business, what is on disk `index/`'s.
"""

import hashlib
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol

from llama_index.core.base.embeddings.base import BaseEmbedding

from errors import UnreadableError
from index.corpus import Corpus
from index.documents import Document, StoredDocument
from ingestion.reading.files import Skipped, SourceFile, open_plain
from ingestion.reading.reader import Reader
from ingestion.splitting import TreeSplitter

# Raised whenever the same bytes give another text, tree or embedded form, so that known files are read again.
PIPELINE_VERSION = "1"
BATCH_LEAVES = 512


@dataclass(slots=True)
class Summary:
    """What one ingestion did, in documents unless said otherwise.

    Attributes:
        new: were not in the corpus.
        changed: replaced an older version.
        unchanged: were there already; nothing was embedded.
        removed: stood in a file that no longer holds them.
        leaves: leaves embedded.
        failed: files or records that could not be read: `source` and `reason`.
        skipped: directory entries that are no documents: `source` and `reason`.
    """

    corpus: str
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    leaves: int = 0
    duration_s: float = 0.0
    failed: list[dict[str, str]] = field(default_factory=list)
    skipped: list[dict[str, str]] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as JSON-ready values."""
        return asdict(self)


class EmbedderSource(Protocol):
    """Loads the embedder when it is first asked for."""

    @property
    def embedder(self) -> BaseEmbedding:
        """The embedder."""
        ...


class Pipeline:
    """One ingestion run into one corpus.

    Args:
        corpus: open for writing.
        embedding: gives the embedder the corpus was made with, once there is something to embed.
        splitter: cuts texts into trees.
        reader: turns files into documents.
        root_name: prefix of doc_ids, to keep equal paths of two roots apart; empty for none.
        on_progress: called with (source, leaves embedded so far) after each commit and each file.
    """

    def __init__(
        self,
        corpus: Corpus,
        embedding: EmbedderSource,
        splitter: TreeSplitter,
        reader: Reader,
        *,
        root_name: str = "",
        on_progress: Callable[[str, int], None] = lambda _source, _leaves: None,
    ) -> None:
        self._corpus = corpus
        self._embedding = embedding
        self._splitter = splitter
        self._reader = reader
        self._prefix = f"{root_name}/" if root_name else ""
        self._on_progress = on_progress
        self._pipeline = f"{corpus.manifest.identity.fingerprint()}/{PIPELINE_VERSION}"
        self._summary = Summary(corpus.name)
        self._owners: dict[str, str] = {}
        self._batch: list[StoredDocument] = []
        self._removed: list[str] = []
        self._finished: dict[str, str] = {}

    def run(self, entries: Iterable[SourceFile | Skipped]) -> Summary:
        """Ingest the files; whatever is committed stays when the run is stopped.

        Raises:
            CorpusError: a store failed; committed documents are kept.
        """
        started = time.monotonic()
        self._corpus.sweep()
        for entry in entries:
            if isinstance(entry, Skipped):
                self._summary.skipped.append({"source": entry.path, "reason": entry.reason})
            else:
                self._ingest_file(entry)
                self._on_progress(entry.doc_id, self._summary.leaves)
        self._commit()
        self._summary.duration_s = round(time.monotonic() - started, 2)
        return self._summary

    def _ingest_file(self, file: SourceFile) -> None:
        source = self._prefix + file.doc_id
        stored = self._corpus.documents.versions(source)
        try:
            digest = self._digest(file)
        except UnreadableError as error:
            self._fail(source, str(error))
            return
        if digest == self._corpus.documents.source_digest(source):
            self._owners.update(dict.fromkeys(stored, source))
            self._summary.unchanged += len(stored)
            return
        complete = True
        for item in self._reader.read(file):
            if isinstance(item, UnreadableError):
                self._fail(source, str(item))
                complete = False
            else:
                complete &= self._take(item, source)
            if sum(len(document.tree.leaves) for document in self._batch) >= BATCH_LEAVES:
                self._commit()
        if complete:
            gone = [doc_id for doc_id in stored if self._owners.get(doc_id) != source]
            self._removed += gone
            self._summary.removed += len(gone)
            self._finished[source] = digest

    def _take(self, document: Document, source: str) -> bool:
        """Queue a document unless it is known; say whether it may stay."""
        doc_id = self._prefix + document.doc_id
        if doc_id in self._owners:
            self._fail(source, f"The document id {doc_id!r} is taken by {self._owners[doc_id]}.")
            return False
        self._owners[doc_id] = source
        document = replace(document, doc_id=doc_id, source=source)
        version = document.hash(self._pipeline)
        known = self._corpus.documents.version_of(doc_id)
        if known == version:
            self._summary.unchanged += 1
            return True
        tree = self._splitter.split(document.text)
        self._batch.append(StoredDocument.of(document, version, tree))
        if known is None:
            self._summary.new += 1
        else:
            self._summary.changed += 1
        return True

    def _commit(self) -> None:
        if not (self._batch or self._removed or self._finished):
            return
        texts = [text for document in self._batch for text in self._splitter.leaf_texts(document)]
        embeddings = self._embedding.embedder.get_text_embedding_batch(texts) if texts else []
        self._corpus.replace(self._batch, embeddings, self._removed)
        self._corpus.documents.note_sources(self._finished)
        self._summary.leaves += len(texts)
        self._batch, self._removed, self._finished = [], [], {}

    def _digest(self, file: SourceFile) -> str:
        with open_plain(file.path) as stream:
            digest = hashlib.file_digest(stream, "sha256")  # type: ignore[arg-type]  # BinaryIO does not declare readinto
        return f"{digest.hexdigest()[:32]}/{self._pipeline}"

    def _fail(self, source: str, reason: str) -> None:
        self._summary.failed.append({"source": source, "reason": reason})
