"""One array of vectors from any embedder."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from index.embedding.batch import embed_documents
from tests.fakes.embedding import WordHashEmbedding


class ArrayEmbedding(WordHashEmbedding):
    def encode_documents(self, texts: list[str], check: Callable[[], None]) -> npt.NDArray[np.float32]:
        check()
        return np.full((len(texts), 2), 7, np.float32)


def test_an_embedder_that_yields_arrays_is_asked_for_them() -> None:
    assert embed_documents(ArrayEmbedding(), ["one", "two"]).tolist() == [[7, 7], [7, 7]]


def test_an_embedder_that_yields_arrays_stops_when_it_shall() -> None:
    def stop() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        embed_documents(ArrayEmbedding(), ["one", "two"], stop)
