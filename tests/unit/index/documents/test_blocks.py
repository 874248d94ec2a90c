"""Pieces that passages are filled with. Counts words for tokens."""

from index.documents.blocks import Cuts, parts
from index.documents.guess import guessed_blocks
from index.documents.structure import Block, Structure
from tests.fakes.trees import count_words


def pieces(text: str, words: int, whole: int = 0) -> list[str]:
    cuts = Cuts(text, Structure(guessed_blocks(text)), count_words)
    found = cuts.pieces(0, len(text), cuts.within(words), words, cuts.within(whole) if whole else None)
    return [text[piece.start : piece.end] for piece in found]


def test_pieces_are_sentences_then_phrases_then_words() -> None:
    text = "Wind blows. Water runs down, past the mill. One two three four five."

    assert pieces(text, 4) == [
        "Wind blows. ",
        "Water runs down, ",
        "past the mill. ",
        "One ",
        "two ",
        "three ",
        "four ",
        "five.",
    ]


def test_an_item_that_fits_a_leaf_is_one_piece_at_every_level() -> None:
    text = "- One sentence. Two of them.\n- Another one. And more.\n"

    assert pieces(text, 10, whole=10) == ["- One sentence. Two of them.\n", "- Another one. And more.\n"]
    assert pieces(text, 10, whole=3) == ["- One sentence. ", "Two of them.\n", "- Another one. ", "And more.\n"]


def test_a_record_that_does_not_fit_is_its_pairs() -> None:
    text = "name: Article one\nprice: 70.44 EUR\n"

    assert pieces(text, 100, whole=100) == [text]
    assert pieces(text, 5, whole=4) == ["name: Article one\n", "price: 70.44 EUR\n"]


def test_records_with_a_blank_line_between_them_stand_by_themselves() -> None:
    text = "name: Article one\nprice: 70.44 EUR\n\nplace: Cologne\nyear: 1984\n"

    assert len(pieces(text, 100, whole=100)) == 2


def test_a_row_that_does_not_fit_is_its_cells() -> None:
    text = "| Article one | 70.44 EUR | Sent, perhaps |\n"

    assert pieces(text, 4, whole=4) == ["| Article one | ", "70.44 EUR | ", "Sent, perhaps |\n"]


def test_code_that_does_not_fit_is_its_lines() -> None:
    text = "```\nrun --now. Then\nstop\n```\n"

    assert pieces(text, 4, whole=4) == ["```\n", "run --now. Then\n", "stop\n", "```\n"]


def test_parts_end_with_a_block() -> None:
    structure = Structure([Block("paragraph", 0, 8, (0, 7)), Block("item", 8, 20, (10, 19))])
    text = "x" * 7 + "\n- " + "y " * 5

    assert list(parts(text, structure, 14)) == [(0, 8), (8, 20)]
    assert list(parts(text, structure, 10)) == [(0, 8), (8, 18), (18, 20)]


def test_lines_that_end_no_sentence_stay_together_where_they_fit() -> None:
    text = "It rained. It blew.\nWind in Cologne\n| May | 7 |\n| June | 9 |\n\n| July | 4 |\n"

    assert pieces(text, 20, whole=20) == [
        "It rained. ",
        "It blew.\n",
        "Wind in Cologne\n| May | 7 |\n| June | 9 |\n\n",
        "| July | 4 |\n",
    ]
    assert pieces(text, 5, whole=5)[2:] == ["Wind in Cologne\n", "| May | 7 |\n", "| June | 9 |\n\n", "| July | 4 |\n"]
