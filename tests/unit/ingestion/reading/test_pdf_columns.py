"""Where tabs stand in the lines of a PDF's page; `|` marks a space that is wide on the page."""

import io

import pytest
from reportlab.pdfgen.canvas import Canvas

from ingestion.reading.pdf import read_pdf
from ingestion.reading.pdf_columns import mark_columns


@pytest.mark.parametrize(
    ("page", "columns"),
    [
        ("Net income|3,033|10,073", "Net income\t3,033\t10,073"),
        ("Cash|$|19,934|$|21,856", "Cash\t$ 19,934\t$ 21,856"),
        ("Margin|(3.1|)|%|4.0|%", "Margin\t(3.1 ) %\t4.0 %"),
        ("4|Experiments\nA.1|Data\n•|local laws; •|other laws", "4 Experiments\nA.1 Data\n• local laws; • other laws"),
        ("2|34|45", "2\t34\t45"),
        ("It leaks.|The seal is worn.", "It leaks. The seal is worn."),
        ("Astronomy|49.0|33.6 46.1 (2.0) 81.6", "Astronomy\t49.0\t33.6\t46.1\t(2.0)\t81.6"),
        ("Sales|12 500|7 300", "Sales\t12 500\t7 300"),
        ("In 2018 19 were sold.", "In 2018 19 were sold."),
    ],
)
def test_cells_are_set_apart(page: str, columns: str) -> None:
    wide = [place for place, character in enumerate(page) if character == "|"]

    assert mark_columns(page.replace("|", " "), wide) == columns


def test_cells_are_told_by_where_they_stand_on_the_page() -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    canvas.drawString(72, 780, "Results of the year")
    for height, cells in ((760, ("Model", "Score")), (740, ("Large one", "68.7"))):
        for left, cell in zip((72, 200), cells, strict=True):
            canvas.drawString(left, height, cell)
    canvas.save()

    assert read_pdf(buffer.getvalue(), "a.pdf").text.endswith("\nModel\tScore\nLarge one\t68.7")
