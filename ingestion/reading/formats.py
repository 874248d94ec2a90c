"""Choose the reader for a file and run it.

Flow: child process (`child.py`) -> **here** -> the format's reader -> documents. Runs inside the child only:
what is imported here (PDFium, lxml, Arrow) need not be trusted by the program that asks, and is imported when the
first file of its format comes.

What a file is, by its content and its name, is `kind.py`'s business.
"""

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from errors import UnreadableError
from index.documents.blobs import LeftOut, without_blobs
from index.documents.store import Document
from index.documents.structure import Structure, check_blocks
from ingestion.reading import fields
from ingestion.reading.compression import decompressed, is_compressed, max_stream_bytes
from ingestion.reading.csv import read_csv
from ingestion.reading.files import open_plain
from ingestion.reading.json import read_json
from ingestion.reading.jsonl import read_jsonl
from ingestion.reading.kind import check_size, kind_of, too_large
from ingestion.reading.language import namer
from ingestion.reading.markdown import read_markdown
from ingestion.reading.options import ReadOptions
from ingestion.reading.paper import paper_name, read_paper
from ingestion.reading.plain_text import read_plain_text

Items = Iterator[Document | LeftOut | UnreadableError]


def read_file(path: Path, doc_id: str, options: ReadOptions) -> Items:
    """Yield what a file holds: one document, or one per record with the unusable records between them.

    Raises:
        UnreadableError: the file as a whole cannot be used.
    """
    with open_plain(path) as file:
        size = file.seek(0, 2)
        file.seek(0)
        stream = file
        check_size(path.name, file.peek(), size, options.max_bytes)
        if is_compressed(file.peek()):
            size = max_stream_bytes(size, options.max_bytes)
            stream = decompressed(file, size)
        kind = kind_of(path.name, stream.peek())
        for item in _items(kind, stream, doc_id, size, options):
            if isinstance(item, Document):
                yield from _finished(item, kind, options.max_chars)
            else:
                yield item


def _items(kind: str, stream: io.BufferedReader, doc_id: str, size: int, options: ReadOptions) -> Items:
    match kind:
        case "jsonl":
            yield from read_jsonl(stream, doc_id, size)
        case "csv":
            yield from read_csv(stream, doc_id, options.max_chars)
        case "parquet":
            from ingestion.reading.parquet import read_parquet  # noqa: PLC0415

            yield from read_parquet(stream, doc_id)
        case "json":
            yield from read_json(_whole(stream, size, options.max_bytes), doc_id)
        case _:
            yield _document(kind, _whole(stream, size, options.max_bytes), doc_id, options)


def _whole(stream: io.BufferedReader, size: int, max_bytes: int) -> bytes:
    data = stream.read(min(size, max_bytes + 1))  # what is appended meanwhile belongs to the next run
    if len(data) > max_bytes:
        raise too_large(max_bytes)
    return data


def _document(kind: str, data: bytes, doc_id: str, options: ReadOptions) -> Document:
    match kind:
        case "html":
            from ingestion.reading.html import read_html  # noqa: PLC0415

            return read_html(data, doc_id)
        case "pdf":
            from ingestion.reading.pdf import read_pdf  # noqa: PLC0415

            return read_pdf(data, doc_id)
        case "zip":
            raise UnreadableError("This is a zip archive.", "Unpack it, and hand in what it holds.")
        case "docx" | "xlsx" | "pptx" | "odt" | "ods" | "odp" | "epub" | "rtf" | "xls" | "ole":
            from ingestion.reading.office.reader import read_office  # noqa: PLC0415

            return read_office(kind, data, doc_id, options.max_bytes)
        case "markdown":
            return read_markdown(data, doc_id)
        case _:
            paper = paper_name(doc_id, anything=options.papers)
            return read_paper(data, doc_id, *paper, options.paper_words) if paper else read_plain_text(data, doc_id)


def _finished(document: Document, kind: str, max_chars: int) -> Items:
    """Add what is the same for all formats, cut out what holds no words; refuse what is too long."""
    document = document.structured()
    check_blocks(document.structure.blocks, document.text)
    rest = without_blobs(document.text, document.pages)
    if rest.blank:
        fact = f"The document {document.doc_id!r} holds no words. {rest.left_out}"
        yield UnreadableError(fact, "Remove it, or give it the right suffix.")
        return
    if len(rest.text) > max_chars:
        fact = f"The document {document.doc_id!r} is longer than {max_chars:,} characters."
        yield UnreadableError(fact, "Split it, or raise RAG_INGEST__MAX_DOCUMENT_CHARS.")
        return
    metadata = dict(document.metadata)
    if language := fields.own_language(metadata) or namer().name(rest.text):
        metadata["language"] = language
    structure = Structure(block.moved(rest.moved) for block in document.structure.blocks)
    yield replace(
        document, text=rest.text, pages=rest.offsets, metadata=metadata, content_type=kind, structure=structure
    )
    if rest.left_out:
        yield LeftOut(document.doc_id, rest.left_out)
