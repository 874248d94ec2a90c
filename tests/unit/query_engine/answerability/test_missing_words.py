"""Which words of a question a declined answer names."""

import pytest

from query_engine.answerability.classifier import Confidence
from query_engine.answerability.missing_words import missing_words
from tests.fakes.engines import a_passage
from tests.fakes.words import FakeWords


def missing(*terms: str) -> Confidence:
    return Confidence(0.1, 0.2, 0.3, terms)


def test_names_are_named_as_they_were_typed_rarest_first_three_at_most() -> None:
    question = "Which Kubernetes, zigbee and Quarnevik does Betz have?"
    lacking = missing("quarnevik", "kubernetes", "betz", "zigbee")

    assert missing_words(question, lacking, [a_passage()], FakeWords()) == ("Quarnevik", "Kubernetes", "Betz")


def test_a_word_that_any_passage_or_title_holds_is_not_named() -> None:
    passages = [a_passage(), a_passage("pay.md", "Betz is paid.")]

    assert missing_words("Betz of Wind?", missing("betz", "wind"), passages, FakeWords()) == ()


@pytest.mark.parametrize(
    ("asked", "lacking"),
    [
        ("What was promised to members?", ["promised"]),
        ("Is it wise to sit beside oversized appliances?", ["wise", "beside", "oversized", "appliances"]),
        ("Can't I get much?", ["t", "get", "much"]),
        ("Was wurde den Mitgliedern versprochen?", ["versprochen"]),
        ("Qu'est-ce que la commune a promis ?", ["promis"]),
        ("工资是多少", ["工资"]),
    ],
)
def test_ordinary_words_are_not_named(asked: str, lacking: list[str]) -> None:
    assert missing_words(asked, missing(*lacking), [a_passage()], FakeWords()) == ()


def test_endings_are_left_out_and_so_are_words_of_another_question() -> None:
    lacking = missing("betz", "quarnevik")

    assert missing_words("Who led Betz's meeting?", lacking, [a_passage()], FakeWords()) == ("Betz",)
