"""The stores of a corpus that is never written to disk: the documents of one question, gone when it is closed.

Flow: `query_engine/given_documents/corpus.py` fills it by `replace` -> retrieval reads it like any other. The stores
are the same three in their in-memory forms, so readers of a corpus need not tell the two kinds apart. There
is neither folder nor lock: no other process can find it.
"""

from uuid import uuid4

from index.corpus import Corpus, Stores
from index.documents.tables import open_memory
from index.layout.manifest import Manifest
from index.lexical.tantivy_index import LexicalIndex
from index.vectors.chroma import Collection, open_in_memory


def open_memory_corpus(name: str, manifest: Manifest) -> Corpus:
    """Make an empty corpus in memory; close it, or its vectors stay in the process.

    Args:
        name: for people.
        manifest: of the embedder and the sizes that its documents are made with.
    """
    return Corpus(name, manifest.created(), MemoryStores())


class MemoryStores(Stores):
    """Stores in memory; the vectors go when they are closed."""

    def __init__(self) -> None:
        self.database = open_memory(uuid4().hex)

    def open_vectors(self, *, examined: bool) -> Collection:  # noqa: ARG002  # there are no files to examine
        """Make the vectors."""
        return open_in_memory()

    def open_words(self) -> LexicalIndex:
        """Make the word index."""
        return LexicalIndex(None)
