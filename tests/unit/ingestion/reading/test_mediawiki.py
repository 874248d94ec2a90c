"""Dumps of wikis: articles out of wikitext."""

import bz2
import random
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from errors import UnreadableError
from index.documents.blobs import LeftOut
from index.documents.store import Document
from index.documents.structure import check_blocks
from ingestion.reading.formats import Item, read_file
from ingestion.reading.options import ReadOptions

OPTIONS = ReadOptions(max_bytes=2_000_000, max_chars=1_000_000)
INFO = (
    "<siteinfo><base>https://de.example.org/wiki/Haupt</base><namespaces><namespace key='6'>Datei</namespace>"
    "<namespace key='14'>Kategorie</namespace></namespaces></siteinfo>"
)

Items = list[Item]


def page(text: str, title: str = "Kleiner Hafen", number: int = 7, ns: int = 0, more: str = "") -> str:
    revision = f"<revision><timestamp>2025-06-02T10:00:00Z</timestamp><text>{escape(text)}</text></revision>"
    return f"<page><title>{title}</title><ns>{ns}</ns><id>{number}</id>{more}{revision}</page>"


def read(folder: Path, *pages: str, name: str = "wiki.xml") -> Items:
    data = f'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/">{INFO}{"".join(pages)}</mediawiki>'.encode()
    (folder / name).write_bytes(bz2.compress(data) if name.endswith(".bz2") else data)
    return list(read_file(folder / name, name, OPTIONS))


def article(folder: Path, text: str) -> Document:
    (found,) = (item for item in read(folder, page(text)) if isinstance(item, Document))
    check_blocks(found.structure.blocks, found.text)
    return found


def blocks(folder: Path, text: str) -> list[tuple[str, str]]:
    """Return (kind, words) of each block below the title."""
    found = article(folder, text)
    return [(block.kind, found.text[slice(*block.inner)]) for block in found.structure.blocks[1:]]


@pytest.mark.promise("G27")
@pytest.mark.parametrize("name", ["wiki.xml", "wiki.xml.bz2"])
def test_articles_are_documents_and_the_rest_is_counted(tmp_path: Path, name: str) -> None:
    first, second, left_out = read(
        tmp_path,
        page("Boats lie here."),
        page("Talk.", number=8, ns=1),
        page("#REDIRECT [[X]]", number=9, more='<redirect title="X"/>'),
        page("Ships lie there.", "Großer Hafen", 10),
        name=name,
    )

    assert isinstance(first, Document)
    assert isinstance(second, Document)
    assert isinstance(left_out, LeftOut)
    assert (first.doc_id, first.title) == (f"{name}#000007", "Kleiner Hafen")
    assert (first.source, first.content_type) == (name, "mediawiki")
    assert first.text == "# Kleiner Hafen\n\nBoats lie here."
    assert second.url == "https://de.example.org/wiki/Gro%C3%9Fer_Hafen"
    assert "1 redirects, 1 pages" in left_out.reason


def test_categories_are_metadata_and_no_text(tmp_path: Path) -> None:
    found = article(tmp_path, "Boats.\n\n[[Kategorie:Hafen]] [[Category:Sea|x]]")

    assert found.metadata["categories"] == ["Hafen", "Sea"]
    assert found.text.endswith("Boats.")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A '''bold''' and ''slanted'' word.", "A bold and slanted word."),
        ("See [[Tide]] and [[Tide|the tides]].", "See Tide and the tides."),
        ("At [https://example.org the site] and [https://example.org].", "At the site and ."),
        ("One<ref name=a>Note.</ref> two<ref name=a /> three.<!-- not\nthis -->", "One two three."),
        ("It is {{convert|5|km|mi}} away, {{lang|fr|la mer}}.", "It is 5 km away, la mer."),
        ("Gone{{citation needed|date=May}} is {{unknown|{{nested|a=b}}}} that.", "Gone is that."),
        ("As <nowiki>[[it is]]</nowiki> &amp; stays.", "As [[it is]] & stays."),
        ("Where <math>a_{i}^{2}</math> grows.", "Where a_{i}^{2} grows."),
        ("Unclosed [[link and {{template stay.", "Unclosed [[link and {{template stay."),
        ("Two\nlines<br>of prose.", "Two lines of prose."),
    ],
)
def test_prose_loses_its_markup(tmp_path: Path, text: str, words: str) -> None:
    assert blocks(tmp_path, text) == [("paragraph", words)]


def test_headings_and_lists(tmp_path: Path) -> None:
    found = article(tmp_path, "== Fleet ==\n* boat\n** oar\n# one\n# two\n=== Crew ===\nText.")

    assert "## Fleet\n\n- boat\n  - oar\n1. one\n2. two\n\n### Crew" in found.text
    assert [block.kind for block in found.structure.blocks[1:]] == ["heading", *["item"] * 4, "heading", "paragraph"]


def test_cells_that_span_rows_and_columns(tmp_path: Path) -> None:
    table = (
        '{|\n! rowspan="2" | Boat !! colspan=2 | Seats\n|-\n! Sail !! Oar\n|-\n'
        "| rowspan=2 | Gannet || 4 || 6\n|-\n| 5\n| 7\n|}"
    )
    document = article(tmp_path, table)
    rows = [block for block in document.structure.blocks if block.kind == "row" and block.cells and not block.header]

    assert [[document.text[slice(*cell)] for cell in row.cells] for row in rows[-2:]] == [
        ["Gannet", "4", "6"],
        ["Gannet", "5", "7"],
    ]
    assert rows[-1].columns == ("Boat", "Seats Sail", "Oar")


def test_a_table_has_rows_with_columns(tmp_path: Path) -> None:
    table = (
        '{| class="wikitable"\n|+ Fleet\n! Boat !! Seats\n|-\n| style="x" | [[Gannet|The Gannet]] || {{nowrap|4}}\n|}'
    )
    found = article(tmp_path, f"Before.\n{table}\nAfter.")

    rows = [block for block in found.structure.blocks if block.kind == "row"]
    assert [found.text[slice(*cell)] for cell in rows[1].cells] == ["The Gannet", "4"]
    assert rows[0].header
    assert rows[1].columns == ("Boat", "Seats")
    assert [kind for kind, _ in blocks(tmp_path, table)] == ["caption", "row", "row"]


def test_a_box_of_facts_becomes_pairs(tmp_path: Path) -> None:
    box = "{{Infobox harbour\n| name = Ness\n| built_in = [[1984]]\n| image = a.jpg\n| owner =\n}}\nText."

    assert blocks(tmp_path, box) == [("pair", "name: Ness"), ("pair", "built in: 1984"), ("paragraph", "Text.")]


def test_captions_code_and_quotations(tmp_path: Path) -> None:
    code = '<syntaxhighlight lang="sh">\nhire --all\n</syntaxhighlight>'
    text = f"[[Datei:a.jpg|thumb|200px|A ''boat'']]\n{code}\n{{{{Quote|They said.}}}}"

    assert blocks(tmp_path, text) == [("caption", "A boat"), ("code", "hire --all"), ("quote", "> They said.")]


def test_any_wikitext_is_tiled(tmp_path: Path) -> None:
    chance = random.Random(3)
    tokens = [
        "{{", "}}", "[[", "]]", "{|", "|}", "|-", "|", "||", "!", "!!", "\n", "\n", "==", "*", "#", "word ", "<ref>",
        "</ref>", "<nowiki>", "<pre>", "</pre>", "<!--", "'''", "Infobox", "=", "File:x", "[http://a b]",
        "\ue000" "0\ue001",
    ]  # fmt: skip
    for _ in range(300):
        text = "Words. " + "".join(chance.choices(tokens, k=40))
        article(tmp_path, text)


@pytest.mark.parametrize("token", ["{{", "[[", "{|\n", "<ref>", "<!--", "'''", "{{a|", "[[File:", "=="])
def test_markup_that_is_never_closed_takes_no_time(tmp_path: Path, token: str) -> None:
    assert "Words" in article(tmp_path, "Words. " + token * 20_000).text


def test_a_damaged_dump_keeps_the_articles_before(tmp_path: Path) -> None:
    data = f"<mediawiki>{INFO}{page('Boats.')}<page><title>x</mediawiki>"
    (tmp_path / "wiki.xml").write_text(data)
    items = read_file(tmp_path / "wiki.xml", "wiki.xml", OPTIONS)

    assert isinstance(next(items), Document)
    with pytest.raises(UnreadableError, match="damaged"):
        next(items)


def test_entities_are_not_expanded(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("Secret.")
    kinds = f'<!DOCTYPE mediawiki [<!ENTITY b SYSTEM "file://{tmp_path}/secret.txt">]>'
    (tmp_path / "wiki.xml").write_text(f"<mediawiki>{page('Words BBB.')}</mediawiki>".replace("BBB", "&b;"))
    with_entity = (tmp_path / "wiki.xml").read_text().replace("<mediawiki>", f"<mediawiki>{INFO}")
    (tmp_path / "wiki.xml.bz2").write_bytes(bz2.compress(f"{kinds}{with_entity}".encode()))

    found = list(read_file(tmp_path / "wiki.xml.bz2", "wiki.xml.bz2", OPTIONS))

    assert not any("Secret" in item.text for item in found if isinstance(item, Document))


def test_other_xml_is_not_taken_for_a_dump(tmp_path: Path) -> None:
    (tmp_path / "pom.xml").write_text("<?xml version='1.0'?><project><name>Tern</name></project>")

    (document,) = read_file(tmp_path / "pom.xml", "pom.xml", OPTIONS)

    assert isinstance(document, Document)
    assert document.content_type == "xml"
