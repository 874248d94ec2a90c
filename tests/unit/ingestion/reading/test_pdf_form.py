"""Fields of a PDF's form, beside their labels."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from reportlab.pdfgen.canvas import Canvas

from ingestion.reading.pdf import read_pdf

Draw = Callable[[Canvas], object]


def text_of(*draw: Draw) -> str:
    """Return the text of a PDF with a heading and what is drawn below it."""
    buffer = BytesIO()
    canvas = Canvas(buffer)
    canvas.drawString(72, 780, "Lending desk")
    for one in draw:
        one(canvas)
    canvas.save()
    return read_pdf(buffer.getvalue(), "a.pdf").text.removeprefix("Lending desk").strip()


def words(text: str, x: int = 72, y: int = 700) -> Draw:
    """Draw words."""
    return lambda canvas: canvas.drawString(x, y, text)


def field(value: str, x: int = 200, y: int = 696, **more: Any) -> Draw:
    """Draw a field for text."""
    more = {"name": "borrower", "width": 160, "height": 18, **more}
    return lambda canvas: canvas.acroForm.textfield(value=value, x=x, y=y, **more)


def button(*, checked: bool, x: int = 200, y: int = 696, name: str = "agreed") -> Draw:
    """Draw a box to tick."""
    return lambda canvas: canvas.acroForm.checkbox(checked=checked, x=x, y=y, size=16, name=name)


def choice(value: str, kind: str) -> Draw:
    """Draw a list to choose from."""
    options = ["Map room", "Reading room"]
    return lambda canvas: getattr(canvas.acroForm, kind)(
        value=value, options=options, x=200, y=690, width=120, height=24, name="room"
    )


@pytest.mark.fault("D20")
@pytest.mark.parametrize(
    ("draw", "text"),
    [
        ([words("Borrower:"), field("Ilse Brand")], "Borrower: Ilse Brand"),
        ([words("Borrower"), field("Ilse Brand")], "Borrower: Ilse Brand"),
        ([words("Who borrows?"), field("Ilse Brand")], "Who borrows? Ilse Brand"),
        ([words("Item"), field("an atlas\nof rivers", height=60, y=654)], "Item: an atlas of rivers"),
        ([field("Ilse Brand", tooltip="Name of the borrower")], "Name of the borrower: Ilse Brand"),
        ([field("Ilse Brand")], "borrower: Ilse Brand"),
        ([words("Room"), choice("Map room", "choice")], "Room: Map room"),
        ([words("Room"), choice("Reading room", "listbox")], "Room: Reading room"),
        ([words("Member"), button(checked=True)], "Member: ☑"),
        ([words("Member"), button(checked=False)], "Member: ☐"),
        ([button(checked=True, x=72), words("I have read the rules", x=94)], "☑ I have read the rules"),
        (
            [
                *(button(checked=True, x=72, name="yes"), words("Yes", x=94)),
                *(button(checked=False, x=200, name="no"), words("No", x=222)),
            ],
            "☑ Yes ☐ No",
        ),
        (
            [words("Borrower"), words("Day", x=400), field("Ilse Brand"), field("4 May", x=430, name="day", width=60)],
            "Borrower: Ilse Brand Day: 4 May",
        ),
        (
            [words("Until"), *(field(part, 120 + 40 * n, name=part, width=30) for n, part in enumerate(["30", "09"]))],
            "Until: 30 09",
        ),
        ([words("Borrower:"), field("")], "Borrower:"),
        ([words("PIN:"), field("4711", fieldFlags="password")], "PIN:"),
        ([words("Borrower:"), field("Ilse Brand", annotationFlags="hidden")], "Borrower:"),
    ],
)
def test_the_value_of_a_field_stands_beside_its_label(draw: list[Draw], text: str) -> None:
    assert " ".join(text_of(*draw).split()) == text


def test_fields_of_the_lines_of_a_form_are_pairs() -> None:
    names = ["Borrower", "Item", "Until"]
    lines = [
        part
        for n, name in enumerate(names)
        for part in (words(name, y=700 - 30 * n), field(f"no. {n}", y=696 - 30 * n, name=name))
    ]

    assert text_of(*lines).split("\n") == ["Borrower: no. 0", "Item: no. 1", "Until: no. 2"]


def test_a_form_without_words_is_read() -> None:
    buffer = BytesIO()
    canvas = Canvas(buffer)
    field("Ilse Brand")(canvas)
    field("an atlas", y=600, name="item")(canvas)
    canvas.showPage()
    canvas.save()

    assert read_pdf(buffer.getvalue(), "a.pdf").text.split() == "borrower: Ilse Brand item: an atlas".split()
