"""What may be asked."""

import pytest

from errors import QuestionError
from query_engine.question.validation import MAX_CHARS, clean_question


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("", "blank"),
        (" \n\t ", "blank"),
        ("\u200b\u200b", "blank"),
        ("x" * (MAX_CHARS + 1), "8001 characters"),
        ("a\0b", "NUL"),
        ("a\ud800b", "surrogate"),
    ],
)
def test_what_is_no_question_is_refused_without_repeating_it(question: str, message: str) -> None:
    with pytest.raises(QuestionError, match=message) as caught:
        clean_question(question)
    assert len(str(caught.value)) < 120


def test_space_around_is_removed_and_unicode_composed() -> None:
    assert clean_question("  Cafe\u0301? ") == "Café?"


@pytest.mark.parametrize("question", ["?", "🙂", "什么是风能", "x" * MAX_CHARS])
def test_odd_questions_may_be_asked(question: str) -> None:
    assert clean_question(question) == question


def test_a_run_of_combining_marks_is_cut_before_python_sorts_it() -> None:
    assert len(clean_question("a" + "\u0300\u0316" * 3000 + "?")) < 40
