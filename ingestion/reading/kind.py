"""Tell what a file holds, which decides who reads it and whether it may be large.

Flow: name and first bytes of a file -> **here** -> `formats.py` chooses the reader, `pipeline/diff.py` refuses what is
too large before it reads it. Pure; parses nothing.

The content decides where it is plain: the mark of a binary format, the names of the first members of a zip archive, the
beginning of a web page, and text where the name promises a binary format. The suffix decides between
the forms of text, which look alike, and where an archive does not tell what it is.
"""

import json
import re
import struct
from collections.abc import Iterator

from errors import UnreadableError
from ingestion.reading.compression import is_compressed
from ingestion.reading.format_table import TABLE, format_of
from ingestion.reading.office import ole
from ingestion.reading.text import is_text

_MAGIC = (
    (b"%PDF-", "pdf"),
    (b"{\\rtf", "rtf"),
    (b"PAR1", "parquet"),
    (b"\x89PNG\r\n", "image"),
    (b"\xff\xd8\xff", "image"),
    (b"II*\0", "image"),
    (b"MM\0*", "image"),
)
_BINARY = frozenset(
    ("zip", "msg", "xls", "ole", *(row.name for row in TABLE.values() if row.is_zip), *(kind for _, kind in _MAGIC))
)
_ZIP = b"PK\x03\x04"
_FOLDERS = (("word/", "docx"), ("xl/", "xlsx"), ("ppt/", "pptx"))
# What else the archives of Office hold, so that any folder of the name "word" does not make a document.
_OFFICE = ("[Content_Types].xml", "_rels/.rels", "docProps/")
_MIMETYPES = (
    (b"application/vnd.oasis.opendocument.text", "odt"),
    (b"application/vnd.oasis.opendocument.spreadsheet", "ods"),
    (b"application/vnd.oasis.opendocument.presentation", "odp"),
    (b"application/epub+zip", "epub"),
)
# What is named so may hold records, which only its content tells.
_PERHAPS_STREAMED = frozenset(("json", "xml"))
# A comment ends at its first `-->`: if that could be given back, comments in a row could be cut in many ways.
_PAGE_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+(?:<\?xml[^>]*+>\s*+)?(?:(?><!--.*?-->)\s*+)*+<(?:!doctype\s++html|html)\b", re.I | re.S
)
_PAGE_START_BYTES = 1024
# Of these each member is a mail or a page of its own.
LISTS = frozenset(("mbox", "warc"))
_DUMP_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*+(?:<\?xml[^>]*+>\s*+)?<mediawiki\b")


def kind_of(name: str, start: bytes) -> str:
    """Return the format of a file, a name in `format_table.TABLE`.

    Args:
        name: of the file.
        start: its first bytes, decompressed; a few thousand at least, if it holds as many.
    """
    named = format_of(name, images=True) or "plain text"
    if start.startswith(_ZIP):
        return _zip_kind(start) or (named if TABLE[named].is_zip else "zip")
    if start.startswith(ole.MAGIC) and named != "msg":
        return "xls" if named == "xls" or ole.holds_workbook(start) else "ole"
    for magic, kind in _MAGIC:
        if start.lstrip().startswith(magic):
            return kind
    if named in _BINARY and is_text(start):
        named = "plain text"
    if named == "json":
        return "jsonl" if _is_json_lines(start) else "json"
    if named == "xml" and _DUMP_START.match(start):
        return "mediawiki"
    is_page = not TABLE[named].is_streamed and _PAGE_START.match(start[:_PAGE_START_BYTES])
    return "html" if is_page else named


def check_size(name: str, start: bytes, size: int, max_bytes: int) -> None:
    """Refuse a file that must be read as a whole and is too large for that.

    What a compressed file holds is measured while it is read; here its own size counts.

    Args:
        name: of the file.
        start: its first bytes, as they are.
        size: of the file, in bytes.
        max_bytes: what may be held in memory.

    Raises:
        UnreadableError: it is too large.
    """
    if size <= max_bytes:
        return
    if is_compressed(start):
        may_be_streamed = TABLE[named := format_of(name) or "plain text"].is_streamed or named in _PERHAPS_STREAMED
    else:
        may_be_streamed = TABLE[kind_of(name, start)].is_streamed
    if not may_be_streamed:
        raise too_large(max_bytes)


def too_large(max_bytes: int) -> UnreadableError:
    """Return the refusal of a file of more than `max_bytes`."""
    limit = max_bytes // 1_000_000
    return UnreadableError(f"The file is larger than {limit} MB.", "Split it, or raise RAG_INGEST__MAX_FILE_MB.")


def _is_json_lines(start: bytes) -> bool:
    """Tell records on lines of their own, which collections call `.json` too, from one JSON value."""
    first, _, rest = start.strip().partition(b"\n")
    try:
        return rest.lstrip().startswith(b"{") and isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def _zip_kind(start: bytes) -> str | None:
    """Tell a document by the first members of its archive; None for another archive."""
    names = list(_members(start))
    if names[:1] == ["mimetype"]:
        for mimetype, kind in _MIMETYPES:
            if mimetype in start[: 2 * len(mimetype) + 128]:
                return kind
    if "META-INF/container.xml" in names:
        return "epub"
    if any(name.startswith(_OFFICE) for name in names):
        return next((kind for name in names for folder, kind in _FOLDERS if name.startswith(folder)), None)
    return None


def _members(start: bytes) -> Iterator[str]:
    """Yield the names of the members that begin in the first bytes of an archive; what they hold is passed over."""
    place = 0
    while start.startswith(_ZIP, place) and place + 30 <= len(start):
        flags, size, name, extra = struct.unpack_from("<6xH10xI4xHH", start, place)
        begin = place + 30
        yield start[begin : begin + name].decode("utf-8", errors="replace").replace("\\", "/")
        place = begin + name + extra + size
        if flags & 8 and not size:  # its size stands behind it
            place = start.find(_ZIP, place)
            if place < 0:
                return
