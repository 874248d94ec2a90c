"""Names of documents: which words of a question call a document by its title or file name."""

import pytest

from index.lexical.document_names import Called, document_names, question_names
from tests.fakes.words import FakeWords

FILING = "financebench/AMERICANEXPRESS_2022_10K.pdf"


def called_by(question: str, title: str, doc_id: str) -> list[Called]:
    """What in the question names the document, letter case aside."""
    terms = FakeWords().terms
    names = set(terms(document_names(title, doc_id)))
    return [called for called in question_names(question.split()) if names.intersection(terms(" ".join(called.words)))]


@pytest.mark.parametrize(
    ("question", "title", "doc_id"),
    [
        ("FY2017 revenue", "Report 2017", "report.pdf"),
        ("revenue in 2017", "Report FY2017", "report.pdf"),
        ("revenue in 2017", "Report", "3M_2017_10K.pdf"),
        ("what 10-K says", "", "3M_2018_10K.pdf"),
        ("wind turbines", "Wind", "guide/a.md"),
        ("風力発電 とは", "風力発電", "a.md"),
    ],
)
def test_a_question_names_a_document_by_a_word_or_a_part_of_one(question: str, title: str, doc_id: str) -> None:
    assert called_by(question, title, doc_id)


@pytest.mark.parametrize(
    ("question", "title", "doc_id"),
    [
        ("FY2017 revenue", "Report 2018", "report.pdf"),
        ("guide", "", "guide/a.md"),
        ("md", "", "guide/a.md"),
        ("🙂", "🙂", "🙂.md"),
        ("", "Wind", "wind.md"),
    ],
)
def test_other_words_name_nothing(question: str, title: str, doc_id: str) -> None:
    assert called_by(question, title, doc_id) == []


def test_two_words_of_a_question_are_one_of_a_file_name_and_count_twice() -> None:
    company, year = called_by("American Express profit 2022", "", FILING)[::-1]

    assert company == Called(("AmericanExpress",), 2)
    assert year == Called(("2022",), 1)


def test_a_single_letter_or_digit_within_a_word_names_nothing() -> None:
    assert question_names(["10K"])[0].words == ("10K", "10")


def test_a_document_is_called_by_each_word_once() -> None:
    names = document_names("American Express 2022", "American_Express_2022.pdf").split()

    assert names == ["American", "Express", "2022"]


@pytest.mark.parametrize("doc_id", ["", ".", "..", "/", ".hidden", "🙂", "a/🙂.md", "_.pdf", "///", "\ud800"])
def test_a_document_without_a_name_is_no_error(doc_id: str) -> None:
    assert document_names("", doc_id) in {"", "hidden"}


@pytest.mark.parametrize("words", [[], ["🙂"], ["..."], ["🙂", "風"], ["_"], ["風", "🙂"], ["\u0301"]])
def test_odd_questions_name_at_most_themselves(words: list[str]) -> None:
    assert {word for called in question_names(words) for word in called.words} <= {"風"}
