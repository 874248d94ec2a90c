"""Normal forms of text from outside: the same for every text that people write, in linear time for all others."""

import sys
import unicodedata
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.documents.normalization import MAX_MARKS, normalize, shorten_marks

FORMS = ("NFC", "NFKC", "NFKD")
# All that can be sorted, some of them only in a compatibility form.
MARKS = [
    character
    for character in map(chr, range(sys.maxunicode + 1))
    if all(map(unicodedata.combining, unicodedata.normalize("NFKD", character)))
]


WORDS = ["a", "é", "ệ", "ก็", "ที่", "שָׁ", "😀", "ﾊﾞ", "각", " ", *MARKS[:9]]


@pytest.mark.parametrize("form", FORMS)
@given(words=st.lists(st.sampled_from(WORDS), max_size=MAX_MARKS))
def test_a_text_that_people_write_gets_its_normal_form(form: Literal["NFC", "NFKC", "NFKD"], words: list[str]) -> None:
    text = "".join(words)

    assert normalize(text, form) == unicodedata.normalize(form, text)


@given(st.text(st.sampled_from(MARKS), min_size=200, max_size=300), st.sampled_from(["", "a", "😀"]))
def test_python_never_sorts_a_long_run_of_marks(marks: str, before: str) -> None:
    taken = unicodedata.normalize("NFKD", shorten_marks(before + marks + "b" + marks))

    longest = max(len(run) for run in "".join(" x"[bool(unicodedata.combining(c))] for c in taken).split())
    assert longest <= 4 * MAX_MARKS  # one character may become several marks


def test_every_character_that_python_sorts_is_cut() -> None:
    assert [mark for mark in MARKS if len(shorten_marks(mark * 100)) > MAX_MARKS] == []


def test_what_stands_after_the_run_stays() -> None:
    assert normalize("a" + "\u0316" * 500 + "bc. \u0301" + "!" * 50) == "a" + "\u0316" * 30 + "bc. \u0301" + "!" * 50
