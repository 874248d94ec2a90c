"""Find the tables on a sheet of a workbook, and the rows that name their columns.

Flow: `xlsx.py`, `xls.py`, `ods.py` (the cells of a sheet) -> **here** -> `TextBuilder`, through `tables.py`. Pure.

Blank rows part a sheet into regions. Blank columns part a region into tables that stand side by side, if each has a
header and a first column of its own that names its rows; figures in groups of columns are one table. What stands alone
in a row above a table, or is long, is a paragraph; a row of names above figures, in bold above plain rows, or of a
table that the workbook defines, is a header. A region without a header below one of the same columns goes on with its
names.
"""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from errors import UnreadableError
from ingestion.reading.column_names import MIN_ROWS_OF_WORDS, is_above_names, is_above_words, joined_names
from ingestion.reading.office.tables import MAX_CELLS, add_table
from ingestion.reading.text import one_line
from ingestion.reading.text_budget import BETWEEN_CELLS, Growth
from ingestion.reading.text_builder import TextBuilder

# The name of a column is not a sentence.
MAX_NAME_CHARS, MAX_NAME_WORDS = 60, 8
# Text that stands alone in a row of a table and is longer is a remark.
MAX_LABEL_CHARS = 60
MAX_NAME_ROWS = 3
# Such a share of a table's columns have names in its header.
NAMED_SHARE = 0.6
_PERIOD = re.compile(r"(?:FY ?)?(?:19|20)\d\d(?:[-/]\d{2,4})?|Q[1-4]\b.*")
# Names that programs give to sheets.
_SHEET_NAME = re.compile(
    r"(?:sheet|tabelle|feuil(?:le)?|hoja|foglio|blad|ark|planilha|folha|arkusz|лист|シート|工作表) ?\d*", re.IGNORECASE
)


class Cell(NamedTuple):
    """What a cell shows.

    Attributes:
        figure: it is a number, and no date.
        bold: in bold type.
    """

    text: str
    figure: bool = False
    bold: bool = False


EMPTY = Cell("")


class Area(NamedTuple):
    """Cells `[top, bottom)` x `[left, right)`, counted from 0."""

    top: int
    bottom: int
    left: int
    right: int


@dataclass(slots=True)
class Sheet:
    """A sheet: rows by number from 0, each with its cells by column from 0; what is empty need not be there.

    Attributes:
        name: on its tab.
        rows: in any order.
        merged: areas that show one cell, the upper left one.
        headers: rows that the workbook itself says name the columns below.
        hidden: whether the workbook does not show it; its rows need not be there.
    """

    name: str
    rows: dict[int, dict[int, Cell]]
    merged: list[Area] = field(default_factory=list)
    headers: set[int] = field(default_factory=set)
    hidden: bool = False


def add_sheets(builder: TextBuilder, sheets: Iterable[Sheet]) -> str:
    """Add the sheets that hold anything, each under its name; a single one of a name like "Sheet1" without it.

    Returns:
        A sentence about the hidden ones, which are not read; "" without any.

    Raises:
        UnreadableError: a sheet has too many cells.
    """
    hidden: list[str] = []
    filled = []
    for sheet in sheets:
        if sheet.hidden:
            hidden.append(repr(one_line(sheet.name)))
        elif (found := _filled(sheet))[1]:
            filled.append((sheet, *found))
    for sheet, columns, rows in filled:
        if len(filled) > 1 or not _SHEET_NAME.fullmatch(one_line(sheet.name)):
            builder.heading(sheet.name, 1)
        _add_rows(builder, sheet, columns, rows)
    return f"Hidden sheets are not read ({len(hidden):,}, such as {hidden[0]})." if hidden else ""


def no_title(name: str) -> None:
    """Make no title of the name of a sheet."""


def _filled(sheet: Sheet) -> tuple[list[int], dict[int, list[Cell]]]:
    """Return the columns that hold anything, and of these the rows that do, with merged cells filled."""
    cells = {place: {at: cell for at, cell in row.items() if cell.text.strip()} for place, row in sheet.rows.items()}
    cells = {place: row for place, row in sorted(cells.items()) if row}
    used = sorted({column for row in cells.values() for column in row})
    if len(used) * len(cells) > MAX_CELLS:
        fact = f"The sheet {sheet.name!r} has more than {MAX_CELLS:,} cells."
        raise UnreadableError(fact, "Split it, or save the part that matters as CSV.")
    places = list(cells)
    growth = Growth()
    for area in sheet.merged:
        if cell := cells.get(area.top, {}).get(area.left):
            columns = used[bisect_left(used, area.left) : bisect_left(used, area.right)]
            for place in places[bisect_left(places, area.top) : bisect_left(places, area.bottom)]:
                growth.add(len(columns) * (len(cell.text) + BETWEEN_CELLS))
                cells[place].update(dict.fromkeys(columns, cell))
    return used, {place: [row.get(column, EMPTY) for column in used] for place, row in cells.items()}


def _add_rows(builder: TextBuilder, sheet: Sheet, columns: Sequence[int], rows: dict[int, list[Cell]]) -> None:
    across = _across(sheet, columns)
    names: list[str] = []
    alone: list[list[Cell]] = []  # a row of names with blank rows around it
    for places in _regions(rows):
        for lead in _leads(sheet, rows, places):
            builder.paragraph(lead)
        if not places:
            continue
        if parts := _side_by_side(sheet, columns, {place: rows[place] for place in places}):
            for part_columns, part in parts:
                _add_rows(builder, sheet, part_columns, part)
            names, alone = [], []
            continue
        table = [rows[place] for place in places]
        if keys := _keys(table):
            for key, value in keys:
                builder.pair(key, value)
            continue
        merged = {at for at, place in enumerate(places) if place in across}
        height = _header_rows(table, {at for at, place in enumerate(places) if place in sheet.headers}, merged)
        names = joined_names(_texts(table[:height]), merged) if height else _names_from_above(table, alone, names)
        alone = table if len(table) == 1 and not height and _are_names(table[0]) else []
        _add_table(builder, table[height:], names, shows_names=bool(height))


def _regions(rows: dict[int, list[Cell]]) -> Iterator[list[int]]:
    """Yield the numbers of rows that follow each other without a blank row between them."""
    for _, run in groupby(enumerate(rows), lambda item: item[1] - item[0]):
        yield [place for _, place in run]


def _names_from_above(table: Sequence[Sequence[Cell]], alone: Sequence[Sequence[Cell]], names: list[str]) -> list[str]:
    """Return the names of a table without a header: those that stand alone above it, or those of the one before."""
    if alone and _is_header([*alone, *table]) and _fits(table, joined_names(_texts(alone))):
        return joined_names(_texts(alone))
    return names if _fits(table, names) else []


def _across(sheet: Sheet, columns: Sequence[int]) -> set[int]:
    """Return the rows in which an area of several of these columns begins."""
    areas = [area for area in sheet.merged if area.left <= columns[-1] and columns[0] < area.right]
    return {area.top for area in areas if area.right - area.left > 1}


def _side_by_side(
    sheet: Sheet, columns: Sequence[int], rows: dict[int, list[Cell]]
) -> list[tuple[list[int], dict[int, list[Cell]]]]:
    """Return the columns and rows of each table of a region, where blank columns part it into several; else nothing."""
    used = [at for at in range(len(columns)) if any(row[at].text for row in rows.values())]
    groups = [[at for _, at in run] for _, run in groupby(enumerate(used), lambda item: columns[item[1]] - item[0])]
    if len(groups) < 2 or min(map(len, groups)) < 2:
        return []
    parts = []
    for group in groups:
        part = {place: [row[at] for at in group] for place, row in rows.items() if any(row[at].text for at in group)}
        if not _stands_alone(sheet, part):
            return []
        parts.append(([columns[at] for at in group], part))
    return parts


def _stands_alone(sheet: Sheet, rows: dict[int, list[Cell]]) -> bool:
    """Tell whether some columns are a table: it has a header, and its first column names each row differently."""
    places = list(rows)
    while places and _lone(rows[places[0]]) and places[0] not in sheet.headers:  # its title
        places.pop(0)
    table = [rows[place] for place in places]
    height = _header_rows(table, {at for at, place in enumerate(places) if place in sheet.headers}, ()) if table else 0
    first = [row[0] for row in table[height:]]
    keys = {cell.text for cell in first if cell.text and (not cell.figure or _PERIOD.fullmatch(cell.text))}
    return height > 0 and 0 < len(first) == len(keys)


def _lone(row: Sequence[Cell]) -> str:
    """Return what a row shows if that is one thing, in one cell or in several that are merged."""
    texts = {cell.text for cell in row if cell.text}
    return texts.pop() if len(texts) == 1 else ""


def _leads(sheet: Sheet, rows: dict[int, list[Cell]], places: list[int]) -> Iterator[str]:
    """Take titles and remarks off the top of a region, and yield them."""
    while places and _lone(rows[places[0]]) and places[0] not in sheet.headers and _is_lead(rows, places):
        yield _lone(rows[places.pop(0)])


def _is_lead(rows: dict[int, list[Cell]], places: Sequence[int]) -> bool:
    """Tell a title or remark above a table from the first row of a list, which has one column as well."""
    first, following = rows[places[0]], [rows[place] for place in places[1:]]
    if any(cell.figure for cell in first) or (not first[0].text and sum(bool(cell.text) for cell in first) > 1):
        return False  # a figure, or a name above several columns
    if len(first) == 1 or not any(cell.text for row in following for cell in row):
        return len(places) < MIN_ROWS_OF_WORDS
    return not all(map(_lone, following)) or len(following) < MIN_ROWS_OF_WORDS


def _header_rows(table: Sequence[Sequence[Cell]], certain: Collection[int], across: Collection[int]) -> int:
    """Return how many rows at the top name the columns: several where names stand above several columns."""
    if 0 in certain:
        return 1
    above = 0  # rows whose names each stand above several of the next row
    while above + 2 < min(len(table), MAX_NAME_ROWS + 1) and _is_above(
        table[above : above + 2], merged=above in across
    ):
        above += 1
    if above and _are_names(table[above]) and (above in certain or _is_header(table[above:])):
        return above + 1
    if len(table) < 2 or not _are_names(table[0]):
        return 1 if 1 in certain and len(table) > 1 else 0
    return 1 if _is_header(table) else 0


def _is_above(rows: Sequence[Sequence[Cell]], *, merged: bool) -> bool:
    """Tell whether a row of names stands above several columns of the row below it: its cells are merged, or apart."""
    return all(_is_name(cell) for cell in rows[0] if cell.text) and (merged or is_above_names(*_texts(rows)))


def _are_names(row: Sequence[Cell]) -> bool:
    cells = [cell for cell in row if cell.text]
    return len(cells) >= max(1, NAMED_SHARE * len(row)) and all(map(_is_name, cells))


def _is_name(cell: Cell) -> bool:
    if cell.figure:
        return bool(_PERIOD.fullmatch(cell.text))
    return len(cell.text) <= MAX_NAME_CHARS and len(cell.text.split()) <= MAX_NAME_WORDS


def _is_header(table: Sequence[Sequence[Cell]]) -> bool:
    """Tell whether the first row, of names, is a header of those below it."""
    first, below = table[0], table[1:]
    named = [column for column, cell in enumerate(first) if cell.text]
    if all(first[column].bold for column in named) and not all(cell.bold for cell in below[0] if cell.text):
        return True
    for column in named:
        cells = [row[column] for row in below if row[column].text]
        # Years above years are figures themselves.
        figures = sum(cell.figure and not (first[column].figure and _PERIOD.fullmatch(cell.text)) for cell in cells)
        if cells and 2 * figures > len(cells):
            return True
    return is_above_words(_texts([first])[0], _texts(below))


def _texts(rows: Sequence[Sequence[Cell]]) -> list[list[str]]:
    return [[cell.text for cell in row] for row in rows]


def _fits(table: Sequence[Sequence[Cell]], names: Sequence[str]) -> bool:
    """Tell whether a region goes on below the header of the one before: it has several cells, all below names."""
    used = {column for row in table for column, cell in enumerate(row) if cell.text}
    return len(used) > 1 and 0 in used and all(names[column : column + 1] not in ([], [""]) for column in used)


def _add_table(
    builder: TextBuilder, table: Sequence[Sequence[Cell]], names: Sequence[str], *, shows_names: bool
) -> None:
    rows: list[list[str]] = []
    for row in table:
        lone = _lone(row)
        merged = lone and sum(bool(cell.text) for cell in row) > 1
        if len(row) > 1 and len(lone) > MAX_LABEL_CHARS:
            if rows:
                _flush(builder, rows, names, shows_names=shows_names)
                rows, shows_names = [], False
            builder.paragraph(lone)
        else:
            rows.append([lone, *[""] * (len(row) - 1)] if merged else [cell.text for cell in row])  # names a group
    _flush(builder, rows, names, shows_names=shows_names)


def _flush(builder: TextBuilder, rows: Sequence[Sequence[str]], names: Sequence[str], *, shows_names: bool) -> None:
    if rows or shows_names:
        add_table(builder, rows, names, shows_names=shows_names)


def _keys(table: Sequence[Sequence[Cell]]) -> list[tuple[str, str]]:
    """Return the rows of a form, `Name:` beside its value; none if it is another table."""
    found = []
    for row in table:
        texts = [cell.text for cell in row if cell.text]
        if len(texts) != 2 or not texts[0].rstrip().endswith(":"):
            return []
        found.append((texts[0], texts[1]))
    return found
