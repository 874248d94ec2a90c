"""What markup of documentation says, as text that shows its structure."""

from collections.abc import Callable

import pytest

from index.documents.store import Document
from index.documents.structure import check_blocks
from ingestion.reading.asciidoc import MAX_FILLED_CHARS, read_asciidoc
from ingestion.reading.org import read_org
from ingestion.reading.rst import read_rst
from ingestion.reading.xml import read_xml

READERS: dict[str, Callable[[bytes, str], Document]] = {
    "rst": read_rst, "adoc": read_asciidoc, "org": read_org, "xml": read_xml,
}  # fmt: skip
FLEET = "Boat | Seats\n--- | ---\nTern | 4"
SPANNING = "Boat | Seats\n--- | ---\nTern | 4\nTern | 5\n| wide |  |"
# Of each format: what is written, and what is read.
CASES: dict[str, tuple[str, str]] = {
    "rst sections": (
        "Boats\n=====\n\nIntro\nwrapped.\n\nHire\n----\n\nText.\n\nSail\n====\n\nEnd.\n",
        "# Boats\n\nIntro wrapped.\n\n## Hire\n\nText.\n\n# Sail\n\nEnd.",
    ),
    "rst code": (
        "Do::\n\n    if a:\n        b()  # *no* markup\n\n.. code-block:: sh\n   :linenos:\n   :caption: Start\n\n"
        "   ./run --all\n\n     more\n\n.. highlight:: c\n\n>>> 1 + 1\n2\n",
        "Do:\n\n```\nif a:\n    b()  # *no* markup\n```\n\nStart\n\n```sh\n./run --all\n\n  more\n```\n\n"
        "```\n>>> 1 + 1\n2\n```",
    ),
    "rst lists, terms, options and fields": (
        "- one\n  wrapped\n\n  A second\n  paragraph.\n\n  - deep\n\n3. three\n4. four\n\nterm : kind\n"
        "    What it is.\n\n"
        "-o FILE, --output=FILE  Where to write.\n-v  More.\n\n:Author: Me\n:orphan:\n",
        "- one wrapped\n\nA second paragraph.\n\n  - deep\n3. three\n4. four\n- term (kind): What it is.\n"
        "- -o FILE, --output=FILE: Where to write.\n- -v: More.\n\nAuthor: Me",
    ),
    "rst table": ("+------+-------+\n| Boat | Seats |\n+======+=======+\n| Tern | 4     |\n+------+-------+\n", FLEET),
    "rst simple table": ("====  =====\nBoat  Seats\n====  =====\nTern  4\n====  =====\n", FLEET),
    "rst table of lists": (
        ".. list-table:: Fleet\n   :header-rows: 1\n\n   * - Boat\n     - Seats\n   * - Tern\n     - 4\n",
        f"Fleet\n{FLEET}",
    ),
    "rst table of values": ('.. csv-table::\n   :header: Boat, Seats\n\n   "Tern", 4\n', FLEET),
    "rst spanning cells": (
        "+----+-----+\n|Boat|Seats|\n+====+=====+\n|Tern| 4   |\n|    +-----+\n|    | 5   |\n+----+-----+\n"
        "| wide     |\n+----+-----+\n",
        SPANNING,
    ),
    "rst directives": (
        ".. note:: Mind the gap.\n\n.. admonition:: By the way\n\n   Tides.\n\n.. versionadded:: 2.0\n"
        "   The anchor.\n\n"
        ".. seealso:: :doc:`Charts`\n\n.. only:: html\n\n   On the web.\n\n.. function:: sail(boat)\n\n   Go out.\n\n"
        ".. confval:: crew\n   :type: int\n   :default: ``4``\n\n   Hands.\n\n"
        ".. unheard-of:: Said\n   :option: x\n\n   Kept.\n\n.. toctree::\n\n   dropped-page\n",
        "Note: Mind the gap.\n\nBy the way: Tides.\n\nAdded in version 2.0: The anchor.\n\nSee also: Charts\n\n"
        "On the web.\n\n- sail(boat): Go out.\n- crew (type: int) (default: 4): Hands.\n- Said: Kept.",
    ),
    "adoc sections of both kinds": (
        "= Boats\nAn Author\n:toc:\n:place: Ness\n\nAt {place}, {unknown}.\n\n== Hire\n\nA\n\nSail\n~~~~\n\nB\n",
        "# Boats\n\nAn Author\n\nAt Ness, {unknown}.\n\n## Hire\n\nA\n\n### Sail\n\nB",
    ),
    "adoc code": (
        "[source,python]\n----\nif *a*:\n\tb()  # <1>\n\n  c\n----\n<1> Call it\n\n....\n| as is\n....\n\n"
        "```sh\nls\n```\n\n literal\n",
        "```python\nif *a*:\n\tb()  # <1>\n\n  c\n```\n\n1. Call it\n\n```\n| as is\n```\n\n```sh\nls\n```\n\n"
        "```\nliteral\n```",
    ),
    "adoc lists": (
        "* a\nwrapped\n** b\n.. one\n.. two\n* c\n\nTerm:: What\nit is\nOther::\n  Below\n\nAfter.\n",
        "- a wrapped\n  - b\n    1. one\n    2. two\n- c\n  - Term: What it is\n  - Other: Below\n\nAfter.",
    ),
    "adoc table": (
        '.Fleet\n[cols="1,2"]\n|===\n|Boat |Seats\n\n|Tern\n|4\n|a \\| *b* |\n|===\n',
        f"Fleet\n{FLEET}\n| a \\| b |  |",
    ),
    "adoc table of values": ("[%header,format=csv]\n|===\nBoat,Seats\nTern,4\n|===\n", FLEET),
    "adoc spanning cells": ("[%header]\n|===\n|Boat |Seats\n.2+|Tern |4\n|5\n2+|wide\n|===\n", SPANNING),
    "adoc other blocks": (
        "NOTE: Mind it.\n\n[WARNING]\n====\nHot.\n\nReally.\n====\n\n[quote,Someone]\n____\nSaid so.\n____\n\n"
        "****\nAside.\n****\n\n////\nhidden\n////\n// hidden\n\nimage::b.png[A boat]\n\ninclude::other.adoc[]\n\n'''\n",
        "Note: Mind it.\n\nWarning: Hot.\n\nReally.\n\n> Said so.\n\n> — Someone\n\nAside.\n\nA boat\n\n"
        "include: other.adoc",
    ),
    "adoc branches": (
        "ifdef::a[]\nyes\nendif::[]\nifndef::a[]\nno\nendif::[]\nifdef::b[short]\n", "yes\n\nno\n\nshort",
    ),
    "org sections": (
        "#+TITLE: Boats\n#+OPTIONS: toc:nil\n# a comment\n* TODO [#A] First  :tag:\n:PROPERTIES:\n:ID: 1\n:END:\n"
        "Text.\n"
        "** Second\n:LOGBOOK:\n- note\n:END:\n:notes:\nkept\n:END:\n",
        "# TODO First\n\nText.\n\n## Second\n\nkept",
    ),
    "org code": (
        "#+begin_src python -n\nif a:\n\tb() # *no*\n\n  c\n#+end_src\n\n#+BEGIN_EXAMPLE\n,* star\n#+END_EXAMPLE\n\n"
        ": fixed\n:  width\n",
        "```python\nif a:\n\tb() # *no*\n\n  c\n```\n\n```\n* star\n```\n\n```\nfixed\n width\n```",
    ),
    "org lists": (
        "- a\n  wrapped\n  + b\n    1. one\n    2. two\n- [ ] c\n- key :: what\n  it is\n- late ::\n\n  below\n\n"
        "After.\n",
        "- a wrapped\n  - b\n    1. one\n    2. two\n- [ ] c\n- key: what it is\n- late: below\n\nAfter.",
    ),
    "org tables": (
        "#+CAPTION: Fleet\n| Boat | Seats |\n|------+-------|\n| <l> | <r> |\n| Tern | 4 |\n#+TBLFM: $2=1\n\n"
        "| a | b |\n",
        f"Fleet\n{FLEET}\na | b",
    ),
    "org other blocks": (
        "#+begin_quote\nSaid\nso.\n#+end_quote\n#+begin_note\nKept.\n#+end_note\n#+begin_comment\nhidden\n"
        '#+end_comment\n#+INCLUDE: "b.org" src\n#+begin_src\nno end\n',
        "> Said so.\n\nKept.\n\ninclude: b.org\n\nno end",
    ),
    "xml DocBook": (
        '<book xmlns="http://docbook.org/ns/docbook"><info><title>Boats</title><copyright><year>1999</year></copyright>'
        "</info><chapter><title>Hire</title><para>Some\n <emphasis>soft</emphasis> words<indexterm><primary>hidden"
        "</primary></indexterm>.</para><itemizedlist><listitem><para>one</para><orderedlist><listitem><para>deep</para>"
        "</listitem></orderedlist></listitem></itemizedlist><variablelist><varlistentry><term>-a</term>"
        "<term>--all</term><listitem><para>Everything.</para></listitem></varlistentry></variablelist>"
        '<programlisting language="c">if (a)\n\tb &lt; c;</programlisting><note><para>Mind it.</para></note>'
        "<section><title>Sail</title><para>Out.</para></section></chapter></book>",
        "# Boats\n\n## Hire\n\nSome soft words.\n\n- one\n  1. deep\n- -a, --all: Everything.\n\n"
        "```c\nif (a)\n\tb < c;\n```\n\nNote: Mind it.\n\n### Sail\n\nOut.",
    ),
    "xml JATS": (
        "<article><front><journal-meta><issn>1</issn></journal-meta><article-meta><title-group><article-title>On "
        "<italic>boats</italic></article-title></title-group><abstract><p>In short.</p></abstract></article-meta>"
        "</front><body><sec><title>Methods</title><p><bold>We</bold> <italic>sailed</italic></p><fig><label>Figure 1."
        "</label><caption><title>A boat</title><p>At sea.</p></caption></fig></sec></body><back><ref-list><ref>"
        "<label>1.</label><mixed-citation>Doe, 1999</mixed-citation></ref></ref-list></back></article>",
        "# On boats\n\n## Abstract\n\nIn short.\n\n## Methods\n\nWe sailed\n\nFigure 1. A boat\n\nAt sea.\n\n"
        "## References\n\n1. Doe, 1999",
    ),
    "xml CALS table": (
        "<article><sec><table><title>T</title><tgroup cols='2'><colspec colname='a'/><colspec colname='b'/><thead><row>"
        "<entry>Boat</entry><entry>Seats</entry></row></thead><tbody><row><entry morerows='1'>Tern</entry><entry>4"
        "</entry></row><row><entry>5</entry></row><row><entry namest='a' nameend='b'>wide</entry></row></tbody>"
        "</tgroup></table><p>x</p></sec></article>",
        f"T\n{SPANNING}\n\nx",
    ),
    "xml HTML table": (
        ""
        "<article><sec><table-wrap><caption><title>T</title></caption><table><thead><tr><th>Boat</th><th>Seats</th></tr>"
        "</thead><tbody><tr><td rowspan='2'>Tern</td><td>4</td></tr><tr><td>5</td></tr><tr><td colspan='2'>wide</td>"
        "</tr></tbody></table></table-wrap><p>x</p></sec></article>",
        f"T\n{SPANNING}\n\nx",
    ),
    "xml data": (
        '<fleet><port>Ness</port><entry name="greeting">Hello</entry><boat><name>Tern</name><seats>4</seats></boat>'
        "<boat><name>Gull</name><seats>5</seats></boat><text>with <b>mixed</b> words</text><empty/></fleet>",
        "port: Ness\ngreeting: Hello\n\nname: Tern\nseats: 4\n\nname: Gull\nseats: 5\n\nwith mixed words",
    ),
    "xml entities": (
        '<!DOCTYPE book [<!ENTITY me "Jo">\n<!ENTITY marked "<para>no</para>">'
        '<!ENTITY file SYSTEM "file:///etc/hostname">]>'
        "<book><para>&me; &marked; &file; &mdash; &unknown; &lt;&#65;</para></book>",
        "Jo &marked; &file; — &unknown; <A",
    ),
    "xml entities and prefixes without a DTD": (
        '<book><xi:include href="ch1.xml"/><para>a&nbsp;b &here; <![CDATA[&here; <]]></para></book>',
        "include: ch1.xml\n\na b &here; &here; <",
    ),
}  # fmt: skip
INLINE: dict[str, dict[str, str]] = {
    "rst": {
        ":ref:`the crew <crew>`": "the crew",
        ":ref:`crew`": "crew",
        ":py:func:`~boats.hire.sail`": "sail",
        ":unknown-role:`words kept`": "words kept",
        ":math:`\\alpha_1`": "\\alpha_1",
        ":rfc:`2822`": "RFC 2822",
        "``--force *``": "--force *",
        "*soft* **loud** `a link <https://example.org>`_": "soft loud a link",
        "|boat|\n\n.. |boat| replace:: *Gannet*": "Gannet",
        "|boat|\n\n.. |boat| replace:: the |kind| *Ann*\n.. |kind| replace:: sloop": "the sloop Ann",
        "|boat|\n\n.. |kind| replace:: sloop\n.. |boat| replace:: |Kind|, |kind|": "sloop, sloop",
        "|sign| |mark|\n\n.. |sign| unicode:: 0xA9\n.. |mark| image:: x.png\n   :alt: by |sign|": "© by |sign|",
        "|release|": "|release|",
        "|boat|_\n\n.. |boat| replace:: a |kind|": "a |kind|",
        "|boat|\n\n.. |boat| replace:: so |boat|": "so |boat|",
        "|boat|\n\n.. |boat| replace:: a |ship|\n.. |ship| replace:: b |boat|": "a b |boat|",
        "A note [1]_ here.\n\n.. [1] Below.": "A note here.\n\n1. Below.",
    },
    "adoc": {
        "a *bold* and _soft_ `code_with_marks*`": "a bold and soft code_with_marks*",
        "un**bold**ed 2*3*4 snake_case_name": "unbolded 2*3*4 snake_case_name",
        "https://example.org[the site] xref:a.adoc#b[there] <<id,here>> link:x[y]": "the site there here y",
        "https://example.org": "https://example.org",
        "javadoc:org.boats.Tern[format=full] https://example.org[it,window=_blank]": "org.boats.Tern it",
        "{url}/path[a page]": "a page",
        "xref:a.adoc[about javadoc:org.boats.Tern[] here] x": "about org.boats.Tern here x",
        "kbd:[Ctrl+C] menu:File[Save] footnote:[aside] linkgit:git-add[1]": "Ctrl+C File > Save (aside) git-add(1)",
        "[[anchor]]x [.role]#marked# +++<raw>+++ pass:[*]": "x marked <raw> *",
        "((term)) (((hidden)))x a{nbsp}b {plus}": "term x a b +",
        "one +\ntwo": "one\ntwo",
    },
    "org": {
        "*bold* /soft/ _under_ +old+ =a*b*= ~c d~": "bold soft under old a*b* c d",
        "in /usr/local/lib and 2*3*4 a_b_c": "in /usr/local/lib and 2*3*4 a_b_c",
        "[[https://example.org][the site]] [[file:b.org]] [[*Heading]]": "the site b.org Heading",
        "A mark[fn:1] and[fn:: aside] <<target>>here": "A mark and (aside) targethere",
        "one\\\\\ntwo": "one\ntwo",
    },
}


def read(form: str, source: str) -> Document:
    document = READERS[form](source.encode(), "a_b.txt")
    check_blocks(document.structure.blocks, document.text)
    return document


@pytest.mark.parametrize("case", CASES)
def test_the_text_shows_what_the_markup_says(case: str) -> None:
    source, shown = CASES[case]

    assert read(case.split(maxsplit=1)[0], source).text == shown


@pytest.mark.parametrize(("form", "source"), [(form, source) for form in INLINE for source in INLINE[form]])
def test_inline_markup_is_its_words(form: str, source: str) -> None:
    assert read(form, source).text == INLINE[form][source]


@pytest.mark.parametrize(
    "place",
    [
        "The |boat|\n==========\n",
        "- The |boat|\n",
        ":Kind: The |boat|\n",
        "The |boat|\n   Sails.\n",
        ".. note:: The |boat|\n",
        ".. list-table::\n\n   * - The |boat|\n     - 4\n",
        "+------------+---+\n| The |boat| | 4 |\n+------------+---+\n",
        '.. csv-table::\n\n   "The |boat|", 4\n',
    ],
)
def test_substitutions_within_each_other_are_filled_in_everywhere(place: str) -> None:
    document = read("rst", f"{place}\n.. |boat| replace:: old |kind|\n.. |kind| replace:: sloop |nothing|\n")

    assert "The old sloop |nothing|" in document.text


@pytest.mark.parametrize(
    ("form", "source", "title", "metadata"),
    [
        ("rst", "Boats\n=====\n", "Boats", {}),
        ("rst", "Text.", "a b", {}),
        ("adoc", "= Boats\n\n== Hire\n", "Boats", {}),
        ("org", "#+TITLE: Boats /for/ hire\n#+AUTHOR: Me\n* Hire\n", "Boats for hire", {"author": "Me"}),
        ("org", "* Only a heading\nx", "Only a heading", {}),
        ("xml", "<book><info><title>Boats</title><author><personname>Me</personname></author></info><para/></book>",
         "Boats", {"authors": ["Me"]}),
        ("xml", "<article><front><article-meta><title-group><article-title>On boats</article-title></title-group>"
         "<contrib-group><contrib><name><surname>Doe</surname><given-names>Jo</given-names></name></contrib>"
         "</contrib-group><kwd-group><kwd>sea</kwd></kwd-group></article-meta></front><body><p>x</p></body></article>",
         "On boats", {"authors": ["Jo Doe"], "keywords": ["sea"]}),
        ("xml", "<fleet><port>Ness</port></fleet>", "a b", {}),
    ],
)  # fmt: skip
def test_titles_and_metadata(form: str, source: str, title: str, metadata: dict[str, object]) -> None:
    document = read(form, source)

    assert (document.title, document.metadata) == (title, metadata)


@pytest.mark.fault("E1")
@pytest.mark.parametrize("directive", ["include", "literalinclude", "automodule"])
def test_what_stands_in_other_files_is_named_and_never_read(directive: str) -> None:
    assert read("rst", f"Text.\n\n.. {directive}:: /etc/hostname\n").text == f"Text.\n\n{directive}: /etc/hostname"


@pytest.mark.parametrize("option", ["file", "url"])
def test_a_table_of_another_file_is_named(option: str) -> None:
    assert "csv-table: /etc/hostname" in read("rst", f".. csv-table:: Hosts\n   :{option}: /etc/hostname\n").text


def test_what_cannot_be_parsed_stays_as_text(capfd: pytest.CaptureFixture[str]) -> None:
    source = "Title\n===\n\nText `open.\n\n====  ===\nbroken\n  table  x\n====\n\n.. image::\n\n*open"

    assert {"Title", "broken", "table", "open."} <= set(read("rst", source).text.replace("`", "").split())
    assert capfd.readouterr() == ("", "")


def test_a_role_of_one_file_is_unknown_in_the_next() -> None:
    read("rst", ".. role:: raw-html(raw)\n   :format: html\n\n:raw-html:`<b>` x")

    assert read("rst", ":raw-html:`<b>`").text == "<b>"


def test_attributes_of_attributes_do_not_grow_without_end() -> None:
    levels = "".join(f":a{n}: " + "{a}" * 50 + "\n" for n in range(9))
    bomb = f":a: {'x' * 900}\n{levels}\n" + "{a8} " * 50_000

    assert len(read("adoc", bomb).text) < len(bomb) + 2 * MAX_FILLED_CHARS


@pytest.mark.parametrize(
    "data",
    [
        '<?xml version="1.0" encoding="iso-8859-1"?><a><b>Müller</b></a>'.encode("latin-1"),
        "<a><b>Müller</b></a>".encode("utf-16"),
    ],
)
def test_xml_in_other_encodings(data: bytes) -> None:
    assert read_xml(data, "a").text == "b: Müller"
