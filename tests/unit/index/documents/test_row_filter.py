"""Rows that stand in no corpus are filtered as documents are."""

from typing import Any

import pytest

from errors import FilterError
from index.documents.row_filter import keys_of, meeting

ROWS: list[dict[str, Any]] = [
    {"doc_id": "a.md", "title": "Wind", "year": 2019, "tags": ["x", "y"], "open": True},
    {"doc_id": "a.md", "title": None, "year": "2020", "tags": [], "open": False},
    {"doc_id": "b.md", "title": "", "year": 2021.5, "tags": None},
]


def single(key: str, operator: str, value: object = None) -> dict[str, Any]:
    return {"filters": [{"key": key, "operator": operator, "value": value}]}


@pytest.mark.parametrize(
    ("filters", "met"),
    [
        (single("doc_id", "==", "a.md"), [True, True, False]),
        (single("year", ">", 2018), [True, False, True]),
        (single("year", "==", "2020"), [False, True, False]),
        (single("tags", "contains", "y"), [True, False, False]),
        (single("tags", "is_empty"), [False, True, True]),
        (single("title", "is_empty"), [False, True, True]),
        (single("open", "!=", True), [False, True, False]),
        ({**single("open", "==", True), "condition": "not"}, [False, True, True]),
        (single("none of this name", "==", 1), [False] * 3),
    ],
)
def test_rows_meet_what_documents_meet(filters: dict[str, Any], met: list[bool]) -> None:
    assert meeting(ROWS, filters) == met


def test_many_rows_and_none() -> None:
    assert sum(meeting([{"n": number} for number in range(2000)], single("n", "<", 700))) == 700
    assert meeting([], single("n", "<", 700)) == []


def test_a_filter_without_meaning_is_refused() -> None:
    with pytest.raises(FilterError):
        meeting(ROWS, {"filters": []})


def test_the_keys_of_a_filter() -> None:
    assert sorted(keys_of({"filters": [single("a", "==", 1), {"key": "b"}, {"key": "a"}, 7]})) == ["a", "b"]
    assert keys_of(None) == []
