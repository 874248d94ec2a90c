"""Read PDF: the text of each page in PDFium's order, with tabs between columns, joined so that pages are found again.

Flow: file bytes -> **here** -> `Document` with `pages`. Pages without text are scanned ones; where OCR is on, `ocr.py`
reads them.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from itertools import accumulate
from typing import NamedTuple

import pypdfium2
import pypdfium2.raw as pdfium

from errors import UnreadableError
from index.documents.store import Document, Metadata
from index.documents.structure import Structure
from ingestion.reading.options import TURN_ON_OCR
from ingestion.reading.pdf_form import fields_of, with_fields
from ingestion.reading.pdf_header import NamedRow, NamedTable, named
from ingestion.reading.pdf_headings import find_headings
from ingestion.reading.pdf_justified import tightened
from ingestion.reading.pdf_lines import drop_running_lines, join_broken_words
from ingestion.reading.pdf_page import PageText, drawn_rules, is_bold, read_page, wide_spaces
from ingestion.reading.pdf_rows import WrittenPage, blocks_of, span_of, write_page
from ingestion.reading.pdf_tables import find_grids
from ingestion.reading.pdf_title import choose_title
from ingestion.reading.pdf_type import Line, lines_of
from ingestion.reading.text import clean, number_ranges, one_line
from ingestion.reading.text_budget import Growth

_MAX_SCALE = 300 / 72  # of a small page, to 300 dpi
_PAGE_BREAK = "\n\n"
_EDGE_LINES, _EDGE_CHARS = 3, 200
# Cells of a table stand at least so far apart, in heights of the type; words of justified lines less.
_COLUMN_GAP = 1.2
_BULLETS = str.maketrans({"\uf0b7": "•", "\uf0a7": "•"})
# Rules and dot leaders, and letters of symbol fonts, which mean nothing outside them.
_NOISE = re.compile(" ?(?:[._·] ?){5,}|[\ue000-\uf8ff]")


class _ReadPage(NamedTuple):
    """A page before it is known how its document sets headings."""

    text: str
    wide: list[int]
    tables: list[list[NamedRow]]
    lines: list[Line]
    may_be_scan: bool  # no letter of it is but in fields of a form

    def parted(self) -> tuple[list[Line], list[Line]]:
        """Return its lines outside of tables, and those in them."""
        spans = [span_of(table) for table in self.tables]
        inside = [line for line in self.lines if any(line.start < end and start < line.end for start, end in spans)]
        starts = {line.start for line in inside}
        return [line for line in self.lines if line.start not in starts], inside


def read_pdf(data: bytes, doc_id: str, *, ocr: bool = False) -> Document:
    """Return the document; its title is the PDF's own where it is one, else see `pdf_title.py`.

    Args:
        data: of the file.
        doc_id: of the document.
        ocr: read pages without text as pictures; the metadata name them.

    Raises:
        UnreadableError: no PDF, damaged, encrypted, or without any text.
    """
    pages, title, first_page, metadata, scans = _extract(data, ocr=ocr)
    mended = _mended([*(page.text for page in pages), *(page.lines() for page in pages)])
    texts, lines = mended[: len(pages)], mended[len(pages) :]
    text, starts = join_pages(drop_running_lines(texts))
    if not text:
        if ocr:
            raise UnreadableError(
                f"No words were found on the PDF's {len(pages)} pages.", "Scan it again, or remove it."
            )
        raise UnreadableError(f"The PDF has no text on its {len(pages)} pages; they seem to be scanned.", TURN_ON_OCR)
    title = choose_title(title, first_page, doc_id)
    written = [page.mended(rows) for page, rows in zip(pages, lines, strict=True)]
    structure = Structure(blocks_of(text, starts, written))
    unread = f"Pages without text were not read: {number_ranges(scans)}. {TURN_ON_OCR}" if scans else ""
    return Document(doc_id, title, text, None, starts, metadata, doc_id, structure=structure, unread=unread)


def _mended(texts: Sequence[str]) -> list[str]:
    return [clean(_NOISE.sub(" ", text.translate(_BULLETS))) for text in join_broken_words(texts)]


def join_pages(pages: list[str]) -> tuple[str, tuple[int, ...]]:
    """Return (text, offset of each page in it); an empty page starts where the next one does."""
    filled = [page + _PAGE_BREAK if page else "" for page in pages]
    text = "".join(filled).removesuffix(_PAGE_BREAK)
    starts = accumulate(map(len, filled[:-1]), initial=0)
    return text, tuple(min(start, len(text)) for start in starts)


def _extract(data: bytes, *, ocr: bool) -> tuple[list[WrittenPage], str, list[Line], Metadata, list[int]]:
    """Return (the pages, title in the metadata or "", lines of the first page, metadata, pages only OCR reads)."""
    try:
        document = pypdfium2.PdfDocument(data)
        document.init_forms()
    except pypdfium2.PdfiumError as error:
        if error.err_code in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY):
            raise UnreadableError("The PDF is encrypted.", "Save a copy without password.") from error
        raise UnreadableError("This is not a PDF, or a damaged one.", "Repair it or export it again.") from error
    with document:
        title = one_line(document.get_metadata_value("Title"))
        metadata = _date(document)
        read: list[_ReadPage] = []
        growth = Growth()  # many pages can be one
        last: NamedTable | None = None  # a table that ends the page before
        for number in range(len(document)):
            page, tables, lines = _page(document, number)
            growth.add(len(page.text))
            if last and tables and _is_edge(page.text[: tables[0].start]) and tables[0].continues(last):
                tables[0].name(last.names)
            last = tables[-1] if tables and _is_edge(page.text[tables[-1].end :]) else None
            rows = [table.rows for table in tables]
            may_be_scan = not any(one.isalnum() and at >= 0 for one, at in zip(page.text, page.indices, strict=True))
            read.append(_ReadPage(page.text, wide_spaces(page, _COLUMN_GAP), rows, lines, may_be_scan))
        parted = [page.parted() for page in read]
        headings = find_headings([outside for outside, _ in parted], [inside for _, inside in parted])
        pages = [
            write_page(page.text, page.wide, page.tables, found) for page, found in zip(read, headings, strict=True)
        ]
        first_page = read[0].lines if read else []
        scans = [number for number, page in enumerate(read) if page.may_be_scan and _has_objects(document, number)]
        if ocr:
            return pages, title, first_page, metadata | _recognize(document, pages, scans), []
        return pages, title, first_page, metadata, [number + 1 for number in scans]


def _date(document: pypdfium2.PdfDocument) -> Metadata:
    """Return the day on which a PDF was made, else changed last, as `date`; nothing if it names none."""
    for name in ("CreationDate", "ModDate"):
        with suppress(ValueError):
            day = datetime.strptime(document.get_metadata_value(name).removeprefix("D:")[:8], "%Y%m%d").date()
            return {"date": day.isoformat()}
    return {}


def _has_objects(document: pypdfium2.PdfDocument, number: int) -> bool:
    """Whether anything is drawn on a page."""
    with _damage_named(number + 1), closing(document[number]) as page:
        return bool(pdfium.FPDFPage_CountObjects(page))


def _recognize(document: pypdfium2.PdfDocument, pages: list[WrittenPage], scans: Sequence[int]) -> Metadata:
    """Fill pages without text by OCR, in place, and return what is to be said of them; fields of a form are drawn."""
    from ingestion.reading.ocr import MAX_SIDE_PX, ocr_metadata, recognize  # noqa: PLC0415  # an extra

    found = {}
    for number in scans:
        with _damage_named(number + 1), closing(document[number]) as page:
            scale = min(MAX_SIDE_PX / max(page.get_size()), _MAX_SCALE)
            with closing(page.render(scale=scale)) as bitmap:
                found[number] = recognize(bitmap.to_pil().convert("RGB"))
        pages[number] = write_page(found[number].text, (), ())
    return ocr_metadata(found)


def _page(document: pypdfium2.PdfDocument, number: int) -> tuple[PageText, list[NamedTable], list[Line]]:
    with _damage_named(number + 1), closing(document[number]) as page, closing(page.get_textpage()) as words:
        read = with_fields(tightened(read_page(words)), fields_of(document, page))
        grids = find_grids(read, lambda: drawn_rules(page))
        tables = [named(grid, read.text, lambda place: is_bold(words, int(read.indices[place]))) for grid in grids]
        return read, tables, lines_of(words, read)


def _is_edge(text: str) -> bool:
    """Whether what stands before or behind a table is at most the running lines of a page."""
    return text.strip().count("\n") < _EDGE_LINES and len(text) <= _EDGE_CHARS


@contextmanager
def _damage_named(page: int) -> Iterator[None]:
    try:
        yield
    except pypdfium2.PdfiumError as error:
        raise UnreadableError(f"Page {page} of the PDF is damaged.", "Repair it or export it again.") from error
