"""Headings of a PDF, which only its type shows."""

import pytest

from ingestion.reading.pdf import read_pdf
from tests.fakes.pdfs import Set, make_typeset

PROSE = [
    Set("The keeper walks along the wall each morning and writes down how high the water", above=24),
    Set("stands at the gauge, whether the sluices hold, and what the night has left behind on"),
    Set("the apron; the log is kept for as long as the dam is in use."),
]
BOLD, ITALIC = "Helvetica-Bold", "Helvetica-Oblique"


def headings(*pages: list[Set]) -> list[tuple[int, str]]:
    """Return level and words of each heading of a PDF; its blocks tile the text."""
    document = read_pdf(make_typeset(*pages), "a.pdf").structured()
    text, blocks = document.text, document.structure.blocks
    assert "".join(text[block.start : block.end] for block in blocks) == text
    return [(block.level, " ".join(text[slice(*block.inner)].split())) for block in blocks if block.kind == "heading"]


@pytest.mark.fault("D20")
@pytest.mark.parametrize(
    "line",
    [
        Set("Opening the sluices", points=12, above=24),
        Set("opening the sluices", points=14, above=24),
        Set("When may they be opened?", points=16, above=24),
        Set("Opening the sluices", BOLD, above=24),
        Set("3 Sluices and gates", BOLD, above=24),
        Set("Opening the sluices", ITALIC, above=24),
        Set("OPENING THE SLUICES", above=24),
        Set("4. Opening the sluices", above=24),
        Set("4.2 Opening the sluices", above=24),
        Set("§ 14 Opening the sluices", above=24),
        Set("Article 5 Opening the sluices", above=24),
        Set("Artikel 5", above=24),
        Set("IV. Opening the sluices", above=24),
        Set("Öffnen der Schleusen", BOLD, above=24),
    ],
    ids=lambda line: f"{line.text} {line.font} {line.points}",
)
def test_a_line_that_stands_out_from_the_text_is_a_heading(line: Set) -> None:
    assert headings([*PROSE, line, *PROSE]) == [(1, line.text)]


@pytest.mark.fault("D20")
@pytest.mark.parametrize(
    "lines",
    [
        [Set("The gate must never be left", BOLD), Set("open overnight by anyone on the staff.")],
        [Set("Note that this is a long and weighty sentence of its own.", BOLD, above=24)],
        [Set("Figure 3. Sluices in spring", BOLD, above=24)],
        [Set("1. Open the gate.", above=24), Set("2. Wait for the horn.", above=24), Set("3. Close it.", above=24)],
        [Set(text, points=14, above=above) for text, above in (("We thank all", 24), *[("who helped", 17)] * 5)],
        [Set("12 boats waited", above=24)],
        [Set("5.25", BOLD, above=24)],
        [Set("mail@dam.example", BOLD, above=24)],
        [Set("Gate", BOLD, above=24), Set("Keeper", BOLD, above=0, left=200), Set("Day", BOLD, above=0, left=330)],
        [
            *(Set("Gates", BOLD, above=24), Set("opened", BOLD)),
            *(Set("Gates", BOLD, above=-12, left=160), Set("shut", BOLD, left=160)),
        ],
    ],
    ids=[
        "bold words",
        "sentence",
        "caption",
        "list",
        "large text",
        "quantity",
        "number",
        "address",
        "cells",
        "cells of two lines",
    ],
)
def test_other_lines_are_not(lines: list[Set]) -> None:
    assert headings([*PROSE, *lines, *PROSE]) == []


def test_bold_type_says_nothing_where_much_of_the_text_has_it() -> None:
    bold = [line._replace(font=BOLD) for line in PROSE]

    assert headings([*bold, Set("Opening the sluices", BOLD, above=24), *bold]) == []


def test_a_running_line_is_not_a_heading_and_a_title_in_the_same_words_is() -> None:
    title, running = Set("The dam log", points=20), Set("The dam log", BOLD)
    pages = [[running, *PROSE, Set(f"Week {name}", BOLD, above=24), *PROSE] for name in ("one", "two", "three")]

    found = headings([title, *PROSE], *pages)

    assert found == [(1, "The dam log"), (2, "Week one"), (2, "Week two"), (2, "Week three")]


def test_levels_follow_the_size_and_then_the_number() -> None:
    sizes = [("Dams", 20), ("Gates", 14), ("Sluices", 12), ("Locks", 14)]
    numbers = ["1 Dams", "1.1 Gates", "1.1.1 Sluices", "1.2 Locks", "2 Weirs", "Sources"]

    by_size = headings([line for name, points in sizes for line in (Set(name, points=points, above=24), *PROSE)])
    by_number = headings([line for name in numbers for line in (Set(name, BOLD, above=24), *PROSE)])

    assert by_size == [(1, "Dams"), (2, "Gates"), (3, "Sluices"), (2, "Locks")]
    assert by_number == [(1 + name.split()[0].count(".") if name != "Sources" else 1, name) for name in numbers]


def test_a_heading_of_two_lines_is_one() -> None:
    lines = [
        Set("What the keeper does when the water", points=16, above=30),
        Set("rises at night", points=16, above=18),
    ]

    assert headings([*PROSE, *lines, *PROSE]) == [(1, "What the keeper does when the water rises at night")]


def test_a_comment_in_code_is_not_a_heading_of_a_document_that_has_some() -> None:
    code = Set("# close the gate", "Courier", above=24)

    assert headings([Set("Opening the sluices", points=14), *PROSE, code, *PROSE]) == [(1, "Opening the sluices")]


def test_the_title_of_a_document_of_tables_is_one() -> None:
    cells = [
        ("Gate", "Keeper", "Opens at"),
        *[(f"G{n}", name, f"{n + 5}:00") for n, name in enumerate(["Ann", "Ivo", "Zoe", "Max", "Eva"])],
    ]
    rows = [Set(cell, above=14 * (not n), left=72 + 120 * n) for row in cells for n, cell in enumerate(row)]

    assert headings([Set("Gates of the dam", points=18), *rows]) == [(1, "Gates of the dam")]
