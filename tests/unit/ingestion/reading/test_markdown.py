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


@pytest.mark.fault("D16")
@pytest.mark.parametrize(
    ("written", "value"),
    [
        *(
            (word, word)
            for word in ("yes", "No", "off", "ON", "y", "9:05", "23:59:60", "0042", "3.20", "1_000", "0x1f", "+7")
        ),
        *((word, word) for word in ("1e3", ".5", "1.2.3", "2031-06-31", "12:30 Uhr", ".inf")),
        ("true", True),
        ("False", False),
        ("42", 42),
        ("-7", -7),
        ("0.5", 0.5),
        ("4.0", 4.0),
        ("2031-06-30", "2031-06-30"),
        ("2031-06-30T08:00:00Z", "2031-06-30T08:00:00+00:00"),
        ("'42'", "42"),
        ("[NO, 0042, 7]", ["NO", "0042", "7"]),
        ("~", None),
        ("", None),
        (f"{'9' * 5000}", None),
    ],
)
def test_values_of_front_matter_are_as_they_are_written(written: str, value: object) -> None:
    document = read_markdown(f"---\nkey: {written}\n---\ntext".encode(), "a.md")

    assert document.metadata.get("key") == value
    assert type(document.metadata.get("key")) is type(value)
    assert document.text == "text"


@pytest.mark.fault("D16")
def test_front_matter_may_be_toml() -> None:
    source = (
        '+++\ntitle = "Tides"\nyear = 2031\nversion = 1.10\nday = 2031-06-30\nstart = 07:45:00\n'
        'tags = ["sea", "moon"]\ndraft = false\n[params]\nx = 1\n+++\n\nText.'
    )

    document = read_markdown(source.encode(), "a.md")

    assert (document.title, document.text) == ("Tides", "Text.")
    assert document.metadata == {
        "year": 2031, "version": "1.10", "day": "2031-06-30", "start": "07:45:00", "tags": ["sea", "moon"],
        "draft": False,
    }  # fmt: skip
    assert read_markdown(b"+++\nno = = toml\n+++\ntext", "a.md").text.startswith("+++")


def test_nested_aliases_in_front_matter_cost_nothing() -> None:
    levels = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]\n" for n in range(1, 30))

    assert read_markdown(f"---\nl0: &l0 [x]\n{levels}title: T\n---\ntext".encode(), "a.md").title == "T"
