"""Leaf vectors in Chroma: cosine, one collection a corpus.

Flow: ingestion upserts leaves; the dense retriever searches. Derived from `documents/store.py`, so it keeps neither
text nor a copy of the node: an id, a vector and the version it belongs to. How Chroma is reached, and how it fails, is
`chroma.py`'s business.

A `ChromaVectorStore`, so LlamaIndex users keep their type; what it mends: `add` on a known id kept the old vector,
large batches failed, similarities were exp(-L2), and every node was stored again as JSON in its metadata.
"""

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Collection as Several
from typing import Any

import numpy as np
import numpy.typing as npt
from llama_index.core.schema import BaseNode
from llama_index.core.vector_stores.types import VectorStoreQuery, VectorStoreQueryResult
from llama_index.vector_stores.chroma import ChromaVectorStore
from pydantic import PrivateAttr

from index.documents.catalogue import Catalogue
from index.documents.docstore import SpanDocstore
from index.documents.span_tree import split_node_id
from index.vectors.chroma import Collection, Hits
from index.vectors.small_files import SmallFiles

# Chroma's conditions take time by the leaves that meet them, 5 ms a thousand; so many times more neighbours take 1 ms.
WIDER = 8


class LeafVectorStore(ChromaVectorStore):
    """Vectors of one corpus's leaves. Every method raises what `chroma.py` makes of Chroma's failures.

    Args:
        collection: holds them.
        docstore: gives LlamaIndex queries their nodes.
        catalogue: gives their filters a meaning.
        small: searched beside the collection's graph.
    """

    _leaves: Collection = PrivateAttr()
    _docstore: SpanDocstore = PrivateAttr()
    _catalogue: Catalogue = PrivateAttr()
    _small: SmallFiles = PrivateAttr()

    def __init__(self, collection: Collection, docstore: SpanDocstore, catalogue: Catalogue, small: SmallFiles) -> None:
        super().__init__(chroma_collection=collection.raw)
        self._leaves = collection
        self._docstore = docstore
        self._catalogue = catalogue
        self._small = small

    def warm_up(self) -> None:
        """Read what the first search would read."""
        self._small.refresh()

    def probe(self) -> None:
        """Search for something; raise CorpusError if that fails."""
        self._leaves.probe()

    def close(self) -> None:
        """Let go of files and connections."""
        self._leaves.close()

    def count(self) -> int:
        """Number of leaves that have a vector."""
        return self._leaves.count()

    def count_versions(self, versions: Sequence[str]) -> int:
        """Number of leaves of these document versions that have a vector."""
        return self._leaves.count_versions(versions)

    def add(self, nodes: Sequence[BaseNode], **_: Any) -> list[str]:
        """Store the embeddings of leaves, replacing those of known ids."""
        embeddings = np.asarray([node.get_embedding() for node in nodes], np.float32)
        self.upsert([node.node_id for node in nodes], embeddings)
        return [node.node_id for node in nodes]

    def upsert(
        self,
        node_ids: Sequence[str],
        embeddings: npt.NDArray[np.float32],
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        """Store embeddings, shape (leaves, dimension), until `stopping`; known ids are replaced."""
        self._leaves.upsert(node_ids, embeddings, [split_node_id(name)[0] for name in node_ids], stopping)

    def fetch(self, node_ids: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
        """Return node id -> embedding for the leaves that are there."""
        return self._leaves.fetch(node_ids)

    def ids(self) -> Iterator[str]:
        """Yield the node id of every vector; nothing may be written meanwhile."""
        return self._leaves.ids()

    def delete_ids(self, node_ids: Sequence[str]) -> None:
        """Remove these leaves; unknown ones are not an error."""
        self._leaves.delete_ids(node_ids)

    def delete_versions(self, versions: Sequence[str], stopping: Callable[[], bool] = lambda: False) -> None:
        """Remove all leaves of these document versions, until `stopping`; unknown versions are not an error."""
        if versions:
            self._leaves.delete_versions(versions, stopping)

    def search(
        self, embedding: Sequence[float] | npt.NDArray[np.float32], top_k: int, versions: Several[str] | None = None
    ) -> list[tuple[str, float]]:
        """Return (node id, cosine similarity in -1..1) of the nearest leaves, nearest first; `[]` if there are none.

        Args:
            embedding: shape (dimension,).
            top_k: at most so many.
            versions: only leaves of these document versions, None meaning all; a set is quickest.
        """
        if versions is not None and not versions:
            return []
        exact = self._small.nearest(np.asarray(embedding, np.float32), top_k, versions)
        return _merged(self._by_graph(embedding, top_k, versions), exact, top_k)

    def _by_graph(
        self, embedding: Sequence[float] | npt.NDArray[np.float32], top_k: int, versions: Several[str] | None
    ) -> Hits:
        if versions is None:
            return self._leaves.nearest(embedding, top_k)
        wide = self._leaves.nearest(embedding, WIDER * top_k)
        inside = [hit for hit in wide if split_node_id(hit[0])[0] in versions]
        if len(inside) >= top_k:
            return inside[:top_k]
        return self._leaves.nearest_of(embedding, top_k, sorted(versions))

    def search_graph(self, embedding: Sequence[float] | npt.NDArray[np.float32], top_k: int) -> Hits:
        """Return what `search` would find without the exact search of small files: for measurements."""
        return self._by_graph(embedding, top_k, None)

    def query(self, query: VectorStoreQuery, **_: Any) -> VectorStoreQueryResult:
        """Answer a LlamaIndex query with whole nodes and cosine similarities.

        Its `filters` and `doc_ids` say which documents may be found; see `filters.where`.

        Raises:
            ValueError: the query has no embedding, or asks for single nodes.
            FilterError: the filter is empty or has no meaning.
        """
        if query.query_embedding is None or query.node_ids:
            raise ValueError("The leaf store answers embedding queries, filtered by documents only.")
        filters = _filters(query)
        versions = None if filters is None else self._catalogue.versions(filters)
        hits = self.search(query.query_embedding, query.similarity_top_k, versions)
        nodes = self._docstore.nodes(name for name, _ in hits)
        kept = [(name, score) for name, score in hits if name in nodes]
        return VectorStoreQueryResult(
            nodes=[nodes[name] for name, _ in kept],
            similarities=[score for _, score in kept],
            ids=[name for name, _ in kept],
        )


def _merged(graph: Hits, exact: Hits, top_k: int) -> Hits:
    """Return the best of both; a leaf that both found keeps the graph's score."""
    found = dict(exact) | dict(graph)
    return sorted(found.items(), key=lambda hit: -hit[1])[:top_k]


def _filters(query: VectorStoreQuery) -> dict[str, Any] | None:
    """Return what a LlamaIndex query says about documents as one filter; None if it says nothing."""
    entries: list[dict[str, Any]] = []
    if query.filters is not None:
        entries.append(query.filters.model_dump(mode="json", exclude_none=True))
    if query.doc_ids is not None:
        entries.append({"key": "doc_id", "operator": "in", "value": query.doc_ids})
    return {"filters": entries} if entries else None
