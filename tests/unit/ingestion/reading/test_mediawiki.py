"""Dumps of wikis: articles out of wikitext."""

import bz2
import random
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from index.documents.store import Document
from tests.fakes.readings import Items, documents, read_all, refusals, reports

INFO = (
    "<siteinfo><base>https://de.example.org/wiki/Haupt</base><namespaces><namespace key='6'>Datei</namespace>"
    "<namespace key='14'>Kategorie</namespace></namespaces></siteinfo>"
)


def page(text: str, title: str = "Kleiner Hafen", number: int = 7, ns: int = 0, more: str = "") -> str:
    revision = f"<revision><timestamp>2025-06-02T10:00:00Z</timestamp><text>{escape(text)}</text></revision>"
    return f"<page><title>{title}</title><ns>{ns}</ns><id>{number}</id>{more}{revision}</page>"


def read(folder: Path, *pages: str, name: str = "wiki.xml") -> Items:
    data = f'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/">{INFO}{"".join(pages)}</mediawiki>'.encode()
    return read_all(folder, name, bz2.compress(data) if name.endswith(".bz2") else data)


def article(folder: Path, text: str) -> Document:
    (found,) = documents(read(folder, page(text))).values()
    return found


@pytest.mark.promise("G27")
@pytest.mark.parametrize("name", ["wiki.xml", "wiki.xml.bz2"])
def test_articles_are_documents_and_the_rest_is_counted(tmp_path: Path, name: str) -> None:
    found = read(
        tmp_path,
        page("Boats lie here."),
        page("Talk.", number=8, ns=1),
        page("#REDIRECT [[X]]", number=9, more='<redirect title="X"/>'),
        page("Ships lie there.", "Großer Hafen", 10),
        name=name,
    )

    first, second = documents(found).values()
    assert (first.doc_id, first.title) == (f"{name}#000007", "Kleiner Hafen")
    assert (first.source, first.content_type) == (name, "mediawiki")
    assert first.text == "# Kleiner Hafen\n\nBoats lie here."
    assert second.url == "https://de.example.org/wiki/Gro%C3%9Fer_Hafen"
    assert "1 redirects, 1 pages" in reports(found)


def test_categories_are_metadata_and_no_text(tmp_path: Path) -> None:
    found = article(tmp_path, "Boats.\n\n[[Kategorie:Hafen]] [[Category:Sea|x]]")

    assert found.metadata["categories"] == ["Hafen", "Sea"]
    assert found.text.endswith("Boats.")


TABLE = '{| class="wikitable"\n|+ Fleet\n! Boat !! Seats\n|-\n| style="x" | [[Gannet|The Gannet]] || {{nowrap|4}}\n|}'
SPANNING = (
    '{|\n! rowspan="2" | Boat !! colspan=2 | Seats\n|-\n! Sail !! Oar\n|-\n'
    "| rowspan=2 | Gannet || 4 || 6\n|-\n| 5\n| 7\n|}"
)
CODE = '<syntaxhighlight lang="sh">\nhire --all\n</syntaxhighlight>'


@pytest.mark.parametrize(
    ("text", "shown"),
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
        ("== Fleet ==\n* boat\n** oar\n# one\n# two\n=== Crew ===\nText.",
         "## Fleet\n\n- boat\n  - oar\n1. one\n2. two\n\n### Crew\n\nText."),
        (f"Before.\n{TABLE}\nAfter.", "Before.\n\nFleet\nBoat | Seats\n--- | ---\nThe Gannet | 4\n\nAfter."),
        (SPANNING, "| Boat | Seats |  |\nBoat | Sail | Oar\n--- | --- | ---\nGannet | 4 | 6\nGannet | 5 | 7"),
        ("{{Infobox harbour\n| name = Ness\n| built_in = [[1984]]\n| image = a.jpg\n| owner =\n}}\nText.",
         "name: Ness\nbuilt in: 1984\n\nText."),
        (f"[[Datei:a.jpg|thumb|200px|A ''boat'']]\n{CODE}\n{{{{Quote|They said.}}}}",
         "A boat\n\n```sh\nhire --all\n```\n\n> They said."),
    ],
)  # fmt: skip
def test_the_text_shows_what_the_markup_says(tmp_path: Path, text: str, shown: str) -> None:
    assert article(tmp_path, text).text.removeprefix("# Kleiner Hafen\n\n") == shown


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
    found = read_all(tmp_path, "wiki.xml", f"<mediawiki>{INFO}{page('Boats.')}<page><title>x</mediawiki>".encode())

    assert len(documents(found)) == 1
    assert "damaged" in str(*refusals(found))


def test_entities_are_not_expanded(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("Secret.")
    kinds = f'<!DOCTYPE mediawiki [<!ENTITY b SYSTEM "file://{tmp_path}/secret.txt">]>'
    dump = f"{kinds}<mediawiki>{INFO}{page('Words BBB.')}</mediawiki>".replace("BBB", "&b;")
    found = documents(read_all(tmp_path, "wiki.xml.bz2", bz2.compress(dump.encode())))

    assert not any("Secret" in document.text for document in found.values())


def test_other_xml_is_not_taken_for_a_dump(tmp_path: Path) -> None:
    found = documents(read_all(tmp_path, "pom.xml", b"<?xml version='1.0'?><project><name>Tern</name></project>"))

    assert found["pom.xml"].content_type == "xml"
