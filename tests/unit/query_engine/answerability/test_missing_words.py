"""Which words of a question a declined answer names."""

from query_engine.answerability.classifier import Confidence
from query_engine.answerability.missing_words import missing_words
from tests.fakes.engines import a_passage
from tests.fakes.words import FakeWords


def missing(*terms: str) -> Confidence:
    return Confidence(0.1, 0.2, 0.3, terms)


def test_words_are_named_as_they_were_typed_rarest_first_three_at_most() -> None:
    question = "What Salary, bonus and Pension does Betz get in Delft?"
    lacking = missing("pension", "salary", "delft", "bonus")

    assert missing_words(question, lacking, [a_passage()], FakeWords()) == ("Pension", "Salary", "Delft")


def test_a_word_that_any_passage_or_title_holds_is_not_named() -> None:
    passages = [a_passage(), a_passage("pay.md", "The salary is paid.")]

    assert missing_words("Salary of wind?", missing("salary", "wind"), passages, FakeWords()) == ()


def test_a_term_that_is_no_typed_word_is_not_named() -> None:
    assert missing_words("工资是多少", missing("工资"), [a_passage()], FakeWords()) == ()


def test_common_verbs_and_endings_are_not_named_and_neither_are_words_of_another_question() -> None:
    asked = "Which decisions were made at Bea's meeting, and why can't I get much?"
    lacking = missing("made", "much", "get", "t", "bea", "pension")

    assert missing_words(asked, lacking, [a_passage()], FakeWords()) == ("Bea",)
