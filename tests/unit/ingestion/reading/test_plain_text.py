"""Plain text files."""

import pytest

from ingestion.reading.plain_text import read_plain_text


def test_a_short_first_line_that_stands_alone_is_the_title() -> None:
    document = read_plain_text(b"Wind power\r\n\r\nAir moves.\r\n", "notes/wind.txt")

    assert (document.title, document.doc_id, document.source) == ("Wind power", "notes/wind.txt", "notes/wind.txt")
    assert document.text == "Wind power\n\nAir moves."
    assert (document.url, document.pages, document.metadata) == (None, (), {})


@pytest.mark.parametrize(
    "text",
    [
        "Air moves. It turns blades.\n\nMore.",
        "Is it windy?\n\nMore.",
        "Wind power\nand more of it\n\nMore.",
        "Only one line",
        "x" * 81 + "\n\nMore.",
    ],
    ids=["sentences", "a question", "no blank line", "nothing below", "too long"],
)
def test_any_other_first_line_leaves_the_title_to_the_file_name(text: str) -> None:
    assert read_plain_text(text.encode(), "wind_power.txt").title == "wind power"
