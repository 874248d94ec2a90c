"""Read PDF: the text of each page in PDFium's order, joined so that pages can be found again.

Flow: file bytes -> **here** -> `Document` with `pages`. Pure. Scanned pages have no text and get none here.
"""

import re
from itertools import accumulate

import pypdfium2
import pypdfium2.raw as pdfium

from errors import UnreadableError
from index.documents import Document
from ingestion.reading.fields import MAX_TITLE_CHARS
from ingestion.reading.pdf_lines import drop_running_lines, join_broken_words
from ingestion.reading.text import clean, one_line, title_from_name

_PAGE_BREAK = "\n\n"
_FILE_NAME = re.compile(
    r"\.(pdf|docx?|xlsx?|pptx?|tex|dvi|p?s|eps|indd|qxd|html?|rtf|txt|od[tsp]|pages)$", re.IGNORECASE
)
_PLACEHOLDER = re.compile(
    r"(untitled|no title|title|document|presentation|powerpoint presentation|slide|layout|print|scan)\W*\d*"
    r"|microsoft (word|excel|powerpoint)\b.*",
    re.IGNORECASE,
)
_BULLETS = str.maketrans({"\uf0b7": "•", "\uf0a7": "•"})
# Rules and dot leaders, and letters of symbol fonts, which mean nothing outside them.
_NOISE = re.compile(" ?(?:[._·] ?){5,}|[\ue000-\uf8ff]")


def read_pdf(data: bytes, doc_id: str) -> Document:
    """Return the document; its title is the PDF's own where it is one, else the file's name in words.

    Raises:
        UnreadableError: no PDF, damaged, encrypted, or without any text.
    """
    pages, title = _extract(data)
    pages = [clean(_NOISE.sub(" ", page.translate(_BULLETS))) for page in join_broken_words(pages)]
    text, starts = join_pages(drop_running_lines(pages))
    if not text:
        raise UnreadableError(
            f"The PDF has no text on its {len(pages)} pages; they seem to be scanned.", "Run OCR on it first."
        )
    return Document(doc_id, title if is_title(title) else title_from_name(doc_id), text, pages=starts, source=doc_id)


def join_pages(pages: list[str]) -> tuple[str, tuple[int, ...]]:
    """Return (text, offset of each page in it); an empty page starts where the next one does."""
    filled = [page + _PAGE_BREAK if page else "" for page in pages]
    text = "".join(filled).removesuffix(_PAGE_BREAK)
    starts = accumulate(map(len, filled[:-1]), initial=0)
    return text, tuple(min(start, len(text)) for start in starts)


def is_title(title: str) -> bool:
    """Tell a title from what word processors and filing systems leave in its place."""
    if len(re.findall(r"[^\W\d_]", title)) < 4 or len(title) > MAX_TITLE_CHARS:
        return False
    return not _FILE_NAME.search(title) and not _PLACEHOLDER.fullmatch(title)


def _extract(data: bytes) -> tuple[list[str], str]:
    """Return (raw text of each page, title in the metadata or "")."""
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY):
            raise UnreadableError("The PDF is encrypted.", "Save a copy without password.") from error
        raise UnreadableError("This is no PDF, or a damaged one.", "Repair it or export it again.") from error
    with document:
        title = one_line(document.get_metadata_value("Title"))
        return [_page_text(document, number) for number in range(len(document))], title


def _page_text(document: pypdfium2.PdfDocument, number: int) -> str:
    try:
        page = document[number]
        words = page.get_textpage()
        text = str(words.get_text_range())
        words.close()
        page.close()
    except pypdfium2.PdfiumError as error:
        raise UnreadableError(f"Page {number + 1} of the PDF is damaged.", "Repair it or export it again.") from error
    return text.replace("\r\n", "\n")
