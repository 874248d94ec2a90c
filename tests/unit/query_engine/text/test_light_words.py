"""Which words of a question say nothing about its subject."""

import pytest

from query_engine.text.light_words import is_light, without_asking_words


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("How much do I get per kilometre?", "do I get per kilometre?"),
        ("Why can't I come?", "Why can I come?"),
        ("Why doesn't it run?", "Why does it run?"),
        ("Why won't it run?", "Why will it run?"),
        ("What is Bea's salary, and who's paying?", "What is Bea salary, and who paying?"),
        ("with my own car", "with my car"),
        ("Who can own land?", "Who can own land?"),
    ],
)
def test_words_that_ask_and_endings_are_left_out(question: str, left: str) -> None:
    assert " ".join(without_asking_words(question).split()) == left


def test_common_verbs_are_light_and_subjects_are_not() -> None:
    assert all(map(is_light, ("made", "Get", "mentions", "bekomme")))
    assert not any(map(is_light, ("salary", "deposit", "meeting")))
