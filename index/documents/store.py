"""The documents of a corpus in SQLite: text, tree and metadata, each stored once. This is the truth.

Flow: ingestion writes here last; retrieval and citations read slices of text from here. Vectors (Chroma) and
terms (tantivy) are derived from it and can be rebuilt.

A document becomes visible in one commit, after its vectors and terms are in place. Until then its version
stands in `pending`, and so does a version that is being removed: the next ingestion finds there what a crash
left behind, and removes it. Which files were read is `sources.py`'s business, how the database is opened
`tables.py`'s.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from errors import CorpusError
from index.documents.blobs import WithoutBlobs, without_blobs
from index.documents.cache import DocumentCache
from index.documents.copies import Copies, note_texts
from index.documents.guess import guessed_blocks
from index.documents.rights import Groups, allowed
from index.documents.sources import SourceNote, reopen, write_notes
from index.documents.span_tree import SpanTree, first_leaf
from index.documents.structure import Structure
from index.documents.tables import batches, failures_named, fresh_connection
from index.documents.tables import documents as _documents
from index.documents.tables import generations as _generations
from index.documents.tables import parents as _parents
from index.documents.tables import pending as _pending
from index.documents.tables import structures as _structures
from index.documents.totals import Totals, count, raise_generation, read_generation, recorded_totals, totals_of

Metadata = dict[str, str | int | float | bool | list[str]]
Vectors = npt.NDArray[np.floating[Any]]

# As many as a reader takes; a caller's own document may have more.
MAX_TITLE_CHARS = 300
# Documents with their structure, which those of an earlier release do not have.
_WHOLE = sa.select(_documents, _structures.c.blocks).outerjoin(
    _structures, _structures.c.version == _documents.c.version
)
CACHED_CHARS = 128_000_000
CACHED_VECTOR_BYTES = 128_000_000
CACHED_SIGHTS = 64


@dataclass(frozen=True, slots=True)
class Document:
    """What a reader yields: one document, before it is cut.

    Attributes:
        doc_id: path relative to the ingest root, or the record's own id; unique in a corpus.
        title: for people, and evidence for retrieval.
        text: cleaned text; every offset in the project counts its characters.
        url: the document's own address, http or https only.
        pages: offset in `text` where each page starts; empty for unpaged documents.
        metadata: scalars and lists of short strings, by name.
        source: the file it came from, relative to the root.
        content_type: name of the format it was read from.
        structure: what the parts of `text` are; empty if its reader does not know, before it is guessed.
        unread: what its reader did not read of it, in sentences; ingestion keeps that with the source.
    """

    doc_id: str
    title: str
    text: str
    url: str | None = None
    pages: tuple[int, ...] = ()
    metadata: Metadata = field(default_factory=dict)
    source: str = ""
    content_type: str = ""
    structure: Structure = field(default_factory=Structure, compare=False)
    unread: str = field(default="", compare=False)

    def structured(self) -> Self:
        """Return the document with its structure: its reader's, else guessed from its text."""
        return self if self.structure else replace(self, structure=Structure(guessed_blocks(self.text)))

    def without_blobs(self) -> tuple[Self, WithoutBlobs]:
        """Return the document with its structure and without parts that hold no words, and those parts."""
        document = self.structured()
        rest = without_blobs(document.text, document.pages)
        if not rest.left_out:
            return document, rest
        structure = document.structure.moved(rest.moved)
        return replace(document, text=rest.text, pages=rest.offsets, structure=structure), rest

    def hash(self, pipeline: str) -> str:
        """Name this content under this `pipeline` (a fingerprint of chunking and embedding): 20 hex digits."""
        own = (self.doc_id, self.title, self.text, self.url, self.pages, self.metadata, self.source)
        parts = (*own, self.structure.digest(), pipeline)
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:20]

    @property
    def is_paper(self) -> bool:
        """Whether it is a paper, or an object of one, and so found by paragraph."""
        return "paper_id" in self.metadata

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
        corpus: that it was read from, where several are read as one; else empty.
    """

    version: str = ""
    tree: SpanTree = field(default_factory=lambda: SpanTree([]))
    corpus: str = ""

    @classmethod
    def of(cls, document: Document, version: str, tree: SpanTree) -> "StoredDocument":
        """Join a document with its version, tree and structure; of its title the first `MAX_TITLE_CHARS` are kept."""
        document = document.structured()
        values = {item.name: getattr(document, item.name) for item in fields(Document)}
        values["title"] = document.title[:MAX_TITLE_CHARS]
        return cls(**values, version=version, tree=tree)

    def origin(self, start: int) -> dict[str, Any]:
        """Return where a passage that begins at `start` is from, by the names under which clients read it."""
        return {
            "source_path": self.source,
            "content_type": self.content_type,
            "chunk_index": self.tree.ordinal_at(start),
            "metadata": self.metadata,
            **({"corpus": self.corpus} if self.corpus else {}),
        }


class Sight(NamedTuple):
    """What some groups see of a corpus.

    Attributes:
        versions: of the documents that they see.
        hidden: of all others.
        sources: files whose documents they see without exception.
        totals: of a corpus of what they see.
    """

    versions: frozenset[str]
    hidden: frozenset[str]
    sources: frozenset[str]
    totals: Totals


class DocumentStore:
    """The documents of one corpus. Safe to read from many threads; one process writes.

    Args:
        engine: the corpus's database, see `tables.py`.

    Attributes:
        copies: which of them hold the same text.
        last_generation: as this process last read or raised it; 0 before.
    """

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self.copies = Copies(engine)
        self._documents = DocumentCache(self._load_versions, lambda document: len(document.text), CACHED_CHARS)
        self._parents = DocumentCache(self._load_parents, lambda vectors: vectors.nbytes, CACHED_VECTOR_BYTES)
        self._totals = DocumentCache(self._load_totals, lambda _: 1, 1)
        self._sights = DocumentCache(self._load_sights, lambda _: 1, CACHED_SIGHTS)
        self._last_totals: Totals | None = None
        self.last_generation = 0

    def count(self) -> int:
        """Number of documents."""
        return self.totals().documents

    def unstructured(self) -> int:
        """Number of documents whose structure is guessed from their text: an earlier release kept none."""
        known = sa.select(sa.func.count()).select_from(_structures)
        with failures_named(), self._engine.connect() as connection:
            return self.count() - int(connection.execute(known).scalar_one())

    def leaf_count(self) -> int:
        """Number of leaves of all documents."""
        return self.totals().leaves

    def totals(self) -> Totals:
        """Return what the corpus holds, as of the last commit."""
        return self._totals.get([""])[""]

    def sight(self, groups: Groups) -> Sight:
        """Return what these groups see, as of the last commit."""
        named = json.dumps(sorted(groups))
        return self._sights.get([named])[named]

    def last_totals(self) -> Totals | None:
        """Return what the corpus held when that was last read; None if it never was. Asks no database."""
        return self._last_totals

    def state(self) -> str:
        """Set-hash of all versions, 20 hex digits: equal states hold equal documents cut in equal ways."""
        return self.totals().state

    def generation(self) -> int:
        """Number of the last commit, by whichever process."""
        self.last_generation = read_generation(self._engine)
        return self.last_generation

    def versions(self, source: str | None = None) -> dict[str, str]:
        """Return doc_id -> version, ordered by doc_id, of all documents or of those from one source file."""
        query = sa.select(_documents.c.doc_id, _documents.c.version).order_by(_documents.c.doc_id)
        if source is not None:
            query = query.where(_documents.c.source == source)
        with failures_named(), self._engine.connect() as connection:
            return {row.doc_id: row.version for row in connection.execute(query)}

    def get(self, doc_id: str) -> StoredDocument | None:
        """Return one document, or None."""
        return next(iter(self._load(_documents.c.doc_id, [doc_id])), None)

    def get_versions(self, versions: Iterable[str]) -> dict[str, StoredDocument]:
        """Return version -> document for the versions that are visible; unknown ones are left out."""
        return self._documents.get(versions)

    def each(self) -> Iterator[StoredDocument]:
        """Yield every document, ordered by doc_id, one in memory at a time; writing meanwhile is allowed."""
        last = ""
        while True:
            query = _WHOLE.where(_documents.c.doc_id > last).order_by(_documents.c.doc_id).limit(16)
            with failures_named(), self._engine.connect() as connection:
                found = [_from_row(row) for row in connection.execute(query)]
            if not found:
                return
            yield from found
            last = found[-1].doc_id

    def parent_vectors(self, versions: Iterable[str]) -> dict[str, npt.NDArray[np.float32]]:
        """Return version -> unit vectors of the document's roots and middles, shape (parents, dimension).

        Row i belongs to position i of the tree. Versions that are not visible are left out.
        """
        return self._parents.get(versions)

    def probe(self) -> None:
        """Read something as a new question would; raise CorpusError if that fails."""
        with failures_named(), fresh_connection(self._engine) as connection:
            connection.execute(sa.select(_generations.c.number)).all()

    def pending(self) -> list[str]:
        """Versions whose vectors and terms may exist without a visible document."""
        with failures_named(), self._engine.connect() as connection:
            return list(connection.execute(sa.select(_pending.c.version).order_by(_pending.c.version)).scalars())

    def announce(self, versions: Sequence[str]) -> None:
        """Note versions as pending before anything of them is written to another store."""
        with failures_named(), self._engine.begin() as connection:
            _note_pending(connection, versions)

    def publish(
        self,
        documents: Sequence[StoredDocument],
        parents: Sequence[Vectors],
        removed: Sequence[str] = (),
        notes: Sequence[SourceNote] = (),
    ) -> list[str]:
        """Make documents visible in one commit, in place of what they replace, and hide those named in `removed`.

        A source that loses a document is read again by the next ingestion, unless its new note is among `notes`.

        Args:
            documents: new versions.
            parents: for each of them the unit vectors of its roots and middles; kept as 16-bit floats.
            removed: doc_ids.
            notes: of the sources that were read; kept in the same commit.

        Returns:
            Versions that are no longer visible; they stay pending until `forget_pending` says that they are swept.
        """
        ids = [document.doc_id for document in documents] + list(removed)
        published = [document.version for document in documents]
        columns = sa.select(_documents.c.version, _documents.c.leaf_count, _documents.c.source)
        with self._changing(), failures_named(), self._engine.begin() as connection:
            old: dict[str, int] = {}
            losing: set[str] = set()
            for batch in batches(ids):
                for row in connection.execute(columns.where(_documents.c.doc_id.in_(batch))):
                    old[row.version] = row.leaf_count
                    losing.add(row.source)
                connection.execute(sa.delete(_documents).where(_documents.c.doc_id.in_(batch)))
            for batch in batches(old):
                connection.execute(sa.delete(_parents).where(_parents.c.version.in_(batch)))
                connection.execute(sa.delete(_structures).where(_structures.c.version.in_(batch)))
            if documents:
                connection.execute(sa.insert(_documents), [_to_row(document) for document in documents])
                rows = [
                    {"version": version, "vectors": vectors.astype("<f2").tobytes()}
                    for version, vectors in zip(published, parents, strict=True)
                ]
                connection.execute(sa.insert(_parents), rows)
                packed = [(document.version, document.structure.to_bytes()) for document in documents]
                blocks = [{"version": version, "blocks": data} for version, data in packed]
                connection.execute(sa.insert(_structures), blocks)
            note_texts(connection, [(document.version, document.text) for document in documents], old)
            connection.execute(sa.delete(_pending).where(_pending.c.version.in_(published)))
            retired = [version for version in old if version not in set(published)]
            _note_pending(connection, retired)
            new = {document.version: len(document.tree.leaves) for document in documents}
            count(connection, added=new, taken=old)
            reopen(connection, losing)
            write_notes(connection, notes)
            generation = raise_generation(connection)
        self.last_generation = generation
        return retired

    def forget_pending(self, versions: Sequence[str]) -> None:
        """Forget pending versions: nothing of them is left in any other store."""
        with failures_named(), self._engine.begin() as connection:
            for batch in batches(versions):
                connection.execute(sa.delete(_pending).where(_pending.c.version.in_(batch)))
            generation = raise_generation(connection)
        self.last_generation = generation

    @contextmanager
    def _changing(self) -> Iterator[None]:
        caches = (self._totals, self._documents, self._parents, self._sights)
        with ExitStack() as committing:
            for cache in caches:
                committing.enter_context(cache.committing())
            yield
        with suppress(CorpusError):  # what is committed is committed; they are read again when they are asked for
            self.totals()

    def _load_totals(self, names: Sequence[str]) -> dict[str, Totals]:
        self._last_totals = recorded_totals(self._engine)
        return dict.fromkeys(names, self._last_totals)

    def _load_sights(self, named: Sequence[str]) -> dict[str, Sight]:
        found = {}
        for one in named:
            columns = (_documents.c.version, _documents.c.leaf_count, _documents.c.source)
            query = sa.select(*columns, allowed(frozenset(json.loads(one))).label("seen"))
            with failures_named(), self._engine.connect() as connection:
                rows = connection.execute(query).all()
            seen, hidden = [row for row in rows if row.seen], [row for row in rows if not row.seen]
            found[one] = Sight(
                frozenset(row.version for row in seen),
                frozenset(row.version for row in hidden),
                frozenset(row.source for row in seen) - {row.source for row in hidden},
                totals_of({row.version: row.leaf_count for row in seen}),
            )
        return found

    def _load_versions(self, versions: Sequence[str]) -> dict[str, StoredDocument]:
        return {document.version: document for document in self._load(_documents.c.version, versions)}

    def _load_parents(self, versions: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
        found: dict[str, npt.NDArray[np.float32]] = {}
        query = sa.select(_parents, _documents.c.tree).join(_documents, _documents.c.version == _parents.c.version)
        with failures_named(), self._engine.connect() as connection:
            for batch in batches(versions):
                for row in connection.execute(query.where(_parents.c.version.in_(batch))):
                    parents = first_leaf(row.tree)
                    found[row.version] = np.frombuffer(row.vectors, "<f2").reshape(parents, -1).astype(np.float32)
        return found

    def _load(self, column: sa.Column[str], values: Sequence[str]) -> Iterator[StoredDocument]:
        for batch in batches(values):
            with failures_named(), self._engine.connect() as connection:
                for row in connection.execute(_WHOLE.where(column.in_(batch))):
                    yield _from_row(row)


def _note_pending(connection: sa.Connection, versions: Sequence[str]) -> None:
    known = set(connection.execute(sa.select(_pending.c.version)).scalars())
    rows = [{"version": version} for version in dict.fromkeys(versions) if version not in known]
    if rows:
        connection.execute(sa.insert(_pending), rows)


def _to_row(document: StoredDocument) -> dict[str, Any]:
    return {
        "doc_id": document.doc_id,
        "version": document.version,
        "title": document.title,
        "url": document.url,
        "source": document.source,
        "content_type": document.content_type,
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
        content_type=row.content_type,
        version=row.version,
        tree=SpanTree.from_bytes(row.tree),
        structure=Structure(row.blocks if row.blocks is not None else partial(guessed_blocks, row.text)),
    )
