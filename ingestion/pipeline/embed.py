"""Give every leaf of a batch of documents its vector, computing as few as possible.

Flow: changes with trees -> **here** -> vectors in the order of the leaves -> commit. A leaf whose text had a vector
in an older version of its document, in a document with the same text, or lately in this run, gets that one: a word
changed in a long document costs one leaf, and a document met twice costs nothing. The title is embedded with each leaf;
where it is only the name of the file, a copy of the file under another name gets the vectors of the first.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from cachetools import LRUCache

from index.corpus import Corpus
from index.documents.copies import hash_text
from index.documents.span_tree import node_id
from index.documents.store import StoredDocument
from index.embedding.batch import embed_documents, slice_texts
from ingestion.pipeline.diff import Change, fingerprint
from ingestion.reading.text import title_from_name

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

Vectors = npt.NDArray[np.float32]

KEPT_TEXTS = 16_384


class _Leaf(NamedTuple):
    """What is embedded for a leaf, and the names under which its vector may be known, the surest first."""

    text: str
    keys: tuple[bytes, ...]


class EmbedderSource(Protocol):
    """Loads the embedder when it is first asked for."""

    @property
    def embedder(self) -> "BaseEmbedding":
        """The embedder."""
        ...


class Vectorizer:
    """Vectors of leaves, by their text. For one thread.

    Args:
        corpus: holds the vectors of older versions and of copies; None computes those again.
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
        self._kept: LRUCache[bytes, Vectors] = LRUCache(KEPT_TEXTS)

    def fill(self, changes: Sequence[Change]) -> None:
        """Give these changes, which have trees, the vectors of their leaves.

        Raises:
            ModelError: the embedder cannot be loaded, or its server fails.
        """
        leaves = [self._leaves(change.stored()) for change in changes]
        known = self._stored(changes)
        known |= {
            key: self._kept[key] for of_one in leaves for leaf in of_one for key in leaf.keys if key in self._kept
        }
        missing: dict[bytes, str] = {}
        first: dict[bytes, bytes] = {}  # key -> the one whose vector is taken
        for change, of_one in zip(changes, leaves, strict=True):
            before = len(missing)
            for leaf in of_one:
                found = next((first.get(key, key) for key in leaf.keys if key in known or key in first), None)
                if found is None:
                    found = leaf.keys[0]
                    missing[found] = leaf.text
                first |= {key: found for key in leaf.keys if key not in known and key not in first}
            change.embedded = len(missing) - before
        known |= self._embed(missing, changes)
        for change, of_one in zip(changes, leaves, strict=True):
            rows = {leaf: known[first.get(leaf.keys[0], leaf.keys[0])] for leaf in of_one}
            change.vectors = np.stack([rows[leaf] for leaf in of_one])
            self._kept.update({key: row for leaf, row in rows.items() for key in leaf.keys})

    def _leaves(self, document: StoredDocument) -> list[_Leaf]:
        texts = self._leaf_texts(document)
        if document.title != title_from_name(document.doc_id):
            return [_Leaf(text, (_key(text),)) for text in texts]
        # Nothing but the name of its file tells this document from a copy.
        whole = hash_text(document.text)
        return [_Leaf(text, (_key(text), _key(f"{whole} {number}"))) for number, text in enumerate(texts)]

    def _embed(self, texts: dict[bytes, str], changes: Sequence[Change]) -> dict[bytes, Vectors]:
        found: dict[bytes, Vectors] = {}
        keys = list(texts)
        if not keys:
            return found
        embedder = self._embedding.embedder
        # Slices of one size: a small one at the end would have a server wait.
        step = math.ceil(len(keys) / math.ceil(len(keys) / slice_texts(embedder)))
        for start in range(0, len(keys), step):
            self._check()
            part = keys[start : start + step]
            rows = embed_documents(embedder, [texts[key] for key in part], self._check)
            # Copies, because a view would keep the whole slice in memory.
            found |= {key: row.copy() for key, row in zip(part, rows, strict=True)}
            for change in changes:
                change.embedded_share = len(found) / len(keys)
        return found

    def _stored(self, changes: Iterable[Change]) -> dict[bytes, Vectors]:
        """Return the vectors that the corpus holds of older versions of these documents, and of what they copy."""
        found: dict[bytes, Vectors] = {}
        if self._corpus is None:
            return found
        older = [change.document.doc_id for change in changes if change.replaces]
        copied = [change.copy_of for change in changes if change.copy_of]
        for doc_id in dict.fromkeys([*older, *copied]):
            document = self._corpus.documents.get(doc_id)
            # Another release may have embedded the same text in another form.
            if document is None or document.hash(fingerprint(self._corpus)) != document.version:
                continue
            names = [node_id(document.version, position) for position in document.tree.leaves]
            stored = self._corpus.vectors.fetch(names)
            for name, leaf in zip(names, self._leaves(document), strict=True):
                if name in stored:
                    found |= dict.fromkeys(leaf.keys, stored[name])
        return found


def _key(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()
