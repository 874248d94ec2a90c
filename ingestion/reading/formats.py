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
from typing import Any

from errors import UnreadableError
from index.documents.blobs import LeftOut
from index.documents.store import Document
from index.documents.structure import check_blocks
from ingestion.reading import clock, fields
from ingestion.reading.compression import decompressed, is_compressed, max_stream_bytes
from ingestion.reading.containers import MAX_DEPTH, Begun, Budget, Member, lost, read_tar, read_zip
from ingestion.reading.csv import read_csv
from ingestion.reading.encodings import guessed
from ingestion.reading.files import open_plain
from ingestion.reading.format_table import TABLE
from ingestion.reading.includes import Expanded, expanded
from ingestion.reading.jsonl import read_jsonl
from ingestion.reading.kind import LISTS, check_size, kind_of, too_large
from ingestion.reading.language import namer
from ingestion.reading.mbox import read_mbox
from ingestion.reading.options import TURN_ON_OCR, ReadOptions
from ingestion.reading.paper import paper_name, read_paper
from ingestion.reading.plain_text import read_plain_text
from ingestion.reading.text_budget import TextBudget
from ingestion.reading.warc import read_warc

Item = Document | LeftOut | UnreadableError | Begun
Items = Iterator[Item]


def read_file(path: Path, doc_id: str, options: ReadOptions) -> Items:
    """Yield what a file holds: one document, or one per record or member with the unusable ones between them.

    Raises:
        UnreadableError: the file as a whole cannot be used.
    """
    with open_plain(path) as file:
        size = file.seek(0, 2)
        file.seek(0)
        budget = Budget(max_stream_bytes(size, options.max_bytes), TextBudget(size, options.max_chars))
        # An interrupted file may have yielded records before.
        empty = not options.after_member
        for item in _contents(Member(doc_id, file, size, path.name, path=path), options, budget, 0):
            empty = empty and isinstance(item, Begun)
            if isinstance(item, Document) and item.source != doc_id:
                yield replace(item, source=doc_id)
            else:
                yield item
    if empty:
        raise UnreadableError("The file holds no record.", "Fill it or remove it.")


def _contents(member: Member, options: ReadOptions, budget: Budget, depth: int) -> Items:
    """Yield what a file or a member of one holds.

    Args:
        member: the file.
        options: limits.
        budget: of the file that all this is in.
        depth: how many containers the member is in.

    Raises:
        UnreadableError: it cannot be used as a whole.
    """
    stream, size, name = member.stream, member.size, member.name or member.doc_id
    check_size(name, stream.peek(), size, options.max_bytes)
    if is_compressed(stream.peek()):
        size = max_stream_bytes(size, options.max_bytes)
        stream = decompressed(stream, size)
        if depth:
            stream = budget.metered(stream)
    kind = kind_of(name, stream.peek())
    if TABLE[kind].has_members and depth > MAX_DEPTH:
        raise UnreadableError(f"It lies in more than {MAX_DEPTH + 1} archives or mails.", "Unpack it.")
    guessed.set(None)
    number = 0
    after = options.after_member or 0
    inner = replace(options, after_member=None)
    items = budget.text.lent(_items(kind, replace(member, stream=stream, size=size), options, budget))
    for item in clock.renewed(items) if TABLE[kind].has_records and not depth else items:
        if isinstance(item, Member):
            number += 1
            if number <= after:
                continue
            if options.after_member is not None:
                yield Begun(number, item.doc_id)
            # Each mail of a mailbox is one of its own, not one that was packed into another file.
            yield from _member(item, inner, budget, depth + (kind not in LISTS))
        elif number < after:
            continue
        elif isinstance(item, Document):
            yield from _finished(item, kind, options, budget.text)
        else:
            yield item


def _member(member: Member, options: ReadOptions, budget: Budget, depth: int) -> Items:
    """Yield what a member holds, or why it cannot be read: what is wrong with one costs only itself."""
    try:
        for item in _contents(member, options, budget, depth):
            if isinstance(item, Document):
                # A page has no name but its address, by which it was read.
                doc_id = member.doc_id if item.doc_id == member.url else item.doc_id
                metadata = {**member.metadata, **item.metadata}
                yield replace(item, doc_id=doc_id, url=member.url or item.url, metadata=metadata)
            elif isinstance(item, LeftOut) and item.doc_id == member.url:
                yield LeftOut(member.doc_id, item.reason)
            elif isinstance(item, UnreadableError) and member.url and item.doc_id == member.url:
                yield UnreadableError(item.fact, item.remedy, member.doc_id)
            else:
                yield item
    except UnreadableError as error:
        if budget.spent:
            raise
        yield lost(member.doc_id, error)
    except MemoryError:
        yield lost(member.doc_id, UnreadableError("It needs too much memory.", "Raise RAG_INGEST__PARSE_MEMORY_MB."))
    except Exception as error:  # noqa: BLE001 - parsers meet hostile files; none of them may end the container
        fact = f"The parser failed ({type(error).__name__}: {error})."
        yield lost(member.doc_id, UnreadableError(fact, "Check or convert the file."))


def _items(  # noqa: C901 - one branch a format
    kind: str, member: Member, options: ReadOptions, budget: Budget
) -> Iterator[Document | Member | LeftOut | UnreadableError]:
    stream, size, doc_id = member.stream, member.size, member.url or member.doc_id
    match kind:
        case "jsonl":
            yield from read_jsonl(stream, doc_id, size, options.max_chars)
        case "csv":
            yield from read_csv(stream, doc_id, options.max_chars)
        case "parquet":
            from ingestion.reading.parquet import read_parquet  # noqa: PLC0415

            yield from read_parquet(_seekable(stream, size, options.max_bytes), doc_id, options.max_chars)
        case "image":
            if not options.ocr:
                raise UnreadableError("The file holds a picture.", TURN_ON_OCR)
            from ingestion.reading.image import read_image  # noqa: PLC0415  # an extra

            yield from read_image(_whole(stream, size, options.max_bytes), doc_id)
        case "mediawiki":
            from ingestion.reading.mediawiki import read_mediawiki  # noqa: PLC0415

            yield from read_mediawiki(stream, doc_id)
        case "zip":
            yield from read_zip(_seekable(stream, size, options.max_bytes), member.doc_id, budget)
        case "tar":
            yield from read_tar(stream, member.doc_id, budget)
        case "mbox":
            yield from read_mbox(stream, member.doc_id, size)
        case "warc":
            yield from read_warc(stream, member.doc_id, options.max_bytes)
        case _:
            yield from _single(kind, _whole(stream, size, options.max_bytes), doc_id, member.path, options)


def _whole(stream: io.BufferedReader, size: int, max_bytes: int) -> bytes:
    data = stream.read(min(size, max_bytes + 1))  # what is appended meanwhile belongs to the next run
    if len(data) > max_bytes:
        raise too_large(max_bytes)
    return data


def _seekable(stream: io.BufferedReader, size: int, max_bytes: int) -> io.BufferedReader:
    """Return the stream, held in memory if it comes out of an archive, in which nothing can be sought."""
    return stream if stream.seekable() else Member.of("", _whole(stream, size, max_bytes)).stream


def _single(
    kind: str, data: bytes, doc_id: str, path: Path | None, options: ReadOptions
) -> Iterator[Document | Member | LeftOut | UnreadableError]:
    """Yield what a file is that is read as a whole, with what it includes, and what of that was too much."""
    content = expanded(data, path, doc_id) if path else Expanded(data)
    found = _read(kind, content.data, doc_id, options)
    yield from [found] if isinstance(found, Document) else found
    if content.left_out:
        yield LeftOut(doc_id, content.left_out)


def _read(kind: str, data: bytes, doc_id: str, options: ReadOptions) -> Any:
    if kind == "pdf":
        from ingestion.reading.pdf import read_pdf  # noqa: PLC0415

        return read_pdf(data, doc_id, ocr=options.ocr)
    if TABLE[kind].module:
        limit = (options.max_bytes,) if TABLE[kind].is_zip else ()
        return TABLE[kind].reader()(data, doc_id, *limit)
    paper = paper_name(doc_id, anything=options.papers)
    return read_paper(data, doc_id, *paper) if paper else read_plain_text(data, doc_id)


def _finished(document: Document, kind: str, options: ReadOptions, budget: TextBudget) -> Items:
    """Add what is the same for all formats, cut out what holds no words; refuse what is too long."""
    document = document.structured()
    check_blocks(document.structure.blocks, document.text)
    document, rest = document.without_blobs()
    if rest.blank:
        fact = f"The document {document.doc_id!r} holds no words. {rest.left_out}"
        yield UnreadableError(fact, "Remove it, or give it the right suffix.", document.doc_id)
        return
    if len(document.text) > options.max_chars:
        fact = f"The document {document.doc_id!r} is longer than {options.max_chars:,} characters."
        yield UnreadableError(fact, "Split it, or raise RAG_INGEST__MAX_DOCUMENT_CHARS.", document.doc_id)
        return
    budget.take(len(document.text))
    metadata = dict(document.metadata)
    if language := fields.own_language(metadata) or namer().name(document.text):
        metadata["language"] = language
    if options.languages and language and language not in options.languages:
        reason = f"All of it: its language is {language}, and RAG_INGEST__LANGUAGES is {','.join(options.languages)}."
        yield LeftOut(document.doc_id, reason)
        return
    if encoding := guessed.get():
        metadata["guessed_encoding"] = encoding
    yield replace(document, metadata=metadata, content_type=kind)
    for reason in filter(None, (document.unread, rest.left_out)):
        yield LeftOut(document.doc_id, reason)
