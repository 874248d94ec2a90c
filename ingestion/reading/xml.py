"""Read XML: books and articles in DocBook, papers in JATS, and any other XML as the text of its elements.

Flow: file bytes -> **here** -> `markup.py` -> `Document`. Pure: nothing outside the file is read, neither DTDs nor
entities; of the entities that a file defines itself the plain ones stand in the text.

Names of elements that mean the same in both vocabularies, and in others such as TEI, are read alike. Where a file has
neither paragraphs nor sections, it is data: elements that hold text alone are `name: text` lines, and several of them
in elements that repeat are rows.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from html.entities import html5
from typing import Any

from lxml import etree

from errors import UnreadableError
from index.documents.store import Document
from ingestion.reading import fields
from ingestion.reading.marks import lowered, raised
from ingestion.reading.markup import Grid, Items, finished, table
from ingestion.reading.text import one_line
from ingestion.reading.text_builder import TextBuilder

MAX_ENTITY_CHARS = 1000
_REMEDY = "Repair it, or rename it to .txt."
# What may be defined outside the file.
_UNDECLARED = frozenset(("ERR_UNDECLARED_ENTITY", "WAR_UNDECLARED_ENTITY", "NS_ERR_UNDEFINED_NAMESPACE"))
_SECTIONS = frozenset(
    "article book chapter part appendix preface section sect1 sect2 sect3 sect4 sect5 simplesect refentry "
    "refsect1 refsect2 refsect3 refsection refsynopsisdiv sec abstract ack app glossary bibliography colophon "
    "dedication acknowledgements reference set topic div notes bio fn-group ref-list trans-abstract sidebar "
    "task concept".split()
)
_TITLES = frozenset("title head article-title subtitle refentrytitle trans-title".split())
_PARAGRAPHS = frozenset("para simpara p ab l shortdesc attrib license-p".split())
_UNKNOWN = re.compile(rb"<!\[CDATA\[(?:.*?\]\]>|.*+)|&([A-Za-z][\w.-]{0,100});", re.S)
_DECLARED = re.compile(rb"<!ENTITY\s+([A-Za-z][\w.-]{0,100})\s")
_XML_OWN = frozenset((b"lt", b"gt", b"amp", b"quot", b"apos"))
_LISTS = frozenset(
    "itemizedlist orderedlist list ul ol procedure substeps steps calloutlist simplelist qandaset".split()
)
_ORDERED = frozenset("orderedlist ol procedure substeps steps".split())
_ITEMS = frozenset("listitem list-item li step callout member item qandaentry stepalternatives".split())
_DEFINITIONS = frozenset("variablelist def-list dl glosslist segmentedlist".split())
_ENTRIES = frozenset("varlistentry def-item glossentry dlentry".split())
_TERMS = frozenset("term glossterm dt".split())
_MEANINGS = frozenset("def glossdef dd".split())
_CODE = frozenset(
    "programlisting screen literallayout synopsis code-block preformat codeblock classsynopsis funcsynopsisinfo "
    "programlistingco screenco address".split()
)
_ADMONITIONS = frozenset("note tip warning caution important danger".split())
_QUOTES = frozenset("blockquote disp-quote epigraph verse-group".split())
_TABLES = frozenset("table informaltable".split())
_CAPTIONS = frozenset("caption textobject alt alt-text".split())
_FORMULAS = frozenset("disp-formula equation informalequation disp-formula-group".split())
# Facts about a document that are not part of its text; `_front` takes some of them.
_LEFT_OUT = frozenset(
    "indexterm remark processing-instruction journal-meta permissions article-categories pub-history history "
    "pub-date article-id volume issue elocation-id self-uri funding-group counts custom-meta-group "
    "contrib-group aff author-notes related-article toc index graphic imageobject inline-graphic object-id "
    "copyright legalnotice pubdate revhistory authorgroup teiHeader colspec spanspec imagedata videodata "
    "audiodata beginpage sort-key".split()
)
_FRONT = frozenset("info refmeta front front-stub article-meta title-group".split())
_INLINE_LEFT_OUT = frozenset(("indexterm", "remark", "graphic", "inline-graphic", "object-id"))
_REFERENCES = frozenset(("xref", "link", "ref", "ptr", "footnoteref"))
_SCRIPTS = {"msup": ("sup",), "msub": ("sub",), "msubsup": ("sub", "sup")}
_ROLES = (
    _SECTIONS | _TITLES | _PARAGRAPHS | _LISTS | _DEFINITIONS | _CODE | _ADMONITIONS | _QUOTES | _TABLES | _FORMULAS
)
# Roots of documents; others are so by their paragraphs.
_DOCUMENT_ROOTS = frozenset("article book chapter section refentry set part TEI".split())


def read_xml(data: bytes, doc_id: str) -> Document:
    """Return the document; its title is its own, else its first heading, else the file's name.

    Raises:
        UnreadableError: no XML, damaged, nested more than 256 deep, or without text.
    """
    root = _parsed(data)
    builder = TextBuilder()
    if _is_document(root):
        _Document(builder, root).write()
        title = next(_titles(root), "")
    else:
        _data(builder, root)
        title = ""
    return finished(builder, doc_id, title, _metadata(root))


def _parsed(data: bytes) -> Any:
    """Return the root. What is only defined elsewhere, entities and prefixes, is not a damage; all else is."""
    data = data.lstrip()
    recover = False
    for _ in range(3):
        parser = etree.XMLParser(
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
            recover=recover,
        )
        try:
            tree = etree.fromstring(data, parser).getroottree()
        except (etree.XMLSyntaxError, ValueError) as error:
            kinds = {entry.type_name for entry in parser.error_log}
            if not kinds or kinds - _UNDECLARED:
                raise UnreadableError(f"The XML is damaged: {error}.", _REMEDY) from error
            declared = {*_DECLARED.findall(data)} | _XML_OWN
            data = _UNKNOWN.sub(partial(_as_text, declared), data)
            recover = "NS_ERR_UNDEFINED_NAMESPACE" in kinds
        else:
            _fill_entities(tree)
            return tree.getroot()
    raise UnreadableError("The XML is damaged.", _REMEDY)


def _as_text(declared: Collection[bytes], found: re.Match[bytes]) -> bytes:
    """Return a reference to an entity as the character that HTML has for it, or as text; all else as it stands."""
    if not found[1] or found[1] in declared:
        return found[0]
    known = html5.get(f"{found[1].decode('ascii')};")
    return "".join(f"&#{ord(c)};" for c in known).encode() if known else b"&amp;" + found[1] + b";"


def _fill_entities(tree: Any) -> None:
    """Replace entities by what the file itself, or HTML, says that they stand for, if that is plain text."""
    dtd = tree.docinfo.internalDTD
    known = {one.name: one.content or "" for one in dtd.iterentities()} if dtd is not None else {}
    for entity in list(tree.iter(etree.Entity)):
        own = known.get(entity.name, "")
        plain = own if own and not set("<&%") & set(own) and len(own) <= MAX_ENTITY_CHARS else ""
        text = plain or html5.get(f"{entity.name};", "") or _character(entity.name) or entity.text
        before, parent = entity.getprevious(), entity.getparent()
        tail = text + (entity.tail or "")
        if before is not None:
            before.tail = (before.tail or "") + tail
        else:
            parent.text = (parent.text or "") + tail
        entity.tail = None
        parent.remove(entity)


def _character(name: str) -> str:
    found = re.fullmatch(r"#(?:x([0-9a-fA-F]{1,6})|(\d{1,7}))", name)
    code = int(found[1], 16) if found and found[1] else int(found[2]) if found else 0
    return chr(code) if 0 < code < 0x110000 else ""


def _name(element: Any) -> str:
    tag = element.tag
    return re.split("[}:]", tag)[-1] if isinstance(tag, str) else ""  # a prefix may be unknown


def _is_front(element: Any) -> bool:
    """Whether an element says something about the one that it stands in; DocBook 4 has `chapterinfo` and others."""
    name = _name(element)
    return name in _FRONT or (name.endswith("info") and len(element) > 0 and name not in _CODE)


def _is_document(root: Any) -> bool:
    return _name(root) in _DOCUMENT_ROOTS or any(_name(element) in ("para", "simpara", "p") for element in root.iter())


def _titles(root: Any) -> Iterator[str]:
    """Yield a document's own titles: beside its text, or in what is said about it."""
    for element in (root, *(child for child in root if _is_front(child))):
        for path in ("title", "article-title", "refentrytitle"):
            for child in element:
                if _name(child) == path and (text := _words(child)):
                    yield text
    for meta in root.iter():
        if _name(meta) in ("title-group", "titleStmt"):
            yield from (
                text for child in meta if _name(child) in ("article-title", "title") and (text := _words(child))
            )


def _metadata(root: Any) -> dict[str, Any]:
    """Return the authors and keywords that the front of a JATS or DocBook document names."""
    authors, keywords = [], []
    fronts = [child for child in root if _is_front(child)]
    for element in (one for front in fronts for one in front.iter()):
        name = _name(element)
        if name == "contrib" or (name == "author" and len(element)):
            given = next(
                (_words(one) for one in element.iter() if _name(one) in ("given-names", "firstname", "personname")), ""
            )
            family = next((_words(one) for one in element.iter() if _name(one) == "surname"), "")
            if words := f"{given} {'' if family in given else family}".strip():
                authors.append(words)
        elif name in ("kwd", "keyword"):
            keywords.append(_words(element))
    return fields.metadata({"authors": authors, "keywords": keywords}, without=())


class _Document:
    """Writes a document out, in order."""

    def __init__(self, builder: TextBuilder, root: Any) -> None:
        self._builder = builder
        self._root = root
        self._level = 0
        self._said = ""
        self._title: tuple[str, int] = ("", 0)
        self._with_blocks: set[Any] = set()  # elements that hold blocks
        for block in (element for element in root.iter() if _name(element) in _BLOCKS):
            for outer in block.iterancestors():
                if outer in self._with_blocks:
                    break
                self._with_blocks.add(outer)

    def write(self) -> None:
        """Write the title and all that follows."""
        if _name(self._root) not in _SECTIONS:
            self._level = 1
        self._element(self._root, 0)

    def _children(self, parent: Any, depth: int, item: Items | None = None, skip: Sequence[Any] = ()) -> None:  # noqa: C901, PLR0912 - one branch a role
        """Write what stands below an element: blocks, and text between them as paragraphs."""
        pending: list[str] = [parent.text or ""]
        for child in parent:
            if child in skip:
                pending.append(child.tail or "")
                continue
            if _name(child) in _ROLES or child in self._with_blocks:
                self._paragraph("".join(pending), item)
                pending = []
                if item and _name(child) in _PARAGRAPHS and child not in self._with_blocks:
                    item.paragraph(_words(child))
                elif item and _name(child) in _PARAGRAPHS:
                    self._children(child, depth, item)
                elif item and _name(child) in _TITLES:
                    item.paragraph(_words(child))
                else:
                    if item:
                        item.begin()
                    self._element(child, depth)
            elif _name(child) in _LEFT_OUT:
                pass
            elif _is_inline(parent) or _name(parent) in _PARAGRAPHS:
                pending.append(_inner(child))
            else:
                self._paragraph("".join(pending), item)
                pending = []
                if item:
                    item.paragraph(_words(child))
                else:
                    self._element(child, depth)
            pending.append(child.tail or "")
        self._paragraph("".join(pending), item)
        if item:
            item.begin()

    def _paragraph(self, text: str, item: Items | None = None) -> None:
        words = one_line(text)
        if item and words:
            item.paragraph(words)
        elif words:
            self._builder.paragraph(self._said + words)
            self._said = ""

    def _element(self, element: Any, depth: int) -> None:  # noqa: C901, PLR0912, PLR0915 - one branch a role
        name = _name(element)
        if name in _LEFT_OUT:
            return
        if name in _TITLES:
            heading = _words(element), self._level
            if heading != self._title:  # some documents give theirs twice
                self._builder.heading(heading[0], max(self._level, 1))
                self._title = heading
        elif name == "bridgehead":
            self._builder.heading(_words(element), self._level + 1)
        elif _is_front(element):
            self._front(element, depth)
        elif name == "include":
            self._builder.pair("include", element.get("href", ""))
        elif name in _SECTIONS:
            self._section(element, depth)
        elif name in _CODE or (name == "code" and "\n" in (element.text or "")):
            self._builder.code(_inner(element), element.get("language") or element.get("outputclass") or "")
        elif name in _LISTS:
            self._list(element, depth)
        elif name in _DEFINITIONS:
            self._definitions(element, depth)
        elif name in _TABLES or name == "table-wrap":
            self._table(element)
        elif name in _ADMONITIONS or name == "formalpara":
            title = next((_words(child) for child in element if _name(child) == "title"), name.capitalize())
            self._said = f"{title}: "
            self._children(element, depth, skip=[child for child in element if _name(child) == "title"])
            self._said = ""
        elif name in _QUOTES:
            for child in element if len(element) else (element,):
                self._builder.quote(_words(child))
        elif name in _CAPTIONS:
            self._builder.caption(_words(element))
        elif name in ("fig", "figure", "informalfigure", "mediaobject", "example", "informalexample"):
            self._figure(element, depth)
        elif name == "fn":
            self._paragraph(_words(element))
        elif name in _FORMULAS:
            self._builder.paragraph(_formula(element))
        elif name in ("ref", "biblioentry", "bibliomixed"):
            label = next((_words(child) for child in element if _name(child) == "label"), "")
            words = " ".join(_words(child) for child in element if _name(child) != "label") or _words(element)
            number = int(label.strip("[]().")) if label.strip("[]().").isdecimal() and len(label) < 8 else None
            self._builder.item(words, number=number)
        elif name == "refnamediv":
            names = ", ".join(_words(child) for child in element if _name(child) in ("refname", "refdescriptor"))
            purpose = " ".join(_words(child) for child in element if _name(child) == "refpurpose")
            self._builder.paragraph(f"{names} - {purpose}" if purpose else names)
        elif name in ("cmdsynopsis", "funcsynopsis"):
            self._builder.code(
                "\n".join(filter(None, (_words(child) for child in element))) if name[0] == "f" else _words(element)
            )
        elif element in self._with_blocks or not (_is_inline(element) or name in _PARAGRAPHS):
            self._children(element, depth)
        else:
            self._paragraph(_inner(element))

    def _front(self, element: Any, depth: int) -> None:
        """Write the title and the abstracts out of what is said about a document."""
        for child in element:
            name = _name(child)
            if name in _TITLES or name in ("abstract", "trans-abstract") or _is_front(child):
                self._element(child, depth)

    def _section(self, element: Any, depth: int) -> None:
        name = _name(element)
        self._level += 1
        titled = any(_name(child) in _TITLES or _is_front(child) for child in element)
        if not titled and name in (
            "abstract",
            "ack",
            "glossary",
            "bibliography",
            "ref-list",
            "appendix",
            "refsynopsisdiv",
        ):
            titles = {"ack": "Acknowledgements", "ref-list": "References", "refsynopsisdiv": "Synopsis"}
            self._builder.heading(titles.get(name, name.capitalize()), self._level)
        self._children(element, depth)
        self._level -= 1

    def _list(self, element: Any, depth: int) -> None:
        kind = element.get("list-type", "")
        ordered = _name(element) in _ORDERED or kind in ("order", "arabic")
        number = 0
        for child in element:
            if _name(child) in _ITEMS:
                number += 1
                label = [one for one in child if _name(one) == "label"]
                item = Items(self._builder, depth, number if ordered else None)
                self._children(child, depth + 1, item, skip=label)
            elif _name(child) == "title":
                self._builder.caption(_words(child))
            else:
                self._element(child, depth)

    def _definitions(self, element: Any, depth: int) -> None:
        for entry in element:
            if _name(entry) in _ENTRIES:
                terms = [child for child in entry if _name(child) in _TERMS]
                item = Items(self._builder, depth, term=", ".join(map(_words, terms)))
                for child in entry:
                    if child not in terms:
                        self._children(child, depth + 1, item)
                item.begin()
            elif _name(entry) in _TERMS:
                meaning = entry.getnext()
                item = Items(self._builder, depth, term=_words(entry))
                if meaning is not None and _name(meaning) in _MEANINGS:
                    self._children(meaning, depth + 1, item)
                item.begin()
            elif _name(entry) not in _MEANINGS:
                self._element(entry, depth)

    def _figure(self, element: Any, depth: int) -> None:
        label = next((_words(child) for child in element if _name(child) == "label"), "")
        for child in element:
            if _name(child) == "title":
                self._builder.caption(f"{label} {_words(child)}")
            elif _name(child) == "caption":
                title = next((_words(one) for one in child if _name(one) == "title"), "")
                self._builder.caption(f"{label} {title}")
                self._children(child, depth, skip=[one for one in child if _name(one) == "title"])
            elif _name(child) not in ("label", "info"):
                self._element(child, depth)

    def _table(self, element: Any) -> None:
        caption = " ".join(_words(child) for child in element if _name(child) in ("title", "caption", "label", "info"))
        grids: list[Any] = [one for one in element.iter() if _name(one) in ("tgroup", "table", "informaltable")]
        groups = [one for one in grids if _name(one) == "tgroup"] or grids or [element]
        for place, group in enumerate(groups):
            rows = [row for row in group.iter() if _name(row) in ("row", "tr")]
            own = [row for row in rows if next((up for up in row.iterancestors() if up in groups), group) is group]
            grid, headers = Grid(), 0
            columns = {
                one.get("colname"): at for at, one in enumerate(group.iterchildren("{*}colspec")) if one.get("colname")
            }
            for row in own:
                for cell in row:
                    if _name(cell) in ("entry", "td", "th", "entrytbl"):
                        grid.cell(
                            _words(cell),
                            _columns(cell, columns),
                            _number(cell, "rowspan", 1) + _number(cell, "morerows", 0),
                        )
                grid.end_row()
                parent = _name(row.getparent())
                headed = parent == "thead" or (
                    parent != "tbody"
                    and headers == len(grid.rows) - 1
                    and len(row)
                    and all(_name(cell) == "th" for cell in row)
                )
                headers += bool(headed and any(grid.rows[-1:] and grid.rows[-1]))
            table(self._builder, grid.rows, headers if headers < len(grid.rows) else 0, caption if not place else "")
        for foot in (one for one in element if _name(one) == "table-wrap-foot"):
            self._children(foot, 0)


def _columns(cell: Any, columns: dict[str, int]) -> int:
    first, last = columns.get(cell.get("namest", "")), columns.get(cell.get("nameend", ""))
    if first is not None and last is not None:
        return max(last - first + 1, 1)
    return _number(cell, "colspan", 1)


def _number(cell: Any, name: str, otherwise: int) -> int:
    value = (cell.get(name) or "").strip()
    return int(value[:4]) if value.isascii() and value.isdigit() else otherwise


def _formula(element: Any) -> str:
    """Return a formula once: as TeX, if it is given so."""
    for one in element.iter():
        if _name(one) == "tex-math" and one.text:
            body = one.text.partition(r"\begin{document}")[2].rpartition(r"\end{document}")[0]
            return one_line(body or one.text)
    return _words(element)


def _is_inline(element: Any) -> bool:
    """Whether text stands beside the elements in an element, so that they are parts of sentences."""
    return bool((element.text or "").strip() or any((child.tail or "").strip() for child in element)) or not len(
        element
    )


def _inner(element: Any) -> str:
    """Return all text below an element, as it stands."""
    parts = [element.text or ""]
    for child in element:
        if _name(child) not in _INLINE_LEFT_OUT:
            parts.append(_placed(child, _formula(child) if _name(child) == "inline-formula" else _inner(child)))
            if _name(child) in _APART:
                parts.append(" ")
        parts.append(child.tail or "")
    return "".join(parts)


def _placed(element: Any, text: str) -> str:
    """Return the text of an element, raised or lowered as it says; none of what refers to a note."""
    parent = element.getparent()
    name = _name(element)
    if _name(parent) in _SCRIPTS:
        name = dict(zip(parent[1:], _SCRIPTS[_name(parent)], strict=False)).get(element, "")
    if name == "hi":
        name = (element.get("rend") or "").removesuffix("script")[:3]
    if name in ("sup", "superscript"):
        refers = _name(parent) in _REFERENCES and len(parent) == 1 and not (parent.text or element.tail or "").strip()
        refers |= len(element) > 0 and all(_name(one) in _REFERENCES for one in element)
        return "" if refers else raised(text)
    return lowered(text) if name in ("sub", "subscript") else text


def _words(element: Any) -> str:
    return one_line(_inner(element))


_BLOCKS = _ROLES - _TITLES - {"address", "code", "abstract", "note"} | {"table-wrap", "fig"}
# Between these and what follows stands a space, though none is written.
_APART = (_PARAGRAPHS | _ITEMS | _TITLES).union(
    "surname given-names year source label entry td th row tr name string-name volume fpage lpage pub-id arg".split()
)


def _data(builder: TextBuilder, root: Any) -> None:
    """Write what is not a document: leaves with their names, rows where elements repeat."""
    stack = [root]
    while stack:
        element = stack.pop()
        if not len(element):
            builder.pair(_key(element), element.text or "")
        elif _is_inline(element):
            builder.paragraph(_words(element))
        elif _is_record(element):
            leaves = [child for child in element if (child.text or "").strip()]
            builder.record([_key(leaf) for leaf in leaves], [leaf.text for leaf in leaves])
        else:
            stack += reversed(element)


def _is_record(element: Any) -> bool:
    """Whether an element holds leaves alone, of different names, and stands beside another one of its name."""
    keys = [_key(child) for child in element]
    beside = [one for one in (element.getprevious(), element.getnext()) if one is not None]
    return (
        len(keys) > 1
        and len(set(keys)) == len(keys)
        and not any(len(child) for child in element)
        and any(one.tag == element.tag for one in beside)
    )


def _key(element: Any) -> str:
    return element.get("name") or element.get("key") or _name(element)
