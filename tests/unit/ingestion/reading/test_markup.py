"""Tables and items as all readers of markup write them."""

import pytest

from errors import UnreadableError
from index.documents.structure import Block, check_blocks
from ingestion.reading.markup import MAX_COLUMNS_SPANNED, WIDE_ROW_CHARS, Grid, Items, finished, table
from ingestion.reading.text_builder import TextBuilder


def written(builder: TextBuilder) -> tuple[str, tuple[Block, ...]]:
    text, blocks = builder.finished()
    check_blocks(blocks, text)
    return text, blocks


def test_columns_are_called_by_all_their_header_rows() -> None:
    builder = TextBuilder()
    table(builder, [["Boat", "Seats"], ["", "inside"], ["Tern"]], 2, "Fleet")
    text, blocks = written(builder)

    assert text.startswith("Fleet\nBoat | Seats\n")
    assert [block.header for block in blocks] == [False, False, True, False]
    assert blocks[-1].columns == ("Boat", "Seats inside")
    assert len(blocks[-1].cells) == 2


def test_wide_rows_are_a_line_for_each_cell() -> None:
    builder = TextBuilder()
    table(builder, [["Boat", "Story"], ["Tern", "long " * WIDE_ROW_CHARS], ["Gull", ""]], 1)
    text, blocks = written(builder)

    assert text.startswith("Boat: Tern\nStory: long")
    assert [block.columns for block in blocks] == [("Boat", "Story"), ("Boat",)]


def test_wide_rows_without_names_stay_rows() -> None:
    builder = TextBuilder()
    table(builder, [["x", "long " * WIDE_ROW_CHARS]])

    assert len(written(builder)[1]) == 1


def test_cells_that_span_others() -> None:
    grid = Grid()
    grid.cell("a", rows=2, columns=2)
    grid.cell("b")
    grid.end_row()
    grid.cell("c")
    grid.end_row()
    grid.end_row()

    assert grid.rows == [["a", "", "b"], ["a", "", "c"]]
    grid.cell("x", columns=10**9)
    assert grid.width == MAX_COLUMNS_SPANNED
    spread = Grid(spread=True)
    spread.cell("a", columns=2)
    assert spread.end_row() == ["a", "a"]


def test_the_first_paragraph_of_an_item_has_its_mark() -> None:
    builder = TextBuilder()
    item = Items(builder, 1, term="-a")
    item.paragraph("First.")
    item.paragraph("Second.")
    item.begin()
    Items(builder, 0, 3).begin()
    Items(builder, 0, term="-b").begin()

    assert written(builder)[0] == "  - -a: First.\n\nSecond.\n\n- -b"


def test_a_document_without_text_is_refused() -> None:
    with pytest.raises(UnreadableError):
        finished(TextBuilder(), "a.rst", "A title")
