import pytest

from index.lexical.tantivy_index import STOP_WORDS
from query_engine.synthesis.claims import content_stems, read_claim, split_clauses


def test_content_words_are_stems_and_figures() -> None:
    assert content_stems("It has captured 59.3 per cent of the Energies") == {"captur", "59.3", "cent", "energi"}


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1,500 people and 2.50 euros", {"1500", "2.5"}),
        ("twelve turbines in 2011", {"12", "2011"}),
        ("half of three million", {"half", "3", "millio"}),
        ("twenty to 30", {"20", "30"}),
        ("none here", set()),
    ],
)
def test_numbers_are_compared_however_they_are_spelt(text: str, numbers: set[str]) -> None:
    assert read_claim(text).numbers == numbers


def test_capitals_inside_a_sentence_are_names_and_a_first_word_may_be_one() -> None:
    claim = read_claim("Betz met Prandtl in Berlin. Wind blew.")

    assert claim.names == {"prandt", "berlin"}
    assert claim.opening == "betz"


def test_words_after_a_denial_are_denied_and_others_affirmed() -> None:
    claim = read_claim("It has no moving parts and lasts for years")

    assert claim.denied == {"moving", "part"}
    assert claim.affirmed == {"last", "year"}


def test_a_leading_no_answers_and_denies_nothing() -> None:
    assert read_claim("No, it turns in the wind").denied == set()


def test_a_sentence_is_cut_where_a_further_claim_may_begin() -> None:
    text = "The limit is 59.3 per cent, which Betz published in 1919; it holds for every rotor."

    assert split_clauses(text) == [
        "The limit is 59.3 per cent",
        "Betz published in 1919",
        "it holds for every rotor.",
    ]


def test_a_clause_of_a_single_word_is_none_of_its_own() -> None:
    assert split_clauses("The rotor turns, and stops.") == ["The rotor turns stops."]


def test_words_that_a_search_leaves_out_support_no_claim() -> None:
    assert content_stems("My heat pump, before and without your wind") == {"heat", "pump", "wind"}
    assert not content_stems(" ".join(sorted(STOP_WORDS)))
