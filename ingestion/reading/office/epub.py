"""Read electronic books: their chapters in the order of the book, as `xhtml.py` writes them out.

Flow: file bytes -> `package.py` -> **here** -> `TextBuilder` -> `Document`. Pure.

The table of contents is left out; it names the chapters that have no heading of their own.
"""

import html
import posixpath
import re
from typing import Any
from urllib.parse import unquote, urldefrag

from errors import UnreadableError
from index.documents.store import Document
from ingestion.reading import fields
from ingestion.reading.markup import finished
from ingestion.reading.office import xhtml
from ingestion.reading.office.package import Package, dublin_core, parse_html, parse_xml
from ingestion.reading.text import decode, one_line
from ingestion.reading.text_builder import TextBuilder
from ingestion.reading.titles import own_title

_OPF = "{http://www.idpf.org/2007/opf}"
_NCX = "{http://www.daisy.org/z3986/2005/ncx/}"
_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}rootfile"
_ENCRYPTION = "{http://www.w3.org/2001/04/xmlenc#}"
# Fonts may be scrambled so, which hides no text.
_FONTS = frozenset(("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"))
_PAGES = frozenset(("application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"))
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31});")
_OF_XML = frozenset(("amp", "lt", "gt", "quot", "apos"))
_DOCTYPE = re.compile(r"<!DOCTYPE[^>\[]{0,500}>", re.IGNORECASE)


def read_epub(data: bytes, doc_id: str, max_bytes: int) -> Document:
    """Return the book; its title is the one in its metadata, else its first heading, else the file's name.

    Args:
        data: the file.
        doc_id: the file's path.
        max_bytes: how much its parts may hold together, unpacked.

    Raises:
        UnreadableError: no book, damaged, protected against copying, too large unpacked, or without text.
    """
    package = Package(data, max_bytes, "EPUB book", "META-INF/container.xml")
    _refuse_protected(package)
    place = next((one.get("full-path") for one in package.needed_xml("META-INF/container.xml").iter(_CONTAINER)), None)
    book = package.needed_xml(place or "content.opf")
    folder = posixpath.dirname(place or "")
    items = {one.get("id", ""): one for one in book.iter(f"{_OPF}item")}
    labels = _labels(package, items.values(), folder)
    builder = TextBuilder()
    try:
        for reference in book.iter(f"{_OPF}itemref"):
            item = items.get(reference.get("idref", ""))
            if item is None or item.get("media-type") not in _PAGES or "nav" in item.get("properties", "").split():
                continue
            path = _path(folder, item.get("href", ""))
            chapter = _page(package, path)
            if chapter is not None:
                if not xhtml.holds_heading(chapter):
                    builder.heading(labels.get(path, ""), 1)
                xhtml.add_blocks(builder, chapter)
    except RecursionError as error:
        raise package.damaged() from error
    title, metadata = dublin_core(book)
    language = next((one.text for one in book.iter("{http://purl.org/dc/elements/1.1/}language")), None)
    metadata |= fields.metadata({"language": language}, without=())
    return finished(builder, doc_id, title, metadata, title_of=own_title)


def _refuse_protected(package: Package) -> None:
    root = package.xml("META-INF/encryption.xml")
    methods = () if root is None else root.iter(f"{_ENCRYPTION}EncryptionMethod")
    if any(one.get("Algorithm") not in _FONTS for one in methods):
        raise UnreadableError("The book is protected against copying.", "Use a copy without protection.")


def _labels(package: Package, items: Any, folder: str) -> dict[str, str]:
    """Return what the table of contents calls each file: its first entry for it."""
    found: dict[str, str] = {}
    for item in items:
        path = _path(folder, item.get("href", ""))
        own = posixpath.dirname(path)
        if "nav" in item.get("properties", "").split() and (page := _page(package, path)) is not None:
            for link in page.iter("{http://www.w3.org/1999/xhtml}a"):
                found.setdefault(_path(own, link.get("href", "")), one_line("".join(link.itertext())))
        elif item.get("media-type") == "application/x-dtbncx+xml" and (root := package.xml(path)) is not None:
            for point in root.iter(f"{_NCX}navPoint"):
                content = point.find(f"{_NCX}content")
                if content is not None:
                    label = one_line(point.findtext(f"{_NCX}navLabel/{_NCX}text") or "")
                    found.setdefault(_path(own, content.get("src", "")), label)
    return found


def _path(folder: str, address: str) -> str:
    return posixpath.normpath(posixpath.join(folder, unquote(urldefrag(address).url)))


def _page(package: Package, path: str) -> Any:
    """Return the root element of a page, even if it is not well-formed; None if it is missing or empty."""
    data = package.read(path)
    if not data or not data.strip():
        return None
    text = _DOCTYPE.sub("", decode(data), count=1)
    # XML knows five names of characters only.
    text = _ENTITY.sub(lambda match: match[0] if match[1] in _OF_XML else html.unescape(match[0]), text)
    body = re.sub(r"\A\s*<\?xml[^>]*\?>", "", text).encode("utf-8", errors="ignore")
    if b"<!ENTITY" in body:
        raise package.damaged()
    try:
        return parse_xml(body, package.damaged())
    except UnreadableError:
        return parse_html(body, package.damaged())
