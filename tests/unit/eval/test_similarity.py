"""How alike two texts are, over a fake embedder whose vectors are the words of a text."""

import numpy as np
import pytest
from llama_index.core.base.embeddings.base import BaseEmbedding

from eval.metrics import Scores
from eval.similarity import READ_CHARS, Vectors, likenesses
from tests.fakes.embedding import WordHashEmbedding, word_vector

VECTORS = Vectors(WordHashEmbedding)
REFERENCE = "Albert Betz published the limit of a rotor."


def score(answer: str, reference: str = REFERENCE) -> Scores:
    return likenesses([(answer, reference)], VECTORS)[0]


def test_the_reference_is_like_itself() -> None:
    assert score(REFERENCE) == {name: pytest.approx(1) for name in ("similarity", "rouge_l")}


def test_no_answer_is_like_nothing() -> None:
    assert score("") == {"similarity": 0.0, "rouge_l": 0.0}


def test_words_in_another_order_share_a_shorter_run() -> None:
    assert score("A rotor: Betz, Albert, published of the limit.")["rouge_l"] < 0.8


@pytest.mark.parametrize(
    ("answer", "f1"),
    [
        ("The rotors were limited by Albert Betz.", 2 * 2 / (7 + 8)),  # "albert", "betz"
        ("Betz publishes limits of rotors", 2 * 5 / (5 + 8)),  # by their stems
        ("Nobody knows", 0),
    ],
)
def test_rouge_l_counts_stems_in_order(answer: str, f1: float) -> None:
    assert score(answer)["rouge_l"] == pytest.approx(f1)


def test_rouge_l_is_that_of_the_library_that_others_use() -> None:
    scorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer(["rougeL"], use_stemmer=True)
    texts = (
        REFERENCE,
        "He published 3.5 limits of rotors; nobody's perfect.",
        "Rotors' limits, published by Betz",
        "x",
    )

    for text in texts:
        for other in texts:
            ours, theirs = score(text, other)["rouge_l"], scorer.score(other, text)["rougeL"].fmeasure
            assert ours == pytest.approx(theirs)


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
