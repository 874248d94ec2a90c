"""Titles, addresses and metadata out of loosely typed records."""

from datetime import date
from typing import Any

import pytest

from index.documents.store import Metadata
from ingestion.reading import fields


@pytest.mark.parametrize("address", ["https://example.org/a?b=c#d", "HTTP://example.org", " https://example.org "])
def test_web_addresses_pass(address: str) -> None:
    assert fields.web_address(address) == address.strip()


@pytest.mark.parametrize(
    "value",
    [
        *("javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "ftp://example.org"),
        *("//example.org", "/a", "https://", "http://[bad", "https://example.org/\nx", "", None, 7),
    ],
)
def test_nothing_else_becomes_a_link(value: object) -> None:
    assert fields.web_address(value) is None


def test_a_space_in_an_address_is_encoded() -> None:
    assert fields.web_address("https://example.org/a b") == "https://example.org/a%20b"


@pytest.mark.parametrize(
    ("value", "title"),
    [
        (" A  title\n", "A title"),
        (1984, "1984"),
        ("", None),
        ("\u200b", None),
        (True, None),
        (None, None),
        (["a"], None),
    ],
)
def test_titles_are_one_line_of_text(value: object, title: str | None) -> None:
    assert fields.title(value) == title


def test_scalars_and_lists_of_short_strings_become_metadata() -> None:
    record: dict[Any, Any] = {
        "year": 2024,
        "ratio": 0.5,
        "draft": False,
        "author": " A.\nWriter ",
        "day": date(2024, 2, 29),
        "big": 2**70,
        "id": "x",
        "tags": [" a ", "b", "a", 7, None],
        "many": [str(n) for n in range(101)],
        "records": [{"a": 1}],
        "sentences": ["x" * 201],
        "empty": [],
        "nested": {"a": 1},
        "none": None,
        "blank": " ",
        "infinite": float("inf"),
        "long": "x" * 1001,
    }

    assert fields.metadata(record, without=("id",)) == {
        "year": 2024,
        "ratio": 0.5,
        "draft": False,
        "author": "A. Writer",
        "day": "2024-02-29",
        "big": str(2**70),
        "tags": ["a", "b", "7"],
        "many": [str(n) for n in range(100)],
    }


@pytest.mark.parametrize(
    ("found", "language"),
    [
        ({"language": "en-US"}, "en"),
        ({"lang": "DE"}, "de"),
        ({"language": "Klingon of old"}, "Klingon of old"),
        ({"language": 7}, None),
        ({}, None),
    ],
)
def test_a_language_that_a_record_names_is_its_code(found: Metadata, language: str | None) -> None:
    assert fields.own_language(found) == language


def test_an_address_with_a_run_of_combining_marks_is_none() -> None:
    assert fields.web_address("https://a" + "\u0300\u0316" * 3000 + ".org") is None
