"""Read workbooks of Excel 2007 and later: each sheet that is shown, its cells as they are shown.

Flow: file bytes -> `package.py` -> **here**, `xlsb.py` where its parts are binary -> `grids.py` finds the tables ->
`Document`. Pure.

Of formulas the values count that were stored with them. Hidden sheets, comments, charts and drawings are left out.
"""

import re
from collections.abc import Iterator
from typing import Any

from index.documents.store import Document
from ingestion.reading.marks import lowered, raised
from ingestion.reading.markup import finished
from ingestion.reading.office import number_format
from ingestion.reading.office.cell_values import Budget, shown_number
from ingestion.reading.office.grids import Area, Cell, Sheet, add_sheets, no_title
from ingestion.reading.office.package import Package
from ingestion.reading.office.tables import MAX_CELLS
from ingestion.reading.office.xlsb import BinaryWorkbook
from ingestion.reading.text_builder import TextBuilder

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_ROW, _CELL, _VALUE, _TEXT, _FORMULA = (f"{_MAIN}{name}" for name in ("row", "c", "v", "t", "f"))
_STRING, _INLINE, _PHONETIC = f"{_MAIN}si", f"{_MAIN}is", f"{_MAIN}rPh"
_MERGED, _FILTER, _TABLE = f"{_MAIN}mergeCell", f"{_MAIN}autoFilter", f"{_MAIN}table"
_REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_NO = frozenset(("0", "false", "off"))
_GENERAL = ("General", False)


def read_xlsx(data: bytes, doc_id: str, max_bytes: int) -> Document:
    """Return the workbook as one document, a section for each sheet; its title is its own, else the file's name.

    Args:
        data: the file.
        doc_id: the file's path.
        max_bytes: how much its parts may hold together, unpacked.

    Raises:
        UnreadableError: no workbook, damaged, encrypted, too large unpacked, of too many cells, or without text.
    """
    package = Package(data, max_bytes, "Excel workbook", "xl/")
    try:
        builder = TextBuilder()
        path = package.related("", "officeDocument") or "xl/workbook.xml"
        workbook = BinaryWorkbook if path.endswith(".bin") else _Workbook
        unread = add_sheets(builder, workbook(package, path, Budget(MAX_CELLS, max_bytes // 8)).sheets())
    except (ValueError, LookupError, OverflowError, RecursionError) as error:
        raise package.damaged() from error
    return finished(builder, doc_id, *package.properties(), title_of=no_title, unread=unread)


class _Workbook:
    def __init__(self, package: Package, path: str, budget: Budget) -> None:
        self._package, self._path, self._budget = package, path, budget
        self._root = package.needed_xml(self._path)
        settings = self._root.find(f"{_MAIN}workbookPr")
        self._since_1904 = settings is not None and settings.get("date1904", "0") not in _NO
        strings = package.related(self._path, "sharedStrings")
        self._strings = [_words(item) for item in package.elements(strings, _STRING)] if strings else []
        self._formats = self._styles()

    def sheets(self) -> Iterator[Sheet]:
        relations = self._package.relations(self._path)
        for one in self._root.iter(f"{_MAIN}sheet"):
            relation = relations.get(one.get(_ID, ""))
            if relation and relation.kind == "worksheet":
                name = one.get("name", "")
                hidden = one.get("state", "visible") != "visible"
                yield Sheet(name, {}, hidden=True) if hidden else self._sheet(name, relation.target)

    def _styles(self) -> list[tuple[str, bool]]:
        """Return each style of cells: the code of its format, and whether its type is bold."""
        path = self._package.related(self._path, "styles")
        root = self._package.xml(path) if path else None
        if root is None:
            return []
        codes = {one.get("numFmtId"): one.get("formatCode", "") for one in root.iter(f"{_MAIN}numFmt")}
        fonts = [_is_on(font.find(f"{_MAIN}b")) for font in root.iterfind(f"{_MAIN}fonts/{_MAIN}font")]
        styles = []
        for style in root.iterfind(f"{_MAIN}cellXfs/{_MAIN}xf"):
            number, font = style.get("numFmtId", "0"), int(style.get("fontId", 0))
            code = number_format.BUILT_IN.get(int(number)) or codes.get(number, "General")
            styles.append((code, 0 <= font < len(fonts) and fonts[font]))
        return styles

    def _sheet(self, name: str, path: str) -> Sheet:
        sheet = Sheet(name, {})
        place = -1
        for element in self._package.elements(path, _ROW, _MERGED, _FILTER):
            if element.tag == _MERGED:
                sheet.merged += _areas(element)
            elif element.tag == _FILTER:
                sheet.headers.update(area.top for area in _areas(element))
            else:
                place = int(element.get("r", place + 2)) - 1
                if cells := dict(self._cells(element)):
                    sheet.rows[place] = cells
        for relation in self._package.relations(path).values():
            table = self._package.xml(relation.target) if relation.kind == "table" else None
            if table is not None and table.tag == _TABLE and table.get("headerRowCount", "1") != "0":
                sheet.headers.update(area.top for area in _areas(table))
        return sheet

    def _cells(self, row: Any) -> Iterator[tuple[int, Cell]]:
        column = -1
        for element in row.iterchildren(_CELL):
            match = _REFERENCE.fullmatch(element.get("r", ""))
            column = _column(match[1]) if match else column + 1
            style = int(element.get("s", 0))
            code, bold = self._formats[style] if 0 <= style < len(self._formats) else _GENERAL
            text, figure = self._shown(element, code)
            if text.strip():
                self._budget.take(len(text))
                yield column, Cell(text, figure, bold)

    def _shown(self, element: Any, code: str) -> tuple[str, bool]:
        """Return what a cell shows, and whether it is a figure."""
        kind = element.get("t", "n")
        if kind == "inlineStr":
            inline = element.find(_INLINE)
            return ("" if inline is None else _words(inline)), False
        value = element.findtext(_VALUE) or ""
        if not value:
            # A program that cannot calculate has written the sheet; a formula that results in "" is of the kind "str".
            formula = element.findtext(_FORMULA) if kind == "n" else None
            return (f"={formula}" if formula else ""), False
        match kind:
            case "s":
                place = int(value)
                return (self._strings[place] if 0 <= place < len(self._strings) else ""), False
            case "b":
                return ("FALSE" if value in _NO else "TRUE"), False
            case "n":
                return shown_number(float(value), code, since_1904=self._since_1904)
            case "d":
                return value.removesuffix("Z").removesuffix("T00:00:00").replace("T", " "), False
            case _:
                return _unescaped(value), False


def _words(element: Any) -> str:
    """Return the text of a string, without the reading aids of Japanese."""
    texts = (_aligned(one) for one in element.iter(_TEXT) if one.getparent().tag != _PHONETIC)
    return _unescaped("".join(texts))


def _aligned(text: Any) -> str:
    """Return the text of a run, raised or lowered as it is shown."""
    alignment = text.getparent().find(f"{_MAIN}rPr/{_MAIN}vertAlign")
    shown = {"superscript": raised, "subscript": lowered}.get("" if alignment is None else alignment.get("val", ""))
    return shown(text.text or "") if shown else text.text or ""


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text


def _is_on(element: Any) -> bool:
    return element is not None and element.get("val", "1") not in _NO


def _column(letters: str) -> int:
    """Return a column's number from 0: "A" is 0, "AA" 26."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number - 1


def _areas(element: Any) -> list[Area]:
    """Return the area that an element names by `ref`, such as "A1:C3"."""
    found = _REFERENCE.findall(element.get("ref", ""))
    if not found:
        return []
    (left, top), (right, bottom) = found[0], found[-1]
    return [Area(int(top) - 1, int(bottom), _column(left), _column(right) + 1)]
