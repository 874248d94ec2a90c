"""Give every leaf of a batch of documents its vector, computing as few as possible.

Flow: changes with trees -> **here** -> vectors in the order of the leaves -> commit. A leaf whose text had a vector
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
from index.documents.span_tree import node_id
from index.documents.store import StoredDocument
from index.embedding.batch import embed_documents
from ingestion.pipeline.diff import Change, fingerprint

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
        corpus: holds the vectors of older versions; None to compute those anew.
        embedding: gives the embedder the corpus was made with, once there is something to embed.
        leaf_texts: what is embedded for each leaf of a document.
        check: called between slices; raises when the run shall end.
    """

    def __init__(
        self,
        corpus: Corpus | None,
        embedding: EmbedderSource,
        leaf_texts: Callable[[StoredDocument], list[str]],
        check: Callable[[], None],
    ) -> None:
        self._corpus = corpus
        self._embedding = embedding
        self._leaf_texts = leaf_texts
        self._check = check
        self._kept: OrderedDict[bytes, Vectors] = OrderedDict()

    def fill(self, changes: Sequence[Change]) -> None:
        """Give these changes, which have trees, the vectors of their leaves.

        Raises:
            ModelError: the embedder cannot be loaded.
        """
        texts = [self._leaf_texts(change.stored()) for change in changes]
        keys = [list(map(_key, of_one)) for of_one in texts]
        known = self._older(change.document.doc_id for change in changes if change.replaces)
        known |= {key: self._kept[key] for of_one in keys for key in of_one if key in self._kept}
        missing: dict[bytes, str] = {}
        for change, its_keys, its_texts in zip(changes, keys, texts, strict=True):
            before = len(missing)
            missing |= {key: text for key, text in zip(its_keys, its_texts, strict=True) if key not in known}
            change.embedded = len(missing) - before
        fresh = self._embed(missing)
        known |= fresh
        self._keep(fresh)
        for change, its_keys in zip(changes, keys, strict=True):
            change.vectors = np.stack([known[key] for key in its_keys])

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
        if self._corpus is None:
            return found
        for doc_id in doc_ids:
            document = self._corpus.documents.get(doc_id)
            # Another release may have embedded the same text in another form.
            if document is None or document.hash(fingerprint(self._corpus)) != document.version:
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
