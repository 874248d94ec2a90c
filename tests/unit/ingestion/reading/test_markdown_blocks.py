"""Blocks of Markdown follow CommonMark, lose nothing, and take time linear in the text."""

import random
import time

import pytest

from index.documents.structure import Block, Structure, check_blocks
from ingestion.reading.markdown_blocks import markdown_blocks
from ingestion.reading.text import clean

BUDGET_S = 20.0


def read(text: str) -> list[tuple[str, str]]:
    blocks = markdown_blocks(text)
    check_blocks(blocks, text)
    return [(block.kind, text[slice(*block.inner)]) for block in blocks]


def only(text: str, kind: str) -> list[Block]:
    return [block for block in markdown_blocks(text) if block.kind == kind]


def cells(text: str, row: Block) -> list[str]:
    return [text[slice(*cell)] for cell in row.cells]


def test_headings_of_both_forms_have_their_words_alone() -> None:
    text = "# Boats **for hire** {#boats} ##\n\nPrices\n------\n\n> # Quoted\n\nTwo lines\nof prose\n---\n\n##\n\nEnd"

    assert read(text) == [
        ("heading", "Boats **for hire**"),
        ("heading", "Prices"),
        ("quote", "Quoted"),
        ("paragraph", "Two lines\nof prose"),
        ("paragraph", "End"),
    ]
    assert [block.level for block in only(text, "heading")] == [1, 2]


def test_items_have_depth_and_keep_what_stands_in_them() -> None:
    item = "- per hour\n  or part\n\n  Second.\n\n  ```sh\n    hire --all\n  ```"
    text = f"{item}\n  1. sign\n     - deep\n- - both\n\n2) last"

    assert read(text) == [
        ("item", "per hour\n  or part"),
        ("paragraph", "Second."),
        ("code", "    hire --all"),
        ("item", "sign"),
        ("item", "deep"),
        ("item", "both"),
        ("item", "last"),
    ]
    items = only(text, "item")
    assert [item.level for item in items] == [0, 1, 2, 1, 0]
    assert [item.ordered for item in items] == [False, True, False, False, True]


@pytest.mark.parametrize("prefix", ["", "> ", "   "])
def test_rows_have_the_cells_and_names_of_their_columns(prefix: str) -> None:
    rows = ["| **Boat** | Seats \\| all |", "|:--|---|", "| Gannet | 4 |", "Tern |", "||`a\\|b`", "| x | y | z |"]
    text = "\n".join(prefix + row for row in rows)
    header, *body = only(text, "row")

    assert header.header
    assert header.end == text.index(prefix + "| Gannet")  # the rule belongs to it
    assert cells(text, header) == ["**Boat**", "Seats \\| all"]
    assert [cells(text, row) for row in body] == [["Gannet", "4"], ["Tern"], ["", "`a\\|b`"], ["x", "y", "z"]]
    names = ("Boat", "Seats | all")
    assert [row.columns for row in body] == [names, names[:1], names, ()]


def test_code_is_what_stands_between_the_fences_or_is_indented() -> None:
    fenced = "```{python .x}\nif a:\n\n    b\n```\n\n~~~~\n~~~\n# no heading\n~~~~"
    text = f"{fenced}\n\n    cc x.c\n      -o x\n\n```\nunclosed"
    blocks = only(text, "code")

    assert [text[slice(*block.inner)] for block in blocks] == [
        "if a:\n\n    b", "~~~\n# no heading", "    cc x.c\n      -o x", "unclosed",
    ]  # fmt: skip
    assert [block.language for block in blocks] == ["python", "", "", ""]


def test_what_is_indented_below_a_note_or_a_definition_is_text() -> None:
    note = "!!! note\n\n    Words.\n\n    - item\n\n    ```sh\n    run\n    ```"
    text = f"{note}\n\nTerm\n\n: Meaning.\n\n    More.\n\nSee:\n\n    code"

    assert [kind for kind, _ in read(text)] == [
        "paragraph", "paragraph", "item", "code", "paragraph", "paragraph", "paragraph", "paragraph", "code",
    ]  # fmt: skip
    assert only(text, "item")[0].level == 0


def test_lines_of_keys_and_values_are_pairs_and_links_are_not() -> None:
    text = "Harbour: Ness\nOffice: Pier 2\n\n[id]: http://example.org\n\nOffice: Pier 2\nand some prose."
    pairs = only(text, "pair")

    assert [cells(text, pair) for pair in pairs] == [["Harbour", "Ness"], ["Office", "Pier 2"]]
    assert [kind for kind, _ in read(text)] == ["pair", "pair", "paragraph", "paragraph"]


def test_images_that_stand_alone_are_captions() -> None:
    text = "![A tern](t.png)\nFigure 1.\n\n[![ci](a)](b) ![](c)\n\n<unknown>\nwords\n</unknown>\n\nAn ![x](y)."

    assert read(text) == [
        ("caption", "A tern"),
        ("paragraph", "Figure 1."),
        ("caption", "[![ci](a)](b) ![](c)"),
        ("paragraph", "<unknown>\nwords\n</unknown>"),
        ("paragraph", "An ![x](y)."),
    ]


def test_quotations_know_their_depth() -> None:
    text = "> They said\n> yes\n>\n> > before\n> - item"

    assert read(text) == [("quote", "They said\n> yes"), ("quote", "before"), ("item", "item")]
    assert [block.level for block in only(text, "quote")] == [0, 1]


def test_a_list_nested_too_deeply_for_the_parser_is_not_lost() -> None:
    text = "".join(f"{'  ' * depth}- word{depth}\n" for depth in range(40)).rstrip() + "\n\n# After"
    found = read(text)

    assert [words.split()[0] for _, words in found] == [*(f"word{depth}" for depth in range(40)), "After"]


@pytest.mark.parametrize("text", ["-", ">>>", "---", "##", "```\n```", "<!-- x", "|"])
def test_marks_alone_are_a_block(text: str) -> None:
    assert len(read(text)) == 1


def test_blocks_of_any_text_tile_it_and_hold_its_words() -> None:
    pieces = ["# ", "- ", "  ", "    ", "* ", "1. ", "> ", "```", "~~~", "\n", "\n\n", "a", "b c", "| ", "|", "---"]
    pieces += [
        "===",
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
        "k: v\n",
        "<div>",
        "<!--",
        "-->",
        "![i](u)",
        "\t",
        "{#i}",
        "é",
    ]
    pieces += ["!!! n\n\n    a\n", ": d\n", "\\|", "[a]: b\n"]
    chosen = random.Random(5)
    for _ in range(5000):
        text = clean("".join(chosen.choices(pieces, k=chosen.randint(1, 25))))
        if text:
            blocks = markdown_blocks(text)
            check_blocks(blocks, text)
            assert Structure(Structure(blocks).to_bytes()).blocks == blocks


@pytest.mark.fault("D6")
@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000, "![" * 100_000, ">" * 100_000, "> " * 100_000, "- " * 100_000, "1. " * 100_000,
        "> " * 15 + "x\n" + "lazy\n" * 5_000, "|a" * 1000 + "|\n" + "|-" * 1000 + "|\n" + "|x\n" * 5_000,
        "`" * 100_000, "# " + "{#" * 50_000, "[![](a)](b) " * 20_000 + "x", "\\|" * 50_000,
        "".join(f"{'  ' * (n % 15)}- x\n" for n in range(20_000)), "!!! a\n\n    b\n\n" * 5000,
        "".join(f"{'    ' * n}!!! a\n\n" for n in range(300)),
    ],
    ids=lambda text: repr(text[:12]),
)  # fmt: skip
def test_hostile_text_takes_no_more_than_seconds(text: str) -> None:
    started = time.process_time()
    read(clean(text))

    assert time.process_time() - started < BUDGET_S
