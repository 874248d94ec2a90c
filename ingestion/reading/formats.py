"""Choose the reader for a file and run it.

Flow: child process (`child.py`) -> **here** -> the format's reader -> documents. Runs inside the child only:
what is imported here (PDFium, lxml, trafilatura) need not be trusted by the program that asks.

The suffix decides, except where the content says plainly that it lies: a PDF or a web page saved under another
name is read as what it is.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from errors import UnreadableError
from index.documents import Document
from ingestion.reading.files import FORMATS, open_plain
from ingestion.reading.html import read_html
from ingestion.reading.jsonl import read_jsonl
from ingestion.reading.markdown import read_markdown
from ingestion.reading.pdf import read_pdf
from ingestion.reading.plain_text import read_plain_text

_PAGE_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html)\b", re.I | re.S
)
_WHOLE_FILE: dict[str, Callable[[bytes, str], Document]] = {
    "markdown": read_markdown,
    "plain text": read_plain_text,
    "html": read_html,
    "pdf": read_pdf,
}


def read_file(path: Path, doc_id: str, max_bytes: int) -> Iterator[Document | UnreadableError]:
    """Yield what a file holds: one document, or one per record with the unusable records between them.

    Raises:
        UnreadableError: the file as a whole cannot be used.
    """
    with open_plain(path) as stream:
        size = stream.seek(0, 2)
        stream.seek(0)
        if size > max_bytes:
            raise _too_large(max_bytes)
        kind = _kind(FORMATS.get(path.suffix.lower(), "plain text"), stream.read(1024))
        stream.seek(0)
        if kind == "jsonl":
            yield from read_jsonl(stream, doc_id, size)
            return
        data = stream.read(size)  # what is appended meanwhile belongs to the next run
    yield _WHOLE_FILE[kind](data, doc_id)


def _kind(by_suffix: str, start: bytes) -> str:
    if start.lstrip().startswith(b"%PDF-"):
        return "pdf"
    return "html" if by_suffix != "jsonl" and _PAGE_START.match(start) else by_suffix


def _too_large(max_bytes: int) -> UnreadableError:
    limit = max_bytes // 1_000_000
    return UnreadableError(f"The file is larger than {limit} MB.", "Split it, or raise RAG_INGEST__MAX_FILE_MB.")
