"""A text that grows and is corrected, as a terminal shows it."""

import io
import re

from hypothesis import given
from hypothesis import strategies as st

from query_engine.terminal import GrowingText

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
