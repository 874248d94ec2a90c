"""The stock LlamaIndex recipe for hierarchical retrieval, as its documentation shows it.

Flow: documents (read by our readers) -> **here** -> passages -> `eval/metrics.py`, beside ours.

HierarchicalNodeParser with its own defaults, fp32 MiniLM through HuggingFaceEmbedding, the leaves in a
ChromaVectorStore, every node in a SimpleDocumentStore, AutoMergingRetriever on top. Nothing is tuned or mended: it
is what one gets without us. It opens its own stores, because a peer must share none of our code.
"""

import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import chromadb
from chromadb.config import Settings as ChromaSettings
from llama_index.core import Document as LlamaDocument
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.node_parser import HierarchicalNodeParser, get_leaf_nodes
from llama_index.core.retrievers import AutoMergingRetriever, VectorIndexRetriever
from llama_index.core.schema import MetadataMode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.embeddings.huggingface import HuggingFaceEmbedding
from llama_index.vector_stores.chroma import ChromaVectorStore

from index.documents import Document

CHUNK_TOKENS = [2048, 512, 128]
TOP_K = 12
PACKAGES = ("llama-index-core", "llama-index-vector-stores-chroma", "chromadb", "sentence-transformers")
FILE_NAME = "file_name"


@dataclass(frozen=True, slots=True)
class StockPassage:
    """A passage of the stock recipe; it knows no pages."""

    doc_id: str
    text: str
    pages: tuple[int, ...] = ()


class StockRecipe:
    """The recipe over one set of documents.

    Opening it builds the index if `folder` does not hold one of these documents, made by these versions. An index
    that was left half-built is thrown away.

    Args:
        documents: what is searched.
        folder: where the index is kept; nothing else may live there.
        model_dir: a Sentence Transformers model.
    """

    def __init__(self, documents: Sequence[Document], folder: Path, model_dir: Path) -> None:
        self._embedder = HuggingFaceEmbedding(model_name=str(model_dir), device="cpu")
        key, complete, docstore_path = _key(documents), folder / "complete.json", folder / "docstore.json"
        self.built = not complete.is_file() or json.loads(complete.read_text()) != key
        if self.built:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        self._client = chromadb.PersistentClient(
            str(folder / "chroma"), settings=ChromaSettings(anonymized_telemetry=False)
        )
        store = ChromaVectorStore(chroma_collection=self._client.get_or_create_collection("stock"))
        if self.built:
            self._build(documents, store).persist(str(docstore_path))
            complete.write_text(json.dumps(key))
        docstore = SimpleDocumentStore.from_persist_path(str(docstore_path))
        index = VectorStoreIndex.from_vector_store(store, embed_model=self._embedder)
        self._retriever = AutoMergingRetriever(
            VectorIndexRetriever(index, similarity_top_k=TOP_K),
            StorageContext.from_defaults(docstore=docstore, vector_store=store),
        )

    def close(self) -> None:
        """Let go of the database files."""
        self._client.close()  # type: ignore[attr-defined]  # the client has it, its interface does not

    def retrieve(self, question: str) -> list[StockPassage]:
        """Return the merged passages, best first."""
        return [
            StockPassage(hit.node.metadata[FILE_NAME], hit.node.get_content(metadata_mode=MetadataMode.NONE))
            for hit in self._retriever.retrieve(question)
        ]

    def _build(self, documents: Sequence[Document], store: ChromaVectorStore) -> SimpleDocumentStore:
        nodes = HierarchicalNodeParser.from_defaults(chunk_sizes=CHUNK_TOKENS).get_nodes_from_documents(
            [_file(document) for document in documents]
        )
        docstore = SimpleDocumentStore()
        docstore.add_documents(nodes)
        storage = StorageContext.from_defaults(docstore=docstore, vector_store=store)
        VectorStoreIndex(get_leaf_nodes(nodes), storage_context=storage, embed_model=self._embedder)
        return docstore


def _file(document: Document) -> LlamaDocument:
    # As SimpleDirectoryReader has it: the name is kept beside the text, and neither embedded nor counted.
    return LlamaDocument(
        text=document.text,
        metadata={FILE_NAME: document.doc_id},
        excluded_embed_metadata_keys=[FILE_NAME],
        excluded_llm_metadata_keys=[FILE_NAME],
    )


def _key(documents: Sequence[Document]) -> dict[str, str]:
    text = json.dumps([(document.doc_id, document.text) for document in sorted(documents, key=lambda d: d.doc_id)])
    return {"documents": hashlib.sha256(text.encode()).hexdigest()} | {name: version(name) for name in PACKAGES}
