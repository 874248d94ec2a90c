"""The stock LlamaIndex recipe for hierarchical retrieval, as its documentation shows it.

Flow: documents (read by our readers) -> **here** -> passages -> `eval/metrics.py`, beside ours. Flow of `python -m
bench.baseline.llamaindex FOLDER OUT MODEL`: text files -> **here** -> an index, timed from outside by
`speed/ingest.py`.

HierarchicalNodeParser with its own defaults, fp32 MiniLM through HuggingFaceEmbedding, the leaves in a
ChromaVectorStore, every node in a SimpleDocumentStore, AutoMergingRetriever on top. Nothing is tuned or mended: it
is what one gets without us. It opens its own stores and imports nothing of ours, because a peer must share none of our
code, nor pay for it.
"""

import hashlib
import json
import shutil
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import chromadb
from chromadb.api import ClientAPI
from chromadb.config import Settings as ChromaSettings
from llama_index.core import Document as LlamaDocument
from llama_index.core import SimpleDirectoryReader, StorageContext, VectorStoreIndex
from llama_index.core.node_parser import HierarchicalNodeParser, get_leaf_nodes
from llama_index.core.retrievers import AutoMergingRetriever, VectorIndexRetriever
from llama_index.core.schema import MetadataMode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.embeddings.huggingface import HuggingFaceEmbedding
from llama_index.vector_stores.chroma import ChromaVectorStore

if TYPE_CHECKING:
    from index.documents.store import Document

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

    def __init__(self, documents: "Sequence[Document]", folder: Path, model_dir: Path) -> None:
        self._embedder = HuggingFaceEmbedding(model_name=str(model_dir), device="cpu")
        complete, docstore_path = folder / "complete.json", folder / "docstore.json"
        key = _key(documents)
        self.built = not complete.is_file() or json.loads(complete.read_text()) != key
        if self.built:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        self._client = _open_chroma(folder)
        store = _vector_store(self._client)
        if self.built:
            docstore, _ = _build([_file(document) for document in documents], store, self._embedder)
            docstore.persist(str(docstore_path))
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


def main(folder: Path, out: Path, model_dir: Path) -> None:
    """Index the text files below `folder` in `out`; print how many documents and leaves that made."""
    reader = SimpleDirectoryReader(
        str(folder),
        recursive=True,
        # Its default adds the file's path and puts it before each leaf; a long path would make many small leaves.
        file_metadata=lambda path: {FILE_NAME: str(Path(path).relative_to(folder.resolve()))},
    )
    documents = reader.load_data()
    embedder = HuggingFaceEmbedding(model_name=str(model_dir), device="cpu")
    with closing(_open_chroma(out)) as client:  # type: ignore[type-var]  # as above
        docstore, leaves = _build(documents, _vector_store(client), embedder)
        docstore.persist(str(out / "docstore.json"))
    print(json.dumps({"documents": len(documents), "leaves": leaves}))


def _open_chroma(folder: Path) -> ClientAPI:
    return chromadb.PersistentClient(str(folder / "chroma"), settings=ChromaSettings(anonymized_telemetry=False))


def _vector_store(client: ClientAPI) -> ChromaVectorStore:
    return ChromaVectorStore(chroma_collection=client.get_or_create_collection("stock"))


def _build(
    documents: Sequence[LlamaDocument], store: ChromaVectorStore, embedder: HuggingFaceEmbedding
) -> tuple[SimpleDocumentStore, int]:
    """Return every node, and the number of leaves; the leaves' vectors go to `store`."""
    nodes = HierarchicalNodeParser.from_defaults(chunk_sizes=CHUNK_TOKENS).get_nodes_from_documents(documents)
    leaves = get_leaf_nodes(nodes)
    docstore = SimpleDocumentStore()
    docstore.add_documents(nodes)
    storage = StorageContext.from_defaults(docstore=docstore, vector_store=store)
    VectorStoreIndex(leaves, storage_context=storage, embed_model=embedder)
    return docstore, len(leaves)


def _file(document: "Document") -> LlamaDocument:
    # As SimpleDirectoryReader has it: the name is kept beside the text, and neither embedded nor counted.
    return LlamaDocument(
        text=document.text,
        metadata={FILE_NAME: document.doc_id},
        excluded_embed_metadata_keys=[FILE_NAME],
        excluded_llm_metadata_keys=[FILE_NAME],
    )


def _key(documents: "Sequence[Document]") -> dict[str, str]:
    text = json.dumps([(document.doc_id, document.text) for document in sorted(documents, key=lambda d: d.doc_id)])
    return {"documents": hashlib.sha256(text.encode()).hexdigest()} | {name: version(name) for name in PACKAGES}


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
