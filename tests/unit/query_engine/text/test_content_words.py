import pytest

from index.lexical.tantivy_index import STOP_WORDS
from query_engine.text.content_words import content_stems, numbers


def test_content_words_are_stems_and_figures() -> None:
    assert content_stems("It has captured 59.3 per cent of the Energies") == {"captur", "59.3", "cent", "energi"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,500 people and 2.50 euros", {"1500", "2.5"}),
        ("twelve turbines in 2011", {"12", "2011"}),
        ("half of three million", {"half", "3", "millio"}),
        ("twenty to 30", {"20", "30"}),
        ("none here", set()),
    ],
)
def test_numbers_are_compared_however_they_are_spelt(text: str, expected: set[str]) -> None:
    assert numbers(text) == expected


def test_words_that_a_search_leaves_out_say_nothing() -> None:
    assert content_stems("My heat pump, before and without your wind") == {"heat", "pump", "wind"}
    assert not content_stems(" ".join(sorted(STOP_WORDS)))
