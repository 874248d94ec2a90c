"""Which words the dictionary has, as they are or by what they are built of."""

import pytest

from query_engine.text.dictionary import in_dictionary


@pytest.mark.parametrize(
    "word", ["water", "neighbours", "organisation", "rechargeable", "preheated", "handbook", "café", "worn"]
)
def test_words_and_what_is_built_of_them_are_known(word: str) -> None:
    assert in_dictionary(word)


@pytest.mark.parametrize("word", ["saso", "e07", "1919", "wtrbox", "wohnung", "_"])
def test_names_codes_and_numbers_are_not(word: str) -> None:
    assert not in_dictionary(word)
