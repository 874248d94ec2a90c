"""Vectors of passages as one array, from any LlamaIndex embedder.

Flow: ingestion's leaf texts -> **here** -> `openvino.py` on the CPU, `openai_server.py` for a server, or any other
`BaseEmbedding` (GPU, test fake). LlamaIndex's own batch method makes a Python list of floats a text and fires an event
a batch; an embedder that has `encode_documents` is spared both.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding


@runtime_checkable
class ArrayEmbedder(Protocol):
    """An embedder that yields arrays."""

    def encode_documents(self, texts: list[str], check: Callable[[], None]) -> npt.NDArray[np.float32]:
        """Return one unit vector a text, document prefix added, in the order given.

        `check` is called every few texts, and while a server is waited for; what it raises ends the call.
        """
        ...


# Few enough that a stopped run ends within a second or two, enough to keep every core busy.
SLICE_TEXTS = 256


def slice_texts(embedder: "BaseEmbedding") -> int:
    """Return how many texts to give at a time, where the caller wants to stop early, tell progress or bound memory."""
    return int(getattr(embedder, "slice_texts", SLICE_TEXTS))  # a server says how many keep it busy


def embed_documents(
    embedder: "BaseEmbedding", texts: list[str], check: Callable[[], None] = lambda: None
) -> npt.NDArray[np.float32]:
    """Return the vectors of passages (one at least), shape (len(texts), dimension), in order; the prefix is added here.

    Blocks until all are done, and holds no more than these texts and vectors: who wants to stop early or to bound
    memory gives `slice_texts` texts at a time.

    Args:
        embedder: of the corpus.
        texts: passages.
        check: called every few texts by an `ArrayEmbedder`; what it raises ends this.

    Raises:
        ModelError: the model failed, or its server.
    """
    if isinstance(embedder, ArrayEmbedder):
        return embedder.encode_documents(texts, check)
    return np.asarray(embedder.get_text_embedding_batch(texts), np.float32)
