"""Read HTML: the main text of a page, without menus, banners and footers.

Flow: file bytes -> **here** -> `Document`. Pure.

trafilatura finds the main text and returns it as a small tree of paragraphs, headings, lists and tables. It is
written out here rather than by trafilatura, whose Markdown escapes and emphasises words inside sentences that
people will be quoted. Headings keep `#`, items `-`; the cells of a row stand on one line, separated by `|`.
"""

import re
from collections.abc import Iterator

import trafilatura
from lxml import etree
from lxml import html as lxml_html
from trafilatura.settings import Document as Extraction

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
_WITHOUT_TEXT = ("style", "noscript", "template", "svg", "object", "iframe")


def read_html(data: bytes, doc_id: str) -> Document:
    """Return the document; its title is `<title>`, else the first `<h1>`, else the file's name.

    Raises:
        UnreadableError: no text, binary data, or elements nested too deeply to be read in full.
    """
    tree = _parse(decode(data, _declared_encoding(data)))
    title = next(_headings(tree, "title", "h1"), None)
    _drop_what_is_no_text(tree)
    return Document(
        doc_id,
        fields.title(title) or title_from_name(doc_id),
        clean_body(_main_text(tree)),
        url=_canonical_address(tree),
        source=doc_id,
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
    found = trafilatura.bare_extraction(
        tree, favor_recall=True, include_comments=False, include_formatting=False, with_metadata=False
    )
    blocks = list(_blocks(found.body)) if isinstance(found, Extraction) else []
    # A page too short to have a main text is all main text.
    return "\n\n".join(blocks) or str(trafilatura.html2txt(tree))


def _blocks(parent: etree._Element) -> Iterator[str]:
    """Yield what stands below `parent` as paragraphs, in order."""
    if lead := _squeeze(parent.text):
        yield lead
    for element in parent:
        if block := _block(element):
            yield block
        if tail := _squeeze(element.tail):
            yield tail


def _block(element: etree._Element) -> str:
    match element.tag:
        case "head":
            level = re.sub(r"\D", "", element.get("rend") or "") or "2"
            return f"{'#' * int(level[0])} {text}" if (text := _inline(element)) else ""
        case "list":
            return "\n".join(_items(element))
        case "table":
            rows = (" | ".join(map(_inline, row)).strip(" |") for row in element.iterchildren("row"))
            return "\n".join(row for row in rows if row)
        case "code" | "quote" if len(element) == 0:
            return (element.text or "").strip("\n")
        case "quote" | "body" | "div":
            return "\n\n".join(_blocks(element))
        case _:
            return _inline(element)


def _items(element: etree._Element, indent: str = "") -> Iterator[str]:
    """Yield a list's lines; a list inside an item is indented below it."""
    for number, item in enumerate(element, 1):
        mark = f"{number}." if element.get("rend") == "ol" else "-"
        if text := _inline(item, without="list"):
            yield f"{indent}{mark} {text}"
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
