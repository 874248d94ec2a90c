"""What files are read as, for tests of their readers."""

from collections.abc import Iterable
from pathlib import Path

from errors import UnreadableError
from index.documents.blobs import LeftOut
from index.documents.store import Document
from index.documents.structure import check_blocks
from ingestion.reading.formats import Item, read_file
from ingestion.reading.options import ReadOptions

OPTIONS = ReadOptions(max_bytes=10_000_000, max_chars=1_000_000)

Items = list[Item]


def read_all(folder: Path, name: str, data: bytes, options: ReadOptions = OPTIONS) -> Items:
    """Write a file, and return what it holds; the reason why no more of it can be read stands last."""
    (folder / name).write_bytes(data)
    found: Items = []
    try:
        found.extend(read_file(folder / name, name, options))
    except UnreadableError as error:
        found.append(error)
    return found


def documents(items: Iterable[Item]) -> dict[str, Document]:
    """Return the documents by their ids; the blocks of each tile its text."""
    found = {item.doc_id: item for item in items if isinstance(item, Document)}
    for document in found.values():
        check_blocks(document.structure.blocks, document.text)
    return found


def refusals(items: Iterable[Item]) -> list[UnreadableError]:
    """Return why something could not be read."""
    return [item for item in items if isinstance(item, UnreadableError)]


def reports(items: Iterable[Item]) -> str:
    """Return what was left out, in words."""
    return " ".join(item.reason for item in items if isinstance(item, LeftOut))


def statements(document: Document) -> list[dict[str, str]]:
    """Return what each row says whose columns have names: column -> cell; empty cells say nothing."""
    return [
        {
            name: document.text[slice(*cell)]
            for name, cell in zip(row.columns, row.cells, strict=True)
            if cell[0] < cell[1]
        }
        for row in document.structure.blocks
        if row.kind == "row" and row.columns
    ]
