import pytest

from eval.reporting.safe_text import answer_pieces, passage_pieces, plain, shorten, web_link


def shape(pieces: list[object]) -> list[tuple[str, str]]:
    return [(piece.kind, piece.text) for piece in pieces]  # type: ignore[attr-defined]


def test_marks_lead_to_citations_and_those_without_one_are_told() -> None:
    pieces = answer_pieces("In 1991 [1], or so [7].", {1})

    assert shape([*pieces]) == [
        ("text", "In 1991 "), ("mark", "[1]"), ("text", ", or so "), ("stray", "[7]"), ("text", "."),
    ]  # fmt: skip


def test_bold_signs_make_bold_and_a_single_one_is_text() -> None:
    pieces = answer_pieces("It was **1991 [1]** and **more", {1})

    assert [(piece.text, piece.bold) for piece in pieces] == [
        ("It was ", False), ("1991 ", True), ("[1]", True), (" and ", False), ("**", False), ("more", False),
    ]  # fmt: skip


def test_quoted_spans_are_marked_once_where_they_overlap_or_reach_out() -> None:
    pieces = passage_pieces("0123456789", [(6, 40), (-3, 2), (1, 4), (20, 30)])

    assert shape([*pieces]) == [("quoted", "01"), ("quoted", "23"), ("text", "45"), ("quoted", "6789")]


def test_characters_that_steer_are_shown_by_name_and_scripts_from_the_right_stay() -> None:
    assert plain("a\x1b[31m\u202eb\x00") == "a⟨U+001B⟩[31m⟨U+202E⟩b⟨U+0000⟩"
    assert plain("שלום\r\n\tعالم") == "שלום\n\tعالم"


def test_long_texts_tell_what_is_left_out() -> None:
    assert shorten("abcdef", 4) == ("abcd", 2)
    assert shorten("abc", 4) == ("abc", 0)


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "JAVASCRIPT:alert(1)", "data:text/html,x", "java\nscript:x", "//host/x", "http://",
            "http://[", "file:///etc/passwd", "", None]
)  # fmt: skip
def test_only_web_pages_are_linked(url: str | None) -> None:
    assert web_link(url) is None


def test_web_pages_are_linked_as_they_are() -> None:
    assert web_link("https://example.org/a?b=c#d") == "https://example.org/a?b=c#d"
