"""The stand-in refuses what the real services refuse, so that our requests are checked by it."""

from collections.abc import Iterator

import httpx
import pytest

from index.documents.store import Document
from tests.servers.search_service import SearchService, doc_id_of, url_of

GOOD = {"query": "betz", "k": "3"}


@pytest.fixture(scope="module")
def service() -> Iterator[SearchService]:
    with SearchService([Document("wind/a b?.md", "Betz", "Betz published the limit.")], key="secret") as running:
        yield running


@pytest.mark.parametrize(
    ("path", "params", "key", "status"),
    [
        ("/search", GOOD, "secret", 200),
        ("/fineweb/search", GOOD, "", 200),
        ("/search", GOOD, "", 401),
        ("/search", GOOD, "wrong", 401),
        ("/search", {"k": "3"}, "secret", 422),
        ("/search", {"query": "betz", "k": "many"}, "secret", 422),
        ("/search", {**GOOD, "num_of_shards": "3"}, "secret", 422),
        ("/fineweb/search", {**GOOD, "rerank": "true"}, "", 422),
        ("/search", {"query": " ", "k": "3"}, "secret", 400),
        ("/search", {"query": "betz", "k": "0"}, "secret", 400),
        ("/elsewhere", GOOD, "secret", 404),
    ],
)
def test_status_by_request(service: SearchService, path: str, params: dict[str, str], key: str, status: int) -> None:
    reply = httpx.get(service.url + path, params=params, headers={"x-api-key": key}, trust_env=False)

    assert reply.status_code == status
    assert ("results" in reply.json()) == (status == 200)


def test_an_address_names_its_document() -> None:
    assert doc_id_of(url_of("wind/a b?.md")) == "wind/a b?.md"
    assert httpx.URL(url_of("wind/a b?.md")).path == "/wind/a b?.md"
