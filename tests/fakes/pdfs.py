"""Small PDF files, drawn line by line."""

from collections.abc import Sequence
from io import BytesIO
from typing import NamedTuple

from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas


def make_pdf(*pages: str, title: str = "", password: str | None = None) -> bytes:
    """Return a PDF with one page per text; a page may be empty, lines are separated by line feeds."""
    buffer = BytesIO()
    encrypt = StandardEncryption(password, canPrint=0) if password else None
    canvas = Canvas(buffer, encrypt=encrypt)
    canvas.setTitle(title)
    for page in pages:
        for number, line in enumerate(page.split("\n")):
            canvas.drawString(72, 780 - 16 * number, line)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def make_page(lines: Sequence[tuple[float, str]], *, vertical: str = "") -> bytes:
    """Return a PDF with one page of lines, each with its type size in points, and a stamp along its left edge."""
    buffer = BytesIO()
    canvas = Canvas(buffer)
    height = 780.0
    for points, line in lines:
        canvas.setFont("Helvetica", points)
        canvas.drawString(72, height, line)
        height -= 1.5 * points
    if vertical:
        canvas.rotate(90)
        canvas.setFont("Helvetica", 30)
        canvas.drawString(100, -40, vertical)
    canvas.save()
    return buffer.getvalue()


class Set(NamedTuple):
    """A line as it is set.

    Attributes:
        text: of the line.
        font: its name, as PDF readers know it.
        points: size of the type.
        above: from the line above to this one, in points.
        left: edge of the line, in points from the page's left one.
    """

    text: str
    font: str = "Helvetica"
    points: float = 10
    above: float = 12
    left: float = 72


def make_typeset(*pages: Sequence[Set]) -> bytes:
    """Return a PDF with these lines on its pages; one whose distance is 0 stands beside the line before it."""
    buffer = BytesIO()
    canvas = Canvas(buffer)
    for page in pages:
        height = 800.0
        for line in page:
            height -= line.above
            canvas.setFont(line.font, line.points)
            canvas.drawString(line.left, height, line.text)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()
