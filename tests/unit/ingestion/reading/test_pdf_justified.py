"""Justified prose in narrow columns of a PDF, and tables that look like it."""

import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth

from ingestion.reading.pdf import read_pdf
from tests.fakes.pdfs import Set, make_typeset

RIVER = (
    "The navigability investigations of the interprovincial commissioners recommended extraordinary maintenance works, "
    "notwithstanding considerable disagreements between representatives."
)
DAM = "Die Hochwasserentlastungsanlage wurde 1974 vom Wasserwirtschaftsamt abgenommen und seither 12 mal überarbeitet."


def wrapped(text: str, width: float, points: float) -> list[list[str]]:
    """Return the words of each line that is at most so wide, in points."""
    lines: list[list[str]] = [[]]
    for word in text.split():
        if lines[-1] and stringWidth(" ".join([*lines[-1], word]), "Helvetica", points) > width:
            lines.append([])
        lines[-1].append(word)
    return lines


def justified(text: str, width: float, points: float) -> list[Set]:
    """Return words so that all lines but the last, and those of one word, fill the width."""
    lines = wrapped(text, width, points)
    found = []
    for line in lines:
        widths = [stringWidth(word, "Helvetica", points) for word in line]
        free = width - sum(widths)
        gap = free / (len(line) - 1) if len(line) > 1 and line is not lines[-1] else points / 4
        left = 72.0
        for place, word in enumerate(line):
            found.append(Set(word, points=points, above=0 if place else 1.2 * points, left=left))
            left += widths[place] + gap
    return found


@pytest.mark.fault("D20")
@pytest.mark.parametrize("text", [RIVER, DAM])
@pytest.mark.parametrize(("width", "points"), [(150, 10), (190, 12), (240, 11), (300, 14)])
def test_justified_prose_is_not_a_table(text: str, width: float, points: float) -> None:
    document = read_pdf(make_typeset(justified(text, width, points)), "a.pdf").structured()

    assert document.text.split("\n") == [" ".join(line) for line in wrapped(text, width, points)]
    assert not [block for block in document.structure.blocks if block.kind == "row"]


@pytest.mark.parametrize(
    ("right", "align"),
    [
        (["1,204", "98", "7", "1,309"], "right"),
        (["open", "under repair", "shut", "leased"], "right"),
        (["open"] * 4, "left"),
        (["yes; no", "true; false", "yes; no", "shut"], "close"),
    ],
)
def test_rows_of_a_table_are_not_prose(right: list[str], align: str) -> None:
    left = ["Weir", "Upper lock", "Sluice", "Pump house"]
    rows = []
    for name, cell in zip(left, right, strict=True):
        edge = {"right": 300 - stringWidth(cell, "Helvetica", 10), "left": 240.0, "close": 140.0}[align]
        rows += [Set(name), Set(cell, above=0, left=edge)]

    text = read_pdf(make_typeset(rows), "a.pdf").text

    assert text.split("\n") == [f"{name}\t{cell}" for name, cell in zip(left, right, strict=True)]
