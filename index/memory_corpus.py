"""A corpus that is never written to disk: the documents of one question, gone when it is closed.

Flow: `query_engine/given_documents/corpus.py` fills it by `replace` -> retrieval reads it like any other. The stores
are the same three, each in its own in-memory form, so that whatever reads a corpus needs to know no second kind. It has
neither folder nor lock: nobody else can find it.
"""

from collections.abc import Sequence
from functools import cached_property
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from index.corpus import Corpus
from index.documents.catalogue import Catalogue
from index.documents.docstore import SpanDocstore
from index.documents.sources import SourceLedger
from index.documents.store import DocumentStore, StoredDocument
from index.documents.tables import open_memory
from index.layout.manifest import Manifest
from index.lexical.tantivy_index import LexicalIndex
from index.vectors.chroma import open_in_memory
from index.vectors.store import LeafVectorStore


class MemoryCorpus(Corpus):
    """A corpus in memory; close it, or its vectors stay in the process.

    What concerns a folder (`reset_vectors`, `reset_words`) is not for it.

    Args:
        name: for people.
        manifest: of the embedder and the sizes that its documents are made with.
    """

    def __init__(self, name: str, manifest: Manifest) -> None:
        self.name = name
        self.manifest = manifest.born()
        self._database = open_memory(uuid4().hex)
        self.documents = DocumentStore(self._database)
        self.catalogue = Catalogue(self._database)
        self.ledger = SourceLedger(self._database)

    @cached_property
    def docstore(self) -> SpanDocstore:
        """The passages as LlamaIndex nodes."""
        return SpanDocstore(self.documents)

    @cached_property
    def vectors(self) -> LeafVectorStore:
        """The leaves' vectors."""
        return LeafVectorStore(open_in_memory(), self.docstore, self.catalogue)

    @cached_property
    def lexical_index(self) -> LexicalIndex:
        """The leaves' words."""
        return LexicalIndex(None)

    def close(self) -> None:
        """Let go of everything; a second call does nothing."""
        self.close_stores()

    def _check_space(self, documents: Sequence[StoredDocument], embeddings: npt.NDArray[np.float32]) -> None:
        """Memory has no disk to fill."""
