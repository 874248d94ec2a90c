"""How alike two texts are, over a fake embedder whose vectors are the words of a text."""

import pytest

from eval.likeness import Likeness
from eval.vectors import Vectors
from tests.fakes.embedding import WordHashEmbedding

LIKENESS = Likeness(Vectors(WordHashEmbedding))
REFERENCE = "Albert Betz published the limit of a rotor."


def test_the_reference_itself_is_like_itself_whatever_marks_it_carries() -> None:
    scores = LIKENESS.score("Albert **Betz** published the limit of a rotor. [1]", REFERENCE)

    assert scores == {name: pytest.approx(1) for name in ("similarity", "matching", "rouge_l")}


def test_no_answer_is_like_nothing() -> None:
    nothing = {"similarity": 0.0, "matching": 0.0, "rouge_l": 0.0}

    assert LIKENESS.score(None, REFERENCE) == nothing
    assert LIKENESS.score("[1]", REFERENCE) == nothing


def test_words_in_another_order_match_but_share_a_shorter_run() -> None:
    shuffled = LIKENESS.score("A rotor: Betz, Albert, published of the limit.", REFERENCE)

    assert shuffled["matching"] == pytest.approx(1)
    assert shuffled["rouge_l"] < 0.8


def test_matching_counts_what_is_missing_and_what_is_too_much() -> None:
    part, more = LIKENESS.score("Betz.", REFERENCE), LIKENESS.score(f"{REFERENCE} Zebras graze upon hills.", REFERENCE)

    assert 0 < part["matching"] < 1
    assert 0 < more["matching"] < 1


def test_texts_without_content_words_do_not_match() -> None:
    assert LIKENESS.score("the", "of a")["matching"] == 0
