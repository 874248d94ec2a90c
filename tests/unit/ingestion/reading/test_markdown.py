"""Markdown files and their front matter."""

import pytest

from ingestion.reading.markdown import read_markdown


def test_front_matter_becomes_title_address_and_metadata() -> None:
    source = (
        "\ufeff---\r\ntitle: Heat pumps\r\nurl: https://example.org/heat\r\n"
        "year: 2024\r\nday: 2024-05-01\r\ntags: [a, b]\r\n---\r\n\r\n# Another heading\r\n\r\nText.\r\n"
    )

    document = read_markdown(source.encode(), "heat.md")

    assert (document.title, document.url) == ("Heat pumps", "https://example.org/heat")
    assert document.metadata == {"year": 2024, "day": "2024-05-01", "tags": ["a", "b"]}
    assert document.text == "# Another heading\n\nText."


def test_an_address_that_is_not_http_is_left_out() -> None:
    assert read_markdown(b"---\nurl: javascript:alert(1)\n---\ntext", "a.md").url is None


@pytest.mark.parametrize(
    "source",
    ["---\n\nA text between rules.\n\n---\n\nMore.", "---\n[unclosed\n---\nMore.", "---\nno end\n", "---\n- a\n---\nb"],
    ids=["rules", "broken YAML", "no end", "a list"],
)
def test_what_is_no_front_matter_stays_in_the_text(source: str) -> None:
    document = read_markdown(source.encode(), "a_b.md")

    assert document.text == source.strip()
    assert document.metadata == {}


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("Intro.\n\n## The *first* [heading](x.md) #\n\n# Second", "The first heading"),
        ('# Tidal power <a name="tidal"></a>', "Tidal power"),
        ("# `snake_case` and **bold** {#id}", "snake_case and bold"),
        ("Wave power\n==========\n\nText.", "Wave power"),
        ("```sh\n# a comment\n```\n\n# After the code", "After the code"),
        ("~~~\n```\n# inside\n~~~\n# Outside", "Outside"),
        ("| a | b |\n|---|---|\n\n- item\n---\n", "file name"),
        ("#hashtag, no heading", "file name"),
    ],
)
def test_the_first_heading_outside_code_is_the_title(source: str, title: str) -> None:
    assert read_markdown(source.encode(), "file_name.md").title == title


def test_tables_lists_and_code_keep_their_markup() -> None:
    source = "# T\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n* x\n    * y\n\n```py\nif a:\n    b()\n```"

    assert read_markdown(source.encode(), "a.md").text == source


def test_nested_aliases_in_front_matter_cost_nothing() -> None:
    levels = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]\n" for n in range(1, 30))

    assert read_markdown(f"---\nl0: &l0 [x]\n{levels}title: T\n---\ntext".encode(), "a.md").title == "T"
