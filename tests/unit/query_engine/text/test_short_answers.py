"""Which words of a sentence a question asks for."""

import pytest

from query_engine.text.short_answers import asks_for_little, short_answer


def found(question: str, sentence: str) -> str | None:
    span = short_answer(question, sentence)
    return sentence[slice(*span)] if span else None


@pytest.mark.parametrize(
    ("question", "sentence", "answer"),
    [
        ("When was the limit published?", "Betz published the limit on 3 May 1919 in Berlin.", "3 May 1919"),
        ("In what year was it opened?", "The plant opened in 2011 after 7 years.", "2011"),
        ("In what century did it begin?", "It began in the 19th century.", "19th century"),
        ("How many turbines does it have?", "It has 10 turbines and 2 dams.", "10"),
        ("How many judges were there?", "The season had four judges.", "four"),
        ("How much did it cost?", "The dam cost $1.2 billion to build.", "$1.2 billion"),
        ("How long does it last?", "It lasts 25 to 30 years.", "25 to 30"),
        ("What percentage is lost?", "Some 7.5 per cent is lost on the way.", "7.5 per cent"),
        ("Who published the limit?", "In 1919 Albert Betz published the limit.", "Albert Betz"),
        ("Where is the dam?", "The dam stands near Ansan in South Korea.", "Ansan"),
        ("The limit was published by whom?", "The limit was published by Betz.", "Betz"),
    ],
)
def test_dates_numbers_and_names_are_found(question: str, sentence: str, answer: str) -> None:
    assert found(question, sentence) == answer


def test_what_the_question_says_itself_is_no_answer() -> None:
    assert found("How many of the 12 turbines run?", "Of the 12 turbines 9 run.") == "9"
    assert found("Who taught Albert Betz?", "Professor Albert Betz had a teacher.") is None


def test_of_several_the_one_nearest_to_the_question_s_words_is_taken() -> None:
    sentence = "In 1919 he was in Berlin, and after long years of work the limit was published in 1926."

    assert found("When was the limit published?", sentence) == "1926"


def test_the_first_word_of_a_sentence_is_no_name_for_being_capital() -> None:
    assert found("Who came?", "Nobody came.") is None


@pytest.mark.parametrize("question", ["Why does it turn?", "What is a rotor?", "Describe the limit.", "?!"])
def test_questions_that_ask_for_more_have_no_short_answer(question: str) -> None:
    assert found(question, "In 1919 Albert Betz published the limit of 59 per cent.") is None


def test_when_within_a_clause_asks_for_no_date() -> None:
    assert not asks_for_little("What must I pay when I lose my key?")
    assert asks_for_little("Until when must I pay?")
