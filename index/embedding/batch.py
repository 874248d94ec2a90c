"""Vectors of passages as one array, from any LlamaIndex embedder.

Flow: ingestion's leaf texts -> **here** -> `openvino.py` on the CPU, or any other `BaseEmbedding` (GPU, test fake).
LlamaIndex's own batch method makes a Python list of floats a text and fires an event a batch; an embedder that has
`encode_documents` is spared both.
"""

from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding


@runtime_checkable
class ArrayEmbedder(Protocol):
    """An embedder that yields arrays."""

    def encode_documents(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """Return one unit vector a text, document prefix added, in the order given."""
        ...


def embed_documents(embedder: "BaseEmbedding", texts: list[str]) -> npt.NDArray[np.float32]:
    """Return the vectors of passages (one at least), shape (len(texts), dimension), in order; the prefix is added here.

    Blocks until all are done, and holds no more than these texts and vectors: who wants to stop early or to bound
    memory gives fewer texts at a time (512 to 1,024 keep every core busy).

    Raises:
        ModelError: the model failed.
    """
    if isinstance(embedder, ArrayEmbedder):
        return embedder.encode_documents(texts)
    return np.asarray(embedder.get_text_embedding_batch(texts), np.float32)
