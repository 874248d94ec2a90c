"""Which characters of a page a span of its stored text was read from."""

import pytest

from ingestion.reading.pdf_alignment import locate


def found(stored: str, page: str, quote: str) -> tuple[list[str], bool]:
    """Return what is found on the page for the first `quote` in the stored text, and whether that is all of it."""
    start = stored.index(quote)
    runs, complete = locate(stored, page, start, start + len(quote))
    return [page[first:last] for first, last in runs], complete


def test_a_span_inside_a_line_and_one_over_lines() -> None:
    page = "Heat pumps\r\nA pump moves heat.\r\nIt needs power."

    assert found("Heat pumps\nA pump moves heat.\nIt needs power.", page, "moves heat.") == (["moves heat."], True)
    assert found("Heat pumps\nA pump moves heat.\nIt needs power.", page, "heat.\nIt") == (["heat.", "It"], True)


def test_headers_and_footers_that_reading_dropped_are_not_taken_for_the_text() -> None:
    page = "Storage 12\r\nStorage 12 is a model.\r\nStorage 12"

    assert found("Storage 12 is a model.", page, "Storage 12") == (["Storage 12"], True)
    assert locate("Storage 12 is a model.", page, 0, 10).runs == [(12, 22)]


@pytest.mark.parametrize(
    ("stored", "page", "quote", "marked"),
    [
        ("the representation of it", "the repre\x02sentation of it", "representation", "repre\x02sentation"),
        ("a well-known thing", "a well\x02known thing", "well-known", "well\x02known"),
        ("Costs 12", "Costs . . . . . . . . 12", "Costs 12", "Costs . . . . . . . . 12"),
        ("• Point", "\uf0b7 Point", "Point", "Point"),
        ("Größe zählt", "Gro\u0308ße za\u0308hlt", "zählt", "za\u0308hlt"),
        ("soft word", "so\u00adft\u00a0word", "soft word", "so\u00adft\u00a0word"),
        ("fire 🔥 burns", "fire \ud83d\udd25 burns", "burns", "burns"),
    ],
)
def test_what_cleaning_changes_does_not_shift_the_mark(stored: str, page: str, quote: str, marked: str) -> None:
    assert found(stored, page, quote) == ([marked], True)


def test_around_what_was_cut_out_only_certain_lines_are_marked() -> None:
    stored = "Total 5\nbefore\n[data]\nafter\nTotal 5"
    page = "Total 5\nbefore\n0a0b0c0d\nafter\nTotal 5"

    assert found(stored, page, "before\n[data]\nafter") == (["before", "after"], False)
    assert locate(stored, page, 0, 7) == ([], False)


def test_a_line_that_differs_is_not_marked() -> None:
    assert found("one\ntwo", "one\nTWO", "one\ntwo") == (["one"], False)
    assert found("text", "", "text") == ([], False)


def test_a_page_of_equal_lines_is_paired_in_order() -> None:
    assert locate("5\n5\n5", "5\r\n5\r\n5", 2, 3).runs == [(3, 4)]
