"""A text that is written block by block: the blocks tile it, and the guesser would find the same."""

from index.documents.guess import guessed_blocks
from index.documents.structure import Structure, check_blocks
from ingestion.reading.text import clean
from ingestion.reading.text_builder import TextBuilder


def built() -> tuple[str, Structure]:
    builder = TextBuilder()
    builder.heading("Boats\u00a0for hire", 1)
    builder.paragraph("  Two lines\r\nof prose. ")
    builder.item("per hour")
    builder.item("with a\nskipper", depth=1)
    builder.item("Sign here", number=1)
    builder.paragraph(" \u200b ")
    builder.row(["Boat", "Seats"], header=True)
    builder.row(["Gannet", "4"], ["Boat", "Seats"])
    builder.row(["", "9"], ["Boat", "Seats"])
    builder.code("hire --all\n\n  now", "sh")
    builder.pair("Harbour:", "Ness")
    builder.pair("Empty", "")
    builder.record(["Name", "Year", "Note"], ["Tern", "1984", ""])
    builder.quote("They said\nyes", depth=1)
    builder.caption("A boat")
    text, blocks = builder.finished()
    check_blocks(blocks, text)
    return text, Structure(blocks)


def test_the_text_is_clean_markdown() -> None:
    text, structure = built()
    assert clean(text) == text
    assert "# Boats for hire\n\nTwo lines\nof prose.\n\n- per hour\n  - with a skipper\n1. Sign here" in text
    assert "Boat | Seats\n--- | ---\nGannet | 4\n|  | 9 |" in text
    assert "```sh\nhire --all\n\n  now\n```" in text
    assert [block.kind for block in structure.blocks] == [
        "heading", "paragraph", "item", "item", "item", "row", "row", "row", "code", "pair", "row", "quote", "caption",
    ]  # fmt: skip


def test_words_and_cells_stand_where_their_blocks_say() -> None:
    text, structure = built()
    inner = [text[slice(*block.inner)] for block in structure.blocks]
    assert inner[:4] == ["Boats for hire", "Two lines\nof prose.", "per hour", "with a skipper"]
    rows = [block for block in structure.blocks if block.kind == "row"]
    cells = [[text[slice(*cell)] for cell in row.cells] for row in rows]
    assert cells == [["Boat", "Seats"], ["Gannet", "4"], ["", "9"], ["Tern", "1984"]]
    assert rows[0].header
    assert rows[3].columns == ("Name", "Year")


def test_the_guesser_finds_the_same_kinds_in_the_text() -> None:
    text, structure = built()
    guessed = [block.kind for block in guessed_blocks(text) if block.kind != "caption"]
    known = [block.kind for block in structure.blocks if block.kind not in {"caption", "row"}]
    assert [kind for kind in guessed if kind in known][: len(known) - 1] == known[: len(known) - 1]


def test_nothing_makes_no_text() -> None:
    assert TextBuilder().finished() == ("", ())


def test_a_text_with_blocks_of_its_own_is_taken_as_it_stands() -> None:
    builder = TextBuilder()
    builder.paragraph("Before.")
    builder.adopt("# A\n\n- b", guessed_blocks("# A\n\n- b"))
    builder.item("after")
    text, blocks = builder.finished()

    check_blocks(blocks, text)
    assert text == "Before.\n\n# A\n\n- b\n- after"
    assert [text[slice(*block.inner)] for block in blocks] == ["Before.", "A", "b", "after"]
