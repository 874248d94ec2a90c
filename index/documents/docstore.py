"""The passage trees as a LlamaIndex document store, read-only.

Flow: `StorageContext(docstore=...)` of any LlamaIndex component reads nodes from here; nothing is kept, every
node is cut from `store.py` when asked for. Writing goes through ingestion alone.
"""

from collections.abc import Iterable
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

from index.documents.span_tree import LEVEL_NAMES, NO_PARENT, chunk_id, node_id, split_node_id
from index.documents.store import DocumentStore, StoredDocument


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
