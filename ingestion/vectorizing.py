"""Give every leaf of a batch of documents its vector, computing as few as possible.

Flow: documents with trees -> **here** -> vectors in the order of the leaves -> commit. A leaf whose text had a vector
in an older version of its document, or lately in this run, gets that one: a word changed in a long document costs one
leaf, and a document met twice costs nothing.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from index.corpus import Corpus
from index.documents import StoredDocument
from index.embedding import embed_documents
from index.nodes import node_id
from ingestion.comparing import fingerprint

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

Vectors = npt.NDArray[np.float32]

KEPT_TEXTS = 16_384
# Few enough that a stopped run ends within a second or two, enough to keep every core busy.
SLICE_TEXTS = 256


class EmbedderSource(Protocol):
    """Loads the embedder when it is first asked for."""

    @property
    def embedder(self) -> "BaseEmbedding":
        """The embedder."""
        ...


class Vectorizer:
    """Vectors of leaves, by their text. For one thread.

    Args:
        corpus: holds the vectors of older versions.
        embedding: gives the embedder the corpus was made with, once there is something to embed.
        leaf_texts: what is embedded for each leaf of a document.
        check: called between slices; raises when the run shall end.
    """

    def __init__(
        self,
        corpus: Corpus,
        embedding: EmbedderSource,
        leaf_texts: Callable[[StoredDocument], list[str]],
        check: Callable[[], None],
    ) -> None:
        self._corpus = corpus
        self._embedding = embedding
        self._leaf_texts = leaf_texts
        self._check = check
        self._fingerprint = fingerprint(corpus)
        self._kept: OrderedDict[bytes, Vectors] = OrderedDict()

    def vectors(self, documents: Sequence[StoredDocument], replacing: Iterable[str]) -> tuple[Vectors, int]:
        """Return one vector a leaf, in the order of the documents and their leaves, and how many were computed.

        Args:
            documents: what is to be embedded.
            replacing: doc_ids that may have an older version in the corpus.

        Raises:
            ModelError: the embedder cannot be loaded.
        """
        texts = [text for document in documents for text in self._leaf_texts(document)]
        keys = [_key(text) for text in texts]
        known = self._older(replacing) | {key: self._kept[key] for key in keys if key in self._kept}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        fresh = self._embed(missing)
        known |= fresh
        self._keep(fresh)
        dimension = self._corpus.manifest.identity.dimension
        rows = [known[key] for key in keys]
        return (np.stack(rows) if rows else np.empty((0, dimension), np.float32)), len(missing)

    def _embed(self, texts: dict[bytes, str]) -> dict[bytes, Vectors]:
        found: dict[bytes, Vectors] = {}
        keys = list(texts)
        for start in range(0, len(keys), SLICE_TEXTS):
            self._check()
            part = keys[start : start + SLICE_TEXTS]
            rows = embed_documents(self._embedding.embedder, [texts[key] for key in part])
            # A row of its own each: a view would keep the whole slice in memory.
            found |= {key: row.copy() for key, row in zip(part, rows, strict=True)}
        return found

    def _older(self, doc_ids: Iterable[str]) -> dict[bytes, Vectors]:
        found: dict[bytes, Vectors] = {}
        for doc_id in doc_ids:
            document = self._corpus.documents.get(doc_id)
            # Another release may have embedded the same text in another form.
            if document is None or document.hash(self._fingerprint) != document.version:
                continue
            names = [node_id(document.version, position) for position in document.tree.leaves]
            stored = self._corpus.vectors.fetch(names)
            for name, text in zip(names, self._leaf_texts(document), strict=True):
                if name in stored:
                    found[_key(text)] = stored[name]
        return found

    def _keep(self, fresh: dict[bytes, Vectors]) -> None:
        self._kept.update(fresh)
        while len(self._kept) > KEPT_TEXTS:
            self._kept.popitem(last=False)


def _key(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()
