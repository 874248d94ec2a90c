"""Small Word documents, built block by block."""

from collections.abc import Sequence
from io import BytesIO

from docx import Document

Block = tuple[str, str] | list[list[str]]


def make_docx(blocks: Sequence[Block], *, title: str = "", header: str = "") -> bytes:
    """Return a document of (style, text) paragraphs and of tables, given as rows of cells."""
    document = Document()
    document.core_properties.title = title
    document.core_properties.author = ""
    document.sections[0].header.paragraphs[0].text = header
    for block in blocks:
        if isinstance(block, tuple):
            style, text = block
            document.add_paragraph(text, style=style)
            continue
        table = document.add_table(len(block), len(block[0]))
        for row, values in zip(table.rows, block, strict=True):
            for cell, value in zip(row.cells, values, strict=True):
                cell.text = value
    buffer = BytesIO()
    document.save(buffer)
    return buffer.getvalue()
