"""Read HTML: the main text of a page, without menus, banners and footers.

Flow: file bytes -> **here** -> `Document`. Pure, but for `read_page_lines`, which is a parser of `child.py`.

trafilatura finds the main text and returns it as a small tree of paragraphs, headings, lists and tables. It is
written out here (`text_builder.py`) rather than by trafilatura, whose Markdown escapes and emphasises words inside
sentences that people will be quoted. Quotations get no marks. Cells are taken from the page itself: trafilatura empties
those that read like a menu ("E-mail", "Print").
"""

import re
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import trafilatura
from lxml import etree
from lxml import html as lxml_html
from trafilatura.settings import Document as Extraction
from trafilatura.settings import use_config

from errors import UnreadableError
from index.documents.guess import guessed_blocks, header_row, record_blocks
from index.documents.store import Document
from index.documents.structure import Block, Structure
from ingestion.reading import fields, marks
from ingestion.reading.column_names import joined_names
from ingestion.reading.markup import Grid
from ingestion.reading.options import ReadOptions
from ingestion.reading.text import clean, clean_body, decode, one_line, title_from_name
from ingestion.reading.text_builder import TextBuilder

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
_RAISED, _LOWERED = ("sup",), ("sub",)
_SCRIPTS = {
    "msup": (marks.superscript,),
    "msub": (marks.subscript,),
    "msubsup": (marks.subscript, marks.superscript),
}
MAX_NOTE_CHARS = 12
_NOTES = re.compile(r"(\[[^\[\]]{1,12}\]\s*)+")
_NOTE_NAME = re.compile(
    r"(?:^|[\s_:-])(?:fn|fnref|footnotes?|footnote-?ref|references?|cite_ref|note-?ref)(?:$|[\s\d_:-])", re.I
)
_SUBHEADINGS = ("h2", "h3", "h4", "h5", "h6")
_SECTIONS = frozenset("section div header hgroup".split())
_WORD = re.compile(r"[^\W_]+")
_AROUND = frozenset("nav header footer aside".split())
# Headings are worth no more than so little text.
SAME_TEXT = 0.9
# Such a share of the cells that trafilatura kept must stand in a table of the page for the two to be the same.
SAME_CELLS = 0.8
# The paragraphs of a short page must hold such a share of the letters that are left without paragraphs.
SHORT_PAGE_KEPT = 0.6
# What stands between a page's title and the name of its site.
_SITE_MARK = re.compile(r"(?<=\s)[-|–—·•»:]{1,2}(?=\s)")
# "Wiki" and "A guide to energy" are not names of whom a page is about.
SITE_NAME_WORDS = 2
_INITIAL = re.compile(r"(?<![\w'’])\w")
_LINES_OF_CODE = ("br", "div", "li", "p", "tr")
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight-source|highlight)-(?!default|text|none)([\w+#.-]{1,40})")
# A `pre` without `code` that holds such a share of a page's text is the page, of plain text.
WHOLE_PAGE = 0.5
_PLAIN_TEXT = "plain text"
_STRUCK = frozenset(("s", "del", "strike"))
# What trafilatura leaves out also where it stands in a sentence.
_LEFT_OUT, _PROSE = ("time", "output", "label"), ("p", "li", "td", "th", "dd", "blockquote")
_UNSHOWN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\b", re.IGNORECASE)
_FILE_NAME = re.compile(r"\.[a-z]{3,4}$", re.IGNORECASE)
# Of scripts that put no spaces between words.
MIN_ALT_CHARS = 4
_WITHOUT_TEXT = ("style", "noscript", "template", "svg", "object", "iframe")


def read_html(data: bytes, doc_id: str) -> Document:
    """Return the document; its title is `<title>`, else the first `<h1>`, else the file's name.

    Raises:
        UnreadableError: no text, binary data, or elements nested too deeply to be read in full.
    """
    tree = _parse(decode(data, _declared_encoding(data)))
    title = _title(tree)
    _drop_what_is_no_text(tree)
    _show_figures(tree)
    _unname_sections(tree)
    _keep_code(tree)
    text, blocks = _main_text(tree)
    return Document(
        doc_id,
        fields.title(title) or title_from_name(doc_id),
        clean_body(text),
        url=_canonical_address(tree),
        source=doc_id,
        structure=Structure(blocks),
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


def read_page_lines(path: Path, doc_id: str, options: ReadOptions) -> Iterator[Document]:  # noqa: ARG001  # as all parsers
    """Yield the document of a page's file, as `read_html_lines`, for who chooses among the lines; see `child.py`."""
    yield read_html_lines(path.read_bytes(), doc_id)


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
    _write_marks(tree)
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
    for struck in list(tree.iter(*_STRUCK)):
        if next(struck.iterancestors("pre"), None) is None and struck.getparent() is not None:
            struck.drop_tree()
    for unshown in (*tree.find_class("mw-editsection"), *tree.iterfind(".//*[@hidden]"), *_unshown(tree)):
        if unshown.getparent() is not None:
            unshown.drop_tree()
    for one in list(tree.iter(*_LEFT_OUT)):
        if next(one.iterancestors(*_PROSE), None) is not None:
            one.drop_tag()


def _unshown(tree: lxml_html.HtmlElement) -> list[lxml_html.HtmlElement]:
    styled = (one for one in tree.iterfind(".//*[@style]") if one.tag != "body")  # a script shows that
    return [one for one in styled if _UNSHOWN.search(one.get("style"))]


def _write_marks(tree: lxml_html.HtmlElement) -> None:
    """Write superscripts and subscripts as `marks.py` does, and drop those that refer to a note.

    Marks of notes such as [3] would pass for the numbered sources of an answer that quotes them.
    """
    etree.strip_elements(tree, "annotation", "annotation-xml", with_tail=False)  # a formula again, in TeX
    for mark in [*tree.iter(*_RAISED, *_LOWERED, *_SCRIPTS)][::-1]:  # the inner ones first
        for one, write in _scripts(mark):
            text = one.text_content()
            if not text.strip():
                continue
            if one.tag in _RAISED and _refers_to_note(one, text.strip()):
                one.drop_tree()
            else:
                del one[:]
                one.text = write(" ".join(text.split()), _text_before(one))
    for formula in tree.iter("math"):
        words = "".join(formula.text_content().split())
        del formula[:]
        formula.tag, formula.text = "span", words


def _scripts(mark: lxml_html.HtmlElement) -> Iterator[tuple[lxml_html.HtmlElement, Callable[[str, str], str]]]:
    """Yield what is raised or lowered: an element, or of a formula's (MathML) those behind its first one."""
    ways = _SCRIPTS.get(mark.tag) or (marks.superscript if mark.tag in _RAISED else marks.subscript,)
    yield from zip(mark[1:] if mark.tag in _SCRIPTS else (mark,), ways, strict=False)


def _refers_to_note(mark: lxml_html.HtmlElement, text: str) -> bool:
    if _NOTES.fullmatch(text):
        return True
    links = [*mark.iter("a"), *(link for link in [mark.getparent()] if link is not None and link.tag == "a")]
    linked = any("#" in (link.get("href") or "") and link.text_content().strip() == text for link in links)
    names = (one.get(name) or "" for one in (mark, *links) for name in ("class", "role", "epub:type", "id"))
    return len(text) <= MAX_NOTE_CHARS and (linked or any(map(_NOTE_NAME.search, names)))


def _text_before(element: lxml_html.HtmlElement) -> str:
    """Return what stands before an element in its line, or the end of it."""
    while element is not None:
        before, parent = element.getprevious(), element.getparent()
        if before is not None and (before.tail or before.tag not in _INLINE):
            return before.tail or ""
        text = before.text_content() if before is not None else parent.text if parent is not None else ""
        if text or (before is None and (parent is None or parent.tag not in _INLINE)):
            return text or ""
        element = parent if before is None else before
    return ""


def _show_figures(tree: lxml_html.HtmlElement) -> None:
    """Make paragraphs of captions and of the words that stand for images, which trafilatura would leave out.

    Not of images within a text or a link, nor around the main text: those are symbols, buttons and logos.
    """
    for image in list(tree.iter("img")):
        words = _alternative(image)
        around = {element.tag for element in image.iterancestors()}
        if not words or around & _AROUND or (around & {"a", "button"} and "figure" not in around):
            continue
        block = next((one for one in image.iterancestors() if one.tag not in _INLINE and one.tag != "picture"), tree)
        if block.tag in ("p", "li", "td", "th", "dd") and block.text_content().strip():
            continue
        shown = etree.Element("p")
        shown.text, shown.tail, image.tail = words, image.tail, None
        image.addnext(shown)
    for caption in tree.iter("figcaption"):
        caption.tag = "div" if any(child.tag not in _INLINE for child in caption) else "p"
    for figure in tree.iter("figure"):
        figure.tag = "div"


def _alternative(image: lxml_html.HtmlElement) -> str:
    """Return the words that stand for an image; nothing if they are its file's name, one word, or its caption."""
    words = _squeeze(image.get("alt"))
    figure = next(image.iterancestors("figure"), None)
    shown = _squeeze(figure.text_content()).casefold() if figure is not None else ""
    speaks = len(words.split()) > 1 or (len(words) >= MIN_ALT_CHARS and not words.isascii())
    return words if speaks and not _FILE_NAME.search(words) and words.casefold() not in shown else ""


def _unname_sections(tree: lxml_html.HtmlElement) -> None:
    """Take from the author's sections their names, by which trafilatura would take some for what stands around a text.

    A section "Sharing data" is called `sharing-data` as buttons to share are. What a heading opens within the main
    element is the author's, whatever its id; so is, on a page without one, what the heading gave its id. A class tells
    what a thing is, and counts, unless the heading gave it, too.
    """
    headings: list[tuple[lxml_html.HtmlElement, bool]] = []
    marked = within = 0
    for event, element in etree.iterwalk(tree, events=("start", "end")):
        if element.tag in ("main", "article") or element.get("role") == "main":
            marked += event == "start"
            within += 1 if event == "start" else -1
        elif event == "start" and element.tag in ("h1", *_SUBHEADINGS):
            headings.append((element, within > 0))
    for heading, authored in headings:
        for inner in [*heading.iter()]:
            inner.attrib.pop("id", None)
            # The place that other pages link to, which trafilatura would count as a link of no words.
            if inner.tag == "a" and not inner.text_content().strip():
                inner.drop_tree()
        name = "-".join(_WORD.findall(heading.text_content().casefold()))
        for section in _opened(heading) if name and (authored or not marked) else ():
            if authored or (section.get("id") or "").casefold().endswith(name):
                section.attrib.pop("id", None)
            if authored and name in (classes := (section.get("class") or "").split()):
                section.set("class", " ".join(one for one in classes if one != name))


def _opened(heading: lxml_html.HtmlElement) -> Iterator[lxml_html.HtmlElement]:
    """Yield the sections that begin with a heading, the innermost first."""
    element, above = heading, heading.getparent()
    while above is not None and above.tag in _SECTIONS and not (above.text or "").strip():
        for before in element.itersiblings(preceding=True):
            if (before.tail or "").strip() or any(text.strip() for text in before.itertext()):
                return
        yield above
        element, above = above, above.getparent()


def _keep_code(tree: lxml_html.HtmlElement) -> None:
    """Mark what is preformatted, so that trafilatura leaves it as it is, with its language as `lang`."""
    chars = len(tree.text_content())
    for code in list(tree.iter("pre")):
        etree.strip_elements(code, "button", with_tail=False)
        for line in code.iterdescendants(*_LINES_OF_CODE):
            if not line.text_content().endswith("\n"):
                line.tail = "\n" + (line.tail or "")
        around = (*code.iter("pre", "code"), *islice(code.iterancestors("div"), 2))
        found = (_LANGUAGE.search(element.get("class") or "") for element in around)
        language = next((match[1] for match in found if match), "")
        text = code.text_content()
        is_page = not language and code.find(".//code") is None and len(text) > WHOLE_PAGE * chars
        del code[:]
        code.text = f"\n{text}\n"
        code.set("lang", _PLAIN_TEXT if is_page else language or "code")


def _canonical_address(tree: lxml_html.HtmlElement) -> str | None:
    for link in tree.iter("link"):
        if "canonical" in (link.get("rel") or "").lower().split():
            return fields.web_address(link.get("href"))
    return None


def _main_text(tree: lxml_html.HtmlElement) -> tuple[str, tuple[Block, ...]]:
    """Return the main text and its blocks; of a page without paragraphs there are none."""
    tables = [_Table.of(table) for table in tree.iter("table") if next(table.iterdescendants("table"), None) is None]
    headings = [*_headings(tree, "h1")]
    parts = _extracted(tree, tables)
    if len(parts) < 2:
        # Of a short page trafilatura keeps the words alone, on one line, unless it is told that short is enough.
        again = _extracted(tree, tables, min_chars=1)
        parts = again if _chars(again) >= SHORT_PAGE_KEPT * _chars(parts) else parts
    if not _holds_headings(tree, parts):
        # Without an element that holds the main text trafilatura gathers paragraphs, lists and tables, and no headings.
        again = _extracted(_in_article(tree), tables)
        same = _chars(again) >= SAME_TEXT * _chars(parts)
        parts = again if same and _holds_headings(tree, again) else parts
    builder = TextBuilder()
    if parts and len(headings) == 1 and not any(one_line(headings[0]) in part.finished()[0] for part in parts):
        builder.heading(headings[0], 1)
    for part in parts:
        builder.extend(*part.finished())
    # A page too short to have a main text is all main text.
    return builder.finished() if builder else (str(trafilatura.html2txt(tree)), ())


def _chars(parts: Sequence[TextBuilder]) -> int:
    return sum(map(len, parts)) + len(parts)


def _holds_headings(tree: lxml_html.HtmlElement, parts: Sequence[TextBuilder]) -> bool:
    """Whether any of the page's headings below the first is one of the parts; also if it has none."""
    headings = {one_line(heading) for heading in _headings(tree, *_SUBHEADINGS)}
    texts = (part.finished() for part in parts)
    marked = (
        text[slice(*blocks[0].inner)] for text, blocks in texts if len(blocks) == 1 and blocks[0].kind == "heading"
    )
    return not headings or not headings.isdisjoint(marked)


def _in_article(tree: lxml_html.HtmlElement) -> lxml_html.HtmlElement:
    """Return a copy of the page in which one element holds all of it but menus and footers."""
    copied = deepcopy(tree)
    body = copied.find("body")
    if body is not None:
        article = etree.SubElement(body, "article")
        article.extend([child for child in body if child is not article and child.tag not in _AROUND])
    return copied


def _extracted(
    tree: lxml_html.HtmlElement, tables: Sequence["_Table"], min_chars: int | None = None
) -> list[TextBuilder]:
    config = use_config()
    if min_chars is not None:
        config.set("DEFAULT", "MIN_EXTRACTED_SIZE", str(min_chars))
    found = trafilatura.bare_extraction(
        tree, favor_recall=True, include_comments=False, include_formatting=False, with_metadata=False, config=config
    )
    return list(_parts(found.body, list(tables))) if isinstance(found, Extraction) else []


@dataclass(frozen=True, slots=True)
class _Table:
    """A table as the page has it: its captions, and its rows of cells, what spans several of them in each.

    Attributes:
        captions: what names it, and what spans all columns above it.
        rows: those of names are joined into one.
        headed: the first row names the columns.
        texts: of all cells and captions.
    """

    captions: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    headed: bool
    texts: frozenset[str]

    @classmethod
    def of(cls, table: lxml_html.HtmlElement) -> "_Table":
        captions = [_inline(caption) for caption in table.iterchildren("caption")][:1]
        rows: list[tuple[str, ...]] = []
        names: list[list[str]] = []  # rows at the top that hold names alone, each over all that it spans
        grid = Grid()
        for row in table.iter("tr"):
            named: dict[int, str] = {}  # column -> text of the cell that spans it
            own = list(row.iterchildren("td", "th"))
            for cell in own:
                text = _inline(cell)
                columns = grid.cell(text, _span(cell, "colspan"), _span(cell, "rowspan"))
                named |= dict.fromkeys(columns, text)
            cells = grid.end_row()
            if len(own) == 1 and len(cells) > 1 and not rows:
                captions.append(cells[0])
            elif any(cells):
                of_names = row.find("td") is None or row.getparent().tag == "thead"
                if len(names) == len(rows) and len(set(cells)) > 1 and of_names:
                    names.append([named.get(column, cell) for column, cell in enumerate(cells)])
                rows.append(tuple(cells))
        texts = frozenset((*captions, *(cell for row in rows for cell in row)))
        names = names if len(names) < len(rows) else names[:1]
        joined = joined_names(names, range(len(names))) if len(names) > 1 else list(*rows[: len(names)])
        headed = bool(joined) and all(joined[1:])
        return cls(tuple(captions), (tuple(joined), *rows[len(names) :]) if headed else tuple(rows), headed, texts)

    def holds(self, cells: set[str]) -> bool:
        return len(cells & self.texts) >= SAME_CELLS * len(cells)

    def write(self, builder: TextBuilder) -> None:
        # As in Markdown: without a line below it, nothing in the text says that a row of words is a header.
        ruled = self.headed and len(self.rows) > 1
        header = 0 if ruled else header_row(self.rows)
        for caption in self.captions:
            builder.caption(caption)
        names: tuple[str, ...] = ()
        for place, row in enumerate(self.rows):
            builder.row(row, names, header=place == header, ruled=ruled)
            names = row if place == header else names


def _span(cell: lxml_html.HtmlElement, name: str) -> int:
    value = (cell.get(name) or "").strip()
    return max(int(value[:4]), 1) if value.isascii() and value.isdigit() else 1


def _parts(parent: etree._Element, tables: list[_Table], quotes: int = 0) -> Iterator[TextBuilder]:
    """Yield what stands below `parent`, in order: a paragraph, list or table each; tables as the page has them.

    Args:
        parent: what trafilatura found.
        tables: of the page; those that are yielded are taken out.
        quotes: how many quotations it stands in.
    """
    yield from _prose(_squeeze(parent.text), quotes)
    for element in parent:
        builder = TextBuilder()
        _write(element, tables, quotes, builder)
        if builder:
            yield builder
        yield from _prose(_squeeze(element.tail), quotes)


def _prose(text: str, quotes: int) -> Iterator[TextBuilder]:
    builder = TextBuilder()
    text = clean(text).strip()
    if quotes:
        builder.quote(text, depth=quotes - 1, marked=False)
    elif pairs := record_blocks(text):
        builder.extend(text, pairs)
    else:
        builder.paragraph(text)
    if builder:
        yield builder


def _write(element: etree._Element, tables: list[_Table], quotes: int, builder: TextBuilder) -> None:
    match element.tag:
        case "head":
            level = re.sub(r"\D", "", element.get("rend") or "") or "2"
            builder.heading(_inline(element), int(level[0]))
        case "list":
            _write_list(element, builder)
        case "table":
            _write_table(element, tables, builder)
        case "code" if language := element.get("lang"):
            _write_code(element.text or "", language, builder)
        case "quote" | "body" | "div" if len(element) or element.tag != "quote":
            for part in _parts(element, tables, quotes + (element.tag == "quote")):
                builder.extend(*part.finished())
        case tag:
            text = (element.text or "") if tag in {"code", "quote"} and len(element) == 0 else _inline(element)
            for part in _prose(text, quotes + (tag == "quote")):
                builder.extend(*part.finished())


def _write_code(text: str, language: str, builder: TextBuilder) -> None:
    if language == _PLAIN_TEXT:
        builder.extend(clean(text), guessed_blocks(clean(text)))
    else:
        builder.code(text, "" if language == "code" else language)


def _write_table(element: etree._Element, tables: list[_Table], builder: TextBuilder) -> None:
    rows = [[*map(_inline, row)] for row in element.iterchildren("row")]
    cells = {cell for row in rows for cell in row if cell}
    same = next((table for table in tables if cells and table.holds(cells)), None)
    if same is not None:
        tables.remove(same)
        same.write(builder)
        return
    for row in rows:
        filled = [place for place, cell in enumerate(row) if cell]
        builder.row(row[filled[0] : filled[-1] + 1] if filled else [])


def _write_list(element: etree._Element, builder: TextBuilder, depth: int = 0) -> None:
    """Add a list's items; a list inside an item is indented below it, a term stands before what defines it."""
    term = ""
    for number, item in enumerate(element, 1):
        text = _inline(item, without="list")
        is_term = (item.get("rend") or "").startswith("dt")
        if is_term and item is not element[-1]:
            term = f"{term}, {text}" if term and text else term or text
            continue
        if text:
            words = f"{term}: {text}" if term else text
            builder.item(words, depth=depth, number=number if element.get("rend") == "ol" else None)
            term = ""
        for inner in item.iterdescendants("list"):
            if next(inner.iterancestors("list")) is element:
                _write_list(inner, builder, depth + 1)


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
