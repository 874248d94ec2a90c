"""Read the documents that regions lie in, as the question's author saw them.

Flow: a corpus folder -> **here** -> `nuggets.py`.

Not by the readers that the engine ingests with: a region must not move with them. (Ours drops a page's navigation, and
writes the header of a CSV file into each row.) Only office documents are read by ours, whose words are the file's.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from json import loads
from pathlib import Path

import pypdfium2
from lxml import etree

from eval.metrics import file_name
from eval.nuggets import fold
from index.documents.store import Document
from ingestion.reading.office.docx import read_docx
from ingestion.reading.office.odf import read_odf
from ingestion.reading.office.xlsx import read_xlsx

_MAX_OFFICE_BYTES = 100_000_000
_OFFICE: dict[str, Callable[[bytes, str, int], Document]] = {
    ".docx": read_docx,
    ".odt": read_odf,
    ".xlsx": read_xlsx,
}


def read_folded(corpus: Path, names: Collection[str]) -> dict[str, str]:
    """Return name -> folded text.

    Args:
        corpus: a folder, or a file of JSONL records.
        names: of the files or records, without folders.

    Raises:
        OSError, ValueError, KeyError, PdfiumError: a file cannot be read.
        UnreadableError: an office document cannot be read.
    """
    files = sorted(path for path in corpus.rglob("*") if path.is_file()) if corpus.is_dir() else [corpus]
    return {name: fold(text) for path in files for name, text in _texts(path, names) if name in names}


def _texts(path: Path, names: Collection[str]) -> Iterator[tuple[str, str]]:
    if path.suffix == ".jsonl":
        with path.open(encoding="utf-8") as lines:
            for record in map(loads, lines):
                yield file_name(record["doc_id"]), record["text"]
    elif path.name in names and (read := _OFFICE.get(path.suffix)):
        yield path.name, read(path.read_bytes(), path.name, _MAX_OFFICE_BYTES).text
    elif path.name in names and path.suffix == ".pdf":
        yield path.name, _pdf_text(path)
    elif path.name in names:
        text = path.read_text(encoding="utf-8")
        yield path.name, _html_text(text) if path.suffix == ".html" else text


def _html_text(page: str) -> str:
    """Return the text of a page outside scripts and styles."""
    tree = etree.HTML(page, etree.HTMLParser(remove_comments=True))
    etree.strip_elements(tree, "script", "style", with_tail=False)
    return " ".join(map(str, tree.itertext()))


def _pdf_text(path: Path) -> str:
    """Return the text of the pages as PDFium has it."""
    with closing(pypdfium2.PdfDocument(path)) as document:
        return "\n".join(page.get_textpage().get_text_range() for page in document)
