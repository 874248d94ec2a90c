"""A text that grows and is corrected, as a terminal shows it."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_engine.terminal import GrowingText, PlainTables, with_plain_tables

COLUMNS = 8


class Terminal(io.StringIO):
    """Says that it is a terminal."""

    def isatty(self) -> bool:
        return True

    def rows(self) -> list[str]:
        """Read what was written as a terminal of eight columns does; a full row wraps at the next character."""
        rows, row, column = [""], 0, 0
        for part in re.findall(r"\x1b\[\d*[AJ]|.", self.getvalue(), re.DOTALL):
            if part.endswith("A") and part.startswith("\x1b"):
                row = max(0, row - int(part[2:-1]))
            elif part == "\x1b[J":
                rows = [*rows[:row], rows[row][:column]]
            elif part == "\r":
                column = 0
            else:
                if part == "\n" or column == COLUMNS:
                    row, column = row + 1, 0
                    rows += [""] * (row + 1 - len(rows))
                if part != "\n":
                    rows[row] = rows[row][:column] + part + rows[row][column + 1 :]
                    column += 1
        return rows


def shown(*texts: str) -> list[str]:
    out = Terminal()
    growing = GrowingText(out, COLUMNS)
    for text in texts:
        growing.show(text)
    return out.rows()


def test_a_text_that_another_replaces_is_erased_over_all_its_rows() -> None:
    assert shown("Wind moves. Lima has many", "Wind moves. [1]") == ["Wind mov", "es. [1]"]


@given(st.lists(st.text("ab \n", max_size=40), min_size=1, max_size=5))
def test_the_last_text_is_all_that_a_terminal_shows(texts: list[str]) -> None:
    assert shown(*texts) == shown(texts[-1])


def test_wide_characters_take_two_columns() -> None:
    out = Terminal()
    growing = GrowingText(out, COLUMNS)
    growing.show("漢漢漢漢漢")  # a row of four, and one more
    growing.show("x")

    assert out.getvalue().endswith("\x1b[1A\r\x1b[Jx")


def test_a_pipe_gets_each_character_once() -> None:
    out = io.StringIO()
    growing = GrowingText(out)
    for text in ("Wind", "Wind moves."):
        growing.show(text)

    assert (growing.correctable, out.getvalue()) == (False, "Wind moves.")


TABLE = "Slips:\n\n| Port | Depth |\n| --- | --- |\n| Lo\\|wick | **3** |\n| 漢 | 12 |\n\n[1] ends."
ALIGNED = "Slips:\n\nPort     Depth\nLo|wick  3\n漢       12\n\n[1] ends."


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (TABLE, ALIGNED),
        ("|  |  |\n| --- | --- |\n| a | b |", "a  b"),
        ("| a | b |", "| a | b |"),
        ("if a | b:\n    pass\n| no table\n| at all", "if a | b:\n    pass\n| no table\n| at all"),
        ("", ""),
    ],
)
def test_tables_become_aligned_columns_however_the_text_comes(text: str, shown: str) -> None:
    assert with_plain_tables(text) == shown
    tables = PlainTables()
    assert "".join(map(tables.feed, text)) + tables.finish() == shown


def test_text_outside_of_tables_is_shown_at_once() -> None:
    assert PlainTables().feed("Wind mov") == "Wind mov"
