"""Pieces that passages are filled with. Counts words for tokens."""

import pytest

from index.documents.blocks import Cuts, parts
from index.documents.guess import guessed_blocks
from index.documents.structure import Block, Structure
from tests.fakes.trees import count_words


def pieces(text: str, words: int, whole: int = 0) -> list[str]:
    cuts = Cuts(text, Structure(guessed_blocks(text)), count_words)
    found = cuts.pieces(0, len(text), cuts.within(words), words, cuts.within(whole) if whole else None)
    return [text[piece.start : piece.end] for piece in found]


ITEMS = "- One sentence. Two of them.\n- Another one. And more.\n"
RECORD = "name: Article one\nprice: 70.44 EUR\n"
TABLE = "Wind in Cologne\n| May | 7 |\n| June | 9 |\n\n"
LINES = f"It rained. It blew.\n{TABLE}| July | 4 |\n"


@pytest.mark.parametrize(
    ("text", "words", "whole", "expected"),
    [
        (
            "Wind blows. Water runs down, past the mill. One two three four five.",
            4,
            0,
            ["Wind blows. ", "Water runs down, ", "past the mill. ", "One ", "two ", "three ", "four ", "five."],
        ),
        (ITEMS, 10, 10, ["- One sentence. Two of them.\n", "- Another one. And more.\n"]),
        (ITEMS, 10, 3, ["- One sentence. ", "Two of them.\n", "- Another one. ", "And more.\n"]),
        (RECORD, 100, 100, [RECORD]),
        (RECORD, 5, 4, ["name: Article one\n", "price: 70.44 EUR\n"]),
        (f"{RECORD}\nplace: Cologne\nyear: 1984\n", 100, 100, [f"{RECORD}\n", "place: Cologne\nyear: 1984\n"]),
        (
            "| Article one | 70.44 EUR | Sent, perhaps |\n",
            4,
            4,
            ["| Article one | ", "70.44 EUR | ", "Sent, perhaps |\n"],
        ),
        ("```\nrun --now. Then\nstop\n```\n", 4, 4, ["```\n", "run --now. Then\n", "stop\n", "```\n"]),
        # Lines that end no sentence stay together where they fit.
        (LINES, 20, 20, ["It rained. ", "It blew.\n", TABLE, "| July | 4 |\n"]),
        (
            LINES,
            5,
            5,
            ["It rained. ", "It blew.\n", "Wind in Cologne\n", "| May | 7 |\n", "| June | 9 |\n\n", "| July | 4 |\n"],
        ),
    ],
)
def test_what_fits_is_one_piece_and_what_does_not_is_cut_where_it_hurts_least(
    text: str, words: int, whole: int, expected: list[str]
) -> None:
    assert pieces(text, words, whole) == expected


def test_parts_end_with_a_block() -> None:
    structure = Structure([Block("paragraph", 0, 8, (0, 7)), Block("item", 8, 20, (10, 19))])
    text = "x" * 7 + "\n- " + "y " * 5

    assert list(parts(text, structure, 14)) == [(0, 8), (8, 20)]
    assert list(parts(text, structure, 10)) == [(0, 8), (8, 18), (18, 20)]
