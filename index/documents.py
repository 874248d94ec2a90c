"""The documents of a corpus in SQLite: text, tree and metadata, each stored once. This is the truth.

Flow: ingestion writes here last; retrieval and citations read slices of text from here. Vectors (Chroma) and
terms (tantivy) are derived from it and can be rebuilt.

A document becomes visible in one commit, after its vectors and terms are in place. Until then its version
stands in `pending`, and so does a version that is being removed: whatever a crash leaves behind is found there
and swept by the next ingestion. SQLAlchemy Core keeps other databases one URL away.
"""

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DatabaseError

from errors import IndexDamagedError
from index.nodes import SpanTree

Metadata = dict[str, str | int | float | bool]

_tables = sa.MetaData()
_documents = sa.Table(
    "documents",
    _tables,
    sa.Column("doc_id", sa.String, primary_key=True),
    sa.Column("version", sa.String, nullable=False, unique=True),
    sa.Column("title", sa.String, nullable=False),
    sa.Column("url", sa.String),
    sa.Column("source", sa.String, nullable=False, index=True),
    sa.Column("pages", sa.JSON, nullable=False),
    sa.Column("metadata", sa.JSON, nullable=False),
    sa.Column("leaf_count", sa.Integer, nullable=False),
    sa.Column("ingested_at", sa.String, nullable=False),
    sa.Column("tree", sa.LargeBinary, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
)
_sources = sa.Table(
    "sources",
    _tables,
    sa.Column("source", sa.String, primary_key=True),
    sa.Column("digest", sa.String, nullable=False),
)
_pending = sa.Table("pending", _tables, sa.Column("version", sa.String, primary_key=True))

CACHED_CHARS = 64_000_000


@dataclass(frozen=True, slots=True)
class Document:
    """What a reader yields: one document, before it is cut.

    Attributes:
        doc_id: path relative to the ingest root, or the record's own id; unique in a corpus.
        title: for people, and evidence for retrieval.
        text: cleaned text; every offset in the project counts its characters.
        url: the document's own address, http or https only.
        pages: offset in `text` where each page starts; empty for unpaged documents.
        metadata: scalar values by name.
        source: the file it came from, relative to the root.
    """

    doc_id: str
    title: str
    text: str
    url: str | None = None
    pages: tuple[int, ...] = ()
    metadata: Metadata = field(default_factory=dict)
    source: str = ""

    def hash(self, pipeline: str) -> str:
        """Name this content under this `pipeline` (a fingerprint of chunking and embedding): 20 hex digits."""
        parts = (self.doc_id, self.title, self.text, self.url, self.pages, self.metadata, self.source, pipeline)
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:20]

    def pages_of(self, start: int, end: int) -> tuple[int, ...]:
        """Zero-based indices of the pages that the text `[start, end)` touches; empty for unpaged documents."""
        ends = (*self.pages[1:], len(self.text) + 1)
        return tuple(
            page
            for page, (first, last) in enumerate(zip(self.pages, ends, strict=False))
            if first < end and start < last
        )


@dataclass(frozen=True, slots=True)
class StoredDocument(Document):
    """A document of the corpus with its passage tree.

    Attributes:
        version: `Document.hash` at ingestion; node ids begin with it.
        tree: spans over `text`.
    """

    version: str = ""
    tree: SpanTree = field(default_factory=lambda: SpanTree([]))

    @classmethod
    def of(cls, document: Document, version: str, tree: SpanTree) -> "StoredDocument":
        """Join a document with its version and tree."""
        values = {item.name: getattr(document, item.name) for item in fields(Document)}
        return cls(**values, version=version, tree=tree)


class DocumentStore:
    """The documents of one corpus. Safe to read from many threads; one process writes.

    Args:
        path: the SQLite file; made when missing.
    """

    def __init__(self, path: Path) -> None:
        self._engine = sa.create_engine(f"sqlite:///{path}", connect_args={"timeout": 30})
        sa.event.listen(self._engine, "connect", _configure)
        self._cache = _DocumentCache(CACHED_CHARS)
        self._state: str | None = None
        try:
            _tables.create_all(self._engine)
        except DatabaseError as error:
            raise IndexDamagedError(
                f"The document store {path.name} cannot be opened: {error.orig}.",
                "Restore it from a backup, or delete the corpus folder and ingest again.",
            ) from error

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    def count(self) -> int:
        """Number of documents."""
        return self._scalar(sa.select(sa.func.count()).select_from(_documents))

    def leaf_count(self) -> int:
        """Number of leaves of all documents."""
        return self._scalar(sa.select(sa.func.coalesce(sa.func.sum(_documents.c.leaf_count), 0)))

    def state(self) -> str:
        """Hash of all versions: equal states hold equal documents cut in equal ways. Kept until the next change."""
        if self._state is None:
            digest = hashlib.sha256()
            for version in self.versions().values():
                digest.update(version.encode())
            self._state = digest.hexdigest()[:16]
        return self._state

    def versions(self, source: str | None = None) -> dict[str, str]:
        """Return doc_id -> version, ordered by doc_id, of all documents or of those from one source file."""
        query = sa.select(_documents.c.doc_id, _documents.c.version).order_by(_documents.c.doc_id)
        if source is not None:
            query = query.where(_documents.c.source == source)
        with self._engine.connect() as connection:
            return {row.doc_id: row.version for row in connection.execute(query)}

    def version_of(self, doc_id: str) -> str | None:
        """Return the visible version of a document, or None."""
        query = sa.select(_documents.c.version).where(_documents.c.doc_id == doc_id)
        with self._engine.connect() as connection:
            return connection.execute(query).scalar_one_or_none()

    def get(self, doc_id: str) -> StoredDocument | None:
        """Return one document, or None."""
        return next(iter(self._load(_documents.c.doc_id, [doc_id])), None)

    def get_versions(self, versions: Iterable[str]) -> dict[str, StoredDocument]:
        """Return version -> document for the versions that are visible; unknown ones are left out."""
        wanted = set(versions)
        found = {version: document for version in wanted if (document := self._cache.get(version))}
        for document in self._load(_documents.c.version, sorted(wanted - found.keys())):
            found[document.version] = document
            self._cache.put(document)
        return found

    def source_digest(self, source: str) -> str | None:
        """Digest of a source file when all of it was last ingested, or None."""
        query = sa.select(_sources.c.digest).where(_sources.c.source == source)
        with self._engine.connect() as connection:
            return connection.execute(query).scalar_one_or_none()

    def note_sources(self, digests: dict[str, str]) -> None:
        """Remember that these source files are ingested completely, by their digests."""
        with self._engine.begin() as connection:
            connection.execute(sa.delete(_sources).where(_sources.c.source.in_(digests)))
            if digests:
                connection.execute(
                    sa.insert(_sources), [{"source": source, "digest": digest} for source, digest in digests.items()]
                )

    def pending(self) -> list[str]:
        """Versions whose vectors and terms may exist without a visible document."""
        with self._engine.connect() as connection:
            return list(connection.execute(sa.select(_pending.c.version).order_by(_pending.c.version)).scalars())

    def announce(self, versions: Sequence[str]) -> None:
        """Note versions as pending before anything of them is written to another store."""
        with self._engine.begin() as connection:
            self._note_pending(connection, versions)

    def publish(self, documents: Sequence[StoredDocument], removed: Sequence[str] = ()) -> list[str]:
        """Make documents visible in one commit, in place of what they replace, and hide those named in `removed`.

        Returns:
            Versions that are no longer visible; they stay pending until `settle` says that they are swept.
        """
        ids = [document.doc_id for document in documents] + list(removed)
        with self._engine.begin() as connection:
            old = connection.execute(sa.select(_documents.c.version).where(_documents.c.doc_id.in_(ids))).scalars()
            retired = [version for version in old if version not in {document.version for document in documents}]
            connection.execute(sa.delete(_documents).where(_documents.c.doc_id.in_(ids)))
            if documents:
                connection.execute(sa.insert(_documents), [_to_row(document) for document in documents])
            published = [document.version for document in documents]
            connection.execute(sa.delete(_pending).where(_pending.c.version.in_(published)))
            self._note_pending(connection, retired)
        self._state = None
        return retired

    def settle(self, versions: Sequence[str]) -> None:
        """Forget pending versions: nothing of them is left in any other store."""
        with self._engine.begin() as connection:
            connection.execute(sa.delete(_pending).where(_pending.c.version.in_(versions)))
        for version in versions:
            self._cache.drop(version)

    @staticmethod
    def _note_pending(connection: sa.Connection, versions: Sequence[str]) -> None:
        known = set(connection.execute(sa.select(_pending.c.version)).scalars())
        rows = [{"version": version} for version in dict.fromkeys(versions) if version not in known]
        if rows:
            connection.execute(sa.insert(_pending), rows)

    def _load(self, column: sa.Column[str], values: Sequence[str]) -> Iterator[StoredDocument]:
        if not values:
            return
        with _damage_named(), self._engine.connect() as connection:
            for row in connection.execute(sa.select(_documents).where(column.in_(values))):
                yield _from_row(row)

    def _scalar(self, query: sa.Select[Any]) -> int:
        with _damage_named(), self._engine.connect() as connection:
            return int(connection.execute(query).scalar_one())


@contextmanager
def _damage_named() -> Iterator[None]:
    try:
        yield
    except DatabaseError as error:
        raise IndexDamagedError(
            f"The document store cannot be read: {error.orig}.",
            "Restore it from a backup, or delete the corpus folder and ingest again.",
        ) from error


class _DocumentCache:
    """The most recently used documents, bounded by the characters of their text."""

    def __init__(self, max_chars: int) -> None:
        self._max_chars = max_chars
        self._chars = 0
        self._documents: OrderedDict[str, StoredDocument] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, version: str) -> StoredDocument | None:
        with self._lock:
            if version in self._documents:
                self._documents.move_to_end(version)
            return self._documents.get(version)

    def put(self, document: StoredDocument) -> None:
        with self._lock:
            if document.version in self._documents:
                return
            self._documents[document.version] = document
            self._chars += len(document.text)
            while self._chars > self._max_chars and len(self._documents) > 1:
                _, oldest = self._documents.popitem(last=False)
                self._chars -= len(oldest.text)

    def drop(self, version: str) -> None:
        with self._lock:
            dropped = self._documents.pop(version, None)
            self._chars -= len(dropped.text) if dropped else 0


def _configure(connection: Any, _record: object) -> None:
    # WAL lets questions read while an ingestion writes; FULL survives a power cut.
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")


def _to_row(document: StoredDocument) -> dict[str, Any]:
    return {
        "doc_id": document.doc_id,
        "version": document.version,
        "title": document.title,
        "url": document.url,
        "source": document.source,
        "pages": list(document.pages),
        "metadata": document.metadata,
        "leaf_count": len(document.tree.leaves),
        "ingested_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "tree": document.tree.to_bytes(),
        "text": document.text,
    }


def _from_row(row: sa.Row[Any]) -> StoredDocument:
    return StoredDocument(
        doc_id=row.doc_id,
        title=row.title,
        text=row.text,
        url=row.url,
        pages=tuple(row.pages),
        metadata=row.metadata,
        source=row.source,
        version=row.version,
        tree=SpanTree.from_bytes(row.tree),
    )
