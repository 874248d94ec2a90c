"""Small PDF files, drawn line by line."""

from io import BytesIO

from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas


def make_pdf(*pages: str, title: str = "", password: str | None = None) -> bytes:
    """Return a PDF with one page per text; a page may be empty, lines are parted by line feeds."""
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
