"""Small workbooks with binary parts, written record by record."""

import struct
from collections.abc import Mapping, Sequence

from tests.zoo.archives import make_zip
from tests.zoo.office import relations

Cells = Sequence[tuple[int, int, str | float | bool, int]]


def make_xlsb(
    sheets: Mapping[str, Cells],
    *,
    hidden: Sequence[str] = (),
    merged: Sequence[tuple[int, int, int, int]] = (),
    strings: Sequence[str] = (),
) -> bytes:
    """Return a workbook.

    Args:
        sheets: name -> (row, column, value, style): style 0 is plain, 1 bold, 2 a day, 3 a percentage.
        hidden: sheets that are not shown.
        merged: (first row, last row, first column, last column) of each sheet.
        strings: those that are shared.
    """
    listed = b"".join(
        _record(156, struct.pack("<II", name in hidden, at) + _wide(f"s{at}") + _wide(name))
        for at, name in enumerate(sheets, 1)
    )
    areas = b"".join(_record(176, struct.pack("<4I", *one)) for one in merged)
    found = {f"s{at}": ("worksheet", f"worksheets/sheet{at}.bin") for at in range(1, len(sheets) + 1)}
    found |= {"strings": ("sharedStrings", "sharedStrings.bin"), "styles": ("styles", "styles.bin")}
    return make_zip(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": relations({"a": ("officeDocument", "xl/workbook.bin")}),
            "xl/workbook.bin": _record(131)
            + _record(153, bytes(12))
            + _record(143)
            + listed
            + _record(144)
            + _record(132),
            "xl/_rels/workbook.bin.rels": relations(found),
            "xl/sharedStrings.bin": _record(159, struct.pack("<II", len(strings), len(strings)))
            + b"".join(_record(19, b"\0" + _wide(text)) for text in strings)
            + _record(160),
            "xl/styles.bin": _styles(),
            **{
                f"xl/worksheets/sheet{at}.bin": _sheet(cells, strings, areas)
                for at, cells in enumerate(sheets.values(), 1)
            },
        }
    )


def _styles() -> bytes:
    fonts = b"".join(
        _record(43, struct.pack("<HHH", 200, 0, weight) + bytes(15) + _wide("Arial")) for weight in (400, 700)
    )
    styles = b"".join(
        _record(47, struct.pack("<HHH", 0, code, font) + bytes(10))
        for code, font in ((0, 0), (0, 1), (170, 0), (10, 0))
    )
    formats = _record(44, struct.pack("<H", 170) + _wide("dd.mm.yyyy"))
    formats = _record(615, b"\1\0\0\0") + formats + _record(616)
    fonts = _record(611, b"\2\0\0\0") + fonts + _record(612)
    styles = _record(617, b"\4\0\0\0") + styles + _record(618)
    return _record(278) + formats + fonts + styles + _record(279)


def _sheet(cells: Cells, strings: Sequence[str], areas: bytes) -> bytes:
    body = _record(129) + _record(145)
    for row in sorted({one[0] for one in cells}):
        body += _record(0, struct.pack("<I", row) + bytes(13))
        for at, column, value, style in sorted(cells, key=lambda one: one[1]):
            if at == row:
                body += _cell(struct.pack("<II", column, style), value, strings)
    return body + _record(146) + areas + _record(130)


def _cell(place: bytes, value: str | float | bool, strings: Sequence[str]) -> bytes:
    match value:
        case bool():
            return _record(4, place + bytes([value]))
        case int():
            return _record(2, place + struct.pack("<i", value << 2 | 2))
        case float():
            return _record(5, place + struct.pack("<d", value))
    if value in strings:
        return _record(7, place + struct.pack("<I", strings.index(value)))
    return _record(6, place + _wide(value))


def _record(kind: int, body: bytes = b"") -> bytes:
    return _packed(kind) + _packed(len(body)) + body


def _packed(value: int) -> bytes:
    return bytes([value & 0x7F | 0x80, value >> 7]) if value > 0x7F else bytes([value])


def _wide(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")
