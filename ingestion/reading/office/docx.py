"""Read Word documents: headings, paragraphs, lists, tables, notes in the order in which they stand.

Flow: file bytes -> `package.py` -> **here** -> `TextBuilder` -> `Document`. Pure.

Tracked changes count as accepted. A footnote stands behind the block that refers to it, endnotes at the end. An image
is shown by its alternative text, a chart by its figures. Headers, footers, comments, hidden text and tables of contents
are left out.
"""

from collections.abc import Iterator
from itertools import takewhile
from typing import Any

from index.documents.store import Document
from ingestion.reading.marks import lowered, raised
from ingestion.reading.markup import Grid, finished
from ingestion.reading.office.drawings import CHART, RELATED_ID, add_chart, alternative_text
from ingestion.reading.office.formulas import FORMULA, formula
from ingestion.reading.office.package import Package
from ingestion.reading.office.tables import add_table, split_names
from ingestion.reading.office.trailing import Trailing
from ingestion.reading.office.word_styles import MAIN, NO, VAL, Lists, Styles, is_on, numbering, outline_level
from ingestion.reading.office.word_symbols import SYMBOL, checkbox, in_font, symbol
from ingestion.reading.text_builder import TextBuilder
from ingestion.reading.titles import own_title

_P, _TABLE, _TR, _TC, _T = (f"{MAIN}{name}" for name in ("p", "tbl", "tr", "tc", "t"))
_CONTROL = f"{MAIN}sdt"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"  # a copy for old readers
_PICTURE = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}docPr"
_WRAPPERS = frozenset(MAIN + name for name in ("sdt", "sdtContent", "ins", "moveTo", "smartTag", "customXml"))
_SPACES = {f"{MAIN}tab": "\t", f"{MAIN}br": "\n", f"{MAIN}cr": "\n", f"{MAIN}noBreakHyphen": "-"}
_LEFT_OUT = frozenset(MAIN + name for name in ("del", "moveFrom", "pPr", "rPr")) | {_FALLBACK}
_BOX = f"{MAIN}txbxContent"
_NOTES = {f"{MAIN}footnoteReference": "footnotes", f"{MAIN}endnoteReference": "endnotes"}
_CODE = frozenset(("html preformatted", "source code", "code", "macro", "macro text", "plain text"))
_QUOTES = frozenset(("quote", "intense quote", "block text"))
# A table with a longer cell and without a header sets out a page, such as a letter in two columns.
_LAYOUT_CHARS = 1000


def read_docx(data: bytes, doc_id: str, max_bytes: int) -> Document:
    """Return the document; its title is the one in its properties, else its first heading, else the file's name.

    Args:
        data: the file.
        doc_id: the file's path.
        max_bytes: how much its parts may hold together, unpacked.

    Raises:
        UnreadableError: no Word document, damaged, encrypted, too large unpacked, or without text.
    """
    package = Package(data, max_bytes, "Word document", "word/")
    path = package.related("", "officeDocument") or "word/document.xml"
    body = package.needed_xml(path).find(f"{MAIN}body")
    if body is None:
        raise package.damaged()
    builder = TextBuilder()
    try:
        walk = _Walk(package, path, builder)
        walk.blocks(body)
        walk.end()
    except (ValueError, LookupError, RecursionError) as error:
        raise package.damaged() from error
    return finished(builder, doc_id, *package.properties(), title_of=own_title)


class _Walk:
    def __init__(self, package: Package, path: str, builder: TextBuilder) -> None:
        self._builder = builder
        self._package = package
        self._parts_by_id = package.relations(path)
        parts = {one.kind: one.target for one in self._parts_by_id.values()}
        self._styles = Styles(package.xml(parts.get("styles", "")))
        self._lists = Lists(package.xml(parts.get("numbering", "")))
        self._notes = {kind: _notes(package.xml(parts.get(kind, ""))) for kind in _NOTES.values()}
        self._trailing = Trailing(builder)

    def blocks(self, parent: Any) -> None:
        """Add what stands below `parent`, in order."""
        for element in parent:
            if element.tag == _P:
                self._paragraph(element)
                for box in _own(element, _BOX):
                    self.blocks(box)
            elif element.tag == _TABLE:
                self._trailing.end_code()
                self._table(element)
            elif element.tag in _WRAPPERS:
                self.blocks(element)
                continue
            else:
                continue
            self._trailing.end_block()

    def end(self) -> None:
        """Add what stands at the end of the document."""
        self._trailing.end()

    def _paragraph(self, element: Any) -> None:
        text = self._text(element).strip()
        properties = element.find(f"{MAIN}pPr/{MAIN}pStyle")
        style = self._styles.default if properties is None else properties.get(VAL, "")
        name = self._styles.name(style)
        if name in _CODE and text:
            self._trailing.code_line(self._text(element).rstrip("\n"))
            return
        self._trailing.end_code()
        if text and not name.startswith("toc ") and name not in {"table of contents", "toc heading"}:
            self._worded(element, style, name, text)
        for picture in _own(element, _PICTURE):
            self._builder.caption(alternative_text(picture))
        for chart in _own(element, CHART):
            path = self._parts_by_id.get(chart.get(RELATED_ID, ""))
            if path and (root := self._package.xml(path.target)) is not None:
                add_chart(self._builder, root)

    def _worded(self, element: Any, style: str, name: str, text: str) -> None:
        own, depth = numbering(element)
        own_list = own is not None
        if own is None:
            own, from_style = self._styles.numbering(style)
            depth = depth or from_style
        label = self._lists.label(own, int(depth or 0)) if own not in {None, "0"} else None
        level = outline_level(element) or self._styles.heading_level(style)
        if level is not None:
            self._builder.heading(f"{label.text} {text}" if label else text, level)
        elif name == "caption":
            self._builder.caption(text)
        elif name in _QUOTES:
            self._builder.quote(text)
        elif label is not None and "." in label.text.strip("."):
            self._builder.paragraph(f"{label.text} {text}")  # a clause such as "2.1"
        elif label is not None:
            marked = text if label.number is not None else f"{label.text} {text}"
            self._builder.item(marked, depth=label.depth, number=label.number)
        elif (name.startswith("list ") and name != "list paragraph") or (own_list and own != "0"):
            self._builder.item(text, depth=int(depth or 0))
        else:
            self._builder.paragraph(text)

    def _text(self, element: Any) -> str:
        return "".join(self._pieces(element))

    def _pieces(self, element: Any) -> Iterator[str]:
        """Yield the text below an element, but what was deleted, struck or hidden, and boxes, which are blocks."""
        for child in element:
            if child.tag == _T:
                yield child.text or ""
            elif child.tag in _SPACES:
                yield _SPACES[child.tag]
            elif child.tag in _NOTES:
                self._note(_NOTES[child.tag], child.get(f"{MAIN}id", ""))
            elif child.tag == f"{MAIN}r":
                yield from self._run(child)
            elif child.tag == SYMBOL:
                yield symbol(child)
            elif child.tag == FORMULA:
                yield formula(child)
            elif child.tag == _CONTROL and (box := checkbox(child)):
                yield box
            elif child.tag not in _LEFT_OUT and child.tag != _BOX:
                yield from self._pieces(child)

    def _run(self, run: Any) -> Iterator[str]:
        """Yield the text of a run, what is raised or lowered as such."""
        if any(is_on(run.find(f"{MAIN}rPr/{MAIN}{name}")) for name in ("vanish", "strike", "dstrike")):
            return
        aligned = self._styles.vertical_alignment(run)
        text = "".join(self._pieces(run))
        if (font := run.find(f"{MAIN}rPr/{MAIN}rFonts")) is not None:
            text = in_font(text, font.get(f"{MAIN}ascii", ""))
        yield raised(text) if aligned == "superscript" else lowered(text) if aligned == "subscript" else text

    def _note(self, kind: str, name: str) -> None:
        note = self._notes[kind].pop(name, None)
        text = " ".join(" ".join(self._text(one) for one in note.iter(_P)).split()) if note is not None else ""
        self._trailing.note(text, at_end=kind == "endnotes")

    def _table(self, table: Any) -> None:
        rows = [row for row in table.iter(_TR) if _table_of(row) is table]
        cells = [[cell for cell in row.iter(_TC) if _table_of(cell) is table] for row in rows]
        headers = self._header_rows(table, rows, cells)
        if not headers and _is_layout(cells):
            for cell in (cell for row in cells for cell in row):
                self.blocks(cell)
            return
        laid = self._laid_out(cells)
        add_table(self._builder, *split_names(laid, headers))
        for picture in _own(table, _PICTURE):
            self._builder.caption(alternative_text(picture))

    def _header_rows(self, table: Any, rows: list[Any], cells: list[list[Any]]) -> int:
        """Return how many rows name the columns, only where the table says it or shows it in bold."""
        if len(rows) < 2:
            return 0
        marked = 0
        while marked < min(len(rows) - 1, 3) and is_on(rows[marked].find(f"{MAIN}trPr/{MAIN}tblHeader")):
            marked += 1
        if marked:
            return marked
        style = table.find(f"{MAIN}tblPr/{MAIN}tblStyle")
        look = table.find(f"{MAIN}tblPr/{MAIN}tblLook")
        if style is not None and look is not None and _shows_first_row(look):
            return int(self._styles.marks_first_row(style.get(VAL, "")))
        bold = all(map(_is_bold, cells[0])) and any(cell.findtext(f".//{_T}") for cell in cells[0])
        return int(bold and len(cells[0]) > 1 and not all(map(_is_bold, cells[1])))

    def _laid_out(self, rows: list[list[Any]]) -> list[list[str]]:
        """Return the rows with merged cells filled; a cell that goes on from above says so itself."""
        above: dict[int, str] = {}
        grid = Grid(spread=True)
        for row in rows:
            before = row[0].getparent().find(f"{MAIN}trPr/{MAIN}gridBefore") if row else None
            column = int(before.get(VAL, 0)) if before is not None else 0
            if column:
                grid.cell("", column)
            for cell in row:
                text = " ".join(" ".join(self._cell_texts(cell)).split())
                merge = cell.find(f"{MAIN}tcPr/{MAIN}vMerge")
                if merge is not None and merge.get(VAL, "continue") == "continue":
                    text = above.get(column, "") or text
                span = cell.find(f"{MAIN}tcPr/{MAIN}gridSpan")
                width = int(span.get(VAL, 1)) if span is not None else 1
                above[column] = text
                column += width
                grid.cell(text, width)
            grid.end_row()
        return grid.rows

    def _cell_texts(self, cell: Any) -> Iterator[str]:
        for paragraph in _own(cell, _P, within_boxes=True):
            yield self._text(paragraph)


def _notes(root: Any) -> dict[str, Any]:
    """Return the notes by id, without the lines that part them from the text."""
    found = () if root is None else root
    return {one.get(f"{MAIN}id", ""): one for one in found if one.get(f"{MAIN}type", "normal") == "normal"}


def _is_layout(cells: list[list[Any]]) -> bool:
    """Tell a table that frames text or sets out a page from one whose rows belong together."""
    if max(map(len, cells), default=0) < 2:
        return True
    longest = max(sum(len(one.text or "") for one in cell.iter(_T)) for row in cells for cell in row)
    return longest > _LAYOUT_CHARS


def _is_bold(cell: Any) -> bool:
    """Tell whether all words of a cell are bold; an empty one is."""
    runs = [run for run in cell.iter(f"{MAIN}r") if (run.findtext(_T) or "").strip()]
    return all(is_on(run.find(f"{MAIN}rPr/{MAIN}b")) for run in runs)


def _shows_first_row(look: Any) -> bool:
    first = look.get(f"{MAIN}firstRow")
    if first is not None:
        return first not in NO
    return bool(int(look.get(VAL, "0"), 16) & 0x20)


def _own(element: Any, tag: str, *, within_boxes: bool = False) -> Iterator[Any]:
    """Yield what stands below an element, but for copies for old readers and what is in boxes of text."""
    inner = {_FALLBACK} if within_boxes else {_FALLBACK, _BOX}
    for one in element.iter(tag):
        if not any(above.tag in inner for above in takewhile(lambda above: above is not element, one.iterancestors())):
            yield one


def _table_of(element: Any) -> Any:
    return next(element.iterancestors(_TABLE))
