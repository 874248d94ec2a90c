"""Make the document of what an office format's reader has written.

Flow: the reader's `TextBuilder`, title and author -> **here** -> `Document` with its structure. Pure.
"""

from errors import UnreadableError
from index.documents.store import Document
from index.documents.structure import Structure
from ingestion.reading import fields
from ingestion.reading.text import title_from_name
from ingestion.reading.text_builder import TextBuilder
from ingestion.reading.titles import own_title

# Libraries that sign what they write.
_PROGRAMS = ("python-docx", "openpyxl", "python-pptx", "Apache POI", "PHPExcel", "Unknown")


def finished(
    builder: TextBuilder,
    doc_id: str,
    title: str | None,
    author: str | None = None,
    *,
    language: str | None = None,
    headings: bool = True,
) -> Document:
    """Return the document.

    Args:
        builder: holds the whole text.
        doc_id: the file's path.
        title: its own; without one its first heading is its title, else the file's name.
        author: its own, if it names one.
        language: its own, as a code.
        headings: they are titles of what follows; not so the names of sheets.

    Raises:
        UnreadableError: it holds no text.
    """
    text, blocks = builder.finished()
    if not text:
        raise UnreadableError("The file holds no text.", "Fill it or remove it.")
    first = next((block for block in blocks if block.kind == "heading"), None) if headings else None
    heading = own_title(text[slice(*first.inner)]) if first else None
    record = {"author": None if author in _PROGRAMS else author, "language": language}
    return Document(
        doc_id,
        title or heading or title_from_name(doc_id),
        text,
        metadata=fields.metadata(record, without=()),
        source=doc_id,
        structure=Structure(blocks),
    )
