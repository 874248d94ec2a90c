"""Read HTML: the main text of a page, without menus, banners and footers.

Flow: file bytes -> **here** -> `Document`. Pure.

trafilatura finds the main text and returns it as a small tree of paragraphs, headings, lists and tables. It is
written out here rather than by trafilatura, whose Markdown escapes and emphasises words inside sentences that
people will be quoted. Headings keep `#`, items `-`; the cells of a row stand on one line, separated by `|`. Cells are
taken from the page itself: trafilatura empties those that read like a menu ("E-mail", "Print").
"""

import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass

import trafilatura
from lxml import etree
from lxml import html as lxml_html
from trafilatura.settings import Document as Extraction
from trafilatura.settings import use_config

from errors import UnreadableError
from index.documents.store import Document
from ingestion.reading import fields
from ingestion.reading.text import clean_body, decode, title_from_name

_CHARSET = re.compile(
    rb"<(?:meta|\?xml)[^<>]{0,200}?(?:charset|encoding)\s*=\s*[\"']?([A-Za-z0-9_:-]{2,40})", re.IGNORECASE
)
_CONTROL = re.compile(
    "[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|&#(?:0*(?:[0-8]|1[124-9]|2[0-9]|3[01])|x0*(?:[0-8bcef]|1[0-9a-f]));", re.I
)
# Browsers read these labels as Windows-1252, and pages are written for browsers.
_WESTERN = ("iso-8859-1", "iso8859-1", "latin-1", "latin1", "us-ascii", "ascii")
_BREAKING = frozenset("p list item row cell table quote head lb br div li".split())
_INLINE = frozenset(
    "a abbr b bdi bdo big cite code data del dfn em font i img input ins kbd label mark q s samp small span strike "
    "strong sub sup time tt u var wbr".split()
)
_SUBHEADINGS = ("h2", "h3", "h4", "h5", "h6")
_AROUND = frozenset("nav header footer aside".split())
MAX_SPAN = 50
# Headings are worth no more than so little text.
SAME_TEXT = 0.9
# Such a share of the cells that trafilatura kept must stand in a table of the page for the two to be the same.
SAME_CELLS = 0.8
# The paragraphs of a short page must hold such a share of the letters that are left without paragraphs.
SHORT_PAGE_KEPT = 0.6
# What stands between a page's title and the name of its site.
_SITE_MARK = re.compile(r"(?<=\s)[-|–—·•»:]{1,2}(?=\s)")
# "Wiki" and "A guide to energy" are no names of whom a page is about.
SITE_NAME_WORDS = 2
_INITIAL = re.compile(r"(?<![\w'’])\w")
_WITHOUT_TEXT = ("style", "noscript", "template", "svg", "object", "iframe")


def read_html(data: bytes, doc_id: str) -> Document:
    """Return the document; its title is `<title>`, else the first `<h1>`, else the file's name.

    Raises:
        UnreadableError: no text, binary data, or elements nested too deeply to be read in full.
    """
    tree = _parse(decode(data, _declared_encoding(data)))
    title = _title(tree)
    _drop_what_is_no_text(tree)
    return Document(
        doc_id,
        fields.title(title) or title_from_name(doc_id),
        clean_body(_main_text(tree)),
        url=_canonical_address(tree),
        source=doc_id,
    )


def read_html_lines(data: bytes, doc_id: str) -> Document:
    """Return the document with all text that a person would see, menus and footers too: a line for each block.

    Raises:
        UnreadableError: as `read_html`.
    """
    tree = _parse(decode(data, _declared_encoding(data)))
    etree.strip_elements(tree, *_WITHOUT_TEXT, "head", "script", with_tail=False)
    parts = []
    for event, element in etree.iterwalk(tree, events=("start", "end")):
        inline = element.tag in _INLINE
        parts.append("" if inline else "\n")
        # Line ends within a text mean nothing.
        parts.append(((element.text if event == "start" else element.tail) or "").replace("\n", " "))
    lines = (_squeeze(line) for line in "".join(parts).split("\n"))
    return Document(
        doc_id, title_from_name(doc_id), clean_body("\n".join(line for line in lines if line)), source=doc_id
    )


def _declared_encoding(data: bytes) -> str | None:
    match = _CHARSET.search(data[:4096])
    name = match[1].decode("ascii").lower() if match else ""
    if name in _WESTERN:
        return "cp1252"
    # A page whose declaration is legible as ASCII cannot be in UTF-16, even if it says so.
    return None if not name or name.startswith(("utf-16", "utf-32")) else name


def _parse(text: str) -> lxml_html.HtmlElement:
    parser = lxml_html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    try:
        # lxml parses control characters, but its trees cannot be edited with them.
        tree = lxml_html.document_fromstring(_CONTROL.sub("", text).encode("utf-8", errors="ignore"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError) as error:
        raise UnreadableError("The page holds no text.", "Fill it or remove it.") from error
    for entry in parser.error_log:
        if entry.type_name == "ERR_RESOURCE_LIMIT":  # libxml2 drops all that follows without a word
            raise UnreadableError(f"The page cannot be read in full: {entry.message}.", "Simplify it or remove it.")
    return tree


def _headings(tree: lxml_html.HtmlElement, *tags: str) -> Iterator[str]:
    for tag in tags:
        for element in tree.iter(tag):
            if text := _inline(element):
                yield text


def _title(tree: lxml_html.HtmlElement) -> str | None:
    """Return the page's title without the site's name, where a heading or the page's metadata tell the two apart.

    "Plan your visit | Wychmoor Salt Works" keeps it: nothing else may say whose page it is.
    """
    title = next(_headings(tree, "title"), None)
    named = [*_headings(tree, "h1"), *_meta(tree, "og:title")]
    if title is None:
        return named[0] if named else None
    sites = {site.casefold() for site in _meta(tree, "og:site_name", "application-name")}
    pages = {name.casefold() for name in named}
    for cut in _SITE_MARK.finditer(title):
        before, after = title[: cut.start()].rstrip(), title[cut.end() :].lstrip()
        for page, site in ((before, after), (after, before)):
            if page.casefold() in pages or site.casefold() in sites:
                return title if _names_only_the_site(page, site) else page
    return title


def _names_only_the_site(page: str, site: str) -> bool:
    """Whether a page's own title has no name, by its capitals, and its site's has one of several words."""
    return not any(map(str.isupper, _INITIAL.findall(page)[1:])) and (
        sum(map(str.isupper, _INITIAL.findall(site))) >= SITE_NAME_WORDS
    )


def _meta(tree: lxml_html.HtmlElement, *names: str) -> Iterator[str]:
    for element in tree.iter("meta"):
        if (element.get("property") or element.get("name")) in names and (text := _squeeze(element.get("content"))):
            yield text


def _drop_what_is_no_text(tree: lxml_html.HtmlElement) -> None:
    etree.strip_elements(tree, *_WITHOUT_TEXT, with_tail=False)
    for mark in [*tree.iter("sup"), *tree.find_class("mw-editsection")]:
        # Footnote marks such as [3] would pass for the numbered sources of an answer that quotes them.
        if re.fullmatch(r"\s*(\[[^\[\]]{1,12}\]\s*)+", mark.text_content()):
            mark.drop_tree()


def _canonical_address(tree: lxml_html.HtmlElement) -> str | None:
    for link in tree.iter("link"):
        if "canonical" in (link.get("rel") or "").lower().split():
            return fields.web_address(link.get("href"))
    return None


def _main_text(tree: lxml_html.HtmlElement) -> str:
    tables = [_Table.of(table) for table in tree.iter("table") if next(table.iterdescendants("table"), None) is None]
    headings = [*_headings(tree, "h1")]
    blocks = _extracted(tree, tables)
    if len(blocks) < 2:
        # Of a short page trafilatura keeps the words alone, on one line, unless it is told that short is enough.
        again = _extracted(tree, tables, min_chars=1)
        blocks = again if len(" ".join(again)) >= SHORT_PAGE_KEPT * len(" ".join(blocks)) else blocks
    if not _holds_headings(tree, blocks):
        # Without an element that holds the main text trafilatura gathers paragraphs, lists and tables, and no headings.
        again = _extracted(_in_article(tree), tables)
        same = len(" ".join(again)) >= SAME_TEXT * len(" ".join(blocks))
        blocks = again if same and _holds_headings(tree, again) else blocks
    if blocks and len(headings) == 1 and not any(headings[0] in block for block in blocks):
        blocks.insert(0, f"# {headings[0]}")
    # A page too short to have a main text is all main text.
    return "\n\n".join(blocks) or str(trafilatura.html2txt(tree))


def _holds_headings(tree: lxml_html.HtmlElement, blocks: Sequence[str]) -> bool:
    """Whether any of the page's headings below the first stands among the blocks; also if it has none."""
    marked = {block.lstrip("# ") for block in blocks if block.startswith("#")}
    headings = {*_headings(tree, *_SUBHEADINGS)}
    return not headings or not headings.isdisjoint(marked)


def _in_article(tree: lxml_html.HtmlElement) -> lxml_html.HtmlElement:
    """Return a copy of the page in which one element holds all of it but menus and footers."""
    copied = deepcopy(tree)
    body = copied.find("body")
    if body is not None:
        article = etree.SubElement(body, "article")
        article.extend([child for child in body if child is not article and child.tag not in _AROUND])
    return copied


def _extracted(tree: lxml_html.HtmlElement, tables: Sequence["_Table"], min_chars: int | None = None) -> list[str]:
    config = use_config()
    if min_chars is not None:
        config.set("DEFAULT", "MIN_EXTRACTED_SIZE", str(min_chars))
    found = trafilatura.bare_extraction(
        tree, favor_recall=True, include_comments=False, include_formatting=False, with_metadata=False, config=config
    )
    return list(_blocks(found.body, list(tables))) if isinstance(found, Extraction) else []


@dataclass(frozen=True, slots=True)
class _Table:
    """A table as the page has it: its caption, and its rows of cells, what spans several of them in each.

    Attributes:
        headed: the first row names the columns.
    """

    caption: str
    rows: tuple[tuple[str, ...], ...]
    headed: bool

    @classmethod
    def of(cls, table: lxml_html.HtmlElement) -> "_Table":
        rows: list[tuple[str, ...]] = []
        below: dict[int, tuple[int, str]] = {}  # column -> further rows that a cell spans, and its text
        headed = False
        for row in table.iter("tr"):
            cells: list[str] = []
            for cell in row.iterchildren("td", "th"):
                _take_spanning(below, cells)
                text, further = _inline(cell), _span(cell, "rowspan") - 1
                for shown in (text, *[""] * (_span(cell, "colspan") - 1)):
                    if further:
                        below[len(cells)] = further, shown
                    cells.append(shown)
            _take_spanning(below, cells)
            if any(cells):
                headed |= not rows and all(cells[1:]) and len(set(cells)) > 1 and not len(row.findall("td"))
                rows.append(tuple(cells))
        return cls(next((_inline(caption) for caption in table.iterchildren("caption")), ""), tuple(rows), headed)

    def holds(self, cells: set[str]) -> bool:
        own = {self.caption, *(cell for row in self.rows for cell in row)}
        return len(cells & own) >= SAME_CELLS * len(cells)

    def text(self) -> str:
        lines = [*map(_row, self.rows)]
        if self.headed and len(lines) > 1:
            # As in Markdown: without a line below it, nothing in the text says that a row of words is a header.
            lines.insert(1, " | ".join(["---"] * len(self.rows[0])))
        return "\n".join([self.caption, *lines] if self.caption else lines)


def _take_spanning(below: dict[int, tuple[int, str]], cells: list[str]) -> None:
    """Add the cells of earlier rows that reach down to the next columns of this one."""
    while len(cells) in below:
        further, text = below.pop(len(cells))
        if further > 1:
            below[len(cells)] = further - 1, text
        cells.append(text)


def _span(cell: lxml_html.HtmlElement, name: str) -> int:
    value = (cell.get(name) or "").strip()
    return min(max(int(value), 1), MAX_SPAN) if value.isascii() and value.isdigit() else 1


def _row(cells: Sequence[str]) -> str:
    """Return the cells on a line; between bars where an empty one at an end would be lost."""
    line = " | ".join(cells)
    return line if cells[0] and cells[-1] else f"| {line} |"


def _blocks(parent: etree._Element, tables: list[_Table]) -> Iterator[str]:
    """Yield what stands below `parent` as paragraphs, in order; tables as the page has them."""
    if lead := _squeeze(parent.text):
        yield lead
    for element in parent:
        if block := _block(element, tables):
            yield block
        if tail := _squeeze(element.tail):
            yield tail


def _block(element: etree._Element, tables: list[_Table]) -> str:
    match element.tag:
        case "head":
            level = re.sub(r"\D", "", element.get("rend") or "") or "2"
            return f"{'#' * int(level[0])} {text}" if (text := _inline(element)) else ""
        case "list":
            return "\n".join(_items(element))
        case "table":
            return _table(element, tables)
        case "code" | "quote" if len(element) == 0:
            return (element.text or "").strip("\n")
        case "quote" | "body" | "div":
            return "\n\n".join(_blocks(element, tables))
        case _:
            return _inline(element)


def _table(element: etree._Element, tables: list[_Table]) -> str:
    rows = [[*map(_inline, row)] for row in element.iterchildren("row")]
    cells = {cell for row in rows for cell in row if cell}
    same = next((table for table in tables if cells and table.holds(cells)), None)
    if same is None:
        return "\n".join(row for row in (" | ".join(row).strip(" |") for row in rows) if row)
    tables.remove(same)
    return same.text()


def _items(element: etree._Element, indent: str = "") -> Iterator[str]:
    """Yield a list's lines; a list inside an item is indented below it, a term stands before what defines it."""
    term = ""
    for number, item in enumerate(element, 1):
        mark = f"{number}." if element.get("rend") == "ol" else "-"
        text = _inline(item, without="list")
        is_term = (item.get("rend") or "").startswith("dt")
        if is_term and item is not element[-1]:
            term = f"{term}, {text}" if term and text else term or text
            continue
        if text:
            yield f"{indent}{mark} {term}: {text}" if term else f"{indent}{mark} {text}"
            term = ""
        for inner in item.iterdescendants("list"):
            if next(inner.iterancestors("list")) is element:
                yield from _items(inner, indent + "  ")


def _inline(element: etree._Element, without: str = "") -> str:
    """Return all text below `element` on one line, except that inside `without` elements."""
    return _squeeze("".join(_pieces(element, without)))


def _pieces(element: etree._Element, without: str) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        space = " " if child.tag in _BREAKING else ""
        if child.tag != without:
            yield space
            yield from _pieces(child, without)
            yield space
        yield child.tail or ""


def _squeeze(text: str | None) -> str:
    return " ".join((text or "").split())
