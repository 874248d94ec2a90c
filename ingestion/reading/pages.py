"""Read web pages that came with a question, as a search engine returned them.

Flow: address and HTML, or plain text -> **here** -> its own file for the parsing process (`reader.py`) -> `Document`s
for an engine over them. Pages are strangers' bytes, so they are parsed where all others are: in the child process,
under its limits.
"""

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from errors import UnreadableError
from index.documents.store import Document
from ingestion.reading import fields
from ingestion.reading.files import SourceFile
from ingestion.reading.reader import Reader


@dataclass(frozen=True, slots=True)
class Page:
    """A web page.

    Attributes:
        url: its address; names the document, and is what citations link to if it is http or https.
        html: the whole page; may be empty.
        text: plain text in place of HTML.
    """

    url: str
    html: str = ""
    text: str | None = None


def read_page(page: Page, reader: Reader) -> Document:
    """Return the document of a page.

    Raises:
        UnreadableError: it holds no text, or cannot be parsed within the reader's limits.
    """
    with tempfile.TemporaryDirectory(prefix="pages-") as folder:
        # The address of a text could be taken for a paper's file name. The mark says that it is UTF-8, not a guess.
        name, doc_id, content, encoding = (
            ("page.html", page.url, page.html, "utf-8")
            if page.text is None
            else ("page.txt", "page", page.text, "utf-8-sig")
        )
        path = Path(folder).resolve() / name
        # What half a surrogate pair stood for is lost anyway.
        path.write_bytes(content.encode(encoding, errors="replace"))
        for item in reader.read(SourceFile(path, doc_id, path.stat().st_size)):
            if isinstance(item, UnreadableError):
                raise item
            if isinstance(item, Document):
                return replace(item, doc_id=page.url, url=fields.web_address(page.url) or item.url, source=page.url)
    raise UnreadableError("The page holds no text.", "Send another one.")


def read_pages(pages: Iterable[Page], reader: Reader) -> tuple[list[Document], list[str]]:
    """Return the documents of the pages that can be read, in order, and `url: reason` for the others.

    A page that is given twice is read once.
    """
    documents: list[Document] = []
    reasons: list[str] = []
    for page in dict.fromkeys(pages):
        try:
            documents.append(read_page(page, reader))
        except UnreadableError as error:
            reasons.append(f"{page.url}: {error}")
    return documents, reasons
