"""A corpus as LlamaIndex components read it: passage trees as a document store, vectors as a vector store.

Flow: `StorageContext(docstore=..., vector_store=...)` -> **here**: nodes are cut from `documents/store.py` when they
are asked for, vectors are searched in `vectors/chroma.py`; nothing is kept. Both stores are read-only: writing goes
through ingestion alone.

The vector store is a `ChromaVectorStore`, so LlamaIndex users keep their type; that one's `add` keeps the old vector of
a known id, fails on large batches and stores every node again as JSON, and its similarities are exp(-L2).
"""

from collections.abc import Iterable, Sequence
from typing import Any

from llama_index.core.schema import (
    BaseNode,
    NodeRelationship,
    ObjectType,
    RelatedNodeInfo,
    RelatedNodeType,
    TextNode,
)
from llama_index.core.storage.docstore.simple_docstore import SimpleDocumentStore
from llama_index.core.vector_stores.types import VectorStoreQuery, VectorStoreQueryResult
from llama_index.vector_stores.chroma import ChromaVectorStore
from pydantic import PrivateAttr

from index.documents.catalogue import Catalogue
from index.documents.span_tree import LEVEL_NAMES, NO_PARENT, chunk_id, node_id, split_node_id
from index.documents.store import DocumentStore, StoredDocument
from index.vectors.chroma import Collection


class UnknownNodeError(ValueError):
    """There is no such node; a ValueError, as LlamaIndex expects."""


class SpanDocstore(SimpleDocumentStore):
    """Nodes by id, made on demand from spans.

    Args:
        documents: the corpus they are cut from.
    """

    def __init__(self, documents: DocumentStore) -> None:
        super().__init__()
        self._documents = documents

    def nodes(self, node_ids: Iterable[str]) -> dict[str, TextNode]:
        """Return the nodes that exist, by id, with one look-up for all documents; unknown ids are left out."""
        places = {name: place for name in node_ids if (place := _place(name))}
        documents = self._documents.get_versions(version for version, _ in places.values())
        return {
            name: make_node(documents[version], position)
            for name, (version, position) in places.items()
            if version in documents and position < len(documents[version].tree)
        }

    def get_document(self, doc_id: str, raise_error: bool = True) -> BaseNode | None:
        """Return one node.

        Raises:
            UnknownNodeError: there is no such node and `raise_error` is set.
        """
        node = self.nodes([doc_id]).get(doc_id)
        if node is None and raise_error:
            raise UnknownNodeError(f"There is no node {doc_id}.")
        return node

    async def aget_document(self, doc_id: str, raise_error: bool = True) -> BaseNode | None:
        """Return one node; the look-up is a short read of a local file."""
        return self.get_document(doc_id, raise_error)

    def document_exists(self, doc_id: str) -> bool:
        """Say whether the node exists."""
        return self.get_document(doc_id, raise_error=False) is not None

    def add_documents(self, *_: Any, **__: Any) -> None:
        """Refuse: the store is read-only.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("The span docstore is read-only; documents come in by `python -m ingestion`.")


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


def make_node(document: StoredDocument, position: int) -> TextNode:
    """Cut one node out of its document, with its parent, children and source as relationships.

    Its metadata are for programs; of them a language model is shown the title, and an embedding model nothing.
    """
    span = document.tree[position]
    origin = document.origin(span.start)
    metadata = origin.pop("metadata") | {
        "doc_id": document.doc_id,
        "chunk_id": chunk_id(document.doc_id, origin["chunk_index"]),
        "title": document.title,
        "level": LEVEL_NAMES[span.level],
        **origin,
    }
    return TextNode(
        id_=node_id(document.version, position),
        text=document.text[span.start : span.end],
        start_char_idx=span.start,
        end_char_idx=span.end,
        metadata=metadata,
        excluded_embed_metadata_keys=list(metadata),
        excluded_llm_metadata_keys=[name for name in metadata if name != "title"],
        relationships=relationships_of(document, position),
    )


def source_of(document: StoredDocument) -> dict[NodeRelationship, RelatedNodeType]:
    """Return the relationship that gives a node its `ref_doc_id`."""
    return {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=document.doc_id, node_type=ObjectType.DOCUMENT)}


def relationships_of(document: StoredDocument, position: int) -> dict[NodeRelationship, RelatedNodeType]:
    """Return a node's document, parent and children; a root has no parent, a leaf no children."""

    def related(other: int) -> RelatedNodeInfo:
        return RelatedNodeInfo(node_id=node_id(document.version, other), node_type=ObjectType.TEXT)

    relationships = source_of(document)
    parent = document.tree[position].parent
    if parent != NO_PARENT:
        relationships[NodeRelationship.PARENT] = related(parent)
    if children := document.tree.children.get(position):
        relationships[NodeRelationship.CHILD] = [related(child) for child in children]
    return relationships


def _place(name: str) -> tuple[str, int] | None:
    try:
        return split_node_id(name)
    except ValueError:
        return None


def _filters(query: VectorStoreQuery) -> dict[str, Any] | None:
    """Return what a LlamaIndex query says about documents as one filter; None if it says nothing."""
    entries: list[dict[str, Any]] = []
    if query.filters is not None:
        entries.append(query.filters.model_dump(mode="json", exclude_none=True))
    if query.doc_ids is not None:
        entries.append({"key": "doc_id", "operator": "in", "value": query.doc_ids})
    return {"filters": entries} if entries else None
