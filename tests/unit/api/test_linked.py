"""Numbers as links, and lists of sources."""

from dataclasses import replace

import pytest

from api.linked import (
    closest_passages,
    folded_closest_passages,
    sources,
    with_links,
    without_links,
)
from api.links import Links
from tests.fakes.engines import a_citation, a_nearest

LINKS = Links("http://here", "default")
WEB = a_citation(2, "b.html", "https://example.org/a_(b)")


def test_numbers_with_an_address_become_links_and_others_stay() -> None:
    assert with_links("Air [1][2]. [3](x)", {1: "http://a", 3: "http://c"}) == "Air [[1]](http://a)[2]. [3](x)"


@pytest.mark.fault("D23")
@pytest.mark.parametrize(
    "code",
    [
        "```py\nnames[1]\n```",
        "~~~\nnames[1]\n~~~",
        "  ```\n  names[1] = `x[1]`\n  ```",
        "```\nnever closed, names[1]",
        "`names[1]`",
        "``names[1]``",
        "or `a[1]` and `b[1]`",
    ],
)
def test_an_index_in_code_is_not_a_citation(code: str) -> None:
    text = f"Take it [1]:\n\n{code}"

    assert with_links(text, {1: "http://a"}) == text.replace("[1]", "[[1]](http://a)", 1)


@pytest.mark.parametrize("text", ["a ` left open [1]", "`a` and [1] and `b`", "it is ```not a block [1]"])
def test_a_backtick_alone_hides_no_citation(text: str) -> None:
    assert with_links(text, {1: "http://a"}) == text.replace("[1]", "[[1]](http://a)")


def test_an_address_with_parentheses_does_not_end_its_link() -> None:
    assert with_links("[2]", {2: str(WEB.url)}) == "[[2]](https://example.org/a_%28b%29)"


def test_sources_are_listed_in_the_order_of_their_numbers_under_titles_that_hold_no_link() -> None:
    first = replace(a_citation(1, "a.md"), title="A [b](http://evil)")

    assert sources([WEB, first], LINKS) == (
        "\n\n**Sources**\n\n"
        "1. [A \\[b\\] (evil)](http://here/documents/a.md?corpus=default&start=10&end=28#cited)\n"
        "2. [Wind](https://example.org/a_%28b%29)"
    )


def test_the_closest_passages_are_links_with_quotes_that_hold_neither_marks_nor_markup() -> None:
    nearest = [a_nearest(quote="Wind [3]\nturns </details>."), a_nearest("b.html", str(WEB.url))]
    listed = (
        "- [Wind](http://here/documents/guide/wind.md?corpus=default&start=10&end=36#cited): "
        "Wind \\[3\\] turns < /details>.\n"
        "- [Wind](https://example.org/a_%28b%29): Wind turns blades."
    )

    assert closest_passages(nearest, LINKS) == f"\n\n**Closest passages**\n\n{listed}"
    assert folded_closest_passages(nearest, LINKS) == (
        f"\n\n<details><summary>Closest passages</summary>\n\n{listed}\n\n</details>"
    )


def test_a_declined_answer_loses_what_was_closest_when_it_comes_back_in_a_conversation() -> None:
    assert without_links("I don't know." + folded_closest_passages([a_nearest()], LINKS)) == "I don't know."


@pytest.mark.parametrize("make", [sources, closest_passages, folded_closest_passages])
def test_without_citations_nothing_is_listed(make: object) -> None:
    assert make([], LINKS) == ""  # type: ignore[operator]


def test_a_text_loses_its_links_again() -> None:
    text = "Air moves. [1] It turns. [2]"
    shown = with_links(text, {1: LINKS.of(a_citation()), 2: str(WEB.url)}) + sources([a_citation(), WEB], LINKS)

    assert without_links(shown) == text
