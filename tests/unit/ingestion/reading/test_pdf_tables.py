"""Tables of PDFs: rows, and the names of their columns where they are certain. The files are drawn by the test."""

import io
from collections.abc import Sequence
from typing import Any

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table

from index.documents.store import Document
from index.documents.structure import check_blocks
from ingestion.reading.pdf import read_pdf
from tests.fakes.readings import statements

GRID: Any = ("GRID", (0, 0), (-1, -1), 0.5, "black")
BOLD: Any = ("FONTNAME", (0, 0), (-1, 0), "Helvetica-Bold")
BOATS = [["Boat", "Built", "Crew"], ["Gannet", "2004", "5"], ["Storm Petrel", "2015", "11"], ["Tern", "2021", "2"]]


def read(*flow: Any) -> Document:
    buffer = io.BytesIO()
    SimpleDocTemplate(buffer, pagesize=A4).build(list(flow))
    document = read_pdf(buffer.getvalue(), "a.pdf")
    check_blocks(document.structure.blocks, document.text)
    return document


@pytest.mark.parametrize("style", [[], [GRID], [BOLD]], ids=["plain", "grid", "bold"])
def test_cells_are_named_by_their_columns(style: list[Any]) -> None:
    assert statements(read(Table(BOATS, style=style))) == [
        {"Boat": "Gannet", "Built": "2004", "Crew": "5"},
        {"Boat": "Storm Petrel", "Built": "2015", "Crew": "11"},
        {"Boat": "Tern", "Built": "2021", "Crew": "2"},
    ]


def test_empty_cells_stay_in_their_columns() -> None:
    rows = [["Course", "Mon", "Tue", "Wed"], ["Knots", "9:00", "", "9:00"], ["Radio", "", "14:00", ""]]

    assert statements(read(Table(rows, style=[GRID]))) == [
        {"Course": "Knots", "Mon": "9:00", "Wed": "9:00"},
        {"Course": "Radio", "Tue": "14:00"},
    ]


def test_names_above_several_columns_are_joined_with_those_below() -> None:
    rows = [["Segment", "2023", "", "2022", ""], ["", "Revenue", "Cost", "Revenue", "Cost"], ["Ferries", *"1234"]]
    spans: list[Any] = [("SPAN", (1, 0), (2, 0)), ("SPAN", (3, 0), (4, 0)), ("ALIGN", (1, 0), (-1, 0), "CENTER"), BOLD]

    assert statements(read(Table([*rows, ["Cargo", *"5678"]], style=spans)))[0] == {
        "Segment": "Ferries",
        "2023 Revenue": "1",
        "2023 Cost": "2",
        "2022 Revenue": "3",
        "2022 Cost": "4",
    }


def test_the_lines_of_a_cell_are_one_cell() -> None:
    style = ParagraphStyle("cell")
    words = "Open the valve, wait for the pressure to fall and read the gauge twice"
    rows: list[list[Any]] = [
        ["Task", "What to do", "Hours"],
        ["Pump", Paragraph(words, style), "1.5"],
        ["Gate", "Grease it", "2"],
    ]
    document = read(Table(rows, colWidths=(60, 150, 60)))

    assert statements(document)[0] == {"Task": "Pump", "What to do": words, "Hours": "1.5"}
    assert f"Pump\t{words}\t1.5" in document.text


@pytest.mark.fault("D20")
@pytest.mark.parametrize(
    "title", [None, Paragraph("Duties", ParagraphStyle("title", fontSize=18, spaceAfter=14, alignment=1))]
)
def test_a_table_of_words_with_a_column_of_sentences_has_names(title: Paragraph | None) -> None:
    style = ParagraphStyle("cell")
    duties = {
        "Pilot": "Meets each vessel at the outer buoy and brings it to its berth",
        "Boatman": "Takes the lines ashore and makes them fast before the pilot leaves",
        "Clerk": "Keeps the register of vessels",
    }
    rows: list[list[Any]] = [["Post", "What it does", "Ask"]]
    rows += [[post, Paragraph(duty, style), name] for (post, duty), name in zip(duties.items(), "AMT", strict=True)]
    document = read(*([title] if title else []), Table(rows, colWidths=(80, 180, 60)))

    assert statements(document) == [
        {"Post": post, "What it does": duty, "Ask": name}
        for (post, duty), name in zip(duties.items(), "AMT", strict=True)
    ]


def test_a_table_goes_on_on_the_next_page() -> None:
    rows = [["No.", "Vessel", "Cargo"], *([str(place), f"Ship {place}", str(7 * place)] for place in range(1, 80))]
    said = statements(read(Table(rows)))

    assert [row["Vessel"] for row in said] == [f"Ship {place}" for place in range(1, 80)]
    assert said[-1] == {"No.": "79", "Vessel": "Ship 79", "Cargo": "553"}


def test_two_tables_have_their_own_names() -> None:
    said = statements(read(Table(BOATS), Spacer(1, 40), Table([["Port", "Berths", "Fee"], ["Kirk", "12", "3"]])))

    assert said[-1] == {"Port": "Kirk", "Berths": "12", "Fee": "3"}


@pytest.mark.parametrize(
    "rows",
    [
        [["Fern", "Shade", "Bathroom"], ["Cactus", "Sun", "Window"], ["Ivy", "Half shade", "Stairs"]],
        [["1", "2004", "5"], ["2", "2015", "11"], ["3", "2021", "2"]],
        [["Name", "Bob"], ["Age", "5"]],
    ],
    ids=["words", "figures", "pairs"],
)
def test_without_a_certain_header_nothing_is_named(rows: list[list[str]]) -> None:
    document = read(Table(rows))

    assert statements(document) == []
    assert "\t".join(rows[-1]) in document.text


def test_two_columns_of_prose_are_no_table() -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    for left, name in ((60, "first"), (320, "second")):
        for number in range(20):
            canvas.drawString(left, 780 - 14 * number, f"Line {number} of the {name} column goes on")
    canvas.save()
    lines = read_pdf(buffer.getvalue(), "a.pdf").text.split("\n")

    assert lines[0] == "Line 0 of the first column goes on"
    assert lines[20] == "Line 0 of the second column goes on"


def positioned(words: Sequence[str], gap: float) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    x = 72.0
    for word in words:
        canvas.drawString(x, 700, word)
        x += canvas.stringWidth(word) + gap
    canvas.save()
    return buffer.getvalue()


@pytest.mark.parametrize("gap", [2.6, 3.3, 5.0])
def test_words_without_spaces_between_them_are_set_apart_by_their_gaps(gap: float) -> None:
    words = "anything below if they must be read".split()

    assert read_pdf(positioned(words, gap), "a.pdf").text == " ".join(words)


def test_letters_set_apart_are_one_word() -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    canvas.drawString(72, 700, "Harbour", charSpace=1)
    canvas.save()

    assert read_pdf(buffer.getvalue(), "a.pdf").text == "Harbour"


def test_stretched_words_and_lists_of_contents_are_no_rows() -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    for number, title in enumerate(("Pumps", "Valves", "Gates"), 1):
        canvas.drawString(72, 780 - 16 * number, f"{title} . . . . . . . . . . {number}")
    for number in range(3):
        for place, word in enumerate(("past", "work. In", "particular,", "while")):
            canvas.drawString(72 + 90 * place, 700 - 14 * number, word)
    canvas.save()
    document = read_pdf(buffer.getvalue(), "a.pdf")

    assert statements(document) == []
    assert document.text.startswith("Pumps 1\nValves 2\nGates 3")
