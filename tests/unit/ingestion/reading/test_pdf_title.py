"""The title of a PDF, out of its metadata, its first page or its name."""

import pytest

from ingestion.reading.pdf import read_pdf
from ingestion.reading.pdf_title import choose_title, largest_heading
from ingestion.reading.pdf_type import Line
from tests.fakes.pdfs import make_page

BODY = [Line(0, 0, "The text of the paper goes on for a while in small type.", 9)] * 20
HEADING = [Line(0, 0, "BERT: Deep Bidirectional", 14), Line(0, 0, "Transformers", 14.2), Line(0, 0, "J. Devlin", 10)]


@pytest.mark.parametrize(
    ("in_metadata", "lines", "name", "title"),
    [
        ("Annual report", HEADING, "x.pdf", "Annual report"),
        ("Microsoft Word - x.doc", HEADING, "bert.pdf", "BERT: Deep Bidirectional Transformers"),
        ("", HEADING, "1810.04805v2.pdf", "BERT: Deep Bidirectional Transformers"),
        ("", HEADING, "ACME_2017_10K.pdf", "ACME 2017 10K"),
        ("", [Line(0, 0, "FORM 10-K", 20)], "ACME_2017_10K.pdf", "ACME 2017 10K"),
        ("", [], "my_notes.pdf", "my notes"),
        ("", HEADING, "scan_0001.pdf", "BERT: Deep Bidirectional Transformers"),
        ("Print Job 7", HEADING, "Untitled-2.pdf", "BERT: Deep Bidirectional Transformers"),
        ("Layout 1", HEADING, "transformers_v3.pdf", "BERT: Deep Bidirectional Transformers"),
        ("bert_camera_ready", HEADING, "bert.pdf", "BERT: Deep Bidirectional Transformers"),
    ],
)
def test_a_heading_takes_the_place_of_a_name_that_says_no_more(
    in_metadata: str, lines: list[Line], name: str, title: str
) -> None:
    assert choose_title(in_metadata, [*lines, *BODY], name) == title


def test_there_is_no_heading_where_no_type_stands_out_or_it_stands_low_on_the_page() -> None:
    assert largest_heading(BODY) is None
    assert largest_heading([*BODY, *HEADING]) is None


def test_the_type_sizes_of_a_page_are_read_and_vertical_stamps_are_not() -> None:
    data = make_page(
        [(16, "Wind power for"), (16, "everyone"), *[(9, "A line of plain text.")] * 10], vertical="STAMPED"
    )

    assert read_pdf(data, "wind.pdf").title == "Wind power for everyone"
