"""Read workbooks of the old format of Excel: each sheet that is shown, its cells as they are shown.

Flow: file bytes -> **here** (xlrd) -> `grids.py` finds the tables -> `Document`. Pure.
"""

import io
import struct
from collections.abc import Callable, Iterator, Sequence

import xlrd
from xlrd.book import Book
from xlrd.compdoc import CompDocError
from xlrd.formula import FormulaError
from xlrd.sheet import Sheet as XlsSheet

from errors import UnreadableError
from index.documents.store import Document
from ingestion.reading.marks import lowered, raised
from ingestion.reading.markup import finished
from ingestion.reading.office import ole
from ingestion.reading.office.cell_values import shown_number
from ingestion.reading.office.grids import Area, Cell, Sheet, add_sheets, no_title
from ingestion.reading.office.number_format import BUILT_IN
from ingestion.reading.text_builder import TextBuilder

# What the library raises where a file is damaged: it checks little by itself.
_FAULTS = (
    xlrd.XLRDError, CompDocError, FormulaError, AssertionError, struct.error, LookupError, ValueError, TypeError,
    AttributeError, OverflowError, ZeroDivisionError, RecursionError, NotImplementedError,
)  # fmt: skip
_BOLD = 600
_PLACES: dict[int, Callable[[str], str]] = {1: raised, 2: lowered}


def read_xls(data: bytes, doc_id: str) -> Document:
    """Return the workbook as one document, a section for each sheet; its title is the file's name.

    Raises:
        UnreadableError: no workbook, damaged, encrypted, of too many cells, or without text.
    """
    if refusal := ole.refusal(data):
        raise refusal
    builder = TextBuilder()
    try:
        book = xlrd.open_workbook(
            file_contents=data, formatting_info=True, on_demand=True, logfile=io.StringIO(), ragged_rows=True
        )
        unread = add_sheets(builder, _sheets(book))
    except _FAULTS as error:
        if "encrypted" in str(error):
            raise UnreadableError("The Excel workbook is encrypted.", "Save it without a password.") from error
        raise UnreadableError(
            "This is not an Excel workbook, or a damaged one.", "Open it and save it again as .xlsx."
        ) from error
    return finished(builder, doc_id, title_of=no_title, unread=unread)


def _sheets(book: Book) -> Iterator[Sheet]:
    for place in range(book.nsheets):
        sheet = book.sheet_by_index(place)
        if sheet.visibility:
            yield Sheet(sheet.name, {}, hidden=True)
        else:
            merged = [Area(*bounds) for bounds in sheet.merged_cells]
            yield Sheet(sheet.name, {row: dict(_cells(book, sheet, row)) for row in range(sheet.nrows)}, merged)
        book.unload_sheet(place)


def _cells(book: Book, sheet: XlsSheet, row: int) -> Iterator[tuple[int, Cell]]:
    for column in range(sheet.row_len(row)):
        kind, value = sheet.cell_type(row, column), sheet.cell_value(row, column)
        if kind in (xlrd.XL_CELL_EMPTY, xlrd.XL_CELL_BLANK):
            continue
        style = book.xf_list[sheet.cell_xf_index(row, column)]
        font = book.font_list[style.font_index]
        bold = bool(font.bold) or font.weight >= _BOLD
        if kind in (xlrd.XL_CELL_NUMBER, xlrd.XL_CELL_DATE):
            known = book.format_map.get(style.format_key)
            code = BUILT_IN.get(style.format_key) or (known.format_str if known else "General")
            text, figure = shown_number(value, code, since_1904=bool(book.datemode))
            yield column, Cell(text, figure, bold)
        elif kind == xlrd.XL_CELL_BOOLEAN:
            yield column, Cell("TRUE" if value else "FALSE", bold=bold)
        elif kind == xlrd.XL_CELL_ERROR:
            yield column, Cell(xlrd.error_text_from_code.get(value, "#ERROR"), bold=bold)
        else:
            runs = sheet.rich_text_runlist_map.get((row, column), [])
            yield column, Cell(_placed(book, str(value), runs), bold=bold)


def _placed(book: Book, text: str, runs: Sequence[tuple[int, int]]) -> str:
    """Return a text with its runs raised or lowered; each is (where it begins, its font)."""
    if not runs:
        return text
    shown = text[: runs[0][0]]
    for (start, font), (end, _) in zip(runs, [*runs[1:], (len(text), 0)], strict=True):
        place = _PLACES.get(book.font_list[font].escapement, str)
        shown += place(text[start:end])
    return shown
