"""Rows of a PDF outside the tables that are found by places: names only where every cell is surely below its own."""

import pytest

from ingestion.reading.pdf_rows import WrittenPage, blocks_of

PROSE = "Efficiency falls as heads are added, which the table shows for three of them."
HEADER = ["Attention heads", "Hidden size", "Efficiency"]
FULL = [["16", "192", "82%"], ["24", "128", "80%"], ["32", "96", "77%"]]


def columns_of(*rows: list[str]) -> list[tuple[str, ...]]:
    """Return what the columns of each row are called."""
    text = "\n\n".join([PROSE, "\n".join(map("\t".join, rows)), PROSE])
    blocks = blocks_of(text, (0,), [WrittenPage(text)])
    found = [block for block in blocks if block.kind == "row"]
    assert len(found) == len(rows)
    assert "".join(text[block.start : block.end] for block in blocks) == text
    assert [block.header for block in found] == [bool(found[-1].columns), *[False] * (len(rows) - 1)]
    return [block.columns for block in found]


def test_full_rows_of_figures_below_words_have_their_names() -> None:
    assert columns_of(HEADER, *FULL) == [(), *[tuple(HEADER)] * 3]


@pytest.mark.parametrize(
    "rows",
    [
        [HEADER, ["16", "192"], *FULL[1:]],
        [HEADER[1:], *FULL],
        [HEADER, FULL[0]],
        FULL,
        [HEADER, ["of the model", "per head", "of scaling"], *FULL],
        [["Who", "Where", "Why"], ["Ann", "Ness", "3 boats"], ["Ben", "Ayr", "nets"], ["Cat", "Oban", "rope"]],
        [["Size", "Size", "Efficiency"], *FULL],
    ],
    ids=["a cell is missing", "a name is missing", "one row", "no names", "two rows of names", "words", "alike names"],
)
def test_other_rows_have_none(rows: list[list[str]]) -> None:
    assert set(columns_of(*rows)) == {()}
