"""Read dumps of Wikipedia and other wikis: each article a document.

Flow: open file -> **here** -> `wikitext.py` -> a stream of `Document`s. Never holds more than one page.

Articles are the pages of the main namespace. Redirects, talk, templates and files are counted in the report.
"""

from collections.abc import Iterator
from typing import BinaryIO
from urllib.parse import quote

from lxml import etree

from errors import UnreadableError
from index.documents.blobs import LeftOut
from index.documents.store import Document, Metadata
from index.documents.structure import Structure
from ingestion.reading import fields
from ingestion.reading.text_builder import TextBuilder
from ingestion.reading.wikitext import Prefixes, add_wikitext

_FILE, _CATEGORY = "6", "14"
_WIKITEXT = ("", "wikitext")


def read_mediawiki(stream: BinaryIO, doc_id: str) -> Iterator[Document | LeftOut | UnreadableError]:
    """Yield the articles, named after the file and their number in the wiki.

    Args:
        stream: at its beginning, decompressed.
        doc_id: the file.

    Raises:
        UnreadableError: at damage, after the articles before it.
    """
    base = ""
    prefixes = Prefixes()
    redirects = others = 0
    events = etree.iterparse(
        stream, events=("end",), tag=("{*}page", "{*}siteinfo"), resolve_entities=False, no_network=True, huge_tree=True
    )
    try:
        for _, element in events:
            if etree.QName(element).localname == "siteinfo":
                base = fields.web_address(_text(element, "base")) or ""
                prefixes = _prefixes(element)
            elif _text(element, "ns") not in ("", "0"):
                others += 1
            elif element.find("{*}redirect") is not None:
                redirects += 1
            else:
                yield _article(element, doc_id, base, prefixes)
            _forget(element)
    except etree.XMLSyntaxError as error:
        raise UnreadableError(f"The dump is damaged or cut short: {error.msg}.", "Download it again.") from error
    if redirects or others:
        reason = f"Not read within it: {redirects:,} redirects, {others:,} pages that are not articles."
        yield LeftOut(doc_id, reason)


def _article(page: etree._Element, doc_id: str, base: str, prefixes: Prefixes) -> Document | UnreadableError:
    title, number = _text(page, "title"), _text(page, "id")
    page_id = f"{doc_id}#{int(number):06d}" if number.isdigit() else f"{doc_id}#{title}"
    revision = page.find("{*}revision")
    if revision is None or _text(revision, "model") not in _WIKITEXT:
        return UnreadableError(f"{page_id}: The article is not in wikitext.", "Remove it from the dump.", page_id)
    builder = TextBuilder()
    builder.heading(title, 1)
    empty = len(builder)
    categories = add_wikitext(builder, _text(revision, "text"), prefixes)
    if len(builder) == empty:
        return UnreadableError(f"{page_id}: The article holds no text.", "Remove it from the dump.", page_id)
    text, blocks = builder.finished()
    metadata: Metadata = fields.metadata({"date": _text(revision, "timestamp"), "categories": categories}, without=())
    url = f"{base.rpartition('/')[0]}/{quote(title.replace(' ', '_'), safe=_SAFE)}" if base and title else None
    return Document(
        page_id,
        fields.title(title) or page_id,
        text,
        url=fields.web_address(url),
        metadata=metadata,
        source=doc_id,
        structure=Structure(blocks),
    )


_SAFE = "/:,()!'*@$;~"


def _prefixes(siteinfo: etree._Element) -> Prefixes:
    """Return what links to files and categories begin with in this wiki's language."""
    named = {_FILE: {"file", "image"}, _CATEGORY: {"category"}}
    for namespace in siteinfo.iter("{*}namespace"):
        if (key := namespace.get("key")) in named and namespace.text:
            named[key].add(namespace.text.casefold())
    return Prefixes(frozenset(named[_FILE]), frozenset(named[_CATEGORY]))


def _text(parent: etree._Element, name: str) -> str:
    return parent.findtext(f"{{*}}{name}") or ""


def _forget(element: etree._Element) -> None:
    """Free a page and what stands before it."""
    element.clear()
    parent = element.getparent()
    while parent is not None and (before := element.getprevious()) is not None:
        parent.remove(before)
