"""Read web archives: the pages, PDFs and texts that a crawler stored, each with its address.

Flow: open file -> **here** -> a `Member` a page -> `formats.py`. Never holds more than one record.

Records of WARC and of its extracts (WET) are read: answers of servers, resources, and texts made of them. What is not
such a record, or an answer that was not a success, is passed over.
"""

import re
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from errors import UnreadableError
from index.documents.blobs import LeftOut
from ingestion.reading import fields
from ingestion.reading.containers import Member, Tally

MAX_HEADER_BYTES = 65_536
MAX_HEADERS = 1000
_MAX_DIGITS = 16
# As of a compressed file: text shrinks a hundredfold at most.
MAX_RATIO = 100
_SMALL_BYTES = 1_000_000
_NAMES = {
    "text/html": "page.html",
    "application/xhtml+xml": "page.html",
    "application/pdf": "page.pdf",
    "text/plain": "page.txt",
    "text/markdown": "page.md",
}
_KINDS = ("response", "resource", "conversion")
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w:.-]{2,40})", re.IGNORECASE)
_STATUS = re.compile(rb"HTTP/[\d.]+\s+(\d{3})")
_SUCCESS = 200
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[^\n]{0,100}\n")

Headers = dict[str, str]


def read_warc(stream: BinaryIO, doc_id: str, max_bytes: int) -> Iterator[Member | LeftOut | UnreadableError]:
    """Yield the pages, named after the file and the place of their record in it.

    Args:
        stream: at its beginning, decompressed.
        doc_id: the file.
        max_bytes: of a page.

    Raises:
        UnreadableError: the file is not a web archive, or it is truncated.
    """
    tally = Tally(doc_id)
    number = 0
    while (headers := _next_headers(stream, first=number == 0)) is not None:
        number += 1
        length = _length(headers)
        page_id = f"{doc_id}#{number:06d}"
        kind, url = headers.get("warc-type", ""), _address(headers)
        if kind not in _KINDS or url is None:  # a crawler's own log has no address
            _pass_over(stream, length)
        elif length > max_bytes:
            _pass_over(stream, length)
            fact = f"{page_id}: The page is larger than {max_bytes // 1_000_000} MB."
            yield UnreadableError(fact, "Raise RAG_INGEST__MAX_FILE_MB.", page_id)
        else:
            block = stream.read(length)
            if len(block) < length:
                raise UnreadableError("The web archive is cut short.", "Copy it again.")
            try:
                yield _page(block, headers, page_id, url, max_bytes)
            except _PassedOverError as error:
                tally.add(url, str(error))
    yield from tally.left_out()


class _PassedOverError(Exception):
    """A record holds nothing to be read; the text says what it is."""


def _page(block: bytes, headers: Headers, page_id: str, url: str, max_bytes: int) -> Member:
    if headers.get("content-type", "").startswith("application/http"):
        head, body = _split_head(block)
        status = _STATUS.match(head)
        if not status or int(status[1]) != _SUCCESS:
            raise _PassedOverError(f"answer {status[1].decode()}" if status else "no answer")
        headers = _parsed(head.split(b"\n")[1:])
        body = _decoded(body, headers, max_bytes)
    else:
        body = block
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type not in _NAMES:
        raise _PassedOverError(f"type {media_type or 'unknown'}")
    charset = _CHARSET.search(headers.get("content-type", ""))
    if charset and media_type.startswith(("text/", "application/xhtml")):
        body = _as_utf8(body, charset[1])
    return Member.of(page_id, body, _NAMES[media_type], url)


def _as_utf8(data: bytes, charset: str) -> bytes:
    """Return text in UTF-8 with its mark, so that what the server said of the encoding is heeded."""
    try:
        return data.decode(charset).encode("utf-8-sig", "replace")
    except (LookupError, UnicodeError):
        return data


def _decoded(body: bytes, headers: Headers, max_bytes: int) -> bytes:
    """Undo how an answer was transferred."""
    if "chunked" in headers.get("transfer-encoding", "").lower():
        body = _unchunked(body)
    encoding = headers.get("content-encoding", "").lower().strip()
    if encoding in ("gzip", "x-gzip", "deflate"):
        limit = min(max_bytes, max(_SMALL_BYTES, MAX_RATIO * len(body)))
        return _inflated(body, limit)
    if encoding not in ("", "identity"):
        raise _PassedOverError(f"compressed by {encoding}")
    return body


def _inflated(body: bytes, limit: int) -> bytes:
    if not body.startswith((b"\x1f\x8b", b"\x78")):  # some crawlers store what they unpacked with the old header
        return body
    inflater = zlib.decompressobj(zlib.MAX_WBITS | 32)
    try:
        data = inflater.decompress(body, limit)
    except zlib.error as error:
        raise _PassedOverError("damaged compression") from error
    if inflater.unconsumed_tail and len(data) >= limit:
        raise _PassedOverError("unpacks to too much")
    return data


def _unchunked(body: bytes) -> bytes:
    """Return what the chunks hold; the bytes as they are if they are not in chunks."""
    parts: list[bytes] = []
    place = 0
    while match := _CHUNK.match(body, place):
        size = int(match[1], 16)
        if not size:
            return b"".join(parts)
        parts.append(body[match.end() : match.end() + size])
        place = match.end() + size
        place += 2 if body[place : place + 2] == b"\r\n" else 1
    return b"".join(parts) if parts and place >= len(body) else body


def _split_head(block: bytes) -> tuple[bytes, bytes]:
    start = block[:MAX_HEADER_BYTES]
    ends = [(start.find(mark), len(mark)) for mark in (b"\r\n\r\n", b"\n\n")]
    place, length = min(((place, length) for place, length in ends if place >= 0), default=(len(start), 0))
    return block[:place], block[place + length :]


def _address(headers: Headers) -> str | None:
    return fields.web_address(headers.get("warc-target-uri", "").strip("<>").replace(" ", "%20"))


def _length(headers: Headers) -> int:
    value = headers.get("content-length", "")
    return int(value) if value.isascii() and value.isdigit() and len(value) < _MAX_DIGITS else 0


def _next_headers(stream: BinaryIO, *, first: bool) -> Headers | None:
    """Return the headers of the next record; None at the end.

    Raises:
        UnreadableError: there is no record where the file begins.
    """
    while line := stream.readline(MAX_HEADER_BYTES):
        if line.startswith(b"WARC/"):
            break
        if first and line.strip():
            raise UnreadableError("This is not a web archive.", "Give it the right suffix.")
    else:
        if first:
            raise UnreadableError("The file holds no text.", "Fill it or remove it.")
        return None
    lines: list[bytes] = []
    while (line := stream.readline(MAX_HEADER_BYTES)).strip():
        if len(lines) < MAX_HEADERS:
            lines.append(line)
    return _parsed(lines)


def _parsed(lines: list[bytes]) -> Headers:
    found: Headers = {}
    for line in lines[:MAX_HEADERS]:
        name, colon, value = line.decode("utf-8", "replace").partition(":")
        if colon:
            found.setdefault(name.strip().lower(), value.strip())
    return found


def _pass_over(stream: BinaryIO, length: int) -> None:
    while length > 0 and (piece := stream.read(min(length, 1_000_000))):
        length -= len(piece)
