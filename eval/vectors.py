"""Vectors of texts and words, each embedded once.

Flow: `similarity.py` and `scoring/ragas_calls.py` -> **here** -> the project's embedder. Answers of a run share
most of their words, and every reference is compared in several ways.
"""

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt
from llama_index.core.base.embeddings.base import BaseEmbedding

KEPT = 50_000
READ_CHARS = 100_000  # no embedder reads as far; cutting 1 MB into tokens takes seconds

Vector = npt.NDArray[np.float32]


class Vectors:
    """Remembers the vectors of up to 50,000 texts, some 80 MB.

    Args:
        embedder: returns what embeds new texts, as vectors of unit length; called when there are some.
    """

    def __init__(self, embedder: Callable[[], BaseEmbedding]) -> None:
        self._embedder = embedder
        self._known: dict[str, Vector] = {}

    def of(self, texts: Iterable[str]) -> dict[str, Vector]:
        """Return the vector of each text; those that are new are embedded at once.

        Raises:
            ModelError: the embedder cannot be loaded.
        """
        wanted = dict.fromkeys(texts)
        if len(self._known) > KEPT:
            self._known.clear()
        # Texts of like length share a batch, so that little is computed on padding.
        new = sorted((text for text in wanted if text not in self._known), key=len)
        if new:
            embedded = self._embedder().get_text_embedding_batch([text[:READ_CHARS] for text in new])
            self._known.update(zip(new, np.asarray(embedded, dtype=np.float32), strict=True))
        return {text: self._known[text] for text in wanted}
