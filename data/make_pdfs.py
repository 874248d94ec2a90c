"""Make the PDF documents of the sample corpus from the Markdown files in ``data/pdf_sources``.

Every source opens with a small front matter block (``title``, ``output``, ``header``) and uses plain Markdown:
headings of two levels, paragraphs, dash lists and pipe tables, without inline markup. The result is written below
``data/corpus`` at the path named by ``output``. Running the script twice gives the same bytes.

Run from the repository root, with reportlab installed::

    pip install reportlab
    python data/make_pdfs.py
"""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

from reportlab.lib import colors
from reportlab.lib.pagesizes import A5
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, Flowable, Frame, PageTemplate, Paragraph, Spacer, Table, TableStyle

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "pdf_sources"
CORPUS = HERE / "corpus"
FOOTER = "Treeline sample corpus, Apache License 2.0"
MARGIN = 18 * mm

BODY = ParagraphStyle("body", fontName="Times-Roman", fontSize=10.5, leading=14, spaceAfter=6)
BULLET = ParagraphStyle("bullet", parent=BODY, leftIndent=12, bulletIndent=2, spaceAfter=3)
CELL = ParagraphStyle("cell", parent=BODY, fontSize=8.5, leading=10.5, spaceAfter=0, splitLongWords=0)
HEAD_CELL = ParagraphStyle("head_cell", parent=CELL, fontName="Times-Bold")
TITLE = ParagraphStyle("title", fontName="Helvetica-Bold", fontSize=18, leading=22, spaceAfter=12)
HEADING = ParagraphStyle(
    "heading", fontName="Helvetica-Bold", fontSize=12.5, leading=16, spaceBefore=8, spaceAfter=4, keepWithNext=1
)
GRID = TableStyle(
    [
        ("LINEABOVE", (0, 0), (-1, 0), 0.8, colors.black),
        ("LINEBELOW", (0, 0), (-1, 0), 0.5, colors.black),
        ("LINEBELOW", (0, -1), (-1, -1), 0.8, colors.black),
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("LEFTPADDING", (0, 0), (-1, -1), 3),
    ]
)


def read_source(path: Path) -> tuple[dict[str, str], list[str]]:
    """Split a source file into its front matter and its blocks.

    Args:
        path: Markdown file that opens with a ``---`` block of ``key: value`` lines.

    Returns:
        The front matter and the blocks of the body, which blank lines separate.
    """
    _, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
    pairs = (line.split(":", 1) for line in front.strip().splitlines())
    meta = {key.strip(): value.strip() for key, value in pairs}
    return meta, [block.strip() for block in body.split("\n\n") if block.strip()]


def table(lines: list[str], width: float) -> Table:
    """Build a table from the lines of a Markdown pipe table.

    Args:
        lines: The header, the dashes and the rows.
        width: Width of the text frame in points.

    Returns:
        The table, its columns sized by the longest cells they hold.
    """
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in [lines[0], *lines[2:]]]
    longest = [max(map(len, column)) + 8 for column in zip(*rows, strict=True)]
    widths = [width * n / sum(longest) for n in longest]
    cells = [[Paragraph(escape(text), CELL if i else HEAD_CELL) for text in row] for i, row in enumerate(rows)]
    return Table(cells, colWidths=widths, repeatRows=1, style=GRID, spaceBefore=4, spaceAfter=10)


def flowables(blocks: list[str], width: float) -> list[Flowable]:
    """Turn Markdown blocks into reportlab flowables.

    Args:
        blocks: Blocks of one document.
        width: Width of the text frame in points.

    Returns:
        The flowables in reading order.
    """
    story: list[Flowable] = []
    for block in blocks:
        lines = block.splitlines()
        if block.startswith("## "):
            story.append(Paragraph(escape(block[3:]), HEADING))
        elif block.startswith("# "):
            story.append(Paragraph(escape(block[2:]), TITLE))
        elif block.startswith("- "):
            story.extend(Paragraph(escape(line[2:]), BULLET, bulletText="\u2022") for line in lines)
            story.append(Spacer(1, 4))
        elif block.startswith("|"):
            story.append(table(lines, width))
        else:
            story.append(Paragraph(escape(" ".join(lines)), BODY))
    return story


def make_pdf(path: Path) -> Path:
    """Write the PDF of one source file.

    Args:
        path: The Markdown source.

    Returns:
        Path of the PDF.
    """
    meta, blocks = read_source(path)
    target = CORPUS / meta["output"]
    target.parent.mkdir(parents=True, exist_ok=True)
    width, height = A5

    def header(canvas: Canvas, _document: BaseDocTemplate) -> None:
        canvas.setFont("Helvetica", 8)
        canvas.drawString(MARGIN, height - 11 * mm, meta["header"])
        canvas.line(MARGIN, height - 13 * mm, width - MARGIN, height - 13 * mm)

    def footer(canvas: Canvas, document: BaseDocTemplate) -> None:
        canvas.setFont("Helvetica", 8)
        canvas.drawString(MARGIN, 9 * mm, FOOTER)
        canvas.drawRightString(width - MARGIN, 9 * mm, f"Page {document.page}")

    about = {"title": meta["title"], "author": "The Treeline project", "subject": meta["header"]}
    document = BaseDocTemplate(str(target), pagesize=A5, invariant=1, **about)
    frame = Frame(MARGIN, 15 * mm, width - 2 * MARGIN, height - 32 * mm, leftPadding=0, rightPadding=0)
    document.addPageTemplates([PageTemplate(id="page", frames=[frame], onPage=header, onPageEnd=footer)])
    document.build(flowables(blocks, width - 2 * MARGIN))
    return target


if __name__ == "__main__":
    for source in sorted(SOURCES.glob("*.md")):
        print(make_pdf(source).relative_to(HERE.parent))
