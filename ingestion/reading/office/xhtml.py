"""Write out the XHTML of a book: all of it is text, so nothing has to be told from menus and banners.

Flow: `epub.py` (a chapter's root element) -> **here** -> `TextBuilder`. Pure. Web pages are `html.py`'s business.
"""

from collections.abc import Callable, Iterator
from typing import Any

from ingestion.reading.marks import lowered, raised
from ingestion.reading.markup import Grid
from ingestion.reading.office.tables import add_table, split_names
from ingestion.reading.text_builder import TextBuilder

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LEFT_OUT = frozenset(("head", "script", "style", "nav", "template", "annotation", "annotation-xml"))
_BLOCKS = frozenset(
    (*_HEADINGS, *"p div section article aside main body header footer figure figcaption ul ol li dl dt dd table pre"
     " blockquote hr address center caption".split())
)  # fmt: skip
# Line ends of the source mean nothing; this stands for those that people see.
_LINE_END = "\v"
_PLACED: dict[str, Callable[[str], str]] = {"sup": raised, "sub": lowered}
_TYPE = "{http://www.idpf.org/2007/ops}type"


def holds_heading(root: Any) -> bool:
    """Tell whether a chapter has a heading of its own."""
    return any(_name(one) in _HEADINGS for one in root.iter())


def add_blocks(builder: TextBuilder, parent: Any) -> None:
    """Add what stands below an element, in order."""
    _add(builder, parent, quoted=0)


def _add(builder: TextBuilder, parent: Any, *, quoted: int) -> None:
    line: list[str] = [parent.text or ""]

    def end_line() -> None:
        text = _squeezed("".join(line))
        line.clear()
        builder.quote(text, depth=quoted - 1) if quoted else builder.paragraph(text)

    for child in parent:
        name = _name(child)
        if name in _BLOCKS or (name not in _LEFT_OUT and any(_name(one) in _BLOCKS for one in child.iter())):
            end_line()
            _add_block(builder, child, name, quoted)
        elif name == "img":
            if "".join(line).strip():
                line.append(f" {child.get('alt') or ''} ")
            else:
                builder.caption(child.get("alt") or "")
        else:
            line.extend(_pieces_of(child))
        line.append(child.tail or "")
    end_line()


def _add_block(builder: TextBuilder, element: Any, name: str, quoted: int) -> None:
    if name in _HEADINGS:
        builder.heading(_text(element), _HEADINGS[name])
    elif name in {"ul", "ol"}:
        _add_list(builder, element, 0)
    elif name == "table":
        _add_table(builder, element)
    elif name == "pre":
        builder.code("".join(_pieces(element)).replace(_LINE_END, "\n").strip("\n"))
    elif name in {"figcaption", "caption"}:
        builder.caption(_text(element))
    elif name == "dl":
        _add_definitions(builder, element)
    else:
        _add(builder, element, quoted=quoted + (name == "blockquote"))


def _add_list(builder: TextBuilder, element: Any, depth: int) -> None:
    ordered = _name(element) == "ol"
    number = _int(element.get("start"), 1)
    for item in element:
        if _name(item) in {"ul", "ol"}:
            _add_list(builder, item, depth + 1)
        elif _name(item) == "li":
            number = _int(item.get("value"), number)
            builder.item("".join(_pieces(item, ("ul", "ol"))), depth=depth, number=number if ordered else None)
            number += 1
            for inner in item.iter():
                if _name(inner) in {"ul", "ol"} and next(inner.iterancestors(item.tag)) is item:
                    _add_list(builder, inner, depth + 1)


def _add_definitions(builder: TextBuilder, element: Any) -> None:
    term = ""
    for one in element.iter():
        if _name(one) == "dt":
            term = f"{term}, {_text(one)}" if term else _text(one)
        elif _name(one) == "dd":
            builder.item(f"{term}: {_text(one)}" if term else _text(one))
            term = ""
    builder.item(term)


def _add_table(builder: TextBuilder, table: Any) -> None:
    grid, headers = Grid(spread=True), 0
    for row in table.iter():
        if _name(row) == "caption":
            builder.caption(_text(row))
        if _name(row) != "tr":
            continue
        cells = [one for one in row if _name(one) in {"td", "th"}]
        if cells and headers == len(grid.rows) and all(_name(one) == "th" for one in cells):
            headers += 1
        for one in cells:
            grid.cell(_text(one), _int(one.get("colspan"), 1), _int(one.get("rowspan"), 1))
        grid.end_row()
    headers = headers if headers < len(grid.rows) else 0
    add_table(builder, *split_names(grid.rows, headers))


def _text(element: Any) -> str:
    return _squeezed("".join(_pieces(element)))


def _pieces(element: Any, without: tuple[str, ...] = ()) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if _name(child) not in without:
            yield from _pieces_of(child)
        yield child.tail or ""


def _pieces_of(element: Any) -> Iterator[str]:
    """Yield the text of an element in a line; marks of notes would pass for the numbered sources of an answer."""
    name = _name(element)
    if name == "br":
        yield _LINE_END
    elif name == "img":
        yield element.get("alt") or ""
    elif element.get(_TYPE) != "noteref" and name and name not in _LEFT_OUT:
        space = " " if name in _BLOCKS else ""
        yield space
        yield _PLACED.get(name, str)("".join(_pieces(element)))
        yield space


def _squeezed(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in text.split(_LINE_END)).strip()


def _name(element: Any) -> str:
    """Return the name of an element in XHTML; empty if it is not an element."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _int(value: str | None, default: int) -> int:
    value = (value or "").strip()
    return min(int(value), 1_000_000) if value.isascii() and value.isdigit() and len(value) < 10 else default
