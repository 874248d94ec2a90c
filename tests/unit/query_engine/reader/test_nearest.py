"""The places that are shown below quotes or a declined question, over a reader that compares words."""

from dataclasses import replace

import pytest

from query_engine.reader.nearest import MAX_NEAREST, MAX_QUOTE_CHARS, first_words, nearest_sentences
from query_engine.schema.passage import Passage
from tests.fakes.engines import a_citation, a_passage
from tests.fakes.reading import a_leaf_reader

PASSAGES = [
    a_passage("cook.md", "Boil the pasta. Drain it well."),
    a_passage(
        "wind.md", "Wind is air. Betz published the limit of a rotor. Towers are steel.", "https://example.org/w"
    ),
    a_passage("water.md", "Dams hold water. A rotor turns there."),
    a_passage("sun.md", "Cells are blue."),
]


def holds_its_quotes(passage: Passage, start: int, end: int, quote: str) -> bool:
    return passage.text[start - passage.start : end - passage.start] == quote


def test_the_likeliest_sentence_of_each_of_three_documents_is_shown_where_it_stands() -> None:
    found = nearest_sentences(a_leaf_reader(), "Who earns from the rotor limit?", PASSAGES)

    assert [one.doc_id for one in found[:2]] == ["wind.md", "water.md"]
    assert len({one.doc_id for one in found}) == len(found) == 3
    assert (found[0].quote, found[0].url) == ("Betz published the limit of a rotor.", "https://example.org/w")
    assert found[1].quote == "A rotor turns there."
    passages = {passage.doc_id: passage for passage in PASSAGES}
    assert all(holds_its_quotes(passages[one.doc_id], one.start, one.end, one.quote) for one in found)


@pytest.mark.parametrize("quoted", range(3))
def test_what_is_quoted_is_not_shown_again_with_the_rest_of_its_leaf(quoted: int) -> None:
    reader, question = a_leaf_reader(), "Who earns from the rotor limit?"
    first = nearest_sentences(reader, question, PASSAGES)[quoted]
    citation = replace(a_citation(), doc_id=first.doc_id, start=first.start, end=first.end)

    others = nearest_sentences(reader, question, PASSAGES, [citation])

    assert first.document not in {one.document for one in others}
    assert len(others) == MAX_NEAREST


def test_places_of_one_document_stand_under_their_headings_in_different_leaves() -> None:
    text = (
        "# Wages\n\nWages are paid in May.\n\n# Leave\n\nLeave is paid in June.\n\n# Trips\n\nTrips are paid at once."
    )
    starts = [text.index(part) for part in ("# Wages", "# Leave", "# Trips")]
    pieces = zip(starts, [*starts[1:], len(text)], strict=True)
    passages = [replace(a_passage("work.md", text[start:end]), start=start, end=end) for start, end in pieces]

    found = nearest_sentences(a_leaf_reader(), "What is paid in May?", passages)

    assert {(one.headings, one.quote) for one in found} == {
        (("Wages",), "Wages are paid in May."),
        (("Leave",), "Leave is paid in June."),
        (("Trips",), "Trips are paid at once."),
    }
    assert found[0].headings == ("Wages",)
    assert nearest_sentences(a_leaf_reader(), "What?", [], [a_citation()]) == ()


def test_what_cannot_be_read_shows_its_first_words_once_a_document() -> None:
    long = a_passage("long.md", "  " + "word " * 100)

    (found,) = first_words([long, a_passage("long.md"), a_passage("blank.md", " \n")])

    assert found.quote == " ".join(["word"] * (MAX_QUOTE_CHARS // 5))
    assert holds_its_quotes(long, found.start, found.end, found.quote)


def test_without_passages_nothing_is_near() -> None:
    assert nearest_sentences(a_leaf_reader(), "What?", []) == ()
