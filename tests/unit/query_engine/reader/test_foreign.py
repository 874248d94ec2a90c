"""Scores for questions in languages that the reader does not know."""

import math

from query_engine.reader.foreign import blended, by_words, reader_share
from query_engine.reader.model import Scores


def test_the_reader_counts_for_english_half_for_latin_letters_and_not_for_others() -> None:
    assert [reader_share(language) for language in ("en", "de", "sv", "ru", "zh", "ja", "ar")] == [
        1,
        0.5,
        0.5,
        0,
        0,
        0,
        0,
    ]


def test_a_sentence_scores_by_the_words_it_holds_itself_before_those_above_it() -> None:
    none, above, own = by_words(0, 0), by_words(1, 0), by_words(1, 1)

    assert none < above < own


def test_what_the_reader_could_not_read_stays_unread() -> None:
    read = Scores(2.0, (3.0, -math.inf))

    half, none = blended(read, [1.0, 1.0], 0.5), blended(read, [1.0, 1.0], 0.0)

    assert half == Scores(1.5, (2.0, -math.inf))
    assert none == Scores(1.0, (1.0, -math.inf))
