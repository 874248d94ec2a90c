"""reStructuredText, with what Sphinx adds to it."""

import gc

import pytest

from errors import UnreadableError
from index.documents.store import Document
from index.documents.structure import Block
from ingestion.reading.rst import MAX_LINE_CHARS, read_rst


def read(source: str) -> Document:
    return read_rst(source.encode(), "the_boats.rst")


def blocks(document: Document, kind: str) -> list[tuple[Block, str]]:
    return [(one, document.text[slice(*one.inner)]) for one in document.structure.blocks if one.kind == kind]


def cells(document: Document) -> list[list[str]]:
    return [[document.text[slice(*cell)] for cell in row.cells] for row, _ in blocks(document, "row")]


def test_sections_nest_by_their_marks_and_the_first_one_is_the_title() -> None:
    document = read("Boats\n=====\n\nIntro\nwrapped.\n\nHire\n----\n\nText.\n\nSail\n====\n\nEnd.\n")

    assert document.title == "Boats"
    assert [(words, block.level) for block, words in blocks(document, "heading")] == [
        ("Boats", 1),
        ("Hire", 2),
        ("Sail", 1),
    ]
    assert "Intro wrapped." in document.text


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
    document = read(f"{place}\n.. |boat| replace:: old |kind|\n.. |kind| replace:: sloop |nothing|\n")

    assert "The old sloop |nothing|" in document.text


def test_without_a_section_the_file_gives_the_title() -> None:
    assert read("Text.").title == "the boats"


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (":ref:`the crew <crew>`", "the crew"),
        (":ref:`crew`", "crew"),
        (":py:func:`~boats.hire.sail`", "sail"),
        (":unknown-role:`words kept`", "words kept"),
        (":math:`\\alpha_1`", "\\alpha_1"),
        (":rfc:`2822`", "RFC 2822"),
        ("``--force *``", "--force *"),
        ("*soft* **loud** `a link <https://example.org>`_", "soft loud a link"),
        ("|boat|\n\n.. |boat| replace:: *Gannet*", "Gannet"),
        ("|boat|\n\n.. |boat| replace:: the |kind| *Ann*\n.. |kind| replace:: sloop", "the sloop Ann"),
        ("|boat|\n\n.. |kind| replace:: sloop\n.. |boat| replace:: |Kind|, |kind|", "sloop, sloop"),
        ("|sign| |mark|\n\n.. |sign| unicode:: 0xA9\n.. |mark| image:: x.png\n   :alt: by |sign|", "© by |sign|"),
        ("|release|", "|release|"),
        ("|boat|_\n\n.. |boat| replace:: a |kind|", "a |kind|"),
        ("|boat|\n\n.. |boat| replace:: so |boat|", "so |boat|"),
        ("|boat|\n\n.. |boat| replace:: a |ship|\n.. |ship| replace:: b |boat|", "a b |boat|"),
        ("A note [1]_ here.\n\n.. [1] Below.", "A note  here."),
    ],
)
def test_inline_markup_is_its_words(source: str, shown: str) -> None:
    assert read(source).text.split("\n")[0] == " ".join(shown.split())


def test_code_stays_as_it_is_written_with_its_language() -> None:
    document = read(
        "Do::\n\n    if a:\n        b()  # *no* markup\n\n.. code-block:: sh\n   :linenos:\n   :caption: Start\n\n"
        "   ./run --all\n\n     more\n\n.. highlight:: c\n\n>>> 1 + 1\n2\n"
    )

    assert [(block.language, words) for block, words in blocks(document, "code")] == [
        ("", "if a:\n    b()  # *no* markup"),
        ("sh", "./run --all\n\n  more"),
        ("", ">>> 1 + 1\n2"),
    ]
    assert [words for _, words in blocks(document, "caption")] == ["Start"]


def test_lists_definitions_options_and_fields() -> None:
    document = read(
        "- one\n  wrapped\n\n  A second\n  paragraph.\n\n  - deep\n\n3. three\n4. four\n\nterm : "
        "kind\n    What it is.\n\n"
        "-o FILE, --output=FILE  Where to write.\n-v  More.\n\n:Author: Me\n:orphan:\n"
    )

    assert [(words, block.level, block.ordered) for block, words in blocks(document, "item")] == [
        ("one wrapped", 0, False),
        ("deep", 1, False),
        ("three", 0, True),
        ("four", 0, True),
        ("term (kind): What it is.", 0, False),
        ("-o FILE, --output=FILE: Where to write.", 0, False),
        ("-v: More.", 0, False),
    ]
    assert "3. three\n4. four" in document.text
    assert [words for _, words in blocks(document, "paragraph")] == ["A second paragraph."]
    assert [words for _, words in blocks(document, "pair")] == ["Author: Me"]


@pytest.mark.parametrize(
    "source",
    [
        "+------+-------+\n| Boat | Seats |\n+======+=======+\n| Tern | 4     |\n+------+-------+\n",
        "====  =====\nBoat  Seats\n====  =====\nTern  4\n====  =====\n",
        ".. list-table:: Fleet\n   :header-rows: 1\n\n   * - Boat\n     - Seats\n   * - Tern\n     - 4\n",
        '.. csv-table::\n   :header: Boat, Seats\n\n   "Tern", 4\n',
    ],
    ids=["grid", "simple", "list", "csv"],
)
def test_tables_name_their_columns(source: str) -> None:
    document = read(source)

    assert cells(document) == [["Boat", "Seats"], ["Tern", "4"]]
    header, row = (block for block, _ in blocks(document, "row"))
    assert header.header
    assert row.columns == ("Boat", "Seats")


def test_a_cell_that_spans_rows_stands_in_each() -> None:
    source = "+---+---+\n| A | B |\n+===+===+\n| x | 1 |\n|   +---+\n|   | 2 |\n+---+---+\n| wide  |\n+---+---+\n"
    assert cells(read(source)) == [["A", "B"], ["x", "1"], ["x", "2"], ["wide", ""]]


def test_directives_keep_their_content() -> None:
    document = read(
        ".. note:: Mind the gap.\n\n.. admonition:: By the way\n\n   Tides.\n\n.. versionadded:: "
        "2.0\n   The anchor.\n\n"
        ".. seealso::\n\n   Charts.\n\n.. only:: html\n\n   On the web.\n\n.. function:: sail(boat)\n\n   Go out.\n\n"
        ".. confval:: crew\n   :type: int\n   :default: ``4``\n\n   Hands.\n\n"
        ".. unheard-of:: Said\n   :option: x\n\n   Kept.\n\n.. toctree::\n\n   dropped-page\n"
    )

    for line in (
        "Note: Mind the gap.",
        "By the way: Tides.",
        "Added in version 2.0: The anchor.",
        "See also: Charts.",
        "On the web.",
        "- sail(boat): Go out.",
        "- crew (type: int) (default: 4): Hands.",
        "- Said: Kept.",
    ):
        assert line in document.text.split("\n")
    assert "dropped-page" not in document.text


@pytest.mark.fault("E1")
@pytest.mark.parametrize("directive", ["include", "literalinclude", "automodule"])
def test_what_stands_in_other_files_is_named_and_never_read(directive: str) -> None:
    document = read(f"Text.\n\n.. {directive}:: /etc/hostname\n")

    assert document.text == f"Text.\n\n{directive}: /etc/hostname"


@pytest.mark.parametrize("option", ["file", "url"])
def test_a_table_of_another_file_is_named(option: str) -> None:
    assert "csv-table: /etc/hostname" in read(f".. csv-table:: Hosts\n   :{option}: /etc/hostname\n").text


def test_what_cannot_be_parsed_stays_as_text(capfd: pytest.CaptureFixture[str]) -> None:
    document = read("Title\n===\n\nText `open.\n\n====  ===\nbroken\n  table  x\n====\n\n.. image::\n\n*open")

    assert {"Title", "broken", "table", "open."} <= set(document.text.replace("`", "").split())
    assert capfd.readouterr() == ("", "")


def test_a_role_of_one_file_is_unknown_in_the_next() -> None:
    read(".. role:: raw-html(raw)\n   :format: html\n\n:raw-html:`<b>`")
    assert read(":raw-html:`<b>`").text == "<b>"


def test_nothing_to_read_and_too_much() -> None:
    for source in ("", ".. a comment\n", "x" * (MAX_LINE_CHARS + 1), "".join(" " * n + "x\n\n" for n in range(2000))):
        with pytest.raises(UnreadableError):
            read(source)
    assert gc.isenabled()
