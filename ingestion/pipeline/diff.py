"""Compare files with what the corpus holds: which documents are new, changed, unchanged or gone.

Flow: listed files -> **here** (digest, then parse only what is not known) -> changes -> `pipeline.py` cuts, embeds and
commits them. Reads the corpus, writes nothing: a dry run ends here.
"""

import hashlib
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from errors import UnreadableError
from index.corpus import Corpus
from index.documents.blobs import LeftOut
from index.documents.copies import hash_text
from index.documents.sources import SourceNote
from index.documents.span_tree import SpanTree
from index.documents.store import Document, Metadata, StoredDocument
from ingestion.originals import DIGEST_CHARS, salt_of
from ingestion.pipeline.included import IncludedFiles
from ingestion.reading.containers import ATTACHED_TO
from ingestion.reading.fields import with_groups
from ingestion.reading.files import Skipped, SourceFile, open_plain
from ingestion.reading.includes import MAX_INCLUDING_BYTES, is_including
from ingestion.reading.kind import check_size
from ingestion.reading.sidecar import read_sidecar, sidecar_metadata
from ingestion.schema import RunOptions

# Raised whenever the same bytes give another text, tree or embedded form, so that known files are read again.
PIPELINE_VERSION = "13"
# Metadata that a document keeps from every run that gave it one.
TOPIC = "topic"

# Bytes read at once while a file is hashed; a run that was asked to stop does so before the next read.
_PIECE_BYTES = 4_000_000

T = TypeVar("T")


class FileReader(Protocol):
    """Turns files into documents, here or elsewhere."""

    @property
    def max_file_bytes(self) -> int:
        """Larger files are refused, unless they are streamed record by record."""
        ...

    def read(self, file: SourceFile) -> Iterator[Document | LeftOut | UnreadableError]:
        """Yield the documents of a file, in order; what cannot be read is yielded as the reason why."""
        ...

    def ahead(self, items: Iterator[T], file_of: Callable[[T], SourceFile | None]) -> Iterator[T]:
        """Pass the items on. `read` is asked for their files in this order, and a reader may begin with coming ones.

        Args:
            items: what is passed on.
            file_of: the file of an item that will be read, or None.
        """
        ...


@dataclass(slots=True)
class Change:
    """A document that is not in the corpus as it stands; `tree` is added by the splitter.

    Attributes:
        version: its name in the corpus.
        replaces: there is an older version of it.
        note: to be kept of its file for as long as not all of the file is committed.
        tree: its passages; made later (`chunk_embed.py`), like the two below.
        vectors: one a leaf, shape (leaves, dimension).
        embedded: how many of them were computed; the others were known.
        refused: why it cannot be cut; it then has no tree and stays out.
        copy_of: doc_id of another document with the same text, in the corpus or before it in this run.
        file_bytes: size of its file.
        embedded_share: how much of it has its vectors by now, 0..1; written while they are made, for the progress.
    """

    document: Document
    version: str
    replaces: bool
    note: SourceNote
    tree: SpanTree | None = None
    vectors: npt.NDArray[np.float32] | None = None
    embedded: int = 0
    refused: str | None = None
    copy_of: str | None = None
    file_bytes: int = 0
    embedded_share: float = 0.0

    @property
    def bytes_done(self) -> float:
        """How much of its file it stands for by now: that share of the file, or of the record's own text."""
        whole = self.document.doc_id == self.document.source
        return self.embedded_share * (self.file_bytes if whole else min(len(self.document.text), self.file_bytes))

    def stored(self) -> StoredDocument:
        """Return the document as it goes into the corpus; it must have its tree."""
        assert self.tree is not None
        return StoredDocument.of(self.document, self.version, self.tree)


@dataclass(frozen=True, slots=True)
class FileDone:
    """The end of a file: everything before it in the stream belongs to it.

    Attributes:
        note: what to remember of it; None when nothing is to be noted.
        unchanged: documents of it that are in the corpus already.
        gone: doc_ids that it held before and holds no longer.
        failures: reasons why it, or records of it, could not be read.
        left_out: what was cut out of its documents because it holds no words, one sentence a document.
    """

    source: str
    size: int
    note: SourceNote | None = None
    unchanged: int = 0
    gone: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def with_failures(self, reasons: Sequence[str]) -> "FileDone":
        """Return this end with documents that failed later; older versions of theirs stay."""
        failures = (*self.failures, *reasons)
        note = replace(self.note, failures=failures) if self.note else None
        return replace(self, note=note, failures=failures)


Step = Change | FileDone | Skipped


@dataclass(frozen=True, slots=True)
class _Unread:
    """A file that is new or has changed, with the versions of the documents it held before."""

    file: SourceFile
    note: SourceNote
    stored: dict[str, str]
    beside: Metadata


class Comparison:
    """One pass over a root's files. For one thread.

    Args:
        corpus: what is compared with.
        reader: turns files into documents.
        root: the folder that doc_ids are relative to.
        options: of the run.
        check: called often while a file is read; raises when the run shall end.

    Attributes:
        seen: sources that were listed.
        unlisted: directory entries that were not read, a folder that cannot be looked into among them.
        under_way: the corpus's documents on their way, of this run and others; the committing thread takes them out.
        reading: the file that is being read, or was last.
    """

    def __init__(
        self,
        corpus: Corpus,
        reader: FileReader,
        root: str,
        options: RunOptions,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self._documents = corpus.documents
        self._sources = corpus.catalogue.sources
        self._ledger = corpus.ledger
        self._reader = reader
        self._root = root
        self._check = check
        self._included = IncludedFiles(check)
        self._options = replace(options, metadata=with_groups(options.metadata))
        self._fingerprint = fingerprint(corpus)
        self._prefix = f"{options.root_name}/" if options.root_name else ""
        self._left = options.limit
        self.seen: set[str] = set()
        self.unlisted: list[str] = []
        self.under_way = corpus.under_way
        self.reading = root
        self._released: set[str] = set()
        self._texts: dict[str, str] = {}  # hash of a text under way -> the first document that holds it

    def steps(self, entries: Iterable[SourceFile | Skipped]) -> Iterator[Step]:
        """Yield what is to be done, file by file, each file's changes before its `FileDone`."""
        for found in self._reader.ahead(self._looked_up(entries), _file_of):
            if isinstance(found, Skipped):
                yield found
            elif self._enough:
                continue
            elif isinstance(found, FileDone):
                self._spend(found.unchanged)
                yield found
            else:
                yield from self._contents(found)

    def _looked_up(self, entries: Iterable[SourceFile | Skipped]) -> Iterator[Skipped | FileDone | _Unread]:
        for entry in entries:
            if isinstance(entry, Skipped):
                self.unlisted.append(self._prefix + entry.path)
                yield replace(entry, path=self._prefix + entry.path)
            elif not self._enough:
                self.seen.add(self._prefix + entry.doc_id)
                yield self._look_up(entry)

    def _look_up(self, file: SourceFile) -> FileDone | _Unread:
        self.reading = source = self._prefix + file.doc_id
        note = SourceNote(source, self._root, file.doc_id, options={"metadata": self._options.metadata})
        try:
            about = read_sidecar(file.path)
            digest, beside = self._digest(file, about), sidecar_metadata(about)
        except UnreadableError as error:
            return FileDone(source, file.size, replace(note, failures=(str(error),)), failures=(str(error),))
        known = self._ledger.get(source)
        stored = self._documents.versions(source)
        elsewhere = known is not None and known.root != self._root and known.path.exists()
        if known and known.digest == digest and not ((known.failures or known.left_out) and self._options.retry):
            moved = replace(known, root=self._root) if known.root != self._root and not elsewhere else None
            return FileDone(source, file.size, moved, unchanged=len(stored), failures=known.failures)
        if known and elsewhere:
            reason = (
                f"The document id {source!r}, a path below the ingested folder, is taken by {known.path}. "
                'Put a prefix before this one: --root NAME, over HTTP {"root": "NAME"}.'
            )
            return FileDone(source, file.size, failures=(reason,))
        return _Unread(file, replace(note, digest=digest), stored, beside)

    def _contents(self, unread: _Unread) -> Iterator[Change | FileDone]:
        file, note, stored = unread.file, unread.note, unread.stored
        source = note.source
        # Whole: each document of the file is seen or known to be lost, so what it held before besides them is gone.
        unchanged, again, whole, failures = 0, False, True, []
        left_out: list[str] = []
        lost: set[str] = set()
        present: set[str] = set()
        unfinished = replace(note, digest=None)
        for item in self._reader.read(file):
            if self._enough:
                again, whole = True, False
                break
            if isinstance(item, UnreadableError):
                failures.append(str(item))
                if item.doc_id is None:
                    whole = False
                else:
                    lost.add(self._prefix + item.doc_id)
                continue
            if isinstance(item, LeftOut):
                name = f"{self._prefix}{item.doc_id}"
                left_out.append(item.reason if name == source else f"{name}: {item.reason}")
                continue
            document = self._with_topics(self._named(item, source, unread.beside))
            if owner := self._other_owner(document.doc_id, source, stored):
                failures.append(
                    f"The document id {document.doc_id!r} is taken by {owner}. Give one of the two another id."
                )
                again = True
                continue
            if document.doc_id in present:
                failures.append(f"The document id {document.doc_id!r} occurs twice; the first one is kept.")
                continue
            self._spend(1)
            present.add(document.doc_id)
            version = document.hash(self._fingerprint)
            if stored.get(document.doc_id) == version:
                unchanged += 1
                continue
            replaces = document.doc_id in stored or bool(self._sources([document.doc_id]))
            self.under_way[document.doc_id] = source
            self._released.discard(document.doc_id)
            yield Change(document, version, replaces, unfinished, copy_of=self._copied(document), file_bytes=file.size)
        gone = tuple(sorted(stored.keys() - present - _at_or_below(lost, stored))) if whole else ()
        self._released.update(gone)
        digest = None if again else note.digest
        note = replace(note, digest=digest, failures=tuple(failures), left_out=tuple(left_out))
        yield FileDone(source, file.size, note, unchanged, gone, tuple(failures), tuple(left_out))

    def committed(self, document: Document) -> None:
        """Take a document out of those under way; from now on it is found in the corpus."""
        self.under_way.pop(document.doc_id, None)
        text_hash = hash_text(document.text)
        if self._texts.get(text_hash) == document.doc_id:
            self._texts.pop(text_hash, None)

    def close(self) -> None:
        """Take out what was not committed."""
        for doc_id, source in list(self.under_way.items()):
            if source in self.seen:
                self.under_way.pop(doc_id, None)

    def _copied(self, document: Document) -> str | None:
        """Return another document with the same text; None makes this one the first."""
        text_hash = hash_text(document.text)
        # Under way first: what is committed between the two looks is found by the second one.
        first = self._texts.get(text_hash) or self._documents.copies.holder(text_hash, without=document.doc_id)
        if first is None:
            self._texts[text_hash] = document.doc_id
        return first if first != document.doc_id else None

    def _named(self, document: Document, source: str, beside: Metadata) -> Document:
        return replace(
            document,
            doc_id=self._prefix + document.doc_id,
            source=source,
            metadata=self._metadata(document, source, beside),
        )

    def _with_topics(self, document: Document) -> Document:
        """Return a document under the topic of this run and those that it was ingested under before."""
        topic = self._options.metadata.get(TOPIC)
        known = self._documents.get(document.doc_id) if topic else None
        if known is None:
            return document
        before = known.metadata.get(TOPIC, [])
        topics = sorted({str(topic), *(before if isinstance(before, list) else [str(before)])})
        return replace(document, metadata=document.metadata | {TOPIC: topics if len(topics) > 1 else topics[0]})

    def _metadata(self, document: Document, source: str, beside: Metadata) -> Metadata:
        metadata = document.metadata | beside | self._options.metadata
        mail = metadata.get(ATTACHED_TO)
        if self._prefix and isinstance(mail, str) and mail.startswith(source.removeprefix(self._prefix)):
            metadata[ATTACHED_TO] = self._prefix + mail
        return metadata

    def _other_owner(self, doc_id: str, source: str, stored: dict[str, str]) -> str | None:
        """Return the source that this document belongs to if it is another one, and still there."""
        if doc_id in stored:
            return None
        if (owner := self.under_way.get(doc_id)) is not None:
            return owner if owner != source else None
        owner = self._sources([doc_id]).get(doc_id)
        note = self._ledger.get(owner) if owner and doc_id not in self._released else None
        return owner if note and note.path.exists() else None

    @property
    def _enough(self) -> bool:
        return self._left is not None and self._left <= 0

    def _spend(self, documents: int) -> None:
        if self._left is not None:
            self._left -= documents

    def _digest(self, file: SourceFile, about: bytes) -> str:
        digest = hashlib.sha256()
        begin = b""
        with open_plain(file.path) as stream:
            size = os.fstat(stream.fileno()).st_size
            check_size(file.path.name, stream.peek(), size, self._reader.max_file_bytes)
            while piece := stream.read(_PIECE_BYTES):
                self._check()
                digest.update(piece)
                if len(begin) <= MAX_INCLUDING_BYTES and is_including(file.path):
                    begin += piece
        digest.update(salt_of(self._options.metadata, file.doc_id).encode())
        included = self._included.digest(begin, file.path, file.doc_id)
        beside = about and hashlib.sha256(about).hexdigest()[:DIGEST_CHARS]
        parts = (digest.hexdigest()[:DIGEST_CHARS], self._fingerprint, included, beside)
        return "/".join(part for part in parts if part)


def _at_or_below(lost: Collection[str], doc_ids: Iterable[str]) -> set[str]:
    """Return the documents that could not be read this time, and those that lie in them."""
    return {
        doc_id
        for doc_id in (doc_ids if lost else ())
        if doc_id in lost or any(doc_id[: mark.start()] in lost for mark in re.finditer("[/#]", doc_id))
    }


def _file_of(found: Skipped | FileDone | _Unread) -> SourceFile | None:
    return found.file if isinstance(found, _Unread) else None


def fingerprint(corpus: Corpus) -> str:
    """Name everything but a file's bytes that decides what it becomes in this corpus."""
    return f"{corpus.manifest.identity.fingerprint()}/{PIPELINE_VERSION}"
