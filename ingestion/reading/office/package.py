"""Open a document that is a zip archive of XML: one door for all such formats, with limits against hostile files.

Flow: file bytes -> **here** -> trees of elements -> a format's reader. Pure.

Nothing is unpacked before the sizes are checked, no member yields more than it declares, and no XML may define
entities.
"""

import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from typing import Any, NamedTuple
from urllib.parse import unquote

from lxml import etree

from errors import UnreadableError
from index.documents.store import Metadata
from ingestion.reading import fields
from ingestion.reading.office import ole
from ingestion.reading.titles import own_title

MAX_MEMBERS = 50_000
_CHUNK_BYTES = 1 << 20
_PROGRAMS = ("python-docx", "openpyxl", "python-pptx", "Apache POI", "PHPExcel", "Unknown")
_RELATIONS = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"
# The strict form of Office Open XML differs in its names alone.
_STRICT = (
    (b"http://purl.oclc.org/ooxml/officeDocument/", b"http://schemas.openxmlformats.org/officeDocument/2006/"),
    (b"http://purl.oclc.org/ooxml/spreadsheetml/", b"http://schemas.openxmlformats.org/spreadsheetml/2006/"),
    (b"http://purl.oclc.org/ooxml/wordprocessingml/", b"http://schemas.openxmlformats.org/wordprocessingml/2006/"),
    (b"http://purl.oclc.org/ooxml/presentationml/", b"http://schemas.openxmlformats.org/presentationml/2006/"),
    (b"http://purl.oclc.org/ooxml/drawingml/", b"http://schemas.openxmlformats.org/drawingml/2006/"),
)


class Relation(NamedTuple):
    """What a part of an Office Open XML document points to: the last word of the relation's type, and the member."""

    kind: str
    target: str


class Package:
    """The members of a document.

    Args:
        data: the file.
        max_bytes: how much its members may hold together, unpacked.
        program: name of the format in error messages, such as "Word document".
        needed: members, or folders that end in `/`, without which it is not that format.

    Raises:
        UnreadableError: no zip archive, or damaged, too large unpacked, of too many members, or another format.
    """

    def __init__(self, data: bytes, max_bytes: int, program: str, *needed: str) -> None:
        self._program = program
        if refusal := ole.refusal(data):
            raise refusal
        try:
            self._archive = zipfile.ZipFile(BytesIO(data))
            entries = self._archive.infolist()
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError) as error:
            raise self.damaged() from error
        self._names = {entry.filename.replace("\\", "/").lstrip("/").casefold(): entry for entry in entries}
        if not all(any(name.startswith(need.casefold()) for name in self._names) for need in needed):
            raise UnreadableError(f"This is a zip archive, but no {program}.", "Unpack it, or remove it.")
        if len(entries) > MAX_MEMBERS:
            raise UnreadableError(f"The {program} has more than {MAX_MEMBERS:,} parts.", "Split it, or remove it.")
        if sum(entry.file_size for entry in entries) > max_bytes:
            fact = f"The {program} is larger than {max_bytes // 1_000_000} MB unpacked."
            raise UnreadableError(fact, "Split it, or raise RAG_INGEST__MAX_FILE_MB.")

    def damaged(self) -> UnreadableError:
        """Return the refusal of a file that cannot be made sense of."""
        return UnreadableError(f"This is no {self._program}, or a damaged one.", "Open it and save it again.")

    def holds(self, name: str) -> bool:
        """Tell whether there is such a member; capitals do not count."""
        return name.casefold() in self._names

    def read(self, name: str) -> bytes | None:
        """Return the contents of a member; None if there is no member of this name.

        Raises:
            UnreadableError: it is damaged or encrypted.
        """
        entry = self._names.get(name.casefold())
        if entry is None:
            return None
        if entry.flag_bits & 1:
            raise UnreadableError(f"The {self._program} is encrypted.", "Save it without a password.")
        try:
            with self._archive.open(entry) as member:
                # In pieces: read at once, a member that holds more than it declares is unpacked before it is cut.
                return b"".join(iter(lambda: member.read(_CHUNK_BYTES), b""))
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError) as error:
            raise self.damaged() from error

    def xml(self, name: str) -> Any:
        """Return the root element of a member; None if there is no member of this name.

        Raises:
            UnreadableError: it is damaged, or no XML, or defines entities.
        """
        data = self._xml_bytes(name)
        return None if data is None else parse_xml(data, self.damaged())

    def needed_xml(self, name: str) -> Any:
        """Return the root element of a member.

        Raises:
            UnreadableError: as `xml`, or the member is missing.
        """
        root = self.xml(name)
        if root is None:
            raise self.damaged()
        return root

    def elements(self, name: str, *tags: str) -> Iterator[Any]:
        """Yield the elements of these tags, each when it ends and then emptied, so that a huge part needs no memory.

        Raises:
            UnreadableError: as `xml`.
        """
        data = self._xml_bytes(name) or b""
        try:
            events = etree.iterparse(
                BytesIO(data), tag=tags, resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
            )
            for _event, element in events:
                yield element
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
        except etree.XMLSyntaxError as error:
            raise self.damaged() from error

    def relations(self, name: str) -> dict[str, Relation]:
        """Return what a part of an Office Open XML document points to inside the file, by id."""
        folder, base = posixpath.split(name)
        root = self.xml(posixpath.join(folder, "_rels", f"{base}.rels"))
        found = {}
        for one in () if root is None else root.iter(_RELATIONS):
            if one.get("TargetMode") != "External":
                target = unquote(one.get("Target", ""))
                path = target.lstrip("/") if target.startswith("/") else posixpath.join(folder, target)
                kind = one.get("Type", "").rpartition("/")[2]
                found[one.get("Id", "")] = Relation(kind, posixpath.normpath(path))
        return found

    def related(self, name: str, kind: str) -> str | None:
        """Return the first member of a kind that a part points to; None if it points to none."""
        return next((one.target for one in self.relations(name).values() if one.kind == kind), None)

    def properties(self) -> tuple[str | None, Metadata]:
        """Return the title of an Office Open XML document, and its author; empty where they say nothing."""
        root = self.xml(self.related("", "core-properties") or "docProps/core.xml")
        return dublin_core(root)

    def _xml_bytes(self, name: str) -> bytes | None:
        data = self.read(name)
        if data and b"purl.oclc.org/ooxml" in data:
            for strict, usual in _STRICT:
                data = data.replace(strict, usual)
        if data and b"<!ENTITY" in data.replace(b"\0", b""):
            raise self.damaged()
        return data


def parse_xml(data: bytes, damaged: UnreadableError) -> Any:
    """Return the root element of XML; entities stay what they are, and nothing is fetched.

    Raises:
        UnreadableError: `damaged`, if it is not XML.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)
    try:
        return etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise damaged from error


def parse_html(data: bytes, damaged: UnreadableError) -> Any:
    """Return the root element of a UTF-8 page that is not well-formed XML.

    Raises:
        UnreadableError: `damaged`, if nothing is left of it.
    """
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise damaged from error
    if root is None:
        raise damaged
    return root


def signed(author: str | None) -> Metadata:
    """Return a document's author as its metadata; nothing for a library that signs what it writes."""
    return fields.metadata({"author": None if author in _PROGRAMS else author}, without=())


def dublin_core(root: Any) -> tuple[str | None, Metadata]:
    """Return the title below an element with properties, and the author; empty where they say nothing."""
    if root is None:
        return None, {}
    title = next((found for one in root.iter(f"{_DUBLIN_CORE}title") if (found := own_title(one.text))), None)
    author = next((one.text for one in root.iter(f"{_DUBLIN_CORE}creator") if (one.text or "").strip()), None)
    return title, signed(author)
