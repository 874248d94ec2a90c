"""The main content of pages."""

from typing import Any

import pytest

from errors import PipelineError
from pipelines.state import PipelineState
from pipelines.step import FULL_TEXT
from pipelines.steps.content import ContentExtractor, by_moving_average, is_markup
from tests.fakes.pipelines import a_handler, run_step

SENTENCE = "A wind turbine turns the energy of moving air into electricity, and its blades are made of glass fibre. "
MENU = ["Home", "Products", "About us", "Contact", "Log in", "Search", "Cart", "Help"]
ARTICLE = [SENTENCE.strip() * 2, "Blades", SENTENCE.strip() * 3, SENTENCE.strip() * 2]
PLAIN = "\n".join([*MENU, *ARTICLE, *MENU])
HTML = (
    "<!DOCTYPE html><html><head><title>Wind</title><style>p{color:red}</style></head><body><nav><ul>"
    + "".join(f"<li><a href='/{name}'>{name}</a></li>" for name in MENU)
    + "</ul></nav><article><h1>Wind</h1>"
    + "".join(f"<p>{line}</p>" for line in ARTICLE)
    + "</article><footer>"
    + "".join(f"<div>{name}</div>" for name in MENU)
    + "</footer><script>var turbine = 1;</script></body></html>"
)


def extracted(*texts: str | None, **given: Any) -> tuple[list[str | None], list[str]]:
    state = PipelineState("q").with_documents({FULL_TEXT: list(texts)}, {})
    handler = a_handler()
    found = ContentExtractor(ContentExtractor.Parameters(**given)).transform(state, handler)
    assert found.roles["filtered-text"] == ("text",)
    return found.values("filtered-text"), handler.warnings


@pytest.mark.parametrize("method", ["auto", "trafilatura", "moving_average"])
def test_html_loses_its_menus_by_every_method(method: str) -> None:
    (text,), warnings = extracted(HTML, method=method, window=1)

    assert text is not None
    assert SENTENCE.strip() in text
    assert "Log in" not in text
    assert "color:red" not in text
    assert "var turbine" not in text
    assert warnings == []


def test_plain_text_is_read_by_its_lines_unless_a_method_is_named() -> None:
    (text,), _ = extracted(PLAIN, window=1)

    assert text is not None
    # The line beside the article is within its window.
    assert text.splitlines() == ["Help", *ARTICLE, "Home"]


def test_texts_without_content_are_empty_and_told() -> None:
    values, warnings = extracted("", "<html><body><script>1</script></body></html>", PLAIN)

    assert values[:2] == [None, None]
    assert warnings == ["2 of 3 texts hold no content that can be read; they are empty."]


def test_a_page_that_is_nested_too_deeply_fails_alone() -> None:
    values, warnings = extracted("<div>" * 100_000 + "deep", HTML)

    assert values[0] is None
    assert values[1]
    assert len(warnings) == 1


def test_a_short_line_between_long_ones_is_kept_and_a_menu_is_not() -> None:
    kept = by_moving_average([*MENU, *ARTICLE, *MENU], 1, 1.0).splitlines()

    assert kept == ["Help", *ARTICLE, "Home"]


@pytest.mark.parametrize(
    ("lines", "window", "threshold", "kept"),
    [
        ([], 5, 1.0, ""),
        (["one line"], 5, 1.0, "one line"),
        (["a", "b", "c"], 1, 1.0, "a\nb\nc"),
        (["a", "b c d", "e"], 0, 1.0, "b c d"),
        (["a", "b c d", "e"], 0, 0.0, "a\nb c d\ne"),
        (["a", "b c d", "e"], 0, 10.0, ""),
    ],
)
def test_edges(lines: list[str], window: int, threshold: float, kept: str) -> None:
    assert by_moving_average(lines, window, threshold) == kept


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        (HTML, True),
        ("x <p class='a'>y", True),
        ("a < b and c > d", False),
        ("mail <me@example.org>", False),
        ("", False),
    ],
)
def test_markup_is_told_from_text(text: str, markup: bool) -> None:
    assert is_markup(text) is markup


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"method": "resiliparse"}, "'method' is not valid"),
        ({"window": -1}, "'window' is not valid"),
        ({"window": 51}, "'window' is not valid"),
        ({"threshold": 11}, "'threshold' is not valid"),
        ({"input_column": "html"}, "reads column 'html', which no step before it adds"),
        ({"treshold": 1}, "nearest known one is 'threshold'"),
    ],
)
def test_what_cannot_work_is_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(PipelineError, match=told):
        run_step(["Wind."], ("content_extractor", given))
