"""ClueWeb22, FineWeb and MeiliSearch are asked exactly as they want it, and every way of theirs to fail is told."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import SecretStr

from errors import OutOfTimeError, SourceError
from index.documents.store import Document
from query_engine.runtime.deadline import Deadline
from settings import AnswerSettings, Settings, SourcesSettings
from sources import tries
from sources.base import Source, SourceQuery
from sources.build import build_sources
from tests.servers.search_service import BROKEN_RECORDS, Fault, Request, SearchService

KEY = "a-secret-key"
DOCUMENTS = [
    Document("wind/betz.md", "Betz", "Betz\n\nAlbert Betz published the limit of wind turbines in 1919."),
    Document("sun salt.md", "Salt", "Solar salt stores the heat of the sun."),
]
QUERY = SourceQuery("limit of wind turbines", 10, "What did Betz find?", 2)


@pytest.fixture
def service() -> Iterator[SearchService]:
    with SearchService(DOCUMENTS, KEY) as running:
        yield running


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("remote.PAUSE_S", 0.0)
    monkeypatch.setattr(tries, "ATTEMPTS", 4)


def source_of(name: str, url: str, **options: Any) -> Source:
    fields = {
        "clueweb_url": url,
        "clueweb_key": SecretStr(KEY),
        "fineweb_url": url,
        "meilisearch_url": f"{url}#pages",
        **options,
    }
    settings = Settings(answer=AnswerSettings(sources=name), sources=SourcesSettings(**fields))
    (source,) = build_sources(settings, lambda _: [0.0])
    return source


@pytest.mark.promise("A48")
def test_clueweb_is_sent_its_parameters_and_its_key(service: SearchService) -> None:
    options = "cw22_a=true&complexity=5&shard_ids=1,2&rerank=false"
    source = source_of("clueweb", service.url, clueweb_url=f"{service.url}?{options}")

    result = source.search(QUERY, Deadline(30))

    assert service.requests == [
        Request(
            "/search",
            {
                "query": QUERY.text,
                "k": "10",
                "cw22_a": "true",
                "complexity": "5",
                "shard_ids": "1,2",
                "with_distance": "false",
                "with_outlink": "false",
                "rerank": "false",
                "original_query": QUERY.original,
                "iteration": "2",
            },
            KEY,
        )
    ]
    (page,) = result.pages
    assert (page.id, page.url) == ("clueweb22-en0000-00-wind/betz.md", "https://corpus.example/wind/betz.md")
    assert page.text == DOCUMENTS[0].text


@pytest.mark.promise("A48")
def test_fineweb_is_sent_its_parameters_and_needs_no_key(service: SearchService) -> None:
    source = source_of("fineweb", service.url, fineweb_url=f"{service.url}?complexity=3&num_of_shards=4")

    result = source.search(QUERY, Deadline(30))

    assert service.requests == [
        Request(
            "/fineweb/search",
            {
                "query": QUERY.text,
                "k": "10",
                "complexity": "3",
                "num_of_shards": "4",
                "with_distance": "false",
                "original_query": QUERY.original,
                "iteration": "2",
            },
            "",
        )
    ]
    assert [(page.id, page.published) for page in result.pages] == [("<urn:wind/betz.md>", "2024-02-21T00:00:00Z")]


def test_meilisearch_is_asked_and_a_page_without_address_has_that_of_its_document(service: SearchService) -> None:
    source = source_of("meilisearch", service.url, meilisearch_key=SecretStr("master"))

    (page,) = source.search(SourceQuery("solar salt", 3, "?"), Deadline(30)).pages

    (request,) = service.requests
    assert (request.path, request.key) == ("/indexes/pages/search", "master")
    assert request.params == {"q": "solar salt", "limit": 3, "matchingStrategy": "frequency"}
    assert (page.title, page.text) == ("Salt", DOCUMENTS[1].text)
    assert page.url == f"{service.url}/indexes/pages/documents/sun%20salt.md"


@pytest.mark.parametrize("name", ["clueweb", "fineweb"])
def test_broken_records_are_skipped_and_counted(service: SearchService, name: str) -> None:
    service.play(Fault(broken_records=BROKEN_RECORDS))

    result = source_of(name, service.url).search(QUERY, Deadline(30))

    assert len(result.pages) == 1
    assert result.skipped == len(BROKEN_RECORDS)


def test_no_more_pages_are_taken_than_were_asked_for(service: SearchService) -> None:
    service.play(Fault(repeats=50))

    assert len(source_of("clueweb", service.url).search(QUERY, Deadline(30)).pages) == 10


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Fault(400, b'{"detail": "bad"}'), "source_rejected"),
        (Fault(403, b"{}"), "source_key_refused"),
        (Fault(302, b"{}", {"location": "http://127.0.0.1:1/elsewhere"}), "source_not_found"),
        (Fault(body=b'{"results": "none"}'), "source_bad_reply"),
        (Fault(body=b"[1]"), "source_bad_reply"),
    ],
)
@pytest.mark.parametrize("name", ["clueweb", "fineweb", "meilisearch"])
def test_what_no_further_try_can_mend_is_told_at_once(
    service: SearchService, name: str, fault: Fault, code: str
) -> None:
    service.play(fault)

    with pytest.raises(SourceError) as caught:
        source_of(name, service.url).search(QUERY, Deadline(30))

    assert caught.value.code == code
    assert len(service.requests) == 1
    assert name in str(caught.value)


def test_a_wrong_key_is_refused_and_not_told(service: SearchService) -> None:
    with pytest.raises(SourceError, match="RAG_SOURCES__CLUEWEB_KEY") as caught:
        source_of("clueweb", service.url, clueweb_key=SecretStr("wrong")).search(QUERY, Deadline(30))

    assert caught.value.code == "source_key_refused"
    assert "wrong" not in str(caught.value)


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Fault(503, b"{}"), "source_server_error"),
        (Fault(429, b"{}", {"retry-after": "0"}), "source_busy"),
        (Fault(cut=True), "source_cut"),
        (Fault(body=b"<html>"), "source_bad_reply"),
        (Fault(body=b"[" * 100_000), "source_bad_reply"),
    ],
)
def test_what_may_pass_is_tried_again(service: SearchService, fault: Fault, code: str) -> None:
    source = source_of("clueweb", service.url)
    service.play(fault, fault, fault)
    assert len(source.search(QUERY, Deadline(30)).pages) == 1

    service.play(*[fault] * 4)
    with pytest.raises(SourceError) as caught:
        source.search(QUERY, Deadline(30))

    assert caught.value.code == code
    assert len(service.requests) == 4 + 4


def test_a_silent_service_is_given_up_after_the_time_limit_of_each_try(
    service: SearchService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sources.http_client.TIMEOUT_S", 0.05)
    service.play(*[Fault(stall=True)] * 4)

    with pytest.raises(SourceError) as caught:
        source_of("clueweb", service.url).search(QUERY, Deadline(30))

    assert caught.value.code == "source_slow"


def test_a_request_ends_when_the_client_leaves(service: SearchService) -> None:
    deadline = Deadline(1000)
    service.play(Fault(stall=True))
    service.on_request = deadline.stop.set

    with pytest.raises(OutOfTimeError):
        source_of("clueweb", service.url).search(QUERY, deadline)


def test_a_service_that_is_not_there_is_told(service: SearchService) -> None:
    service.__exit__()

    with pytest.raises(SourceError) as caught:
        source_of("clueweb", service.url).search(QUERY, Deadline(30))

    assert caught.value.code == "source_unreachable"


def test_an_endless_reply_is_cut(service: SearchService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("remote.MAX_REPLY_BYTES", 1000)
    service.play(Fault(body=json.dumps({"results": ["x" * 5000]}).encode()))

    with pytest.raises(SourceError) as caught:
        source_of("clueweb", service.url).search(QUERY, Deadline(30))

    assert caught.value.code == "source_too_large"
