"""AsciiDoc files."""

import pytest

from errors import UnreadableError
from index.documents.store import Document
from ingestion.reading.asciidoc import MAX_FILLED_CHARS, read_asciidoc


def read(source: str) -> Document:
    return read_asciidoc(source.encode(), "a_b.adoc")


def words(document: Document, kind: str) -> list[str]:
    return [document.text[slice(*one.inner)] for one in document.structure.blocks if one.kind == kind]


def cells(document: Document) -> list[list[str]]:
    rows = (one for one in document.structure.blocks if one.kind == "row")
    return [[document.text[slice(*cell)] for cell in row.cells] for row in rows]


def test_sections_of_both_kinds_and_the_title() -> None:
    document = read(
        "= Boats\nAn Author\n:toc:\n:place: Ness\n\nAt {place}, {unknown}.\n\n== Hire\n\nA\n\nSail\n~~~~\n\nB\n"
    )

    headings = [(one.level, document.text[slice(*one.inner)]) for one in document.structure.blocks if one.level]
    assert headings == [(1, "Boats"), (2, "Hire"), (3, "Sail")]
    assert document.title == "Boats"
    assert "At Ness, {unknown}." in document.text
    assert ":toc:" not in document.text


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("a *bold* and _soft_ `code_with_marks*`", "a bold and soft code_with_marks*"),
        ("un**bold**ed 2*3*4 snake_case_name", "unbolded 2*3*4 snake_case_name"),
        ("https://example.org[the site] xref:a.adoc#b[there] <<id,here>> link:x[y]", "the site there here y"),
        ("https://example.org", "https://example.org"),
        ("javadoc:org.boats.Tern[format=full] https://example.org[it,window=_blank]", "org.boats.Tern it"),
        ("{url}/path[a page]", "a page"),
        ("xref:a.adoc[about javadoc:org.boats.Tern[] here] x", "about org.boats.Tern here x"),
        ("kbd:[Ctrl+C] menu:File[Save] footnote:[aside] linkgit:git-add[1]", "Ctrl+C File > Save (aside) git-add(1)"),
        ("[[anchor]]x [.role]#marked# +++<raw>+++ pass:[*]", "x marked <raw> *"),
        ("((term)) (((hidden)))x a{nbsp}b {plus}", "term x a b +"),
        ("one +\ntwo", "one\ntwo"),
    ],
)
def test_inline_markup_is_its_words(source: str, shown: str) -> None:
    assert read(source).text == shown


def test_code_stays_as_it_is_written() -> None:
    document = read(
        "[source,python]\n----\nif *a*:\n\tb()  # <1>\n\n  c\n----\n<1> Call it\n\n....\n| as is\n"
        "....\n\n```sh\nls\n```\n\n literal\n"
    )

    code = [one for one in document.structure.blocks if one.kind == "code"]
    assert [one.language for one in code] == ["python", "", "sh", ""]
    assert words(document, "code") == ["if *a*:\n\tb()  # <1>\n\n  c", "| as is", "ls", "literal"]
    assert words(document, "item") == ["Call it"]


def test_lists_nest_by_their_marks() -> None:
    document = read("* a\nwrapped\n** b\n.. one\n.. two\n* c\n\nTerm:: What\nit is\nOther::\n  Below\n\nAfter.\n")

    items = [one for one in document.structure.blocks if one.kind == "item"]
    assert [(one.level, one.ordered) for one in items] == [
        (0, False), (1, False), (2, True), (2, True), (0, False), (1, False), (1, False),
    ]  # fmt: skip
    assert words(document, "item") == ["a wrapped", "b", "one", "two", "c", "Term: What it is", "Other: Below"]
    assert words(document, "paragraph") == ["After."]


def test_tables() -> None:
    by_lines = read('.Fleet\n[cols="1,2"]\n|===\n|Boat |Seats\n\n|Tern\n|4 *or* 5\n|a \\| b |\n|===\n')
    by_option = read('[%header,format=csv]\n|===\nBoat,Seats\nTern,"4, 5"\n|===\n')
    spanning = read("|===\n|a |b\n.2+|x |1\n|2\n2+|wide\n|===\n")

    assert cells(by_lines)[:2] == [["Boat", "Seats"], ["Tern", "4 or 5"]]
    assert by_lines.structure.blocks[0].kind == "caption"
    assert by_lines.structure.blocks[2].columns == ("Boat", "Seats")
    assert cells(by_option) == [["Boat", "Seats"], ["Tern", "4, 5"]]
    assert cells(spanning) == [["a", "b"], ["x", "1"], ["x", "2"], ["wide", ""]]


def test_admonitions_quotes_and_other_blocks() -> None:
    document = read(
        "NOTE: Mind it.\n\n[WARNING]\n====\nHot.\n\nReally.\n====\n\n[quote,Someone]\n____\nSaid "
        "so.\n____\n\n****\nAside.\n****\n\n"
        "////\nhidden\n////\n// hidden\n\nimage::b.png[A boat]\n\ninclude::other.adoc[]\n\n'''\n"
    )

    assert words(document, "paragraph") == ["Note: Mind it.", "Warning: Hot.", "Really.", "Aside."]
    assert document.text.count("> ") == 2
    assert words(document, "caption") == ["A boat"]
    assert words(document, "pair") == ["include: other.adoc"]
    assert "hidden" not in document.text


def test_both_branches_of_a_condition_stay() -> None:
    assert (
        read("ifdef::a[]\nyes\nendif::[]\nifndef::a[]\nno\nendif::[]\nifdef::b[short]\n").text == "yes\n\nno\n\nshort"
    )


def test_attributes_of_attributes_do_not_grow_without_end() -> None:
    bomb = (
        ":a: " + "x" * 900 + "\n" + "".join(f":a{n}: " + "{a}" * 50 + "\n" for n in range(9)) + "\n" + "{a8} " * 50_000
    )
    assert len(read(bomb).text) < len(bomb) + 2 * MAX_FILLED_CHARS


def test_nothing_to_read() -> None:
    with pytest.raises(UnreadableError):
        read("// only a comment\n:attribute: x\n")
