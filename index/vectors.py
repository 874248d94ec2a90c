"""Leaf vectors in Chroma: embedded, cosine, one collection a corpus.

Flow: ingestion upserts leaves; the dense retriever searches. Derived from `documents.py`, so it keeps neither text
nor a copy of the node: an id, a vector and the version it belongs to. The only file that knows chromadb.

A `ChromaVectorStore`, so LlamaIndex users keep their type; what it mends: `add` on a known id kept the old vector,
large batches failed, similarities were exp(-L2), and every node was stored again as JSON in its metadata.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import numpy.typing as npt
from chromadb.config import Settings as ChromaSettings
from llama_index.core.schema import BaseNode
from llama_index.core.vector_stores.types import VectorStoreQuery, VectorStoreQueryResult
from llama_index.vector_stores.chroma import ChromaVectorStore
from pydantic import PrivateAttr

from errors import IndexDamagedError
from index.docstore import SpanDocstore
from index.nodes import split_node_id

COLLECTION = "leaves"
# Candidates the graph search keeps: Chroma's default of 100 misses neighbours when 50 or more are asked for.
EF_SEARCH = 200


class LeafVectorStore(ChromaVectorStore):
    """Vectors of one corpus's leaves.

    Embedded Chroma must be opened by one process only; the corpus lock sees to that.

    Args:
        path: folder of the database; made when missing.
        docstore: gives LlamaIndex queries their nodes.

    Raises:
        IndexDamagedError: the folder holds something that Chroma cannot open.
    """

    _docstore: SpanDocstore = PrivateAttr()
    _client: Any = PrivateAttr()

    def __init__(self, path: Path, docstore: SpanDocstore) -> None:
        options = ChromaSettings(anonymized_telemetry=False)
        configuration: Any = {"hnsw": {"space": "cosine", "ef_search": EF_SEARCH}}
        try:
            client = chromadb.PersistentClient(str(path), settings=options)
            collection = client.get_or_create_collection(
                COLLECTION, configuration=configuration, embedding_function=None
            )
        except Exception as error:  # chromadb raises its Rust errors without a common class
            raise IndexDamagedError(
                f"The vector store cannot be opened: {error}.",
                "Run `python -m ingestion PATH --rebuild` for this corpus.",
            ) from error
        super().__init__(chroma_collection=collection)
        self._client = client
        self._docstore = docstore

    def close(self) -> None:
        """Let go of the database files."""
        self._client.close()

    def count(self) -> int:
        """Number of leaves that have a vector."""
        return int(self._collection.count())

    def add(self, nodes: Sequence[BaseNode], **_: Any) -> list[str]:
        """Store the embeddings of leaves, replacing those of known ids."""
        embeddings = np.asarray([node.get_embedding() for node in nodes], np.float32)
        self.upsert([node.node_id for node in nodes], embeddings)
        return [node.node_id for node in nodes]

    def upsert(self, node_ids: Sequence[str], embeddings: npt.NDArray[np.float32]) -> None:
        """Store embeddings, shape (leaves, dimension), in batches that Chroma takes; known ids are replaced."""
        batch = self._client.get_max_batch_size()
        for start in range(0, len(node_ids), batch):
            ids = list(node_ids[start : start + batch])
            self._collection.upsert(
                ids=ids,
                embeddings=embeddings[start : start + batch],
                metadatas=[{"version": split_node_id(name)[0]} for name in ids],
            )

    def fetch(self, node_ids: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
        """Return node id -> embedding for the leaves that are there."""
        found: dict[str, npt.NDArray[np.float32]] = {}
        batch = self._client.get_max_batch_size()
        for start in range(0, len(node_ids), batch):
            rows = self._collection.get(ids=list(node_ids[start : start + batch]), include=["embeddings"])
            found |= zip(rows["ids"], np.asarray(rows["embeddings"], np.float32), strict=True)
        return found

    def delete_versions(self, versions: Sequence[str]) -> None:
        """Remove all leaves of these document versions; unknown versions are no error."""
        if versions:
            where: Any = {"version": {"$in": list(versions)}}
            self._collection.delete(where=where)

    def search(self, embedding: Sequence[float], top_k: int) -> list[tuple[str, float]]:
        """Return (node id, cosine similarity in -1..1) of the nearest leaves, nearest first; `[]` if empty."""
        available = min(top_k, self.count())
        if not available:
            return []
        found = self._collection.query(
            query_embeddings=np.asarray([embedding], np.float32), n_results=available, include=["distances"]
        )
        distances = found["distances"]
        assert distances is not None
        return [(name, 1.0 - distance) for name, distance in zip(found["ids"][0], distances[0], strict=True)]

    def query(self, query: VectorStoreQuery, **_: Any) -> VectorStoreQueryResult:
        """Answer a LlamaIndex query with whole nodes and cosine similarities; filters are not supported here.

        Raises:
            ValueError: the query has no embedding, or asks for filters.
        """
        if query.query_embedding is None or query.filters is not None:
            raise ValueError("The leaf store answers plain embedding queries only.")
        hits = self.search(query.query_embedding, query.similarity_top_k)
        nodes = self._docstore.nodes(name for name, _ in hits)
        kept = [(name, score) for name, score in hits if name in nodes]
        return VectorStoreQueryResult(
            nodes=[nodes[name] for name, _ in kept],
            similarities=[score for _, score in kept],
            ids=[name for name, _ in kept],
        )
