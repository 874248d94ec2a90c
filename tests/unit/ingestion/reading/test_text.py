"""Decoding and cleaning, which every format shares."""

import unicodedata

import pytest

from errors import UnreadableError
from ingestion.reading.text import clean, clean_body, decode, one_line, title_from_name

FRENCH = "L'été dernier, j'ai mangé des crêpes à la façon de ma mère. Où est le garçon ?"
POLISH = "Zażółć gęślą jaźń i pójdźmy w świat. Wczoraj byłem w mieście i piłem kawę."


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_french_is_read_in_any_usual_encoding(encoding: str) -> None:
    assert decode(FRENCH.encode(encoding)) == FRENCH


def test_polish_in_its_windows_encoding_is_told_from_french() -> None:
    assert decode(POLISH.encode("cp1250")) == POLISH


def test_a_declared_encoding_is_used_when_the_bytes_are_not_utf8() -> None:
    greek = "Καλημέρα"

    assert decode(greek.encode("iso8859-7"), "iso8859-7") == greek
    assert decode(greek.encode(), "iso8859-7") == greek


def test_an_unknown_declared_encoding_does_no_harm() -> None:
    assert decode(FRENCH.encode("cp1252"), "no-such-encoding") == FRENCH


def test_utf8_with_one_damaged_byte_stays_utf8() -> None:
    data = FRENCH.encode() * 3 + b"\xff end"

    assert decode(data).startswith(FRENCH)
    assert decode(data).endswith("\ufffd end")


@pytest.mark.parametrize(
    "data",
    [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0", bytes(range(256)) * 20, b"\0" * 5000],
    ids=["an image", "every byte", "only zeros"],
)
def test_binary_data_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableError, match="holds binary data, not text"):
        decode(data)


def test_clean_text_has_one_form() -> None:
    assert clean("\r\n\r\na \t\r\nb\rc\x0cd\u2028e\n\n\n\n\n\nf  ") == "a\nb\nc\nd\ne\n\n\nf"
    assert clean(unicodedata.normalize("NFD", "Zürich")) == "Zürich"
    assert clean("10\u00a0000\u202f€") == "10 000 €"


def test_indentation_and_tabs_stay() -> None:
    assert clean("\n    code\n\tcell\n") == "    code\n\tcell"


def test_invisible_characters_are_removed_and_joiners_that_spell_words_stay() -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")

    assert clean(f"a\0b\x07c\u00add\u200be\ufefff\u202eg\ud800h{hidden}i") == "abcdefghi"
    assert clean("می\u200cخواهم") == "می\u200cخواهم"


@pytest.mark.parametrize("text", ["", " \n\t\n", "\ufeff\u200b\u00a0"], ids=["nothing", "white space", "invisible"])
def test_a_document_without_visible_text_is_refused(text: str) -> None:
    with pytest.raises(UnreadableError, match="holds no text"):
        clean_body(text)


def test_one_line_folds_all_white_space() -> None:
    assert one_line(" A\n title\twith\u00a0gaps ") == "A title with gaps"


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("reports/AMAZON_2017_10K.pdf", "AMAZON 2017 10K"),
        ("Bras%C3%ADlia.txt", "Brasília"),
        ("100%_sure.txt", "100% sure"),
        ("%FF%FE.txt", "%FF%FE"),
        ("costs-and-capacity.md", "costs and capacity"),
        ("COVID-19-report-2023-08-30.md", "COVID 19 report 2023-08-30"),
        ("Anti-aircraft_warfare.txt", "Anti-aircraft warfare"),
        ("St._John's.txt", "St. John's"),
        ("_.txt", "_.txt"),
    ],
)
def test_a_file_name_becomes_words(name: str, title: str) -> None:
    assert title_from_name(name) == title


def test_a_run_of_combining_marks_is_cut_before_python_sorts_it() -> None:
    assert len(clean("a" + "\u0300\u0316" * 4000 + "b")) < 40
