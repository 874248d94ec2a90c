"""Read a web page with all its text: what the reading of files leaves out, menus and footers, stays.

Flow: the child process, where a step of a pipeline wants to choose among the lines itself -> **here** -> `html.py` ->
`Document`, a line for each block of the page.
"""

from collections.abc import Iterator
from pathlib import Path

from index.documents.store import Document
from ingestion.reading.html import read_html_lines
from ingestion.reading.options import ReadOptions


def read_page_lines(path: Path, doc_id: str, options: ReadOptions) -> Iterator[Document]:  # noqa: ARG001  # as all parsers
    """Yield the one document of a page.

    Raises:
        UnreadableError: no text, or elements nested too deeply to be read in full.
    """
    yield read_html_lines(path.read_bytes(), doc_id)
