"""Read OpenDocument files: texts, presentations and workbooks, as LibreOffice writes them.

Flow: file bytes -> `package.py` -> **here** -> `TextBuilder`, for workbooks through `grids.py` -> `Document`. Pure.

Footnotes stand behind the block that refers to them, endnotes at the end. Deleted passages, comments, tables of
contents, headers, footers and hidden sheets are left out.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import takewhile
from typing import Any

from errors import UnreadableError
from index.documents.store import Document
from ingestion.reading.marks import lowered, raised
from ingestion.reading.markup import Grid, finished
from ingestion.reading.office.grids import Area, Cell, Sheet, add_sheets, no_title
from ingestion.reading.office.package import Package, dublin_core
from ingestion.reading.office.tables import MAX_CELLS, add_table, split_names
from ingestion.reading.office.trailing import Trailing
from ingestion.reading.text import one_line
from ingestion.reading.text_budget import BETWEEN_CELLS, Growth
from ingestion.reading.text_builder import TextBuilder
from ingestion.reading.titles import own_title


def _namespace(name: str) -> str:
    return f"{{urn:oasis:names:tc:opendocument:xmlns:{name}:1.0}}"


_OFFICE, _TEXT, _TABLE, _STYLE = map(_namespace, ("office", "text", "table", "style"))
_DRAW, _SHOWN, _MANIFEST, _SVG = map(_namespace, ("drawing", "presentation", "manifest", "svg-compatible"))
_PRINT = _namespace("xsl-fo-compatible")
_H, _P, _LIST, _NOTE = f"{_TEXT}h", f"{_TEXT}p", f"{_TEXT}list", f"{_TEXT}note"
_ROW, _CELL, _COVERED = f"{_TABLE}table-row", f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"
_A_TABLE, _HEADER_ROWS, _FRAME = f"{_TABLE}table", f"{_TABLE}table-header-rows", f"{_DRAW}frame"
_LEFT_OUT = frozenset(
    (f"{_OFFICE}annotation", f"{_TEXT}tracked-changes", f"{_TEXT}table-of-content", f"{_TEXT}note", f"{_SHOWN}notes",
     f"{_OFFICE}forms", f"{_TEXT}ruby-text", f"{_SVG}title", f"{_SVG}desc", f"{_OFFICE}event-listeners")
)  # fmt: skip
_ROW_GROUPS = frozenset(_TABLE + name for name in ("table-rows", "table-row-group", "table-header-rows"))
_FIGURES = frozenset(("float", "percentage", "currency"))
_FURNITURE = frozenset(("header", "footer", "date-time", "page-number"))
# A cell is written once and repeated; there are no more columns.
_MAX_COLUMNS = 16_384
_QUOTES = frozenset(("Quotations", "Quotation"))
_CODE = frozenset(("Preformatted_20_Text", "Source_20_Text"))


def read_odf(data: bytes, doc_id: str, max_bytes: int) -> Document:
    """Return the document; its title is the one in its properties, else its first heading, else the file's name.

    Each slide of a presentation is a section, and so is each sheet of a workbook.

    Args:
        data: the file.
        doc_id: the file's path.
        max_bytes: how much its parts may hold together, unpacked.

    Raises:
        UnreadableError: no such file, damaged, encrypted, too large unpacked, or without text.
    """
    package = Package(data, max_bytes, "OpenDocument file", "content.xml")
    manifest = package.xml("META-INF/manifest.xml")
    if manifest is not None and next(manifest.iter(f"{_MANIFEST}encryption-data"), None) is not None:
        raise UnreadableError("The OpenDocument file is encrypted.", "Save it without a password.")
    root = package.needed_xml("content.xml")
    bodies = {kind: root.find(f"{_OFFICE}body/{_OFFICE}{kind}") for kind in ("text", "presentation", "spreadsheet")}
    kind, body = next(((kind, body) for kind, body in bodies.items() if body is not None), ("", None))
    if body is None:
        raise package.damaged()
    builder, unread = TextBuilder(), ""
    walk = _Walk([root, package.xml("styles.xml")], builder)
    try:
        if kind == "spreadsheet":
            unread = add_sheets(builder, walk.sheets(body))
        elif kind == "presentation":
            walk.slides(body)
        else:
            walk.blocks(body)
        walk.end()
    except (ValueError, LookupError, RecursionError) as error:
        raise package.damaged() from error
    title, metadata = dublin_core(package.xml("meta.xml"))
    title_of = no_title if kind == "spreadsheet" else own_title
    return finished(builder, doc_id, title, metadata, title_of=title_of, unread=unread)


class _Walk:
    def __init__(self, roots: Iterable[Any], builder: TextBuilder) -> None:
        self._builder = builder
        self._styles: dict[str, Any] = {}
        self._lists: dict[str, Any] = {}
        for root in roots:
            for style in () if root is None else root.iter(f"{_STYLE}style"):
                self._styles.setdefault(style.get(f"{_STYLE}name", ""), style)
            for one in () if root is None else root.iter(f"{_TEXT}list-style"):
                self._lists.setdefault(one.get(f"{_STYLE}name", ""), one)
        self._trailing = Trailing(builder)
        self._counts: dict[str, int] = {}

    def blocks(self, parent: Any) -> None:
        """Add what stands below `parent`, in order."""
        for element in parent:
            if element.tag in _LEFT_OUT:
                continue
            if element.tag in {_H, _P}:
                self._worded(element)
            elif element.tag == _LIST:
                self._trailing.end_code()
                self._list(element, 0, "")
            elif element.tag == _A_TABLE:
                self._trailing.end_code()
                self._table(element)
            elif element.tag == _FRAME:
                self._frame(element)
            else:  # sections, indexes, shapes and their groups
                self.blocks(element)
                continue
            self._trailing.end_block()

    def slides(self, body: Any) -> None:
        """Add the slides, each under its title."""
        for number, page in enumerate(body.iterchildren(f"{_DRAW}page"), 1):
            shapes = [one for one in page if one.get(f"{_SHOWN}class") not in _FURNITURE]
            titles = [one for one in shapes if one.get(f"{_SHOWN}class") == "title"]
            title = next((text for one in titles if (text := one_line(self._text(one)))), "")
            notes = page.find(f"{_SHOWN}notes")
            noted = (
                []
                if notes is None
                else [
                    text
                    for frame in notes.iter(_FRAME)
                    if frame.get(f"{_SHOWN}class") == "notes"
                    for one in frame.iter(_P)
                    if (text := self._text(one).strip())
                ]
            )
            content = [one for one in shapes if one not in titles and one.tag not in _LEFT_OUT]
            if not title and not noted and not any(self._text(one).strip() for one in content):
                continue
            self._builder.heading(title or f"Slide {number}", 1)
            self.blocks(content)
            if noted:
                self._builder.paragraph("Speaker notes: " + "\n".join(noted))

    def sheets(self, body: Any) -> Iterator[Sheet]:
        """Yield the sheets, hidden ones without their rows."""
        left, growth = MAX_CELLS, Growth()
        for table in body.iterchildren(_A_TABLE):
            sheet = Sheet(table.get(f"{_TABLE}name", ""), {})
            style = self._styles.get(table.get(f"{_TABLE}style-name", ""))
            if style is not None and any(one.get(f"{_TABLE}display") == "false" for one in style):
                yield replace(sheet, hidden=True)
                continue
            place = 0
            for row in _rows(table):
                cells = dict(self._cells(row, place, sheet.merged))
                repeated = int(row.get(f"{_TABLE}number-rows-repeated", 1))
                growth.add(repeated * sum(len(cell.text) + BETWEEN_CELLS for cell in cells.values()))
                left -= len(cells) * repeated
                if left < 0:
                    fact = f"The workbook has more than {MAX_CELLS:,} cells."
                    raise UnreadableError(fact, "Split it, or save the part that matters as CSV.")
                # A formatted sheet ends with a million empty rows.
                if cells:
                    sheet.rows.update((at, cells) for at in range(place, place + repeated))
                if cells and row.getparent().tag == _HEADER_ROWS:
                    sheet.headers.add(place)
                place += repeated
            yield sheet

    def end(self) -> None:
        """Add what stands at the end."""
        self._trailing.end()

    def _cells(self, row: Any, place: int, merged: list[Area]) -> Iterator[tuple[int, Cell]]:
        column = 0
        for cell in row.iterchildren(_CELL, _COVERED):
            repeated = int(cell.get(f"{_TABLE}number-columns-repeated", 1))
            text = "\n".join(self._text(one) for one in cell.iterchildren(_P))
            if text.strip() and cell.tag == _CELL:
                shown = Cell(text, cell.get(f"{_OFFICE}value-type") in _FIGURES, self._is_bold(cell))
                for at in range(column, min(column + repeated, _MAX_COLUMNS)):
                    yield at, shown
                across, down = (int(cell.get(f"{_TABLE}number-{name}-spanned", 1)) for name in ("columns", "rows"))
                if across > 1 or down > 1:
                    merged.append(Area(place, place + down, column, column + across))
            column += repeated

    def _worded(self, element: Any) -> None:
        text = self._text(element)
        name, above = self._style_names(element)
        if _CODE & {name, above} and text.strip():
            self._trailing.code_line(text)
            return
        self._trailing.end_code()
        if element.tag == _H:
            self._builder.heading(text, int(element.get(f"{_TEXT}outline-level", 1)))
        elif {name, above} & {"Title"}:
            self._builder.heading(text, 1)
        elif _QUOTES & {name, above}:
            self._builder.quote(text)
        elif {name, above} & {"Caption", "Table", "Illustration", "Figure"}:
            self._builder.caption(text)
        else:
            self._builder.paragraph(text)
        for frame in element.iter(_FRAME):
            if next(takewhile(lambda above: above is not element, frame.iterancestors(_FRAME)), None) is None:
                self._frame(frame)

    def _frame(self, frame: Any) -> None:
        """Add a box of text, a table on a slide, or the words that stand for an image."""
        for inner in frame:
            if inner.tag == f"{_DRAW}text-box":
                self.blocks(inner)
            elif inner.tag == _A_TABLE:
                self._table(inner)
        self._builder.caption(frame.findtext(f"{_SVG}desc") or frame.findtext(f"{_SVG}title") or "")

    def _list(self, element: Any, depth: int, style: str) -> None:
        style = element.get(f"{_TEXT}style-name") or style
        ordered = self._is_ordered(style, depth)
        key = f"{style}/{depth}"
        number = 0
        if element.get(f"{_TEXT}continue-numbering") == "true" or element.get(f"{_TEXT}continue-list"):
            number = self._counts.get(key, 0)
        for item in element:
            number = int(item.get(f"{_TEXT}start-value", number + 1)) if item.tag == f"{_TEXT}list-item" else number
            marked = False
            for part in item:
                if part.tag == _LIST:
                    self._list(part, depth + 1, style)
                elif part.tag == _H:
                    self._worded(part)
                elif part.tag == _P and not marked and item.tag == f"{_TEXT}list-item":
                    self._builder.item(self._text(part), depth=depth, number=number if ordered else None)
                    marked = True
                else:
                    self.blocks([part])
        self._counts[key] = number

    def _is_ordered(self, style: str, depth: int) -> bool:
        for level in self._lists.get(style, ()):
            if level.get(f"{_TEXT}level") == str(depth + 1):
                numbered = level.tag == f"{_TEXT}list-level-style-number"
                return bool(numbered and level.get(f"{_STYLE}num-format"))
        return False

    def _table(self, table: Any) -> None:
        rows = [(row, [*row.iterchildren(_CELL)]) for row in _rows(table)]
        if max((len(cells) for _, cells in rows), default=0) < 2:
            for cell in (cell for _, cells in rows for cell in cells):
                self.blocks(cell)
            return
        grid, headers = Grid(spread=True), 0
        for row, cells in rows:
            for cell in cells:
                text = " ".join(" ".join(map(self._text, cell.iter(_P, _H))).split())
                columns = cell.get(f"{_TABLE}number-columns-spanned") or cell.get(f"{_TABLE}number-columns-repeated", 1)
                grid.cell(text, int(columns), int(cell.get(f"{_TABLE}number-rows-spanned", 1)))
            headers += bool(grid.end_row()) and row.getparent().tag == _HEADER_ROWS
        headers = headers if headers < len(grid.rows) else 0
        add_table(self._builder, *split_names(grid.rows, headers))

    def _style_names(self, element: Any) -> tuple[str, str]:
        """Return a paragraph's style and the one that it is based upon, which is the one people chose."""
        name = element.get(f"{_TEXT}style-name", "")
        style = self._styles.get(name)
        return name, "" if style is None else style.get(f"{_STYLE}parent-style-name", "")

    def _is_bold(self, cell: Any) -> bool:
        style = self._styles.get(cell.get(f"{_TABLE}style-name", ""))
        found = None if style is None else style.find(f"{_STYLE}text-properties")
        return found is not None and found.get(f"{_PRINT}font-weight", "") in {"bold", "600", "700", "800", "900"}

    def _text(self, element: Any) -> str:
        return "".join(self._pieces(element))

    def _pieces(self, element: Any) -> Iterator[str]:
        """Yield the text of a paragraph; blanks that count are elements, other runs of them are one."""
        yield _squeezed(element.text)
        for child in element:
            if child.tag == f"{_TEXT}s":
                yield " " * min(int(child.get(f"{_TEXT}c", 1)), 100)
            elif child.tag == f"{_TEXT}tab":
                yield "\t"
            elif child.tag == f"{_TEXT}line-break":
                yield "\n"
            elif child.tag == _NOTE:
                self._note(child)
            elif child.tag not in _LEFT_OUT and (child.tag != _FRAME or element.tag not in {_P, _H}):
                yield self._placed(child, "".join(self._pieces(child)))
                yield "\n" if child.tag in {_P, _H} and element.tag not in {_P, _H} else ""
            yield _squeezed(child.tail)

    def _placed(self, span: Any, text: str) -> str:
        """Return the text of a span, raised or lowered as its style says."""
        name = span.get(f"{_TEXT}style-name", "") if span.tag == f"{_TEXT}span" else ""
        place, seen = "", set()
        while not place and name in self._styles and name not in seen:
            seen.add(name)
            style = self._styles[name]
            found = style.find(f"{_STYLE}text-properties")
            place = "" if found is None else found.get(f"{_STYLE}text-position", "").split(" ")[0]
            name = style.get(f"{_STYLE}parent-style-name", "")
        if place in {"", "0%"}:
            return text
        return lowered(text) if place == "sub" or place.startswith("-") else raised(text)

    def _note(self, note: Any) -> None:
        body = note.find(f"{_TEXT}note-body")
        text = "" if body is None else " ".join(" ".join(map(self._text, body.iter(_P))).split())
        self._trailing.note(text, at_end=note.get(f"{_TEXT}note-class") == "endnote")


def _rows(table: Any) -> Iterator[Any]:
    """Yield the rows of a table, also those of groups."""
    for element in table:
        if element.tag == _ROW:
            yield element
        elif element.tag in _ROW_GROUPS:
            yield from _rows(element)


def _squeezed(text: str | None) -> str:
    if not text:
        return ""
    words = " ".join(text.split())
    return (" " if text[0].isspace() else "") + words + (" " if words and text[-1].isspace() else "")
