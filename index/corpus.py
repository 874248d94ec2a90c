"""One corpus: a folder with its lock, manifest, documents, vectors and words, opened and changed as one thing.

Flow: `build.py` opens it; ingestion writes through `replace`; retrieval searches `vectors` and `words` and reads
`documents`. How text is cut and embedded is ingestion's business.

The order of writing keeps every crash harmless: announce -> vectors -> words -> publish (one SQLite commit makes the
documents visible, and notes the files they came from) -> sweep what was replaced. A hit that no visible document owns
is ignored by retrieval.

Vectors and words are opened, and their libraries imported, when they are first asked for: a run that finds nothing new
never loads them, and is done in a fraction of the time that Chroma and LlamaIndex take to import.
"""

import re
import shutil
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from errors import IndexDamagedError, SettingsError, UnknownCorpusError
from index.disk import check_space
from index.disk import repair as remedy
from index.documents.catalogue import Catalogue
from index.documents.integrity import correct_totals, leaf_places
from index.documents.sources import SourceLedger, SourceNote
from index.documents.span_tree import node_id, parent_vectors
from index.documents.store import BATCH_ROWS, DocumentStore, StoredDocument
from index.health.check import QUICK_SAMPLE, examine_store
from index.layout.locations import LOCAL, Servers
from index.layout.lock import CorpusLock
from index.layout.manifest import FILE_NAME, Manifest
from index.layout.swap import finish_swap
from index.lexical.document_names import document_names
from settings import CORPUS_NAME

if TYPE_CHECKING:
    from index.documents.docstore import SpanDocstore
    from index.lexical.tantivy_index import LexicalIndex
    from index.vectors.store import LeafVectorStore


class Corpus:
    """An open corpus.

    Args:
        folder: made, with the manifest, when missing and `create` is set.
        manifest: what the settings ask for; an existing corpus must match its identity.
        servers: where its documents and vectors are, if not in the folder; an existing corpus must be there.
        create: make the corpus if it does not exist.
        service_url: this process's address, for others who find the lock taken.

    Raises:
        UnknownCorpusError: there is no such corpus and `create` is off.
        CorpusLockedError: another process holds it.
        IndexMismatchError: it was built with other settings.
        IndexDamagedError: one of its stores cannot be opened.
    """

    def __init__(
        self,
        folder: Path,
        manifest: Manifest,
        servers: Servers = LOCAL,
        *,
        create: bool = False,
        service_url: str | None = None,
    ) -> None:
        self.name = folder.name
        self.folder = folder
        finish_swap(folder)
        if create:
            folder.mkdir(parents=True, exist_ok=True)
        elif not exists(folder):
            raise UnknownCorpusError.of(folder.name, corpus_names(folder.parent))
        self._lock = CorpusLock(folder, service_url)
        try:
            if not exists(folder):
                servers.born(manifest).write(folder)
            self.manifest = Manifest.read(folder)
            self.manifest.check(manifest.identity, self.name)
            servers.check(self.manifest, self.name)
            self._servers = servers
            self._database = servers.open_documents(folder, self.manifest)
            self.documents = DocumentStore(self._database)
            self.catalogue = Catalogue(self._database)
            self.ledger = SourceLedger(self._database)
        except BaseException:
            self._lock.release()
            raise

    @cached_property
    def docstore(self) -> "SpanDocstore":
        """The passages as LlamaIndex nodes."""
        from index.documents.docstore import SpanDocstore  # noqa: PLC0415

        return SpanDocstore(self.documents)

    @cached_property
    def vectors(self) -> "LeafVectorStore":
        """The leaves' vectors; raises IndexDamagedError when they cannot be opened."""
        from index.vectors.store import LeafVectorStore  # noqa: PLC0415

        if self._lock.abandoned:
            self._check_graph()
            self._lock.abandoned = False
        return LeafVectorStore(self._servers.open_vectors(self.folder, self.manifest), self.docstore, self.catalogue)

    @cached_property
    def lexical_index(self) -> "LexicalIndex":
        """The leaves' words; raises IndexDamagedError when they cannot be opened."""
        from index.lexical.tantivy_index import LexicalIndex  # noqa: PLC0415

        return LexicalIndex(self.folder / "words")

    def settle(self) -> None:
        """Make searches repeatable: what is found is then the same whenever the corpus is opened. Before any search.

        Raises:
            IndexDamagedError: the vectors cannot be opened.
        """
        self.vectors.close()  # opened, so that a damaged graph is told
        del self.__dict__["vectors"]
        self._servers.settle_vectors(self.folder)

    def open_derived(self) -> None:
        """Open vectors and words now rather than at the first question.

        Raises:
            IndexDamagedError: they cannot be opened, or do not hold as many leaves as the documents have.
        """
        counts = {"vectors": self.vectors.count(), "words": self.lexical_index.count()}
        if self.documents.pending():
            return  # an interrupted ingestion left remains, which the next one sweeps
        for store, count in counts.items():
            if count != self.documents.leaf_count():
                fact = f"Corpus {self.name!r} has {self.documents.leaf_count()} leaves, but {count} {store} of leaves."
                raise IndexDamagedError(fact, remedy(self.name))

    def close(self) -> None:
        """Close the stores, then let others in; a second call does nothing."""
        self.close_stores()
        self._lock.release()

    def close_stores(self) -> None:
        """Close the stores, but keep others out: what is left is to put another corpus in this one's place."""
        if "vectors" in self.__dict__:
            self.__dict__.pop("vectors").close()
        self._database.dispose()

    def replace(
        self,
        documents: Sequence[StoredDocument],
        embeddings: npt.NDArray[np.float32],
        removed: Sequence[str] = (),
        notes: Sequence[SourceNote] = (),
    ) -> None:
        """Make documents visible, in place of older versions of theirs, and take away those named in `removed`.

        Args:
            documents: new versions only, each with at least one leaf.
            embeddings: one a leaf, in the order of `documents` and of each tree's leaves; shape (leaves, dimension).
            removed: doc_ids that shall vanish.
            notes: of the files that were read, kept in the commit that makes the documents visible.

        Raises:
            StorageError: the disk is full; the documents stay invisible and the next ingestion sweeps their remains.
            IndexDamagedError: a store failed.
        """
        if documents:
            self._check_space(documents, embeddings)
        names = [node_id(document.version, position) for document in documents for position in document.tree.leaves]
        if documents:
            self.documents.announce([document.version for document in documents])
            self.vectors.upsert(names, embeddings)
            self.add_words(documents)
        ends = np.cumsum([len(document.tree.leaves) for document in documents])
        parents = (
            [
                parent_vectors(document.tree, vectors)
                for document, vectors in zip(documents, np.split(embeddings, ends[:-1]), strict=True)
            ]
            if documents
            else []
        )
        self._sweep(self.documents.publish(documents, parents, removed, notes))

    def add_words(self, documents: Iterable[StoredDocument]) -> None:
        """Put the leaves of these documents into the word index, which must not hold them yet."""
        self.lexical_index.add(
            (
                node_id(document.version, position),
                document.version,
                document.text[span.start : span.end],
                document_names(document.title, document.doc_id),
            )
            for document in documents
            for position in document.tree.leaves
            for span in [document.tree[position]]
        )

    def remove(self, doc_ids: Sequence[str]) -> None:
        """Take documents out of every store; unknown ids are no error. Their files are read again by the next run."""
        for start in range(0, len(doc_ids), BATCH_ROWS):
            self.replace([], np.empty((0, 0), np.float32), doc_ids[start : start + BATCH_ROWS])

    def delete(self, doc_ids: Iterable[str]) -> int:
        """Do what `remove` does, and return how many of the documents there were."""
        known = list(self.catalogue.sources(doc_ids))
        self.remove(known)
        return len(known)

    def sweep(self) -> int:
        """Remove what an interrupted ingestion left in the derived stores; return how many versions.

        Documents that an older release has stored get what this one notes of them.
        """
        self.documents.copies.complete()
        leftovers = self.documents.pending()
        self._sweep(leftovers)
        return len(leftovers)

    def leaf_places(self) -> dict[str, range]:
        """Return version -> positions of its leaves, of every document: what vectors and words must hold."""
        return leaf_places(self._database)

    def recount(self) -> None:
        """Correct the recorded totals."""
        correct_totals(self._database)
        self.documents = DocumentStore(self._database)  # the old one keeps totals in memory

    def reset_vectors(self) -> None:
        """Delete all vectors, which are not open yet, to build them anew."""
        self._servers.delete_vectors(self.folder, self.manifest)

    def reset_words(self) -> None:
        """Delete the word index, which is not open yet, to build it anew."""
        shutil.rmtree(self.folder / "words", ignore_errors=True)

    def _check_space(self, documents: Sequence[StoredDocument], embeddings: npt.NDArray[np.float32]) -> None:
        check_space(self.folder, _bytes_of(documents, embeddings))

    def _check_graph(self) -> None:
        """Look at the vectors from a child process, after a holder died: if they are torn, they would kill this one."""
        for check in examine_store(self.folder, self._servers, "graph", QUICK_SAMPLE):
            if not check.ok:
                raise IndexDamagedError(
                    f"The vectors of corpus {self.name!r} are damaged: {check.finding}", remedy(self.name)
                )

    def _sweep(self, versions: Sequence[str]) -> None:
        if versions:
            self.vectors.delete_versions(versions)
            self.lexical_index.delete(versions)
            self.documents.settle(versions)


def _bytes_of(documents: Sequence[StoredDocument], embeddings: npt.NDArray[np.float32]) -> int:
    """Return what a batch takes on disk at most: vectors pass through Chroma's log, text through SQLite's."""
    return (
        4 * embeddings.nbytes + 6 * sum(len(document.text.encode()) for document in documents) + 2048 * len(embeddings)
    )


def check_corpus_name(name: str) -> None:
    """Refuse names that are no plain folder names.

    Raises:
        SettingsError: `name` is not 1 to 63 lower-case letters, digits, hyphens and underscores.
    """
    if not re.fullmatch(CORPUS_NAME, name):
        raise SettingsError(
            f"{name!r} cannot name a corpus.", "Use 1 to 63 lower-case letters, digits, hyphens and underscores."
        )


def exists(folder: Path) -> bool:
    """Say whether `folder` holds a corpus."""
    return (folder / FILE_NAME).is_file()


def corpus_names(root: Path) -> list[str]:
    """Names of the corpora in the index folder, sorted."""
    if not root.is_dir():
        return []
    return sorted(folder.name for folder in root.iterdir() if not folder.name.startswith(".") and exists(folder))
