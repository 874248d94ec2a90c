"""Read presentations of PowerPoint 2007 and later: a section for each slide, with what its speaker notes say.

Flow: file bytes -> `package.py` -> **here** -> `TextBuilder` -> `Document`. Pure.

Shapes are read from the top down and from left to right, after the title. Footers, dates, slide numbers, comments, and
what is the same on all slides (their master) are left out. Hidden slides are kept: they are there to be looked up.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from index.documents.store import Document
from ingestion.reading.marks import lowered, raised
from ingestion.reading.markup import Grid, finished
from ingestion.reading.office.drawings import (
    CHART,
    DIAGRAM,
    DRAWING,
    RELATED,
    RELATED_ID,
    add_chart,
    alternative_text,
    diagram_lines,
)
from ingestion.reading.office.formulas import FORMULA, formula
from ingestion.reading.office.package import Package
from ingestion.reading.office.tables import add_table, split_names
from ingestion.reading.text import one_line
from ingestion.reading.text_builder import TextBuilder
from ingestion.reading.titles import own_title

_MAIN = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_CHOICE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_FRAME = f"{_MAIN}graphicFrame"
_SHAPES = frozenset(_MAIN + name for name in ("sp", "pic", "graphicFrame", "cxnSp"))
_TITLES = frozenset(("title", "ctrTitle"))
_FURNITURE = frozenset(("dt", "ftr", "hdr", "sldNum", "sldImg"))
# Slides are some 6.9 million units high; shapes within this many of them stand side by side.
_LINE = 300_000
_NO = frozenset(("0", "false"))


@dataclass(frozen=True, slots=True)
class _Shape:
    """A shape on a slide.

    Attributes:
        place: (line from the top, distance from the left).
        role: of a placeholder, such as "title" or "body"; empty for other shapes.
    """

    element: Any
    place: tuple[int, int]
    role: str


def read_pptx(data: bytes, doc_id: str, max_bytes: int) -> Document:
    """Return the presentation; its title is the one in its properties, else that of its first slide, else its name.

    Args:
        data: the file.
        doc_id: the file's path.
        max_bytes: how much its parts may hold together, unpacked.

    Raises:
        UnreadableError: no presentation, damaged, encrypted, too large unpacked, or without text.
    """
    package = Package(data, max_bytes, "presentation", "ppt/")
    path = package.related("", "officeDocument") or "ppt/presentation.xml"
    builder = TextBuilder()
    try:
        relations = package.relations(path)
        for number, one in enumerate(package.needed_xml(path).iter(f"{_MAIN}sldId"), 1):
            slide = relations.get(one.get(RELATED_ID, ""))
            if slide is not None and package.holds(slide.target):
                _Slide(package, slide.target, builder).add(number)
    except (ValueError, LookupError, RecursionError) as error:
        raise package.damaged() from error
    return finished(builder, doc_id, *package.properties(), title_of=own_title)


class _Slide:
    def __init__(self, package: Package, path: str, builder: TextBuilder) -> None:
        self._package = package
        self._root = package.needed_xml(path)
        self._relations = package.relations(path)
        self._builder = builder
        layout = package.related(path, "slideLayout")
        self._layouts = [root for one in (layout, layout and package.related(layout, "slideMaster")) if one
                         and (root := package.xml(one)) is not None]  # fmt: skip

    def add(self, number: int) -> None:
        """Add the slide; it has no heading if it holds nothing."""
        shapes = sorted(self._shapes(), key=lambda shape: (shape.role not in _TITLES, shape.place))
        title = next((text for shape in shapes if shape.role in _TITLES and (text := _words(shape.element))), "")
        notes = self._notes()
        content = [shape for shape in shapes if shape.role not in _TITLES]
        if not title and not notes and not any(map(_holds_words, content)):
            return
        self._builder.heading(title or f"Slide {number}", 1)
        for shape in content:
            self._shape(shape)
        if notes:
            self._builder.paragraph(f"Speaker notes: {notes}")

    def _shapes(self) -> Iterator[_Shape]:
        tree = self._root.find(f"{_MAIN}cSld/{_MAIN}spTree")
        yield from self._shapes_below(tree, None) if tree is not None else ()

    def _shapes_below(self, parent: Any, place: tuple[int, int] | None) -> Iterator[_Shape]:
        """Yield the shapes in order; those of a group stand where the group does."""
        for element in parent:
            if element.tag == f"{_MAIN}grpSp":
                yield from self._shapes_below(element, place or _place(element) or (0, 0))
            elif element.tag in _SHAPES:
                holder = element.find(f".//{_MAIN}nvPr/{_MAIN}ph")
                role = "" if holder is None else holder.get("type", "body")
                if role not in _FURNITURE:
                    own = place or _place(element) or (self._inherited(holder) if holder is not None else None)
                    yield _Shape(element, own or (0, 0), role)
            elif isinstance(element.tag, str) and element.tag.startswith(_CHOICE) and element.tag != _FALLBACK:
                yield from self._shapes_below(element, place)

    def _inherited(self, holder: Any) -> tuple[int, int] | None:
        """Return where a placeholder stands by the slide's layout, or by its master."""
        for root in self._layouts:
            for shape in root.iter(f"{_MAIN}sp"):
                other = shape.find(f".//{_MAIN}nvPr/{_MAIN}ph")
                if other is None or not (place := _place(shape)):
                    continue
                same_number = holder.get("idx") is not None and other.get("idx") == holder.get("idx")
                if same_number or (
                    holder.get("idx") is None and other.get("type", "body") == holder.get("type", "body")
                ):
                    return place
        return None

    def _shape(self, shape: _Shape) -> None:
        element = shape.element
        for chart in element.iter(CHART):
            if (root := self._part(chart.get(RELATED_ID))) is not None:
                add_chart(self._builder, root)
        for diagram in element.iter(DIAGRAM):
            if (root := self._part(diagram.get(f"{RELATED}dm"))) is not None:
                for line in diagram_lines(root):
                    self._builder.item(line)
        tables = [*element.iter(f"{DRAWING}tbl")]
        for table in tables:
            self._table(table)
        body = element.find(f"{_MAIN}txBody")
        if body is not None and not tables:
            self._body(body, listed=shape.role in {"body", "obj"})
        properties = element.find(f".//{_MAIN}cNvPr")
        if properties is not None and not (element.tag == f"{_MAIN}sp" and body is not None and _words(element)):
            self._builder.caption(alternative_text(properties))

    def _body(self, body: Any, *, listed: bool) -> None:
        """Add the paragraphs of a shape; those of a slide's own text are items, unless it says that they are not."""
        paragraphs = [*body.iter(f"{DRAWING}p")]
        listed = listed and sum(bool(_line(one).strip()) for one in paragraphs) > 1
        counts: dict[int, int] = {}
        for paragraph in paragraphs:
            text = _line(paragraph)
            properties = paragraph.find(f"{DRAWING}pPr")
            marks = {one.tag.removeprefix(DRAWING) for one in properties} if properties is not None else set()
            depth = int(properties.get("lvl", 0)) if properties is not None else 0
            if not text.strip():
                continue
            if "buAutoNum" in marks:
                counts = {level: count for level, count in counts.items() if level <= depth}
                start = int(properties.find(f"{DRAWING}buAutoNum").get("startAt", 1))
                counts[depth] = counts.get(depth, start - 1) + 1
                self._builder.item(text, depth=depth, number=counts[depth])
                continue
            counts = {level: count for level, count in counts.items() if level < depth}
            if marks & {"buChar", "buBlip"} or (listed and "buNone" not in marks):
                self._builder.item(text, depth=depth)
            else:
                self._builder.paragraph(text)

    def _table(self, table: Any) -> None:
        grid = Grid(spread=True)
        for row in table.iterchildren(f"{DRAWING}tr"):
            for cell in row.iterchildren(f"{DRAWING}tc"):
                if cell.get("hMerge", "0") in _NO and cell.get("vMerge", "0") in _NO:
                    columns, down = int(cell.get("gridSpan", 1)), int(cell.get("rowSpan", 1))
                    grid.cell(" ".join(map(_line, cell.iter(f"{DRAWING}p"))), columns, down)
            grid.end_row()
        properties = table.find(f"{DRAWING}tblPr")
        headed = properties is not None and properties.get("firstRow", "0") not in _NO and len(grid.rows) > 1
        add_table(self._builder, *split_names(grid.rows, int(headed)))

    def _notes(self) -> str:
        path = next((one.target for one in self._relations.values() if one.kind == "notesSlide"), None)
        root = self._package.xml(path) if path else None
        found = []
        for shape in () if root is None else root.iter(f"{_MAIN}sp"):
            holder = shape.find(f".//{_MAIN}nvPr/{_MAIN}ph")
            if holder is not None and holder.get("type", "body") == "body":
                found += [text for one in shape.iter(f"{DRAWING}p") if (text := _line(one).strip())]
        return "\n".join(found)

    def _part(self, name: str | None) -> Any:
        relation = self._relations.get(name or "")
        return self._package.xml(relation.target) if relation else None


def _holds_words(shape: _Shape) -> bool:
    """Tell a shape with text, a description, a chart or a diagram from an ornament."""
    pictures = shape.element.iter(f"{_MAIN}cNvPr")
    return bool(_words(shape.element) or shape.element.tag == _FRAME or any(map(alternative_text, pictures)))


def _place(element: Any) -> tuple[int, int] | None:
    """Return the line and the distance from the left at which a shape says that it stands."""
    offset = element.find(f"{_MAIN}xfrm/{DRAWING}off" if element.tag == _FRAME else f".//{DRAWING}off")
    if offset is None:
        return None
    return int(float(offset.get("y", 0))) // _LINE, int(float(offset.get("x", 0)))


def _words(element: Any) -> str:
    return one_line(" ".join(map(_line, element.iter(f"{DRAWING}p"))))


def _line(paragraph: Any) -> str:
    """Return the text of a paragraph, with its line breaks."""
    parts = paragraph.iter(f"{DRAWING}t", f"{DRAWING}br", FORMULA)
    return "".join(map(_part, parts))


def _part(element: Any) -> str:
    if element.tag == FORMULA:
        return formula(element)
    if element.tag != f"{DRAWING}t":
        return "\n"
    properties = element.getparent().find(f"{DRAWING}rPr")
    baseline = properties.get("baseline", "0") if properties is not None else "0"
    text = element.text or ""
    if not baseline.strip("-0.%"):
        return text
    return lowered(text) if baseline.startswith("-") else raised(text)
