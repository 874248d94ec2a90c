"""Each text is embedded once, and no more of it than an embedder reads."""

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding

from eval.vectors import READ_CHARS, Vectors
from tests.fakes.embedding import WordHashEmbedding, word_vector


def test_what_was_embedded_is_not_embedded_again() -> None:
    embedder = WordHashEmbedding()
    vectors = Vectors(lambda: embedder)

    first = vectors.of(["a rotor", "wind", "wind"])
    second = vectors.of(["wind", "a tower"])

    assert embedder.texts_embedded == 3
    assert list(first) == ["a rotor", "wind"]
    assert np.array_equal(first["wind"], second["wind"])
    assert np.allclose(second["a tower"], word_vector("a tower"), atol=1e-6)


def test_the_embedder_is_loaded_when_there_is_something_to_embed() -> None:
    def load() -> BaseEmbedding:
        raise AssertionError("loaded")

    assert Vectors(load).of([]) == {}


def test_the_end_of_a_text_of_1_mb_is_not_read() -> None:
    long = "wind " * 200_000 + "rotor"

    assert len(long) > READ_CHARS
    assert np.allclose(Vectors(WordHashEmbedding).of([long])[long], word_vector("wind"), atol=1e-6)
