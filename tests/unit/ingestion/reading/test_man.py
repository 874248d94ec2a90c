"""Manual pages in both of their languages."""

import pytest

from errors import UnreadableError
from index.documents.store import Document
from ingestion.reading.kind import UNSUPPORTED, kind_of
from ingestion.reading.man import read_man

PAGE = r""".\" A comment
'\" t
.TH BOAT 1 "2024" "boats 1.0"
.if n .ad l
.ie t .ds Q ``
.el .ds Q ""
.de Hidden
never shown
..
.SH NAME
boat \- hire a boat
.SH SYNOPSIS
.B boat
.RB [ \-a | \-\-all ]
.I FILE
.br
.B boat \-h
.SH OPTIONS
.TP
.BR \-a ", " \-\-all
Show everything,
\fBeven\fP \(lqhidden\(rq boats.
.IP
A second paragraph.
.TP
.B \-h
.TQ
.B \-\-help
Help.
.RS
.IP \(bu 2
deeper
.RE
.IP 1. 4
first
.SS Files
Text with \*Qquotes\*Q and a back\eslash\c
, joined.
.PP
.nf
  a  \-b
.B c

	d
.fi
.EX
$ boat \fI\-a\fP
.EE
.TS
tab(;);
lb lb
l l.
Boat;Seats
_
Tern;T{
four or
five
T}
.TE
.Unknown "kept words"
.so man1/other.1
"""

MDOC = r""".Dd May 1, 2024
.Dt BOAT 1
.Os
.Sh NAME
.Nm boat
.Nd hire a boat
.Sh SYNOPSIS
.Nm
.Op Fl ab
.Op Fl f Ar file
.Op Ar name ...
.Nm
.Fl h
.Sh DESCRIPTION
The
.Nm
utility hires
.Pq see Xr oar 1 ,
.Dq a boat .
.Bl -tag -width indent
.It Fl a , Fl -all
Everything.
.Bl -bullet
.It
deeper
.El
.It Fl f Ns Ar file
From
.Pa /etc/boat .
.El
.Bl -enum
.It
one
.It
two
.El
.Bl -column "Boat" "Seats"
.It Sy Boat Ta Sy Seats
.It Tern Ta 4
.El
.Bd -literal
  as  is
.Ed
.Dl boat -a
.Sm off
.Oo user @ Oc host
.Sm on
after
.Sh EXIT STATUS
.Ex -std
"""


def read(source: str) -> Document:
    return read_man(source.encode(), "man1/boat.1.gz")


def words(document: Document, kind: str) -> list[str]:
    return [document.text[slice(*one.inner)] for one in document.structure.blocks if one.kind == kind]


def cells(document: Document) -> list[list[str]]:
    rows = (one for one in document.structure.blocks if one.kind == "row")
    return [[document.text[slice(*cell)] for cell in row.cells] for row in rows]


@pytest.mark.parametrize("source", [PAGE, MDOC], ids=["man", "mdoc"])
def test_the_title_says_what_the_page_is_about(source: str) -> None:
    assert read(source).title == "boat(1) - hire a boat"


def test_without_a_name_section_the_header_gives_the_title() -> None:
    assert read(".TH BOAT 1\n.SH OTHER\nText.").title == "BOAT(1)"
    assert read(".SH OTHER\nText.").title == "OTHER"


def test_sections_and_text_of_man() -> None:
    document = read(PAGE)

    headings = [(one.level, document.text[slice(*one.inner)]) for one in document.structure.blocks if one.level == 2]
    assert headings == [(2, "Files")]
    assert words(document, "heading") == ["NAME", "SYNOPSIS", "OPTIONS", "Files"]
    assert "boat [-a|--all] FILE\nboat -h" in words(document, "paragraph")
    assert 'Text with "quotes" and a back\\slash, joined.' in words(document, "paragraph")
    assert "kept words" in document.text
    assert "never shown" not in document.text
    assert words(document, "pair") == ["include: man1/other.1"]


def test_options_of_man_are_items() -> None:
    document = read(PAGE)

    items = [one for one in document.structure.blocks if one.kind == "item"]
    assert words(document, "item") == [
        "-a, --all: Show everything, even “hidden” boats.",
        "-h, --help: Help.",
        "deeper",
        "first",
    ]
    assert [(one.level, one.ordered) for one in items] == [(0, False), (0, False), (1, False), (0, True)]
    assert "A second paragraph." in words(document, "paragraph")


def test_code_and_tables_of_man() -> None:
    document = read(PAGE)

    assert words(document, "code") == ["  a  -b\nc\n\n\td", "$ boat -a"]
    assert cells(document) == [["Boat", "Seats"], ["Tern", "four or five"]]
    assert [one.columns for one in document.structure.blocks if one.kind == "row"] == [(), ("Boat", "Seats")]


def test_what_stands_deeper_below_an_option_says_what_it_does() -> None:
    document = read(
        ".SH X\n.sp\n\\fB\\-h\\fP, \\fB\\-\\-help\\fP\n.RS 4\nHelp.\n.sp\nMore.\n.RE\n.sp\nFor "
        "example:\n.RS 4\nthis\n.RE\n"
    )

    assert words(document, "item") == ["-h, --help: Help."]
    assert words(document, "paragraph") == ["More.", "For example:", "this"]


def test_mdoc() -> None:
    document = read(MDOC)

    assert "boat [-ab] [-f file] [name ...]\nboat -h" in words(document, "paragraph")
    assert "The boat utility hires (see oar(1)), “a boat”." in words(document, "paragraph")
    assert words(document, "item") == ["-a, --all: Everything.", "deeper", "-ffile: From /etc/boat.", "one", "two"]
    assert cells(document) == [["Boat", "Seats"], ["Tern", "4"]]
    assert words(document, "code") == ["  as  is", "boat -a"]
    assert "[user@]host after" in words(document, "paragraph")
    assert "The boat utility exits 0 on success" in document.text


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (r"a\-b \[em] \(co \[u2014] \N'65'", "a-b — © — A"),
        (r"\s-2small\s0 \f[CW]code\f[] \m[red]x\m[]", "small code x"),
        (r"a\ b\~c\&d\|e", "a b cde"),
        (r"a \" a comment", "a"),
        (r"\h'2'\w'x'\v'1'x", "x"),
        (r"trailing \\", "trailing \\"),
        (".if \\n(.g is groff", "is groff"),
        (".if t \\{\\\nhidden\n.if n hidden\n.\\}\nshown", "shown"),
        (".ie n \\{ yes\n.\\}\n.el no", "yes"),
        (".ds X word\nA \\*X, \\*[X]", "A word, word"),
    ],
)
def test_escapes_and_conditions(source: str, shown: str) -> None:
    assert words(read(f".SH X\n{source}\n"), "paragraph") == [shown]


def test_only_what_begins_like_a_page_is_one() -> None:
    assert kind_of("boat.1", PAGE.encode()) == "man page"
    assert kind_of("boat.8.gz", MDOC.encode()) == "man page"
    assert kind_of("messages.1", b"Jan 1 kernel: .TH\n") == UNSUPPORTED
    assert kind_of("notes.2", b".hidden files\nare here\n") == UNSUPPORTED
    assert kind_of("lib.so.1", b"\x7fELF\0") == UNSUPPORTED
    assert kind_of("paper.1", b"%PDF-1.7") == "pdf"


def test_nothing_to_read() -> None:
    with pytest.raises(UnreadableError):
        read('.TH A 1\n.\\" only a comment\n')
