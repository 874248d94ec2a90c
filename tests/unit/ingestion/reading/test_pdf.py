"""PDF files, drawn by the test."""

import re

import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth

from ingestion.reading.pdf import join_pages, read_pdf
from tests.fakes.pdfs import Set, make_pdf, make_typeset


def test_pages_are_found_again_by_their_offsets() -> None:
    document = read_pdf(make_pdf("First page\nsecond line", "", "Third page"), "a/ACME_2024.pdf")

    assert document.text == "First page\nsecond line\n\nThird page"
    assert document.pages == (0, 24, 24)
    assert document.text[document.pages[2] :] == "Third page"
    assert (document.title, document.doc_id, document.source) == ("ACME 2024", "a/ACME_2024.pdf", "a/ACME_2024.pdf")


@pytest.mark.parametrize(
    ("pages", "text", "starts"),
    [
        (["", "", "a", ""], "a", (0, 0, 0, 1)),
        (["a", "", ""], "a", (0, 1, 1)),
        (["a", "b"], "a\n\nb", (0, 3)),
        (["", ""], "", (0, 0)),
    ],
)
def test_empty_pages_start_where_the_next_one_does(pages: list[str], text: str, starts: tuple[int, ...]) -> None:
    assert join_pages(pages) == (text, starts)


def test_rows_of_a_table_stay_lines() -> None:
    document = read_pdf(make_pdf("Net sales $ 118,573\nCost of sales 111,934"), "a.pdf")

    assert document.text == "Net sales $ 118,573\nCost of sales 111,934"


def test_rules_dot_leaders_and_running_lines_are_removed() -> None:
    pages = [f"ACME\nChapter {name} ........ {n}\n__________\nText {name}.\n{n}" for n, name in enumerate("abcd", 1)]

    assert read_pdf(make_pdf(*pages), "a.pdf").text == (
        "ACME\nChapter a 1\n\nText a.\n\nChapter b 2\n\nText b.\n\nChapter c 3\n\nText c.\n\nChapter d 4\n\nText d."
    )


def test_the_title_in_the_metadata_is_used_when_it_is_one() -> None:
    assert read_pdf(make_pdf("text", title="Annual report 2024"), "ar_24.pdf").title == "Annual report 2024"
    assert read_pdf(make_pdf("text", title="Microsoft Word - ar24.doc"), "ar_24.pdf").title == "ar 24"


@pytest.mark.fault("D20")
@pytest.mark.parametrize(
    ("parts", "rise", "points", "line"),
    [
        (["The 3", "n", " Committee met"], 5, 8, "The 3n Committee met"),
        (["CO", "x", " is counted"], -3, 8, "COx is counted"),
        (["the sum 2", "n", "-1 of all"], 6, 7, "the sum 2n-1 of all"),
        (["as shown", "e", ", it holds"], 5, 8, "as showne, it holds"),
        (["", "1", "Counted in spring"], 8, 7, "1 Counted in spring"),
    ],
)
def test_what_is_raised_or_lowered_stays_in_its_line(parts: list[str], rise: int, points: int, line: str) -> None:
    before, raised, behind = parts
    edge = 72 + stringWidth(before, "Helvetica", 12)
    lines = [
        Set("Some line above.", points=12),
        Set(before, points=12, above=20),
        Set(raised, points=points, above=-rise, left=edge),
        Set(behind, points=12, above=rise, left=edge + stringWidth(raised, "Helvetica", points)),
        Set("Some line below.", points=12, above=14),
    ]

    assert read_pdf(make_typeset(lines), "a.pdf").text == f"Some line above.\n{line}\nSome line below."


def test_the_date_is_that_of_the_making_or_else_of_the_last_change() -> None:
    both = re.sub(rb"/CreationDate \(D:\d{8}", b"/CreationDate (D:20240531", make_pdf("Dusk is at nine."))
    both = re.sub(rb"/ModDate \(D:\d{8}", b"/ModDate (D:20240602", both)
    changed = both.replace(b"/CreationDate", b"/CreationNone")
    undated = changed.replace(b"/ModDate", b"/ModNone")

    found = [read_pdf(data, "dusk.pdf").metadata for data in (both, changed, undated)]
    assert found == [{"date": "2024-05-31"}, {"date": "2024-06-02"}, {}]
