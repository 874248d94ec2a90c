"""Read Word documents: headings, paragraphs, lists and tables in the order in which they stand.

Flow: file bytes -> **here** -> `Document`. Pure.

Headers, footers, deleted passages and tables of contents are left out. The XML is walked here, because
python-docx's own lists of paragraphs pass over content controls and inserted passages without a word.
"""

import zipfile
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from docx import Document as open_docx
from docx.document import Document as DocxDocument
from docx.opc.exceptions import OpcError
from docx.oxml.ns import qn
from docx.text.paragraph import Paragraph

from errors import UnreadableError
from index.documents.store import Document
from ingestion.reading import fields
from ingestion.reading.text import clean_body, title_from_name

_DAMAGED = "This is no Word document, or a damaged one."
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"  # a copy for old readers
_WRAPPERS = frozenset(map(qn, ("w:sdt", "w:sdtContent", "w:ins", "w:moveTo", "w:smartTag", "w:customXml")))
_SPACES = {qn("w:tab"): "\t", qn("w:br"): "\n", qn("w:cr"): "\n", qn("w:noBreakHyphen"): "-"}
_LEFT_OUT = frozenset(map(qn, ("w:del", "w:moveFrom", "w:pPr", "w:rPr"))) | {_FALLBACK}
_PROGRAM_TITLES = ("word document", "microsoft word", "untitled", "document")


def read_docx(data: bytes, doc_id: str, max_bytes: int) -> Document:
    """Return the document; its title is the one in its properties, else its first heading, else the file's name.

    Args:
        data: the file.
        doc_id: the file's path.
        max_bytes: how much its parts may hold together, unpacked.

    Raises:
        UnreadableError: no Word document, damaged, encrypted, too large unpacked, or without text.
    """
    _refuse_bomb(data, max_bytes)
    try:
        document = open_docx(BytesIO(data))
        body = document.element.body
        blocks = list(_blocks(body, document))
    except (OpcError, KeyError, ValueError, AttributeError, SyntaxError, zipfile.BadZipFile) as error:
        raise UnreadableError(_DAMAGED, "Open it in Word and save it again.") from error
    text = clean_body(_join(blocks))
    title = fields.title(document.core_properties.title)
    if title and title.casefold().startswith(_PROGRAM_TITLES):
        title = None
    heading = next((block.lstrip("# ") for block in blocks if block.startswith("#")), None)
    author = fields.metadata({"author": document.core_properties.author}, without=("python-docx",))
    return Document(
        doc_id, title or fields.title(heading) or title_from_name(doc_id), text, metadata=author, source=doc_id
    )


def _refuse_bomb(data: bytes, max_bytes: int) -> None:
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        raise UnreadableError("This is an encrypted Word document, or one of the old format.", "Save it as .docx.")
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
            is_word = any(entry.filename.startswith("word/") for entry in archive.infolist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise UnreadableError(_DAMAGED, "Open it in Word and save it again.") from error
    if not is_word:
        raise UnreadableError("This is a zip archive, but no Word document.", "Unpack it, or remove it.")
    if unpacked > max_bytes:
        fact = f"The Word document is larger than {max_bytes // 1_000_000} MB unpacked."
        raise UnreadableError(fact, "Split it, or raise RAG_INGEST__MAX_FILE_MB.")


def _blocks(parent: Any, document: DocxDocument) -> Iterator[str]:
    """Yield paragraphs, list items and tables below `parent`, in order, as they are written out."""
    for element in parent:
        if element.tag == qn("w:p"):
            if block := _paragraph(element, document):
                yield block
            for box in element.iter(qn("w:txbxContent")):
                if not any(above.tag == _FALLBACK for above in box.iterancestors()):
                    yield from _blocks(box, document)
        elif element.tag == qn("w:tbl"):
            rows = (_row(row, document) for row in element.iter(qn("w:tr")) if _table_of(row) is element)
            if table := "\n".join(row for row in rows if row.strip(" |")):
                yield table
        elif element.tag in _WRAPPERS:
            yield from _blocks(element, document)


def _paragraph(element: Any, document: DocxDocument) -> str:
    text = "".join(_pieces(element)).strip()
    style = Paragraph(element, document).style
    name = (style.name or "").casefold() if style is not None else ""
    if not text or name.startswith("toc ") or name == "table of contents":
        return ""
    if name == "title" or name.startswith("heading "):
        level = int(name[-1]) if name[-1].isdigit() else 1
        return f"{'#' * min(level, 6)} {' '.join(text.split())}"
    numbering = element.find(f"{qn('w:pPr')}/{qn('w:numPr')}")
    if numbering is None and not name.startswith("list "):
        return text
    depth = numbering.find(qn("w:ilvl")) if numbering is not None else None
    indent = "  " * min(int(depth.get(qn("w:val"), 0)), 8) if depth is not None else ""
    return f"{indent}- {' '.join(text.split())}"


def _pieces(element: Any) -> Iterator[str]:
    """Yield the text below an element, without what was deleted and without text boxes, which are blocks."""
    for child in element:
        if child.tag == qn("w:t"):
            yield child.text or ""
        elif child.tag in _SPACES:
            yield _SPACES[child.tag]
        elif child.tag not in _LEFT_OUT and child.tag != qn("w:txbxContent"):
            yield from _pieces(child)


def _row(row: Any, document: DocxDocument) -> str:
    cells = (cell for cell in row.iter(qn("w:tc")) if _table_of(cell) is _table_of(row))
    return " | ".join(" ".join(" ".join(_blocks(cell, document)).split()) for cell in cells).strip()


def _table_of(element: Any) -> Any:
    return next(element.iterancestors(qn("w:tbl")))


def _join(blocks: list[str]) -> str:
    """Part blocks by blank lines, but the items of a list by line ends."""
    text = ""
    for previous, block in zip(["", *blocks], blocks, strict=False):
        both_items = previous.lstrip().startswith("- ") and block.lstrip().startswith("- ")
        text += ("\n" if both_items else "\n\n") + block
    return text
