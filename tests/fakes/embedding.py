"""An embedder without a model: texts that share words get similar vectors, the same ones in every run."""

import hashlib
import re
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from llama_index.core.base.embeddings.base import BaseEmbedding

DIMENSION = 64


class WordHashEmbedding(BaseEmbedding):
    """Adds up one fixed random direction a word; unit length."""

    texts_embedded: int = 0

    def _get_text_embedding(self, text: str) -> list[float]:
        self.texts_embedded += 1
        return word_vector(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        return word_vector(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return word_vector(query)


def word_vector(text: str) -> list[float]:
    """Return the unit vector of a text; all equal numbers for a text without words."""
    total = np.zeros(DIMENSION)
    for word in re.findall(r"\w+", text.lower()):
        total += _direction(word)
    if not total.any():
        total += 1
    return list((total / np.linalg.norm(total)).tolist())


@lru_cache(maxsize=10_000)
def _direction(word: str) -> npt.NDArray[np.float64]:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).normal(size=DIMENSION)
