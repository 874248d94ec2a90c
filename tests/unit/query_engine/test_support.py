import pytest

from query_engine.support import best_support, content_words, supported_by
from tests.fakes.llm import passage

TEXT = (
    "The power in moving air grows with the cube of its speed. Albert Betz published the limit in 1919: at best "
    "59.3 per cent can be captured. Three blades won for practical reasons."
)
WIND = passage(TEXT, start=100)


def quoted(statement: str, question: str = "") -> str:
    support = best_support(WIND, statement, question)
    return TEXT[support.start - WIND.start : support.end - WIND.start]


def test_content_words_are_stems_and_whole_numbers() -> None:
    assert content_words("It has captured 59.3 per cent of the Energy") == {"captur", "59.3", "cent", "energy"}


def test_the_sentence_that_shares_most_words_is_quoted_verbatim() -> None:
    assert quoted("At most 59.3 per cent is captured").startswith("Albert Betz")
    assert quoted("There are three blades").startswith("Three blades")


def test_the_question_decides_when_the_statement_says_nothing() -> None:
    assert quoted("According to", question="How many blades are there?").startswith("Three blades")


def test_a_passage_without_words_supports_as_a_whole() -> None:
    support = best_support(passage("   ", start=5), "anything", "")

    assert (support.start, support.end, support.shared) == (5, 8, 0)


def test_plain_support_is_found_for_each_sentence_in_order() -> None:
    answer = "Three blades won for practical reasons. Betz published the limit in 1919."

    found = supported_by(answer, [passage("Nothing of the kind.", "other.md"), WIND], "", limit=3)

    assert [TEXT[each.start - 100 : each.end - 100][:5] for each in found] == ["Three", "Alber"]


@pytest.mark.parametrize("answer", ["The capital of Peru is Lima.", "Three moons.", "", "Yes."])
def test_an_answer_that_shares_little_has_no_support(answer: str) -> None:
    assert supported_by(answer, [WIND], "", limit=3) == []
