"""MOSAIC is asked as it wants it; texts that do not come with the hits are fetched, and what fails is told."""

from collections.abc import Iterator

import pytest

from errors import SourceError
from query_engine.runtime.deadline import Deadline
from settings import SourcesSettings
from sources import tries
from sources.base import Source, SourceQuery
from sources.build import open_source
from tests.servers.mosaic import MosaicServer, hit

GRAZ = [
    {"locationName": "Graz", "locationEntries": [{"latitude": 47, "longitude": 15.4}, {"latitude": "?"}]},
    {"locationName": "Oslo", "locationEntries": [{"latitude": 59.9, "longitude": 10.7}]},
    "broken",
]
INDEXES = {
    "arts": [hit("1", "Wind turns the blades."), hit("2", "Wind over the hills.", locations=GRAZ)],
    "science": [hit("3", "Wind is moving air.", mainContent="All of it: wind is moving air.")],
}
QUERY = SourceQuery("wind", 10, "What is wind?")


@pytest.fixture
def server() -> Iterator[MosaicServer]:
    with MosaicServer(INDEXES) as running:
        yield running


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("remote.PAUSE_S", 0.0)
    monkeypatch.setattr(tries, "ATTEMPTS", 2)


def mosaic(server: MosaicServer, index: str | None = None) -> Source:
    settings = SourcesSettings(mosaic_url=f"{server.url}#{index}" if index else server.url)
    return open_source("mosaic", settings, lambda _: [0.0])


def test_hits_of_all_indexes_come_in_turn_with_their_full_texts(server: MosaicServer) -> None:
    result = mosaic(server).search(QUERY, Deadline(30))

    assert server.requests[0] == ("/search", {"q": "wind", "limit": "10"})
    assert sorted(params["id"] for path, params in server.requests if path == "/full-text") == ["1", "2"]
    assert [(page.id, page.text) for page in result.pages] == [
        ("1", "Wind turns the blades."),
        ("3", "All of it: wind is moving air."),
        ("2", "Wind over the hills."),
    ]
    first = result.pages[0]
    assert (first.url, first.title) == ("https://mosaic.example/1", "Page 1")
    assert (first.facts["language"], first.facts["_source_index_"], first.facts["wordCount"]) == ("eng", "arts", 4)
    assert result.warnings == ()


def test_one_index_is_named_and_all_is_none(server: MosaicServer) -> None:
    assert [page.id for page in mosaic(server, "science").search(QUERY, Deadline(30)).pages] == ["3"]
    assert server.requests[0][1]["index"] == "science"
    assert len(mosaic(server, "all").search(QUERY, Deadline(30)).pages) == 3


def test_places_are_side_by_side(server: MosaicServer) -> None:
    pages = {page.id: page for page in mosaic(server).search(QUERY, Deadline(30)).pages}

    assert pages["2"].facts["latitude"] == [47.0, 59.9]
    assert pages["2"].facts["longitude"] == [15.4, 10.7]
    assert "latitude" not in pages["1"].facts


def test_no_more_than_the_limit_of_all_indexes_together(server: MosaicServer) -> None:
    assert [page.id for page in mosaic(server).search(SourceQuery("wind", 2, "?"), Deadline(30)).pages] == ["1", "3"]


def test_a_text_that_cannot_be_had_is_its_snippet_with_a_warning(server: MosaicServer) -> None:
    server.fails["/full-text"] = 404

    result = mosaic(server, "arts").search(QUERY, Deadline(30))

    assert [page.text for page in result.pages] == ["Wind turns the blade", "Wind over the hills."]
    (warning,) = result.warnings
    assert warning.code == "snippets_only"
    assert "Of 2 hits" in warning.text


def test_after_a_batch_without_any_text_no_more_are_asked_for() -> None:
    with MosaicServer({"arts": [hit(str(number), "wind") for number in range(30)]}) as server:
        server.fails["/full-text"] = 404
        result = mosaic(server).search(SourceQuery("wind", 30, "?"), Deadline(30))

    assert len(server.requests) == 1 + 8
    assert len(result.pages) == 30
    assert "Of 30 hits" in result.warnings[0].text


def test_hits_without_text_or_name_are_counted(server: MosaicServer) -> None:
    server.replies["/search"] = {"results": [{"arts": [{"id": "1"}, {"textSnippet": "x"}, "broken", {"id": "9"}]}, 7]}
    server.replies["/full-text"] = {"fullText": None}

    result = mosaic(server).search(QUERY, Deadline(30))

    assert result.pages == ()
    assert result.skipped == 4


@pytest.mark.parametrize("reply", [[], {"results": "none"}, "text", {}])
def test_a_reply_of_something_else_is_told(server: MosaicServer, reply: object) -> None:
    server.replies["/search"] = reply

    with pytest.raises(SourceError, match="not a list of results") as caught:
        mosaic(server).search(QUERY, Deadline(30))
    assert caught.value.code == "source_bad_reply"


def test_a_service_that_fails_is_tried_again_and_told(server: MosaicServer) -> None:
    server.fails["/search"] = 503

    with pytest.raises(SourceError, match=r"'mosaic' is not available for now \(HTTP 503\)"):
        mosaic(server).search(QUERY, Deadline(30))
    assert len(server.requests) == 2
