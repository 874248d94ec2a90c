"""Several open corpora, read as one.

Flow: `query_engine/build.py` joins those that a question names -> **here** -> retrieval, reading and answering, which
need not know. Nothing is written here; who joins corpora has opened them, and closes them.

What is found is what one corpus of all the documents would give. Cosines of one embedding model are comparable as they
are. Those of different models are not: each corpus is searched with its own part of the question's vector (see
`embedding/followed.py`), and leaves are joined by rank, each as near as the nearest one of its rank. Words are weighed
over all corpora together (`LexicalIndex.joined`). A document says which corpus it is from; one that several hold in the
same version is the first one's.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, zip_longest
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from index.corpus import Corpus, joined_name
from index.documents.catalogue import Catalogue, DocumentName
from index.documents.copies import Copies
from index.documents.store import DocumentStore, StoredDocument
from index.documents.totals import Totals
from index.hits import Hits, best, side_by_side
from index.layout.manifest import Manifest
from index.lexical.tantivy_index import LexicalIndex
from index.vectors.chroma import Collection as Vectors

Found = TypeVar("Found")


class JoinedCorpus(Corpus):
    """Several corpora as one that is only read, for one question.

    Args:
        members: open, at least one.
    """

    def __init__(self, members: Sequence[Corpus]) -> None:
        self.name = joined_name(member.name for member in members)
        self.manifest = members[0].manifest
        self._members = members
        parts = _parts(members)
        self._parts = parts
        self.documents = JoinedDocuments(members, parts)
        self.catalogue = JoinedCatalogue(members)

    @cached_property
    def vectors(self) -> Vectors:
        """The leaves' vectors; raises IndexDamagedError when they cannot be opened."""
        return JoinedVectors([member.vectors for member in self._members], self._parts)

    @cached_property
    def lexical_index(self) -> LexicalIndex:
        """The leaves' words; raises IndexDamagedError when they cannot be opened."""
        return LexicalIndex.joined([member.lexical_index for member in self._members])

    def models(self) -> list[Manifest]:
        """Return what the corpora are made with, see `Corpus`."""
        return _models(self._members)

    def close(self) -> None:
        """Do nothing: the corpora belong to others."""


class JoinedDocuments(DocumentStore):
    """The documents of several corpora, each marked with its corpus."""

    def __init__(self, corpora: Sequence[Corpus], parts: Sequence["_Part"]) -> None:
        self._corpora = corpora
        self._parts = parts
        self.copies = JoinedCopies([corpus.documents.copies for corpus in corpora])
        self._owners: dict[str, int] = {}  # by version, so that a corpus is asked for its own only

    def totals(self) -> Totals:
        """Return what all corpora hold; a document that stands in several counts in each.

        Equal states mean equal documents of equally named corpora, cut and embedded in equal ways.
        """
        totals = [corpus.documents.totals() for corpus in self._corpora]
        models = [f"{corpus.name}:{corpus.manifest.identity.fingerprint()}" for corpus in self._corpora]
        state = " ".join(f"{model}:{one.state}" for model, one in zip(models, totals, strict=True))
        return Totals(sum(one.documents for one in totals), sum(one.leaves for one in totals), state)

    def get(self, doc_id: str) -> StoredDocument | None:
        """Return the document of the first corpus that has one of this id, or None."""
        for corpus in self._corpora:
            if (document := corpus.documents.get(doc_id)) is not None:
                return replace(document, corpus=corpus.name)
        return None

    def get_versions(self, versions: Iterable[str]) -> dict[str, StoredDocument]:
        """Return version -> document for the versions that are visible; unknown ones are left out."""
        found = self._from_owners(versions, lambda corpus, wanted: corpus.documents.get_versions(wanted))
        return {version: replace(one, corpus=self._corpora[place].name) for version, (place, one) in found.items()}

    def parent_vectors(self, versions: Iterable[str]) -> dict[str, npt.NDArray[np.float32]]:
        """Return version -> unit vectors of the document's roots and middles, see `DocumentStore`."""
        found = self._from_owners(versions, lambda corpus, wanted: corpus.documents.parent_vectors(wanted))
        return {version: self._parts[place].widened(vectors) for version, (place, vectors) in found.items()}

    def _from_owners(
        self, versions: Iterable[str], read: Callable[[Corpus, list[str]], Mapping[str, Found]]
    ) -> dict[str, tuple[int, Found]]:
        """Return what `read` finds for each version, and in which corpus."""
        wanted = list(dict.fromkeys(versions))
        found: dict[str, tuple[int, Found]] = {}
        for place, corpus in enumerate(self._corpora):
            asked = [one for one in wanted if one not in found and self._owners.get(one, place) == place]
            if asked:
                found |= {version: (place, value) for version, value in read(corpus, asked).items()}
        self._owners |= {version: place for version, (place, _) in found.items()}
        return {version: found[version] for version in wanted if version in found}


class JoinedCopies(Copies):
    """The equal texts within each of several corpora."""

    def __init__(self, members: Sequence[Copies]) -> None:
        self._members = members

    def originals(self, versions: Iterable[str], allowed: Collection[str] | None = None) -> dict[str, str]:
        """Return version -> version of the document of the same corpus that stands for it, see `Copies`."""
        wanted = list(versions)
        originals: dict[str, str] = {}
        for member in self._members:
            originals = member.originals(wanted, allowed) | originals
        return originals


class JoinedCatalogue(Catalogue):
    """The documents tables of several corpora: what a question asks of them."""

    def __init__(self, corpora: Sequence[Corpus]) -> None:
        self._corpora = corpora

    def versions(self, filters: object) -> frozenset[str]:
        """Return the versions of the documents that meet the filter, see `Catalogue`."""
        return frozenset[str]().union(*(corpus.catalogue.versions(filters) for corpus in self._corpora))

    def names(self, filters: object | None = None) -> list[DocumentName]:
        """Return what all documents are called, ordered by doc_id, see `Catalogue`."""
        names = [
            replace(name, corpus=corpus.name) for corpus in self._corpora for name in corpus.catalogue.names(filters)
        ]
        return sorted(names, key=lambda name: (name.doc_id, name.corpus))


class JoinedVectors(Vectors):
    """The vectors of several corpora, each of its own embedding model."""

    def __init__(self, members: Sequence[Vectors], parts: Sequence["_Part"]) -> None:
        self.raw = members[0].raw  # a LlamaIndex store names one collection
        self._members = members
        self._parts = parts

    def fetch(self, ids: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
        """Return node id -> embedding for the leaves that are there."""
        return {
            name: part.widened(vector)
            for member, part in zip(self._members, self._parts, strict=True)
            for name, vector in member.fetch(ids).items()
        }

    def search(
        self, embedding: Sequence[float] | npt.NDArray[np.float32], top_k: int, versions: Collection[str] | None = None
    ) -> Hits:
        """Return (node id, cosine similarity) of the nearest leaves of all corpora, see `Collection`.

        With several models the similarity is the highest that a leaf of the same rank has.
        """

        def search(place: int) -> Hits:
            return self._members[place].search(self._parts[place].of(embedding), top_k, versions)

        found = side_by_side(search, range(len(self._members)))
        by_part: dict[_Part, list[Hits]] = {}
        for part, hits in zip(self._parts, found, strict=True):
            by_part.setdefault(part, []).append(hits)
        return best(_equal_by_rank([best(hits, top_k) for hits in by_part.values()]), top_k)


class _Part(NamedTuple):
    """Where the numbers of one model stand in a vector of several models.

    Attributes:
        start: numbers before them.
        dimension: how many they are.
        width: of the whole vector.
    """

    start: int
    dimension: int
    width: int

    def of(self, vector: Sequence[float] | npt.NDArray[np.float32]) -> Sequence[float] | npt.NDArray[np.float32]:
        """Return the model's numbers of a vector of all."""
        return vector if self.dimension == self.width else vector[self.start : self.start + self.dimension]

    def widened(self, vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return vectors of the model, shape (..., dimension), as vectors of all, with zeros elsewhere."""
        if self.dimension == self.width:
            return vectors
        wide = np.zeros((*vectors.shape[:-1], self.width), np.float32)
        wide[..., self.start : self.start + self.dimension] = vectors
        return wide


def _models(members: Sequence[Corpus]) -> list[Manifest]:
    """Return one manifest of each model, in the order of the corpora."""
    return list({member.manifest.identity: member.manifest for member in members}.values())


def _parts(members: Sequence[Corpus]) -> list[_Part]:
    """Return where the numbers of each corpus's model stand."""
    models = [one.identity for one in _models(members)]
    width = sum(model.dimension for model in models)
    starts = dict(zip(models, accumulate((model.dimension for model in models), initial=0), strict=False))
    return [
        _Part(starts[identity], identity.dimension, width)
        for identity in (member.manifest.identity for member in members)
    ]


def _equal_by_rank(found: Sequence[Hits]) -> list[Hits]:
    """Return hits of different models with one similarity for each rank: the highest that any of them has there."""
    if len(found) == 1:
        return list(found)
    highest = [max(hit[1] for hit in hits if hit) for hits in zip_longest(*found)]
    return [[(name, score) for (name, _), score in zip(hits, highest, strict=False)] for hits in found]
