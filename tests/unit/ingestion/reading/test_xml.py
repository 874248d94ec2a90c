"""DocBook, JATS and other XML."""

import pytest

from errors import UnreadableError
from index.documents.store import Document
from ingestion.reading.xml import read_xml


def read(source: str) -> Document:
    return read_xml(source.encode(), "a_b.xml")


def words(document: Document, kind: str) -> list[str]:
    return [document.text[slice(*one.inner)] for one in document.structure.blocks if one.kind == kind]


def cells(document: Document) -> list[list[str]]:
    rows = (one for one in document.structure.blocks if one.kind == "row")
    return [[document.text[slice(*cell)] for cell in row.cells] for row in rows]


def test_docbook() -> None:
    document = read(
        '<book xmlns="http://docbook.org/ns/docbook"><info><title>Boats</title><author><personname>Me</personname></author>'
        "<copyright><year>1999</year></copyright></info><chapter><title>Hire</title><para>Some\n "
        "<emphasis>soft</emphasis>"
        " words<indexterm><primary>hidden</primary></indexterm>.</para><itemizedlist><listitem><para>one</para>"
        "<orderedlist><listitem><para>deep</para></listitem></orderedlist></listitem></itemizedlist><variablelist>"
        "<varlistentry><term>-a</term><term>--all</term><listitem><para>Everything.</para></listitem></varlistentry>"
        '</variablelist><programlisting language="c">if (a)\n\tb &lt; c;</programlisting><note><para>'
        "Mind it.</para></note>"
        "<section><title>Sail</title><para>Out.</para></section></chapter></book>"
    )

    headings = [
        (one.level, document.text[slice(*one.inner)]) for one in document.structure.blocks if one.kind == "heading"
    ]
    assert headings == [(1, "Boats"), (2, "Hire"), (3, "Sail")]
    assert document.title == "Boats"
    assert document.metadata == {"authors": ["Me"]}
    assert words(document, "paragraph") == ["Some soft words.", "Note: Mind it.", "Out."]
    assert words(document, "item") == ["one", "deep", "-a, --all: Everything."]
    assert words(document, "code") == ["if (a)\n\tb < c;"]
    assert "hidden" not in document.text
    assert "1999" not in document.text


def test_jats() -> None:
    document = read(
        "<article><front><journal-meta><issn>1</issn></journal-meta><article-meta><title-group>"
        "<article-title>On <italic>boats"
        "</italic></article-title></title-group><contrib-group><contrib><name><surname>Doe</surname><given-names>Jo"
        "</given-names></name></contrib></contrib-group><abstract><p>In short.</p></abstract><kwd-group><kwd>sea</kwd>"
        "</kwd-group></article-meta></front><body><sec><title>Methods</title><p><bold>We</bold> "
        "<italic>sailed</italic></p>"
        "<fig><label>Figure 1.</label><caption><title>A boat</title><p>At sea.</p></caption></fig></sec></body>"
        "<back><ref-list><ref><label>1.</label><mixed-citation>Doe, 1999</mixed-citation></ref>"
        "</ref-list></back></article>"
    )

    assert document.title == "On boats"
    assert document.metadata == {"authors": ["Jo Doe"], "keywords": ["sea"]}
    assert words(document, "heading") == ["On boats", "Abstract", "Methods", "References"]
    assert words(document, "paragraph") == ["In short.", "We sailed", "At sea."]
    assert words(document, "caption") == ["Figure 1. A boat"]
    assert words(document, "item") == ["Doe, 1999"]


@pytest.mark.parametrize(
    "table",
    [
        "<table><title>T</title><tgroup cols='2'><colspec colname='a'/><colspec colname='b'/><thead>"
        "<row><entry>Boat</entry>"
        "<entry>Seats</entry></row></thead><tbody><row><entry morerows='1'>Tern</entry><entry>4</entry></row><row>"
        "<entry>5</entry></row><row><entry namest='a' nameend='b'>wide</entry></row></tbody></tgroup></table>",
        "<table-wrap><caption><title>T</title></caption><table><thead><tr><th>Boat</th><th>Seats</th></tr></thead><tbody>"
        "<tr><td rowspan='2'>Tern</td><td>4</td></tr><tr><td>5</td></tr><tr><td colspan='2'>wide</td>"
        "</tr></tbody></table>"
        "</table-wrap>",
    ],
    ids=["CALS", "HTML"],
)
def test_tables(table: str) -> None:
    document = read(f"<article><sec><p>x</p>{table}</sec></article>")

    assert cells(document) == [["Boat", "Seats"], ["Tern", "4"], ["Tern", "5"], ["wide", ""]]
    assert document.structure.blocks[-1].columns == ("Boat", "Seats")
    assert words(document, "caption") == ["T"]


def test_data_is_named_by_its_elements() -> None:
    document = read(
        '<fleet><port>Ness</port><entry name="greeting">Hello</entry><boat><name>Tern</name><seats>4</seats></boat>'
        "<boat><name>Gull</name><seats>5</seats></boat><text>with <b>mixed</b> words</text><empty/></fleet>"
    )

    assert words(document, "pair") == ["port: Ness", "greeting: Hello"]
    assert cells(document) == [["Tern", "4"], ["Gull", "5"]]
    assert [one.columns for one in document.structure.blocks if one.kind == "row"] == [("name", "seats")] * 2
    assert words(document, "paragraph") == ["with mixed words"]
    assert document.title == "a b"


def test_entities_stand_for_plain_text_alone() -> None:
    dtd = '<!DOCTYPE book [<!ENTITY me "Jo">\n<!ENTITY marked "<para>no</para>"><!ENTITY file SYSTEM "file:///etc/hostname">]>'
    document = read(f"{dtd}<book><para>&me; &marked; &file; &mdash; &unknown; &lt;&#65;</para></book>")

    assert document.text == "Jo &marked; &file; — &unknown; <A"


def test_without_a_dtd_entities_and_prefixes_may_be_unknown() -> None:
    source = '<book><xi:include href="ch1.xml"/><para>a&nbsp;b &here; <![CDATA[&here; <]]></para></book>'
    assert read(source).text == "include: ch1.xml\n\na b &here; &here; <"


@pytest.mark.parametrize(
    "source",
    [
        "",
        "no XML",
        "<a><b></a>",
        "<a>",
        "<a/>",
        "<a>" * 300 + "x" + "</a>" * 300,
        '<!DOCTYPE x [<!ENTITY a0 "ha">'
        + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
        + "]><x>&a11;</x>",
    ],
    ids=["empty", "text", "crossed", "open", "blank", "deep", "laughs"],
)
def test_what_cannot_be_read_is_refused(source: str) -> None:
    with pytest.raises(UnreadableError):
        read(source)


def test_other_encodings() -> None:
    assert (
        read_xml('<?xml version="1.0" encoding="iso-8859-1"?><a><b>Müller</b></a>'.encode("latin-1"), "a").text
        == "b: Müller"
    )
    assert read_xml("<a><b>Müller</b></a>".encode("utf-16"), "a").text == "b: Müller"
