"""The leaves' vectors as a LlamaIndex vector store, read-only.

Flow: `StorageContext(vector_store=...)` of any LlamaIndex component searches **here** -> `chroma.py`. Writing goes
through ingestion alone. A `ChromaVectorStore`, so LlamaIndex users keep their type; that one's `add` keeps the old
vector of a known id, fails on large batches and stores every node again as JSON, and its similarities are exp(-L2).
"""

from collections.abc import Sequence
from typing import Any

from llama_index.core.schema import BaseNode
from llama_index.core.vector_stores.types import VectorStoreQuery, VectorStoreQueryResult
from llama_index.vector_stores.chroma import ChromaVectorStore
from pydantic import PrivateAttr

from index.documents.catalogue import Catalogue
from index.documents.docstore import SpanDocstore
from index.vectors.chroma import Collection


class LeafVectorStore(ChromaVectorStore):
    """Vectors of one corpus's leaves. It raises what `chroma.py` makes of Chroma's failures.

    Args:
        vectors: searched.
        docstore: gives queries their nodes.
        catalogue: gives their filters a meaning.
    """

    _vectors: Collection = PrivateAttr()
    _docstore: SpanDocstore = PrivateAttr()
    _catalogue: Catalogue = PrivateAttr()

    def __init__(self, vectors: Collection, docstore: SpanDocstore, catalogue: Catalogue) -> None:
        super().__init__(chroma_collection=vectors.raw)
        self._vectors = vectors
        self._docstore = docstore
        self._catalogue = catalogue

    def add(self, nodes: Sequence[BaseNode], **_: Any) -> list[str]:
        """Refuse: the store is read-only.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("The leaf store is read-only; documents come in by `python -m ingestion`.")

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
        hits = self._vectors.search(query.query_embedding, query.similarity_top_k, versions)
        nodes = self._docstore.nodes(name for name, _ in hits)
        kept = [(name, score) for name, score in hits if name in nodes]
        return VectorStoreQueryResult(
            nodes=[nodes[name] for name, _ in kept],
            similarities=[score for _, score in kept],
            ids=[name for name, _ in kept],
        )


def _filters(query: VectorStoreQuery) -> dict[str, Any] | None:
    """Return what a LlamaIndex query says about documents as one filter; None if it says nothing."""
    entries: list[dict[str, Any]] = []
    if query.filters is not None:
        entries.append(query.filters.model_dump(mode="json", exclude_none=True))
    if query.doc_ids is not None:
        entries.append({"key": "doc_id", "operator": "in", "value": query.doc_ids})
    return {"filters": entries} if entries else None
