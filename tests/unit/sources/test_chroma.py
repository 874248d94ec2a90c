"""A foreign collection is searched with our vector; what it lacks is told, what its server fails at is tried again."""

from collections.abc import Sequence
from typing import Any

import pytest

from errors import IndexDamagedError, SourceError, StoreUnavailableError
from query_engine.runtime.deadline import Deadline
from sources.base import SourceQuery
from sources.chroma import ForeignChroma, address_of

QUERY = SourceQuery("limit", 3, "?")
Row = tuple[str, str | None, dict[str, Any]]


def source_over(*outcomes: list[Row] | Exception) -> tuple[ForeignChroma, list[tuple[Any, ...]]]:
    calls: list[tuple[Any, ...]] = []

    def nearest(vector: Sequence[float], k: int, timeout_s: float) -> list[Row]:
        calls.append((list(vector), k, timeout_s))
        outcome = outcomes[min(len(calls), len(outcomes)) - 1]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return ForeignChroma(address_of("http://chroma:8000/", "my notes"), lambda _: [0.5, 0.5], nearest), calls


def test_rows_become_pages_and_rows_without_text_are_counted() -> None:
    rows: list[Row] = [
        ("1", "Betz published the limit.", {"source": "https://example.org/betz", "title": "Betz", "date": "2020"}),
        ("a b", None, {"content": "In the metadata."}),
        ("3", None, {"page": 4}),
    ]
    source, calls = source_over(rows)

    result = source.search(QUERY, Deadline(30))

    assert calls[0][:2] == ([0.5, 0.5], 3)
    assert calls[0][2] <= 30
    assert result.skipped == 1
    assert [(page.id, page.url, page.title, page.published) for page in result.pages] == [
        ("1", "https://example.org/betz", "Betz", "2020"),
        (
            "a b",
            "http://chroma:8000/api/v2/tenants/default_tenant/databases/default_database/collections/my%20notes#a%20b",
            "",
            "",
        ),
    ]


def test_a_silent_server_is_tried_again_and_a_missing_collection_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("remote.PAUSE_S", 0.0)
    source, calls = source_over(StoreUnavailableError("It is down.", "Start it."), [("1", "Text.", {})])
    assert len(source.search(QUERY, Deadline(30)).pages) == 1
    assert len(calls) == 2

    source, calls = source_over(IndexDamagedError("There is no collection.", "Name one."))
    with pytest.raises(SourceError) as caught:
        source.search(QUERY, Deadline(30))
    assert caught.value.code == "source_not_found"
    assert len(calls) == 1
