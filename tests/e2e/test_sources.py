"""The real service answers from a search service's pages, and from pages that come with a question."""

from pathlib import Path

import httpx
import pytest

from index.documents.store import Document
from tests.e2e.arena import Arena, violations
from tests.e2e.conftest import BETZ, MAIN, WIND
from tests.e2e.program import Program
from tests.servers.search_service import BROKEN_RECORDS, Fault, SearchService

PAGE = "<html><head><title>Betz</title></head><body><p>Albert Betz published the limit in 1919.</p></body></html>"


@pytest.mark.promise("A48")
def test_the_competitions_client_reads_an_answer_from_sources(variables: dict[str, str], folder: Path) -> None:
    with SearchService([Document("wind.md", "Wind power", WIND)], "secret") as web:
        sources = {
            "RAG_ANSWER__SOURCES": "clueweb,fineweb",
            "RAG_SOURCES__CLUEWEB_URL": web.url,
            "RAG_SOURCES__CLUEWEB_KEY": "secret",
            "RAG_SOURCES__FINEWEB_URL": web.url,
            "RAG_SOURCES__FINEWEB_KEY": "unused",
            "RAG_INDEX__DIR": str(folder / "no-index"),
        }
        web.play(Fault(broken_records=BROKEN_RECORDS), Fault(500, b"{}"))
        with Program([MAIN], {**variables, **sources}, folder) as service:
            reply = httpx.post(f"{service.url}/run", json={"question": BETZ}, timeout=60)

    arena = Arena().read([reply.content])
    assert violations(reply.content) == []
    assert arena.complete
    assert not arena.failed
    assert b"1919" in reply.content
    assert b"https://corpus.example/wind.md" in reply.content
    assert {request.path for request in web.requests} == {"/search", "/fineweb/search"}
    assert "secret" not in service.log


@pytest.mark.promise("B01")
def test_pages_of_the_body_are_answered_from(service: Program) -> None:
    pages = [{"url": "https://example.org/betz", "html": PAGE}, {"url": "https://example.org/blank", "html": ""}]

    reply = httpx.post(
        f"{service.url}/answer", json={"question": "When did Betz publish the limit?", "pages": pages}, timeout=60
    ).json()

    assert "1919" in reply["answer"]
    assert [citation["url"] for citation in reply["citations"]] == ["https://example.org/betz"]
    assert [warning.partition(":")[0] for warning in reply["warnings"]] == ["page_unread"]
