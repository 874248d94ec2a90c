"""The places that are shown below quotes or a declined question, over a reader that compares words."""

from dataclasses import replace
from itertools import pairwise

import pytest

from query_engine.reader.nearest import MAX_QUOTE_CHARS, first_words, nearest_places
from query_engine.schema.events import MAX_NEAREST
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


def test_the_likeliest_place_of_each_of_three_documents_is_shown_where_it_stands() -> None:
    found = nearest_places(a_leaf_reader(), "Who earns from the rotor limit?", PASSAGES)

    assert [one.doc_id for one in found[:2]] == ["wind.md", "water.md"]
    assert len({one.doc_id for one in found}) == len(found) == 3
    assert (found[0].quote, found[0].url) == (PASSAGES[1].text, "https://example.org/w")
    assert found[1].quote == PASSAGES[2].text
    passages = {passage.doc_id: passage for passage in PASSAGES}
    assert all(holds_its_quotes(passages[one.doc_id], one.start, one.end, one.quote) for one in found)


@pytest.mark.parametrize("quoted", range(3))
def test_what_is_quoted_is_not_shown_again(quoted: int) -> None:
    reader, question = a_leaf_reader(), "Who earns from the rotor limit?"
    first = nearest_places(reader, question, PASSAGES)[quoted]
    citation = replace(a_citation(), doc_id=first.doc_id, start=first.start, end=first.end)

    others = nearest_places(reader, question, PASSAGES, [citation])

    assert first.document not in {one.document for one in others}
    assert len(others) == MAX_NEAREST


def test_places_of_one_document_stand_under_their_headings_in_different_leaves() -> None:
    text = (
        "# Wages\n\nWages are paid in May.\n\n# Leave\n\nLeave is paid in June.\n\n# Trips\n\nTrips are paid at once."
    )
    starts = [text.index(part) for part in ("# Wages", "# Leave", "# Trips")]
    pieces = zip(starts, [*starts[1:], len(text)], strict=True)
    passages = [replace(a_passage("work.md", text[start:end]), start=start, end=end) for start, end in pieces]

    found = nearest_places(a_leaf_reader(), "What is paid in May?", passages)

    assert {(one.headings, one.quote) for one in found} == {
        (("Wages",), "Wages are paid in May."),
        (("Leave",), "Leave is paid in June."),
        (("Trips",), "Trips are paid at once."),
    }
    assert found[0].headings == ("Wages",)
    assert nearest_places(a_leaf_reader(), "What?", [], [a_citation()]) == ()


FILLER = "Nothing of it is told here, nor was it ever. " * 20


@pytest.mark.parametrize(
    "section",
    [
        "Who pays the fare? The firm does.",
        "The fare is high. The firm pays. Ask Ann.",
        "The firm pays:\n\n- the fare,\n- the bed.",
        "| Fare | Firm |\n|---|---|\n| 4 | yes |",
    ],
)
def test_a_sentence_is_shown_with_its_section_and_nothing_of_the_next(section: str) -> None:
    passage = a_passage("work.md", f"# Before\n\n{FILLER}\n\n# Fares\n\n{section}\n\n# After\n\n{FILLER}")

    first = nearest_places(a_leaf_reader(), "Is the fare paid by the firm?", [passage])[0]

    assert first.quote == section
    assert holds_its_quotes(passage, first.start, first.end, first.quote)


def test_of_a_long_section_what_follows_the_sentence_is_shown_first() -> None:
    text = f"{FILLER}The firm pays the fare. {FILLER}"

    found = nearest_places(a_leaf_reader(), "Who pays the fare?", [a_passage("work.md", text)])

    assert found[0].quote.startswith("The firm pays the fare. Nothing")
    assert all(len(one.quote) <= MAX_QUOTE_CHARS for one in found)
    places = sorted((one.start, one.end) for one in found)
    assert all(end <= start for (_, end), (start, _) in pairwise(places))


def test_what_cannot_be_read_shows_its_first_words_once_a_document() -> None:
    long = a_passage("long.md", "  " + "word " * 100)

    (found,) = first_words([long, a_passage("long.md"), a_passage("blank.md", " \n")])

    assert found.quote == " ".join(["word"] * (MAX_QUOTE_CHARS // 5))
    assert holds_its_quotes(long, found.start, found.end, found.quote)


def test_without_passages_nothing_is_near() -> None:
    assert nearest_places(a_leaf_reader(), "What?", []) == ()
