"""How much each word of a question counts."""

import pytest

from query_engine.text.term_weights import question_weights
from tests.fakes.words import FakeWords


def test_rarer_words_weigh_more_and_all_together_one() -> None:
    weights = question_weights("What is the rotor limit?", FakeWords({"rotor": 3.0, "limit": 1.0}))

    assert weights == pytest.approx({"rotor": 0.75, "limit": 0.25})


def test_a_question_without_words_has_no_weights() -> None:
    assert question_weights("?!", FakeWords()) == {}


def test_how_many_is_no_subject() -> None:
    assert set(question_weights("How many seats can't be used?", FakeWords())) == {"seats", "used"}
