"""Org files."""

import pytest

from errors import UnreadableError
from index.documents.store import Document
from ingestion.reading.org import read_org


def read(source: str) -> Document:
    return read_org(source.encode(), "a_b.org")


def words(document: Document, kind: str) -> list[str]:
    return [document.text[slice(*one.inner)] for one in document.structure.blocks if one.kind == kind]


def test_title_metadata_and_headings() -> None:
    document = read(
        "#+TITLE: Boats /for/ hire\n#+AUTHOR: Me\n#+OPTIONS: toc:nil\n# a comment\n* TODO [#A] First  :tag:\n"
        ":PROPERTIES:\n:ID: 1\n:END:\nText.\n** Second\n:LOGBOOK:\n- note\n:END:\n:notes:\nkept\n:END:\n"
    )

    assert document.title == "Boats for hire"
    assert document.metadata == {"author": "Me"}
    headings = [(one.level, document.text[slice(*one.inner)]) for one in document.structure.blocks if one.level]
    assert headings == [(1, "TODO First"), (2, "Second")]
    assert words(document, "paragraph") == ["Text.", "kept"]
    assert read("* Only a heading\nx").title == "Only a heading"
    assert read("x").title == "a b"


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("*bold* /soft/ _under_ +old+ =a*b*= ~c d~", "bold soft under old a*b* c d"),
        ("in /usr/local/lib and 2*3*4 a_b_c", "in /usr/local/lib and 2*3*4 a_b_c"),
        ("[[https://example.org][the site]] [[file:b.org]] [[*Heading]]", "the site b.org Heading"),
        ("A mark[fn:1] and[fn:: aside] <<target>>here", "A mark and (aside) targethere"),
        ("one\\\\\ntwo", "one\ntwo"),
    ],
)
def test_inline_markup_is_its_words(source: str, shown: str) -> None:
    assert read(source).text == shown


def test_code_stays_as_it_is_written() -> None:
    document = read(
        "#+begin_src python -n\nif a:\n\tb() # *no*\n\n  c\n#+end_src\n\n#+BEGIN_EXAMPLE\n,* star\n"
        "#+END_EXAMPLE\n\n: fixed\n:  width\n"
    )

    assert [one.language for one in document.structure.blocks] == ["python", "", ""]
    assert words(document, "code") == ["if a:\n\tb() # *no*\n\n  c", "* star", "fixed\n width"]


def test_lists() -> None:
    document = read(
        "- a\n  wrapped\n  + b\n    1. one\n    2. two\n- [ ] c\n- key :: what\n  it is\n- late ::\n"
        "\n  below\n\nAfter.\n"
    )

    items = [one for one in document.structure.blocks if one.kind == "item"]
    assert [(one.level, one.ordered) for one in items] == [
        (0, False), (1, False), (2, True), (2, True), (0, False), (0, False), (0, False),
    ]  # fmt: skip
    assert words(document, "item") == ["a wrapped", "b", "one", "two", "[ ] c", "key: what it is", "late: below"]
    assert words(document, "paragraph") == ["After."]


def test_tables_name_their_columns_above_the_first_rule() -> None:
    document = read(
        "#+CAPTION: Fleet\n| Boat | Seats |\n|------+-------|\n| <l> | <r> |\n| Tern | 4 |\n#+TBLFM: "
        "$2=1\n\n| a | b |\n"
    )

    rows = [one for one in document.structure.blocks if one.kind == "row"]
    assert [[document.text[slice(*cell)] for cell in row.cells] for row in rows] == [
        ["Boat", "Seats"],
        ["Tern", "4"],
        ["a", "b"],
    ]
    assert (rows[0].header, rows[1].columns, rows[2].columns) == (True, ("Boat", "Seats"), ())
    assert words(document, "caption") == ["Fleet"]


def test_blocks_quotes_and_what_is_included() -> None:
    document = read(
        "#+begin_quote\nSaid\nso.\n#+end_quote\n#+begin_note\nKept.\n#+end_note\n#+begin_comment\n"
        'hidden\n#+end_comment\n#+INCLUDE: "b.org" src\n'
        "#+begin_src\nno end\n"
    )

    assert words(document, "quote") == ["Said so."] or "> Said so." in document.text
    assert words(document, "paragraph") == ["Kept.", "no end"]
    assert words(document, "pair") == ["include: b.org"]


def test_nothing_to_read() -> None:
    with pytest.raises(UnreadableError):
        read("# only a comment\n:PROPERTIES:\n:ID: x\n:END:\n")
