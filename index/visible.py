"""A corpus as some groups see it: the documents that they may not see are not there.

Flow: `query_engine/build.py` opens a corpus for a caller of some groups -> **here** -> every reader of documents,
vectors and words, none of which need know. `documents/rights.py` says who may see what. Documents are looked at again
when they are read, so one that came in later is hidden as well.
"""

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from index.corpus import Corpus
from index.documents.catalogue import Catalogue
from index.documents.copies import Copies
from index.documents.rights import Groups, allowed, is_allowed
from index.documents.sources import SourceLedger, SourceNote
from index.documents.span_tree import split_node_id
from index.documents.store import DocumentStore, Sight, StoredDocument
from index.documents.totals import Totals
from index.hits import Hits
from index.lexical.tantivy_index import LexicalIndex
from index.vectors.chroma import Collection as Vectors


def visible(corpus: Corpus, groups: Groups | None) -> Corpus:
    """Return the corpus as these groups see it; the corpus itself if that is all of it, or `groups` is None."""
    if groups is None or not (sight := corpus.documents.sight(groups)).hidden:
        return corpus
    return VisibleCorpus(corpus, groups, sight)


class VisibleCorpus(Corpus):
    """What some groups see of a corpus, for one question; deletions are made in the corpus itself.

    Args:
        whole: open; who opened it closes it.
        groups: of the caller.
        sight: what they see of it.
    """

    def __init__(self, whole: Corpus, groups: Groups, sight: Sight) -> None:
        self.name, self.manifest = whole.name, whole.manifest
        self._whole, self._stores, self._database = whole, whole._stores, whole._database
        self._sight = sight
        self.documents = VisibleDocuments(whole.documents, groups, sight)
        self.catalogue = Catalogue(whole._database, allowed(groups))
        self.ledger = VisibleLedger(whole._database, sight.sources)

    @cached_property
    def vectors(self) -> Vectors:
        """The leaves' vectors; raises IndexDamagedError when they cannot be opened."""
        return VisibleVectors(self._whole.vectors, self._sight.versions)

    @cached_property
    def lexical_index(self) -> LexicalIndex:
        """The leaves' words; raises IndexDamagedError when they cannot be opened."""
        return self._whole.lexical_index.without(self._sight.hidden)

    def replace(self, *args: Any, **options: Any) -> bool:
        """Write into the corpus itself, see `Corpus`."""
        return self._whole.replace(*args, **options)

    def close(self) -> None:
        """Do nothing: the corpus belongs to others."""


class VisibleDocuments(DocumentStore):
    """The documents that some groups see."""

    def __init__(self, whole: DocumentStore, groups: Groups, sight: Sight) -> None:
        self._whole, self._groups, self._sight = whole, groups, sight
        self.copies = VisibleCopies(whole.copies, sight.versions)

    def totals(self) -> Totals:
        """Return what a corpus of these documents alone would hold."""
        return self._sight.totals

    def versions(self, source: str | None = None) -> dict[str, str]:
        """Return doc_id -> version of all documents, see `DocumentStore`: who deletes files must know of all."""
        return self._whole.versions(source)

    def get(self, doc_id: str) -> StoredDocument | None:
        """Return one document, or None."""
        found = self._whole.get(doc_id)
        return found if found is not None and is_allowed(found.metadata, self._groups) else None

    def get_versions(self, versions: Iterable[str]) -> dict[str, StoredDocument]:
        """Return version -> document for the versions that are visible; unknown ones are left out."""
        found = self._whole.get_versions(versions)
        return {version: one for version, one in found.items() if is_allowed(one.metadata, self._groups)}

    def parent_vectors(self, versions: Iterable[str]) -> dict[str, npt.NDArray[np.float32]]:
        """Return version -> unit vectors of the document's roots and middles, see `DocumentStore`."""
        return self._whole.parent_vectors(self._sight.versions.intersection(versions))


class VisibleCopies(Copies):
    """The equal texts among some documents."""

    def __init__(self, whole: Copies, versions: frozenset[str]) -> None:
        self._whole, self._versions = whole, versions

    def originals(self, versions: Iterable[str], allowed: Collection[str] | None = None) -> dict[str, str]:
        """Return version -> version of the document that stands for it, see `Copies`."""
        return self._whole.originals(versions, _both(self._versions, allowed))


class VisibleVectors(Vectors):
    """The vectors of some documents."""

    def __init__(self, whole: Vectors, versions: frozenset[str]) -> None:
        self.raw = whole.raw
        self._whole, self._versions = whole, versions

    def fetch(self, ids: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
        """Return node id -> embedding for the leaves that are there."""
        return self._whole.fetch([name for name in ids if split_node_id(name)[0] in self._versions])

    def search(
        self, embedding: Sequence[float] | npt.NDArray[np.float32], top_k: int, versions: Collection[str] | None = None
    ) -> Hits:
        """Return (node id, cosine similarity) of the nearest leaves, see `Collection`."""
        return self._whole.search(embedding, top_k, _both(self._versions, versions))


class VisibleLedger(SourceLedger):
    """The notes of files whose documents are all visible; other files have none."""

    def __init__(self, engine: Any, sources: frozenset[str]) -> None:
        super().__init__(engine)
        self._sources = sources

    def _select(self, where: Any) -> list[SourceNote]:
        return [note for note in super()._select(where) if note.source in self._sources]


def _both(ours: frozenset[str], wanted: Collection[str] | None) -> frozenset[str]:
    return ours if wanted is None else ours.intersection(wanted)
