"""Name what a file of Microsoft's old container holds, and refuse what no reader is for.

Flow: file bytes -> **here** -> a refusal, or none where it is a workbook (`xls.py`). Pure; reads the container's root
folder alone, so that a picture of a document inside a workbook is not taken for the file itself.
"""

import struct

from errors import UnreadableError
from index.documents.store import Document

MAGIC = b"\xd0\xcf\x11\xe0"
_REFUSED = (
    ("encryptedpackage", "This document is encrypted.", "Save it without a password."),
    ("worddocument", "This is a Word document of the old format (.doc).", "Save it as .docx."),
    ("powerpoint document", "This is a presentation of the old format (.ppt).", "Save it as .pptx."),
)
_WORKBOOKS = frozenset(("workbook", "book"))
_ENTRY_BYTES = 128
_MAX_SECTORS = 100_000
_MAX_ENTRIES = 10_000


def read_ole(data: bytes, doc_id: str) -> Document:  # noqa: ARG001 - as all readers
    """Refuse a file of an old Office format.

    Raises:
        UnreadableError: always.
    """
    remedy = "Save it in a format of today, such as .docx or .pptx."
    raise refusal(data) or UnreadableError("This is a file of an old Office format, or a damaged one.", remedy)


def holds_workbook(data: bytes) -> bool:
    """Tell whether the container is a workbook; also by its beginning, if that holds its folder."""
    return not _WORKBOOKS.isdisjoint(_names(data))


def refusal(data: bytes) -> UnreadableError | None:
    """Return why the file cannot be read; None if it is a workbook, or not of this container at all."""
    if not data.startswith(MAGIC):
        return None
    names = _names(data)
    for name, fact, remedy in _REFUSED:
        if name in names:
            return UnreadableError(fact, remedy)
    if names and _WORKBOOKS.isdisjoint(names):
        return UnreadableError(
            "This is a file of an old Office format.", "Save it in a format of today, such as .docx."
        )
    return None


def _names(data: bytes) -> set[str]:
    """Return the names in the root folder, in small letters; none if it cannot be found."""
    try:
        return _children(_folder(data))
    except (struct.error, IndexError):
        return set()


def _folder(data: bytes) -> bytes:
    """Return the sectors of the folder, which the table of sectors chains."""
    size = 1 << (struct.unpack_from("<H", data, 30)[0] & 15)
    (sector,) = struct.unpack_from("<I", data, 48)
    tables = struct.unpack_from("<109I", data, 76)
    per_table = size // 4
    found: dict[int, bytes] = {}
    while sector < _MAX_SECTORS and sector not in found:
        found[sector] = data[(sector + 1) * size : (sector + 2) * size]
        table = tables[sector // per_table]
        (sector,) = struct.unpack_from("<I", data, (table + 1) * size + 4 * (sector % per_table))
    return b"".join(found.values())


def _children(folder: bytes) -> set[str]:
    """Return the names of the root's children, a tree of siblings."""
    names: set[str] = set()
    seen: set[int] = set()
    pending = [struct.unpack_from("<I", folder, 76)[0]]
    while pending and len(seen) < _MAX_ENTRIES:
        number = pending.pop()
        if number in seen or (number + 1) * _ENTRY_BYTES > len(folder):
            continue
        seen.add(number)
        entry = folder[number * _ENTRY_BYTES : (number + 1) * _ENTRY_BYTES]
        length, left, right = struct.unpack_from("<H2xII", entry, 64)
        names.add(entry[: min(max(length - 2, 0), 64)].decode("utf-16-le", errors="replace").casefold())
        pending += [left, right]
    return names
