"""Pieces that passages are filled with, and units that no boundary falls into. Counts words for tokens."""

from index.documents.blocks import PUNKT_CHARS, BlockCutter, units


def pieces(text: str, words: int) -> list[str]:
    def fits(start: int, end: int) -> int | None:
        count = len(text[start:end].split())
        return count if count <= words else None

    return [text[piece.start : piece.end] for piece in BlockCutter().pieces(text, fits, words)]


def found_units(text: str, words: int = 100) -> list[str]:
    return [
        text[unit.start : unit.end]
        for unit in units(text, lambda start, end: len(text[start:end].split()) <= words or None)
    ]


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


def test_a_long_text_is_cut_between_sentences_only() -> None:
    # Punkt reads it in parts, whose ends fall anywhere.
    text = "".join(f"Sentence {'with a word ' * (i % 7)}number {i} ends. " for i in range(PUNKT_CHARS // 10)).strip()

    assert len(pieces(text, 50)) == PUNKT_CHARS // 10


def test_a_list_ends_where_the_text_goes_on_without_a_blank_line() -> None:
    text = "- The first item is short.\n- The second\n  is indented.\nThen prose follows. It is long.\n"

    assert found_units(text) == ["- The first item is short.\n", "- The second\n  is indented.\n"]


def test_a_wrapped_item_goes_on_in_the_next_line() -> None:
    text = "• The item is set in a wide column, so that its line is full\nand goes on here.\n"

    assert found_units(text) == [text]


def test_a_record_that_does_not_fit_is_its_pairs() -> None:
    text = "name: Article one\nprice: 70.44 EUR\n"

    assert found_units(text) == [text]
    assert found_units(text, words=4) == ["name: Article one\n", "price: 70.44 EUR\n"]
