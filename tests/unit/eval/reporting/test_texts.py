import pytest

from eval.reporting.page import answer, plain, quoted, shorten, web_link
from eval.rows import Quote
from tests.fakes.runs import reply

LINK = '<a class="mark" href="#q3-c1">[1]</a>'
STRAY = '<span class="stray" title="The reply has no such citation.">[7]</span>'


def html(text: str, limit_chars: int = 1_000) -> str:
    return answer(reply("q", text, citations=(Quote(number=1),)), 3, limit_chars)


def test_marks_lead_to_citations_and_those_without_one_are_told() -> None:
    assert html("In 1991 [1], or so [7].") == f"In 1991 {LINK}, or so {STRAY}."


def test_bold_signs_make_bold_and_a_single_one_is_text() -> None:
    assert html("It was **1991 [1]** and **more") == f"It was <strong>1991 {LINK}</strong> and **more"


def test_an_answer_has_no_other_markup_and_tells_what_is_cut() -> None:
    assert html("<b>\u202e & [1]") == f"&lt;b&gt;⟨U+202E⟩ &amp; {LINK}"
    assert html("abcdef", 4) == 'abcd <span class="cut">… 2 more characters are not shown</span>'


def test_quoted_spans_are_marked_once_where_they_overlap_or_reach_out() -> None:
    found = quoted("0123456789", [(6, 40), (-3, 2), (1, 4), (20, 30)], 1_000)

    assert found == "<mark>01</mark><mark>23</mark>45<mark>6789</mark>"
    assert quoted("<a>b", [(1, 3)], 1_000) == "&lt;<mark>a&gt;</mark>b"


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
