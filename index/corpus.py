"""One corpus: documents, vectors and words, read and changed as one thing.

Flow: `folder_stores.py` or `memory_stores.py` gives it its stores; ingestion writes through `replace`; retrieval
searches `vectors` and `lexical_index` and reads `documents`. How text is cut and embedded is ingestion's business;
where the stores are, and whether they are sound, is theirs.

The order of writing keeps every crash harmless: announce -> vectors -> words -> publish (one SQLite commit makes the
documents visible, and notes the files they came from) -> sweep what was replaced. A hit that no visible document owns
is ignored by retrieval.

Vectors and words are opened, and their libraries imported, when they are first asked for: a run that finds nothing new
never loads them, and is done in a fraction of the time that Chroma and LlamaIndex take to import.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from errors import CorpusError, IndexDamagedError, SettingsError
from index.disk import failing_store
from index.disk import repair as remedy
from index.documents.catalogue import Catalogue
from index.documents.integrity import correct_totals, leaf_places
from index.documents.sources import SourceLedger, SourceNote
from index.documents.span_tree import node_id, parent_vectors
from index.documents.store import DocumentStore, StoredDocument
from index.documents.tables import Database, batches
from index.layout.manifest import FILE_NAME, Manifest
from index.lexical.leaves import word_rows
from settings import CORPUS_NAME

# Between the names of several corpora that a question goes to, and in the place of the names of all.
SEVERAL, ALL = "+", "*"

if TYPE_CHECKING:
    from index.lexical.tantivy_index import LexicalIndex
    from index.llamaindex import LeafVectorStore, SpanDocstore
    from index.vectors.chroma import Collection


class Stores:
    """Where the stores of one corpus are, and how they are opened. What only files need does nothing here.

    Attributes:
        database: the documents, open.
        read_only: another process writes.
    """

    database: Database
    read_only = False

    def open_vectors(self, *, examined: bool) -> "Collection":
        """Open the vectors; raises IndexDamagedError when they are damaged.

        Args:
            examined: they have been examined already.
        """
        raise NotImplementedError

    def open_words(self) -> "LexicalIndex":
        """Open the word index; raises IndexDamagedError when it is damaged."""
        raise NotImplementedError

    def record(self, manifest: Manifest) -> None:
        """Keep what the corpus is made with from now on; raises StorageError when it cannot be written."""

    def check_space(self, needed_bytes: int) -> None:
        """Raise StorageError unless so much can be written."""

    def size_bytes(self) -> int:
        """What the corpus takes on this machine's disk."""
        return 0

    def write_graph(self) -> None:
        """Have the whole graph of the vectors, which are closed, written; raises IndexDamagedError if it is damaged."""

    def delete_vectors(self) -> None:
        """Delete all vectors, which are not open."""

    def delete_words(self) -> None:
        """Delete the word index, which is not open."""

    def close_vectors(self, vectors: "Collection") -> None:
        """Close the vectors, so that the next opening finds them as they are now."""
        vectors.close()

    def release(self) -> None:
        """Let others in; a second call does nothing."""


class Corpus:
    """An open corpus; close it after use.

    Args:
        name: for people.
        manifest: what it was made with.
        stores: open its parts.
    """

    def __init__(self, name: str, manifest: Manifest, stores: Stores) -> None:
        self.name = name
        self.manifest = manifest
        self._stores = stores
        self._database = stores.database
        self._examined = False
        self.documents = DocumentStore(self._database)
        # Before anything else is read: what comes later makes it outdated.
        self._generation = self.documents.generation()
        self.catalogue = Catalogue(self._database)
        self.ledger = SourceLedger(self._database)
        self.under_way: dict[str, str] = {}
        """Documents that ingestions have read and not committed, doc_id -> source: several may take turns."""

    @cached_property
    def docstore(self) -> "SpanDocstore":
        """The passages as LlamaIndex nodes."""
        from index.llamaindex import SpanDocstore  # noqa: PLC0415

        return SpanDocstore(self.documents)

    @cached_property
    def vectors(self) -> "Collection":
        """The leaves' vectors; raises IndexDamagedError when they cannot be opened."""
        from index.vectors.small_files import SmallFiles  # noqa: PLC0415

        with failing_store("vectors"):
            vectors = self._stores.open_vectors(examined=self._examined)
        small = SmallFiles(vectors, self.documents, self.catalogue)
        vectors.exact, vectors.warm_up = small.nearest, small.refresh
        return vectors

    @property
    def vector_store(self) -> "LeafVectorStore":
        """The vectors for components of LlamaIndex; raises as `vectors`."""
        from index.llamaindex import LeafVectorStore  # noqa: PLC0415

        return LeafVectorStore(self.vectors, self.docstore, self.catalogue)

    @cached_property
    def lexical_index(self) -> "LexicalIndex":
        """The leaves' words; raises IndexDamagedError when they cannot be opened."""
        with failing_store("words"):
            return self._stores.open_words()

    @property
    def read_only(self) -> bool:
        """Whether another process writes."""
        return self._stores.read_only

    @property
    def generation(self) -> int:
        """Number of the commit that is shown; asks no database."""
        return self._generation if self.read_only else self.documents.last_generation

    def is_outdated(self) -> bool:
        """Say whether the process that writes has committed since this one opened the corpus; blocks.

        What is open goes on showing the words and the totals of then. Documents that were replaced are gone.
        """
        return self.read_only and self.documents.generation() != self._generation

    def models(self) -> list[Manifest]:
        """Return what the corpus, or each of several that are read as one, is made with: one manifest a model."""
        return [self.manifest]

    def adopt(self, wanted: Manifest) -> None:
        """Take another embedding model; only a corpus without documents can.

        Args:
            wanted: what settings with that model ask for.

        Raises:
            IndexMismatchError: there are documents of the former model.
            CorpusError: another process writes.
            StorageError: the folder cannot be written.
        """
        if self.manifest.identity == wanted.identity:
            return
        self._check_writable()
        if self.documents.count():
            self.manifest.check(wanted, self.name)
        manifest = replace(self.manifest, identity=wanted.identity, model=wanted.model, precision=wanted.precision)
        self._stores.record(manifest)
        self.manifest = manifest

    def skip_examination(self) -> None:
        """Open the vectors unexamined: the caller has examined them, and mends what it found."""
        self._examined = True

    def flush(self) -> None:
        """Make searches repeatable: what is found is then the same whenever the corpus is opened. Before any search.

        Raises:
            IndexDamagedError: the vectors cannot be opened.
        """
        if (vectors := self.__dict__.pop("vectors", None)) is not None:
            self._stores.close_vectors(vectors)
        self._stores.write_graph()

    def open_derived(self) -> None:
        """Open vectors and words now rather than at the first question.

        Raises:
            IndexDamagedError: they cannot be opened, or do not hold as many leaves as the documents have. What an
                interrupted ingestion left is not counted; the next one sweeps it.
        """
        pending, leaves = self.documents.pending(), self.documents.leaf_count()
        for store, held in (("vectors", self.vectors), ("words", self.lexical_index)):
            with failing_store(store):
                count = held.count()
                if self.read_only:  # what a running ingestion adds and sweeps comes on top
                    wrong = count < leaves and not self.is_outdated()
                else:
                    count -= held.count_versions(pending)
                    wrong = count != leaves
                if wrong:
                    fact = f"Corpus {self.name!r} has {leaves} leaves, but {count} {store} of leaves."
                    raise IndexDamagedError(fact, remedy(self.name))
        self.vectors.warm_up()

    def probes(self) -> dict[str, Callable[[], None]]:
        """Return store -> what raises CorpusError unless a question could read that store now.

        Each takes milliseconds, or the time limit of a server that does not answer. All stores are open.
        """
        return {"documents": self.documents.probe, "vectors": self.vectors.probe, "words": self.lexical_index.probe}

    def size_bytes(self) -> int:
        """What the corpus takes on this machine's disk."""
        return self._stores.size_bytes()

    def close(self) -> None:
        """Close the stores, then let others in; a second call does nothing."""
        self.close_stores()
        self._stores.release()

    def close_stores(self) -> None:
        """Close the stores, but keep others out: what is left is to put another corpus in this one's place."""
        if "vectors" in self.__dict__:
            self._stores.close_vectors(self.__dict__.pop("vectors"))
        self._database.dispose()

    def replace(
        self,
        documents: Sequence[StoredDocument],
        embeddings: npt.NDArray[np.float32],
        removed: Sequence[str] = (),
        notes: Sequence[SourceNote] = (),
        *,
        stopping: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Make documents visible, in place of older versions of theirs, and take away those named in `removed`.

        Once `stopping` returns true nothing of this becomes visible any more; if it is visible already, only the rest
        of what it replaces is left to the next ingestion.

        Args:
            documents: new versions only, each with at least one leaf.
            embeddings: one a leaf, in the order of `documents` and of each tree's leaves; shape (leaves, dimension).
            removed: doc_ids to delete.
            notes: of the files that were read, kept in the commit that makes the documents visible.
            stopping: asked every few dozen leaves.

        Returns:
            Whether it is visible.

        Raises:
            StorageError: the disk is full; the documents stay invisible and the next ingestion sweeps their remains.
            IndexDamagedError: a store failed.
            CorpusError: another process writes.
        """
        self._check_writable()
        parents: list[npt.NDArray[np.float32]] = []
        if documents:
            self._stores.check_space(_bytes_of(documents, embeddings))
            names = [node_id(document.version, position) for document in documents for position in document.tree.leaves]
            self.documents.announce([document.version for document in documents])
            self.vectors.upsert(names, embeddings, stopping)
            self.add_words(documents, stopping)
            if stopping():
                return False
            ends = np.cumsum([len(document.tree.leaves) for document in documents])
            parents = [
                parent_vectors(document.tree, vectors)
                for document, vectors in zip(documents, np.split(embeddings, ends[:-1]), strict=True)
            ]
        self._sweep(self.documents.publish(documents, parents, removed, notes), stopping)
        return True

    def add_words(self, documents: Iterable[StoredDocument], stopping: Callable[[], bool] = lambda: False) -> None:
        """Put the leaves of these documents into the word index, which must not hold them yet; none once `stopping`."""
        self.lexical_index.add(word_rows(documents), stopping)

    def delete(self, doc_ids: Iterable[str]) -> int:
        """Delete documents from every store, and return how many there were; the next run reads their files again."""
        known = list(self.catalogue.sources(doc_ids))
        for batch in batches(known):
            self.replace([], np.empty((0, 0), np.float32), batch)
        return len(known)

    def hide(self, doc_ids: Iterable[str]) -> None:
        """Do what `delete` does, but leave vectors and words, which nothing finds any more, to the next ingestion."""
        self._check_writable()
        self.documents.publish([], [], list(doc_ids))

    def sweep(self, stopping: Callable[[], bool] = lambda: False) -> int:
        """Remove what an interrupted ingestion left in vectors and words until `stopping`; return how many versions."""
        self._check_writable()
        leftovers = self.documents.pending()
        self._sweep(leftovers, stopping)
        return len(leftovers)

    def leaf_places(self) -> dict[str, range]:
        """Return version -> positions of its leaves, of every document: what vectors and words must hold."""
        return leaf_places(self._database)

    def recount(self) -> None:
        """Correct the recorded totals."""
        correct_totals(self._database)
        self.documents = DocumentStore(self._database)  # the old one keeps totals in memory

    def reset_vectors(self) -> None:
        """Delete all vectors, which are not open yet, to rebuild them."""
        self._stores.delete_vectors()

    def reset_words(self) -> None:
        """Delete the word index, which is not open yet, to rebuild it."""
        self._stores.delete_words()

    def _check_writable(self) -> None:
        if self.read_only:
            raise CorpusError.read_only(self.name)

    def _sweep(self, versions: Sequence[str], stopping: Callable[[], bool]) -> None:
        if versions:
            self.vectors.delete_versions(versions, stopping)
        if versions and not stopping():
            self.lexical_index.delete(versions)
            self.documents.forget_pending(versions)


def _bytes_of(documents: Sequence[StoredDocument], embeddings: npt.NDArray[np.float32]) -> int:
    """Return what a batch takes on disk at most: vectors pass through Chroma's log, text through SQLite's."""
    return (
        4 * embeddings.nbytes + 6 * sum(len(document.text.encode()) for document in documents) + 2048 * len(embeddings)
    )


def check_corpus_name(name: str) -> None:
    """Refuse names that are not plain folder names.

    Raises:
        SettingsError: `name` is not 1 to 63 lower-case letters, digits, hyphens and underscores.
    """
    if not re.fullmatch(CORPUS_NAME, name):
        raise SettingsError(
            f"{name!r} cannot name a corpus.", "Use 1 to 63 lower-case letters, digits, hyphens and underscores."
        )


def member_names(name: str) -> tuple[str, ...]:
    """Return the corpora that are meant by `a+b`, sorted and each once; of one name, that name."""
    return tuple(sorted(set(name.split(SEVERAL))))


def joined_name(names: Iterable[str]) -> str:
    """Return the name of several corpora together, `a+b`; of one, its own."""
    return SEVERAL.join(sorted(set(names)))


def exists(folder: Path) -> bool:
    """Say whether `folder` holds a corpus."""
    return (folder / FILE_NAME).is_file()


def corpus_names(root: Path) -> list[str]:
    """Names of the corpora in the index folder, sorted."""
    if not root.is_dir():
        return []
    return sorted(folder.name for folder in root.iterdir() if not folder.name.startswith(".") and exists(folder))
