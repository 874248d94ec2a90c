"""Small files of Outlook: properties in an OLE file, written sector by sector."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_SECTOR, _SMALL_SECTOR, _SMALL_STREAM = 512, 64, 4096
_END, _FREE, _FAT = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD
_ROOT, _FOLDER, _STREAM = 5, 1, 2


@dataclass
class _Entry:
    name: str
    kind: int
    data: bytes = b""
    children: list[int] = field(default_factory=list)


def make_ole(tree: Mapping[str, Any]) -> bytes:
    """Return an OLE file; a value of `tree` is a stream's bytes or a folder's tree."""
    entries = [_Entry("Root Entry", _ROOT)]
    _add(entries, 0, tree)
    sectors: list[bytes] = []
    chains: list[int] = []
    small_sectors: list[bytes] = []
    small_chains: list[int] = []
    starts = [_END]
    for entry in entries[1:]:
        # Small streams lie in a stream of the root, in smaller sectors.
        is_small = len(entry.data) < _SMALL_STREAM
        where = (small_sectors, small_chains, _SMALL_SECTOR) if is_small else (sectors, chains, _SECTOR)
        starts.append(_append(entry.data, *where) if entry.data else _END)
    entries[0].data = b"".join(small_sectors)
    starts[0] = _append(entries[0].data, sectors, chains, _SECTOR)
    small_table = struct.pack(f"<{len(small_chains)}I", *small_chains)
    small_table += b"\xff" * (-len(small_table) % _SECTOR)
    first_small_table = _append(small_table, sectors, chains, _SECTOR)
    directory = b"".join(_directory_entry(entries, place, starts[place]) for place in range(len(entries)))
    first_directory = _append(directory, sectors, chains, _SECTOR)
    tables = -(-(len(chains) + 1) // (_SECTOR // 4 - 1))
    first_table = len(sectors)
    chains += [_FAT] * tables
    table = struct.pack(f"<{len(chains)}I", *chains).ljust(tables * _SECTOR, b"\xff")
    places = [first_table + number for number in range(tables)]
    header = struct.pack(
        "<8s16sHHHHH6sIIIIIIIIII",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"", 0x3E, 3, 0xFFFE, 9, 6, b"",
        0, tables, first_directory, 0, _SMALL_STREAM, first_small_table, len(small_table) // _SECTOR,
        _END, 0, places[0],
    )  # fmt: skip
    header += struct.pack("<108I", *(places[1:] + [_FREE] * (109 - tables)))
    return header + b"".join(sectors) + table


def make_msg(
    texts: Mapping[str, str], attachments: Mapping[str, bytes] | None = None, mail: Mapping[str, str] | None = None
) -> bytes:
    """Return a mail of Outlook.

    Args:
        texts: by the numbers of their properties, such as `0037` for the subject.
        attachments: files by their names.
        mail: the texts of a mail that is attached, with the attachments of this one.
    """
    files = _files(attachments or {})
    if mail is None:
        return make_ole(_texts(texts) | files)
    inner = {"__substg1.0_3701000D": _texts(mail) | files, "__properties_version1.0": bytes(8)}
    return make_ole(_texts(texts) | {"__attach_version1.0_#00000000": inner})


def _texts(texts: Mapping[str, str]) -> dict[str, Any]:
    streams = {f"__substg1.0_{number}001F": text.encode("utf-16-le") for number, text in texts.items()}
    return {**streams, "__properties_version1.0": bytes(32)}


def _files(attachments: Mapping[str, bytes]) -> dict[str, Any]:
    return {
        f"__attach_version1.0_#{number:08d}": {
            "__substg1.0_37010102": data,
            "__substg1.0_3707001F": name.encode("utf-16-le"),
            "__properties_version1.0": bytes(8),
        }
        for number, (name, data) in enumerate(attachments.items())
    }


def _add(entries: list[_Entry], parent: int, tree: Mapping[str, Any]) -> None:
    for name, value in tree.items():
        entries[parent].children.append(len(entries))
        is_stream = isinstance(value, bytes)
        entries.append(_Entry(name, _STREAM if is_stream else _FOLDER, value if is_stream else b""))
        if not is_stream:
            _add(entries, len(entries) - 1, value)


def _append(data: bytes, sectors: list[bytes], chains: list[int], size: int) -> int:
    """Append sectors, and the chain that they form; return the first one's number."""
    first = len(sectors)
    pieces = [data[place : place + size].ljust(size, b"\0") for place in range(0, len(data), size)]
    sectors += pieces
    chains += [*range(first + 1, first + len(pieces)), _END]
    return first


def _directory_entry(entries: list[_Entry], place: int, start: int) -> bytes:
    """Return an entry; the tree of a folder's entries leans to the right, which is allowed."""
    entry = entries[place]
    name = entry.name.encode("utf-16-le") + b"\0\0"
    siblings = next((one.children for one in entries if place in one.children), [])
    after = siblings[siblings.index(place) + 1 :][:1] if siblings else []
    child = entry.children[0] if entry.children else _FREE
    return struct.pack(
        "<64sHBBIII16sIQQIQ", name, len(name), entry.kind, 1, _FREE, *(after or [_FREE]), child, b"", 0, 0, 0,
        start, len(entry.data),
    )  # fmt: skip
