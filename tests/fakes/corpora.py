"""Small corpora for tests: real stores in a temporary folder, a fake embedder, trees of one leaf a sentence."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding

from index.corpus import Corpus
from index.documents.span_tree import NO_PARENT, Span, SpanTree
from index.documents.store import Document, StoredDocument
from index.embedding.batch import embed_documents
from index.folder_stores import open_folder
from index.layout.manifest import Identity, Manifest
from tests.fakes.embedding import DIMENSION, WordHashEmbedding

IDENTITY = Identity(
    weights_hash="fake",
    pooling="mean",
    dimension=DIMENSION,
    query_prefix="",
    document_prefix="",
    root_tokens=2048,
    middle_tokens=512,
    leaf_tokens=128,
)
MANIFEST = Manifest(IDENTITY, "fake", "fp32")


def tree_of(text: str, *, leaves_a_middle: int = 3) -> SpanTree:
    """Cut at full stops: one leaf a sentence, a few leaves a middle, one root."""
    leaves: list[tuple[int, int]] = []
    start = 0
    for piece in text.split(". "):
        end = min(len(text), start + len(piece) + 1)
        leaves.append((start, end))
        start = end + 1
    families = [leaves[i : i + leaves_a_middle] for i in range(0, len(leaves), leaves_a_middle)]
    middles = [Span(1, family[0][0], family[-1][1], 0) for family in families]
    below = [Span(2, *leaf, 1 + position) for position, family in enumerate(families) for leaf in family]
    return SpanTree([Span(0, 0, len(text), NO_PARENT), *middles, *below])


def stored(
    doc_id: str, text: str, *, title: str = "", version: str = "", url: str | None = None, **metadata: Any
) -> StoredDocument:
    """Return a document with a tree of one leaf a sentence."""
    document = Document(doc_id, title or doc_id, text, url=url, source=doc_id, metadata=metadata)
    return StoredDocument.of(document, version or document.hash("test"), tree_of(text))


def fill(corpus: Corpus, texts: Mapping[str, str], embedder: BaseEmbedding) -> None:
    """Put documents (doc_id -> text) into a corpus."""
    put(corpus, [stored(doc_id, text) for doc_id, text in texts.items()], embedder)


def put(corpus: Corpus, documents: Sequence[StoredDocument], embedder: BaseEmbedding) -> None:
    """Put documents with their trees into a corpus."""
    leaves = [
        document.text[document.tree[position].start : document.tree[position].end]
        for document in documents
        for position in document.tree.leaves
    ]
    corpus.replace(documents, embed_documents(embedder, leaves))


def make_corpus(folder: Path, texts: Mapping[str, str], embedder: WordHashEmbedding) -> Corpus:
    """Make a corpus that holds `texts`; the caller closes it."""
    corpus = open_folder(folder, MANIFEST, create=True)
    if texts:
        fill(corpus, texts, embedder)
    return corpus
