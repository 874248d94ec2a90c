"""Read the binary parts of `.xlsb`: sheets, strings and formats, as `xlsx.py` reads those in XML.

Flow: `xlsx.py` (a package whose workbook is binary) -> **here** -> `Sheet`s for `grids.py`. Pure.

Such a part is a row of records: a number that says what it is, a length, and fields at fixed places, named here after
Microsoft's description of the format, [MS-XLSB]. What is not needed is passed over.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from ingestion.reading.office.cell_values import Budget, shown_number
from ingestion.reading.office.grids import Area, Cell, Sheet
from ingestion.reading.office.number_format import BUILT_IN
from ingestion.reading.office.package import Package

_ROW, _BLANK, _RK, _ERROR, _BOOL, _REAL, _STRING, _SHARED = range(8)
# As results of formulas, and without the column, which is the next one.
_OF_FORMULAS = {8: _STRING, 9: _REAL, 10: _BOOL, 11: _ERROR}
_SHORT = {kind + 11: kind for kind in range(_BLANK, _SHARED + 1)}
_RICH_STRING = 62
_SHARED_ITEM, _FONT, _FORMAT, _STYLE, _BEGIN_STYLES, _END_STYLES = 19, 43, 44, 47, 617, 618
_WORKBOOK_SETTINGS, _SHEET, _FILTER, _MERGED, _TABLE = 153, 156, 161, 176, 343
_BOLD = 600
_ERRORS = {0: "#NULL!", 7: "#DIV/0!", 15: "#VALUE!", 23: "#REF!", 29: "#NAME?", 36: "#NUM!", 42: "#N/A"}


class _Record(NamedTuple):
    kind: int
    body: bytes


class BinaryWorkbook:
    """A workbook whose parts are binary.

    Args:
        package: the file.
        path: of the workbook in it.
        budget: of all cells.

    Raises:
        ValueError: it is damaged; so is what `sheets` raises.
        LookupError: likewise.
    """

    def __init__(self, package: Package, path: str, budget: Budget) -> None:
        self._package, self._path, self._budget = package, path, budget
        self._relations = package.relations(path)
        self._records = list(_records(package.read(path) or b""))
        settings = next((one.body for one in self._records if one.kind == _WORKBOOK_SETTINGS), b"\0")
        self._since_1904 = bool(settings[0] & 1)
        self._strings = [_text(body, 1) for kind, body in self._part("sharedStrings") if kind == _SHARED_ITEM]
        self._formats = list(self._styles())

    def sheets(self) -> Iterator[Sheet]:
        """Yield the sheets, hidden ones without their rows."""
        for kind, body in self._records:
            relation = self._relations.get(_text(body, 8)) if kind == _SHEET else None
            if relation and relation.kind == "worksheet":
                name = _text(body, 12 + 2 * _int(body, 8))
                yield Sheet(name, {}, hidden=True) if _int(body, 0) else self._sheet(name, relation.target)

    def _part(self, kind: str) -> Iterator[_Record]:
        path = next((one.target for one in self._relations.values() if one.kind == kind), "")
        return _records(self._package.read(path) or b"")

    def _styles(self) -> Iterator[tuple[str, bool]]:
        """Yield of each style of cells the code of its format, and whether its type is bold."""
        codes: dict[int, str] = {}
        fonts: list[bool] = []
        of_cells = False
        for kind, body in self._part("styles"):
            if kind == _FORMAT:
                codes[_short(body, 0)] = _text(body, 2)
            elif kind == _FONT:
                fonts.append(_short(body, 4) >= _BOLD)
            elif kind in {_BEGIN_STYLES, _END_STYLES}:
                of_cells = kind == _BEGIN_STYLES
            elif kind == _STYLE and of_cells:
                code, font = _short(body, 2), _short(body, 4)
                yield BUILT_IN.get(code) or codes.get(code, "General"), font < len(fonts) and fonts[font]

    def _sheet(self, name: str, path: str) -> Sheet:
        sheet = Sheet(name, {})
        row: dict[int, Cell] = {}
        column = -1
        for kind, body in _records(self._package.read(path) or b""):
            if kind == _ROW:
                row, column = sheet.rows.setdefault(_int(body, 0), {}), -1
            elif kind in {_MERGED, _FILTER}:
                area = _area(body)
                if kind == _MERGED:
                    sheet.merged.append(area)
                else:
                    sheet.headers.add(area.top)
            else:
                is_short = kind in _SHORT
                value = _SHORT.get(kind) or _OF_FORMULAS.get(kind, kind)
                if _BLANK <= value <= _SHARED or value == _RICH_STRING:
                    column = column + 1 if is_short else _int(body, 0)
                    self._add(row, column, value, body if is_short else body[4:])
        for relation in self._package.relations(path).values():
            if relation.kind == "table":
                for kind, body in _records(self._package.read(relation.target) or b""):
                    if kind == _TABLE and _int(body, 24):  # its rows of names
                        sheet.headers.add(_area(body).top)
        return sheet

    def _add(self, row: dict[int, Cell], column: int, kind: int, body: bytes) -> None:
        style = int.from_bytes(body[:3], "little")
        code, bold = self._formats[style] if style < len(self._formats) else ("General", False)
        text, figure = self._shown(kind, body, code)
        if text.strip():
            self._budget.take(len(text))
            row[column] = Cell(text, figure, bold)

    def _shown(self, kind: int, body: bytes, code: str) -> tuple[str, bool]:
        """Return what a cell shows, and whether it is a figure; its value stands behind four bytes for its style."""
        match kind:
            case 2 | 5:
                number = _rk(_int(body, 4)) if kind == _RK else _real(body, 4)
                return shown_number(number, code, since_1904=self._since_1904)
            case 3:
                return _ERRORS.get(body[4], "#ERROR"), False
            case 4:
                return ("TRUE" if body[4] else "FALSE"), False
            case 6:
                return _text(body, 4), False
            case 7:
                return self._strings[_int(body, 4)], False
            case 62:
                return _text(body, 5), False
            case _:
                return "", False


def _records(data: bytes) -> Iterator[_Record]:
    """Yield the records of a part; number and length are written in groups of seven bits, the lowest ones first."""
    place = 0
    while place < len(data):
        kind, place = _packed(data, place, 2)
        length, place = _packed(data, place, 4)
        if place + length > len(data):
            raise ValueError("A record ends behind its part.")
        yield _Record(kind, data[place : place + length])
        place += length


def _packed(data: bytes, place: int, most: int) -> tuple[int, int]:
    value = 0
    for group in range(most):
        value |= (data[place + group] & 0x7F) << 7 * group
        if not data[place + group] & 0x80:
            return value, place + group + 1
    return value, place + most


def _int(body: bytes, place: int) -> int:
    return int.from_bytes(_slice(body, place, 4), "little")


def _short(body: bytes, place: int) -> int:
    return int.from_bytes(_slice(body, place, 2), "little")


def _real(body: bytes, place: int) -> float:
    (value,) = struct.unpack("<d", _slice(body, place, 8))
    return float(value)


def _rk(packed: int) -> float:
    """Return a number in 30 bits: whole or the upper half of a real one, perhaps in hundredths."""
    if packed & 2:
        number = float((packed >> 2) - (1 << 30 if packed & 1 << 31 else 0))
    else:
        number = _real((packed & ~3).to_bytes(8, "little")[:4].rjust(8, b"\0"), 0)
    return number / 100 if packed & 1 else number


def _text(body: bytes, place: int) -> str:
    """Return a string; one that is not there has a length of all ones."""
    length = _int(body, place)
    return "" if length == 0xFFFFFFFF else _slice(body, place + 4, 2 * length).decode("utf-16-le", "replace")


def _area(body: bytes) -> Area:
    top, bottom, left, right = (_int(body, 4 * at) for at in range(4))
    return Area(top, bottom + 1, left, right + 1)


def _slice(body: bytes, place: int, size: int) -> bytes:
    found = body[place : place + size]
    if len(found) < size:
        raise ValueError("A record is too short.")
    return found
