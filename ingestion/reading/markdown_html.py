"""Write the HTML that stands in Markdown as Markdown: tables, headings, links, images, lists and line ends.

Flow: `markdown_source.py` finds it outside code -> **here**. Pure; takes time that grows with the text's length.

Editors of wikis and read-me files write it where Markdown has no means. Tags without a meaning for words (`<mark>`,
`<div align="center">`) go, unknown ones (`<file name>`) stay.
"""

import html
import re
from collections.abc import Callable

from ingestion.reading.column_names import joined_names
from ingestion.reading.markup import Grid
from ingestion.reading.text import one_line

BLOCKS = (
    "address|article|aside|blockquote|center|dd|details|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|header"
    "|hr|li|main|nav|ol|p|section|summary|table|tbody|td|tfoot|th|thead|tr|ul"
)
IN_LINES = (
    "a|abbr|b|big|br|button|cite|code|em|font|i|iframe|img|ins|kbd|mark|picture|q|small|span|strong|sub|sup|tt|u|video"
    "|wbr"
)
_PARAGRAPHS = frozenset("blockquote center details div dl figure p section table".split())
_INSIDE = frozenset(IN_LINES.split("|"))
# What may stand between two tags that are read together; of longer ones only the tags go.
_INNER = r"[^<]{0,300}+(?:<(?!/?%s\b)[^<]{0,300}+){0,12}+"
CONSTRUCT = re.compile(
    rf"<(?P<heading>h[1-6])\b[^<>]*+>(?P<words>{_INNER % 'h[1-6]'})</h[1-6]\s*+>"
    rf"|<a\s(?P<target>[^<>]*+)>(?P<linked>{_INNER % 'a'})</a\s*+>|<code>(?P<code>[^<>`\n]++)</code>"
    rf"|<img\b(?P<image>[^<>]*+)>"
    rf"|(?P<line_ends>(?:<br\b[^<>]*+>[ \t]*+)++)\n?|</?(?P<name>{BLOCKS}|{IN_LINES})(?=[\s/>])[^<>]*+>",
    re.IGNORECASE,
)
# A tag of MDX, such as `<TabItem label="macOS">`, but not `<VirtualHost *:80>`.
COMPONENT = (
    r"</?[A-Z][\w.]*+(?P<values>(?:\s++[\w:.-]++(?:\s*+=\s*+(?:\"[^\"]{0,2000}+\"|'[^']{0,2000}+'"
    r"|\{(?:[^{}]{1,500}+|\{[^{}]{0,500}+\}){0,20}+\}))?+){0,50}+)\s*+/?+>"
)
_TITLES = frozenset(("label", "title", "description", "summary", "header", "heading"))
ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]\w{1,30}+);", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"(?:^|\s)([\w:.-]++)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'>{]++))")
_ROW = re.compile(r"<tr\b[^<>]*+>", re.IGNORECASE)
_CELL = re.compile(r"<(t[dh])\b([^<>]*+)>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*+>")
_GAP = re.compile(r"\n[ \t]*+\n\s++")
_EMPTY_ITEM = re.compile(r"^-[ \t]*+\n+(?=[^\s-])", re.MULTILINE)
# What would be read as markup, were it written out.
_MARKS = frozenset("<>&|*_`[]\\#")


def tidy(written: str) -> str:
    """Return what stands for a block of HTML, as blocks of its own."""
    words = _EMPTY_ITEM.sub("- ", _GAP.sub("\n\n", written)).strip()
    return f"\n{words}\n" if words else ""


def construct(found: re.Match[str]) -> str:
    """Return one match of `CONSTRUCT` in Markdown."""
    name = (found["name"] or "").lower()
    if found["heading"]:
        words = _inner(found["words"])
        marks = "" if words.startswith(("![", "[![")) else "#" * int(found["heading"][1]) + " "
        return f"\n\n{marks}{words}\n\n" if words else ""
    if found["target"] is not None:
        words, address = _inner(found["linked"]), _attribute("href", found["target"])
        return f"[{words}]({address})" if words and address else words
    if found["code"]:
        return f"`{found['code']}`"
    if found["image"] is not None:
        words = one_line(_attribute("alt", found["image"]))
        return f"![{words}]({_attribute('src', found['image'])})" if words else ""
    if name == "li":
        begins = found.string[found.start() - 1 : found.start()] in ("", "\n")
        return "" if found[0].startswith("</") else "- " if begins else "\n- "
    return "\n\n" if name in _PARAGRAPHS else "" if name in _INSIDE else "\n"


def component(found: re.Match[str]) -> str:
    """Return what a component's attributes say, a line each: its title, and other values of several words."""
    values = ((name, one_line(value)) for name, value in _attributes(found["values"]))
    lines = [
        words if name in _TITLES else f"{name}: {words}" for name, words in values if name in _TITLES or " " in words
    ]
    return "\n\n" + "\n".join(lines) + "\n\n" if lines else ""


def table(source: str, visible: Callable[[str], str]) -> str:
    """Return a table as the rows of a Markdown table, or the text of its only column or row.

    Args:
        source: from `<table>` on.
        visible: makes Markdown of what is in a cell.
    """
    grid, headers = Grid(), 0
    for row in _ROW.split(source)[1:]:
        _, *cells = _CELL.split(row)
        kinds, attributes, texts = cells[::3], cells[1::3], cells[2::3]
        headers += bool(kinds) and len(grid.rows) == headers and {kind.lower() for kind in kinds} == {"th"}
        for about, text in zip(attributes, texts, strict=True):
            spans = (_attribute(name, about)[:4] for name in ("colspan", "rowspan"))
            grid.cell(one_line(visible(text)), *(int(span) if span.isdecimal() else 1 for span in spans))
        grid.end_row()
    rows, width = grid.rows, max(map(len, grid.rows), default=0)
    if len(rows) == 1 or width == 1:
        return "\n\n" + "\n\n".join(cell for row in rows for cell in row if cell) + "\n\n"
    even = [[cell.replace("|", "\\|") for cell in row] + [""] * (width - len(row)) for row in rows]
    names = joined_names(even[:headers], range(headers)) or [""] * width
    lines = (f"| {' | '.join(cells)} |" for cells in (names, ["---"] * width, *even[headers:]))
    return "\n\n" + "\n".join(lines) + "\n\n" if rows else ""


def code(source: str) -> str:
    """Return what stands between `<pre>` and `</pre>`, as code."""
    words = html.unescape(_TAG.sub("", source)).strip("\n")
    return f"\n```\n{words}\n```\n" if words and "```" not in words else words


def entity(found: re.Match[str]) -> str:
    """Return the character that a reference stands for; the reference itself where it keeps markup apart."""
    shown = html.unescape(found[0])
    return found[0] if _MARKS.issuperset(shown) else shown


def _inner(source: str) -> str:
    return one_line(ENTITY.sub(entity, CONSTRUCT.sub(construct, source)))


def _attribute(name: str, tag: str) -> str:
    return next((value for one, value in _attributes(tag) if one.lower() == name), "")


def _attributes(tag: str) -> list[tuple[str, str]]:
    return [(name, double or single or bare) for name, double, single, bare in _ATTRIBUTE.findall(tag)]
