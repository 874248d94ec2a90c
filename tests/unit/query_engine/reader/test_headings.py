"""Which headings a place of a document stands under."""

from index.documents.guess import guessed_blocks
from index.documents.structure import Structure
from query_engine.reader.headings import heading_paths


def test_the_headings_above_an_offset_are_those_that_still_hold() -> None:
    text = "# A\n## B\nx\n## C\n### D\ny\n"

    paths = heading_paths(Structure(guessed_blocks(text)), text, [0, text.index("x"), text.index("y")])

    assert [path.titles for path in paths] == [(), ("A", "B"), ("A", "C", "D")]


def test_a_heading_right_above_the_last_place_counts() -> None:
    text = "1. Guarantor\nMr Smith guarantees the rent.\n\n2. Tenant\nHe pays 900 euros."

    assert heading_paths(Structure(guessed_blocks(text)), text, [text.index("He pays")])[0].titles == ("Tenant",)


def test_a_comment_in_code_is_no_heading() -> None:
    text = "# Manual\n\n## Install\n\n```\n# fetch packages\npip install x\n```\n\nIt takes five minutes."

    assert heading_paths(Structure(guessed_blocks(text)), text, [text.index("It takes")])[0].titles == (
        "Manual",
        "Install",
    )
