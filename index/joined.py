"""Several open corpora, read as one.

Flow: `query_engine/build.py` joins those that a question names -> **here** -> retrieval, reading and answering, which
need not know. Nothing is written here; who joins corpora has opened them, and closes them.

What is found is what one corpus of all the documents would give. Cosines of one embedding model are comparable as they
are. Those of different models are not: each corpus is searched with its own part of the question's vector (see
`embedding/followed.py`), and leaves are joined by rank, each as near as the nearest one of its rank. BM25 is comparable
once every term weighs the same in all corpora: its rarity is counted over the leaves of all, and each corpus is
searched with terms weighed by that. Only the average length of a leaf, which BM25 divides by, stays each corpus's own.
A document says which corpus it is from; one that several hold in the same version is the first one's.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import accumulate, zip_longest
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import PrivateAttr

from index.corpus import Corpus, joined_name
from index.documents.catalogue import LARGEST, MOST_TOPICS, Catalogue, DocumentName, Statistics
from index.documents.copies import Copies
from index.documents.docstore import SpanDocstore
from index.documents.store import DocumentStore, StoredDocument
from index.layout.manifest import Manifest
from index.lexical.tantivy_index import NAMES_BOOST, LexicalIndex
from index.lexical.term_index import NameTerms, TermQuery
from index.vectors.store import LeafVectorStore

# Searches side by side; there are seldom more cores.
MOST_THREADS = 8

Hits = list[tuple[str, float]]
Found = TypeVar("Found")
Member = TypeVar("Member")


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
    def vectors(self) -> LeafVectorStore:
        """The leaves' vectors; raises IndexDamagedError when they cannot be opened."""
        return JoinedVectors([member.vectors for member in self._members], self.docstore, self.catalogue, self._parts)

    @cached_property
    def lexical_index(self) -> LexicalIndex:
        """The leaves' words; raises IndexDamagedError when they cannot be opened."""
        return JoinedWords([member.lexical_index for member in self._members])

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
        # By version, so that one document stays one object, and a corpus is asked for its own only.
        self._named: dict[str, tuple[StoredDocument, StoredDocument]] = {}
        self._owners: dict[str, int] = {}

    def count(self) -> int:
        """Number of documents; one that stands in several corpora counts in each."""
        return sum(corpus.documents.count() for corpus in self._corpora)

    def leaf_count(self) -> int:
        """Number of leaves of all documents."""
        return sum(corpus.documents.leaf_count() for corpus in self._corpora)

    def state(self) -> str:
        """Name the state of all corpora: equal names mean equal documents, cut and embedded in equal ways."""
        states = (
            (corpus.name, corpus.manifest.identity.fingerprint(), corpus.documents.state()) for corpus in self._corpora
        )
        return " ".join(map(":".join, states))

    def get(self, doc_id: str) -> StoredDocument | None:
        """Return the document of the first corpus that has one of this id, or None."""
        for place, corpus in enumerate(self._corpora):
            if (document := corpus.documents.get(doc_id)) is not None:
                return self._marked(place, document)
        return None

    def get_versions(self, versions: Iterable[str]) -> dict[str, StoredDocument]:
        """Return version -> document for the versions that are visible; unknown ones are left out."""
        found = self._from_owners(versions, lambda corpus, wanted: corpus.documents.get_versions(wanted))
        return {version: self._marked(place, document) for version, (place, document) in found.items()}

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

    def _marked(self, place: int, document: StoredDocument) -> StoredDocument:
        known = self._named.get(document.version)
        if known is None or known[0] is not document:
            known = document, replace(document, corpus=self._corpora[place].name)
            self._named[document.version] = known
        return known[1]


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
    """The documents tables of several corpora."""

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

    def statistics(self) -> Statistics:
        """Return all corpora together in numbers, counted now."""
        counted = [corpus.catalogue.statistics() for corpus in self._corpora]
        largest = sorted((brief for one in counted for brief in one.largest), key=lambda brief: -brief.leaves)
        return Statistics(
            documents=sum(one.documents for one in counted),
            leaves=sum(one.leaves for one in counted),
            content_types=_summed([one.content_types for one in counted]),
            topics=dict(list(_summed([one.topics for one in counted]).items())[:MOST_TOPICS]),
            largest=largest[:LARGEST],
            last_ingested_at=self.last_ingested_at(),
        )

    def last_ingested_at(self) -> str | None:
        """Return when the newest document came in, see `Catalogue`."""
        moments = (corpus.catalogue.last_ingested_at() for corpus in self._corpora)
        return max((moment for moment in moments if moment), default=None)


class JoinedVectors(LeafVectorStore):
    """The vectors of several corpora, each of its own embedding model."""

    _members: Sequence[LeafVectorStore] = PrivateAttr()
    _parts: Sequence["_Part"] = PrivateAttr()

    def __init__(
        self,
        members: Sequence[LeafVectorStore],
        docstore: SpanDocstore,
        catalogue: Catalogue,
        parts: Sequence["_Part"],
    ) -> None:
        # A LlamaIndex store has one collection: the first corpus's stands there, and is searched with the others only.
        super().__init__(members[0]._leaves, docstore, catalogue, members[0]._small)
        self._members = members
        self._parts = parts

    def fetch(self, node_ids: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
        """Return node id -> embedding for the leaves that are there."""
        return {
            name: part.widened(vector)
            for member, part in zip(self._members, self._parts, strict=True)
            for name, vector in member.fetch(node_ids).items()
        }

    def search(
        self, embedding: Sequence[float] | npt.NDArray[np.float32], top_k: int, versions: Collection[str] | None = None
    ) -> Hits:
        """Return (node id, cosine similarity) of the nearest leaves of all corpora, see `LeafVectorStore`.

        With several models the similarity is the highest that a leaf of the same rank has.
        """

        def search(place: int) -> Hits:
            return self._members[place].search(self._parts[place].of(embedding), top_k, versions)

        found = _side_by_side(search, range(len(self._members)))
        by_part: dict[_Part, list[Hits]] = {}
        for part, hits in zip(self._parts, found, strict=True):
            by_part.setdefault(part, []).append(hits)
        return _best(_equal_by_rank([_best(hits, top_k) for hits in by_part.values()]), top_k)


class JoinedWords(LexicalIndex):
    """The words of several corpora; a query of it is one for each of them, in their order."""

    def __init__(self, members: Sequence[LexicalIndex]) -> None:
        self._members = members
        self._foreign = lru_cache(None)(self._words_in)

    def count(self) -> int:
        """Number of leaves."""
        return sum(member.count() for member in self._members)

    def count_versions(self, versions: Collection[str]) -> int:
        """Number of leaves of these document versions."""
        return sum(member.count_versions(versions) for member in self._members)

    def terms(self, text: str) -> list[str]:
        """Return the terms of `text` in order, see `LexicalIndex`."""
        return self._members[0].terms(text)

    def name_terms(self, title: str, doc_id: str) -> NameTerms:
        """Return the terms of a document's names."""
        return self._members[0].name_terms(title, doc_id)

    def containing(self, field: str, term: str) -> int:
        """Return how many leaves hold a term, see `LexicalIndex`."""
        return sum(member.containing(field, term) for member in self._members)

    def any_of(self, forms: Sequence[str]) -> TermQuery:
        """Return what finds the leaves that hold at least one of these terms, as rare as in all corpora together."""
        several = len(forms) > 1
        weight = self._idf(sum(one.count_any(forms) for one in self._members)) if several else self.weight(forms[0])
        return TermQuery([member.scored(forms, weight) for member in self._members], weight)

    def any_with(self, character: str) -> TermQuery:
        """Return what finds the leaves that hold a Chinese character, in whichever pair."""
        weight = self._idf(sum(member.count_with(character) for member in self._members))
        return TermQuery([member.scored_with(character, weight) for member in self._members], weight)

    def beginning_with(self, letters: str) -> list[str]:
        """Return the terms of all leaves that begin so."""
        return sorted({term for member in self._members for term in member.beginning_with(letters)})

    def has(self, term: str) -> bool:
        """Say whether a leaf, or the name of a document, holds a term."""
        return any(member.has(term) for member in self._members)

    def search_queries(
        self,
        queries: Iterable[tuple[Any, float]],
        names: Iterable[str],
        top_k: int,
        versions: Collection[str] | None = None,
    ) -> Hits:
        """Return (node id, BM25 score) of the best leaves of all corpora, see `LexicalIndex`."""
        weighed, called = list(queries), {term: self.name_weight(term) for term in names}

        def search(place: int) -> Hits:
            member = self._members[place]
            own = [(query[place], weight) for query, weight in weighed]
            own += [
                (member.named(term), NAMES_BOOST * weight / member.name_weight(term)) for term, weight in called.items()
            ]
            return member.search_queries(own, (), top_k, versions)

        return _best(_side_by_side(search, range(len(self._members))), top_k)

    def held_queries(self, terms: Mapping[str, Any], node_ids: Collection[str]) -> dict[str, frozenset[str]]:
        """Return leaf -> those of `terms` that its text holds; none for a leaf that is not there."""
        found: dict[str, frozenset[str]] = dict.fromkeys(node_ids, frozenset())
        for place, member in enumerate(self._members):
            own = {term: query[place] for term, query in terms.items()}
            for name, held in member.held_queries(own, node_ids).items():
                found[name] |= held
        return found

    def holding(self, text: str, versions: Collection[str] | None = None) -> list[str]:
        """Return the node ids of all leaves that hold every term of `text`; `[]` where it has none."""
        return [name for member in self._members for name in member.holding(text, versions)]

    def _term_query(self, term: str) -> Any:
        return self.any_of([term]).query


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
    best = [max(hit[1] for hit in hits if hit) for hits in zip_longest(*found)]
    return [[(name, score) for (name, _), score in zip(hits, best, strict=False)] for hits in found]


def _side_by_side(search: Callable[[Member], Found], members: Sequence[Member]) -> list[Found]:
    if len(members) == 1:
        return [search(members[0])]
    with ThreadPoolExecutor(min(MOST_THREADS, len(members))) as threads:
        return list(threads.map(search, members))


def _best(found: Iterable[Hits], top_k: int) -> Hits:
    """Return the best hits of all, each once."""
    hits: dict[str, float] = {}
    for name, score in sorted((hit for some in found for hit in some), key=lambda hit: -hit[1]):
        hits.setdefault(name, score)
    return list(hits.items())[:top_k]


def _summed(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """Return the sums by name, the largest first."""
    total = Counter[str]()
    for one in counts:
        total.update(one)
    return dict(sorted(total.items(), key=lambda entry: (-entry[1], entry[0])))
