import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.dependencies import Service
from index.documents.sources import SourceNote
from index.documents.span_tree import NO_PARENT, Span, SpanTree
from index.documents.store import StoredDocument
from tests.fakes.engines import FakeEngine
from tests.fakes.http import client_of


def a_document(doc_id: str, leaves: int, content_type: str = "markdown") -> StoredDocument:
    spans = [Span(0, 0, leaves, NO_PARENT), Span(1, 0, leaves, 0), *(Span(2, n, n + 1, 1) for n in range(leaves))]
    return StoredDocument(doc_id, doc_id, "x" * leaves, content_type=content_type, tree=SpanTree(spans), version=doc_id)


def an_engine(**corpus: Any) -> FakeEngine:
    """Return the engine of a corpus of seven documents, `d1` with one leaf to `d7` with seven."""
    documents = [a_document(f"d{n}", n, "html" if n > 4 else "markdown") for n in range(1, 8)]
    return FakeEngine(documents=documents, **corpus)


def only(*doc_ids: str) -> dict[str, Any]:
    return {"filters": [{"key": "doc_id", "value": doc_id} for doc_id in doc_ids], "condition": "or"}


def listed(client: TestClient) -> list[str]:
    return [document["doc_id"] for document in client.get("/documents").json()["documents"]]


@pytest.mark.parametrize("order", ["id", "newest"])  # all of them came at one moment
def test_pages_follow_each_other_until_the_last_one_says_so(order: str) -> None:
    client, after, pages = client_of(an_engine()), None, []
    while True:
        query: dict[str, Any] = {"limit": 3, "order": order} | ({"after": after} if after else {})
        page = client.get("/documents", params=query).json()
        pages.append([document["doc_id"] for document in page["documents"]])
        after = page["next"]
        if after is None:
            break

    assert pages == [["d1", "d2", "d3"], ["d4", "d5", "d6"], ["d7"]]


def test_a_listed_document_has_everything_but_its_text() -> None:
    first = client_of(an_engine()).get("/documents?limit=1").json()["documents"][0]

    assert (first["doc_id"], first["leaves"], first["chars"], first["content_type"]) == ("d1", 1, 1, "markdown")
    assert "text" not in first


def test_a_filter_chooses_what_is_listed() -> None:
    reply = client_of(an_engine()).get("/documents", params={"filter": json.dumps(only("d3", "d5"))})

    assert [document["doc_id"] for document in reply.json()["documents"]] == ["d3", "d5"]


BAD_FILTERS = ("", "{", "{}", "[]", "null", "7", '{"filters": []}', "[" * 5000, '{"key": "\\ud800"}')


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        *(("filter", filters, "bad_filter") for filters in BAD_FILTERS),
        *(("limit", limit, "limit") for limit in ("0", "1001", "x")),
        ("order", "x", "order"),
        ("corpus", "..", "corpus"),
    ],
)
def test_a_bad_filter_or_page_is_refused_in_a_list(name: str, value: str, said: str) -> None:
    reply = client_of(an_engine()).get("/documents", params={name: value})

    assert reply.status_code == 422
    assert said in reply.json()["error"].values()


@pytest.mark.promise("G03")
def test_one_document_is_deleted_once() -> None:
    client = client_of(an_engine())

    assert client.delete("/documents/d3").json() == {"corpus": "default", "deleted": 1, "doc_ids": ["d3"]}
    again = client.delete("/documents/d3")
    assert (again.status_code, again.json()["error"]["code"]) == (404, "unknown_document")
    assert listed(client) == ["d1", "d2", "d4", "d5", "d6", "d7"]


@pytest.mark.promise("G03")
def test_documents_are_deleted_by_a_filter() -> None:
    client = client_of(an_engine())

    reply = client.post("/documents/delete", json={"filter": only("d2", "d6")})

    assert reply.json() == {
        "corpus": "default",
        "matched": 2,
        "deleted": 2,
        "doc_ids": ["d2", "d6"],
        "dry_run": False,
    }
    assert listed(client) == ["d1", "d3", "d4", "d5", "d7"]


def test_a_dry_run_counts_and_deletes_nothing() -> None:
    client = client_of(an_engine())

    reply = client.post("/documents/delete", json={"filter": only("d2", "d6"), "dry_run": True}).json()

    assert (reply["matched"], reply["deleted"], reply["doc_ids"]) == (2, 0, ["d2", "d6"])
    assert len(listed(client)) == 7


def test_only_the_first_deleted_ids_are_named() -> None:
    documents = [a_document(f"d{n:03}", 1) for n in range(150)]
    client = client_of(FakeEngine(documents=documents))

    reply = client.post("/documents/delete", json={"filter": only(*(document.doc_id for document in documents[:100]))})
    assert reply.json()["deleted"] == 100
    assert len(listed(client)) == 50


EMPTY_FILTERS: list[dict[str, Any]] = [{}, {"filters": []}, {"filters": [{}]}, {"condition": "or"}]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        *(({"filter": empty}, "bad_filter") for empty in EMPTY_FILTERS),
        ({}, "filter"),
        ({"filter": None}, "filter"),
        ({"filter": only("d1"), "dryrun": True}, "body"),
    ],
)
def test_an_empty_filter_or_a_body_that_may_mean_something_else_deletes_nothing(
    body: dict[str, Any], said: str
) -> None:
    client = client_of(an_engine())

    reply = client.post("/documents/delete", json=body)

    assert reply.status_code == 422
    assert said in reply.json()["error"].values()
    assert len(listed(client)) == 7


@pytest.mark.parametrize("one", [True, False], ids=["one document", "by filter"])
def test_a_deletion_during_an_ingestion_is_refused_and_told_when_to_come_back(
    one: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.jobs.write_locks.DELETION_WAIT_S", 0.01)
    client = client_of(an_engine())
    service: Service = client.app.state.service  # type: ignore[attr-defined]  # the client knows it as any ASGI app

    with service.write_locks.hold("default"):
        busy = client.delete("/documents/d1") if one else client.post("/documents/delete", json={"filter": only("d1")})
        counted = client.post("/documents/delete", json={"filter": only("d1"), "dry_run": True})

    assert (busy.status_code, busy.json()["error"]["code"]) == (409, "corpus_busy")
    assert int(busy.headers["retry-after"]) > 0
    assert counted.json()["matched"] == 1
    assert len(listed(client)) == 7


@pytest.mark.promise("E03")
def test_statistics_have_an_evaluation_clients_names_and_ours() -> None:
    engine = an_engine()
    engine.corpus.bytes_on_disk = 700
    engine.corpus.ledger.note([SourceNote("bad.pdf", "/docs", "bad.pdf", failures=("It is damaged.",))])
    engine.corpus.ledger.note([SourceNote("scan.pdf", "/docs", "scan.pdf", left_out=("Page 2.",))])

    reply = client_of(engine).get("/stats").json()

    assert reply == {
        "total_chunks": 28,
        "by_content_type": {"markdown": 4, "html": 3},
        "by_topic": {},
        "top_docs": [{"doc_id": f"d{n}", "title": f"d{n}", "chunks": n} for n in (7, 6, 5, 4, 3)],
        "md_count": 4,
        "corpus": "default",
        "documents": 7,
        "leaves": 28,
        "failed_sources": 1,
        "failed": [{"source": "bad.pdf", "reasons": ["It is damaged."]}],
        "left_out": [{"source": "scan.pdf", "reasons": ["Page 2."]}],
        "model": "fake",
        "precision": "fp32",
        "created_at": "2026-01-01T00:00:00+00:00",
        "last_ingested_at": engine.corpus.catalogue.statistics().last_ingested_at,
        "state": engine.corpus.documents.state(),
        "size_bytes": 700,
    }


def test_documents_are_counted_by_topic_where_they_name_one() -> None:
    topics: list[str | int | None] = ["wind", "sea", "wind", "", 7, None]
    documents = [
        StoredDocument(f"d{n}", "x", "x", metadata={} if topic is None else {"topic": topic}, version=f"0{n}")
        for n, topic in enumerate(topics)
    ]

    counted = client_of(FakeEngine(documents=documents)).get("/stats").json()["by_topic"]

    assert list(counted.items()) == [("wind", 2), ("sea", 1)]


@pytest.mark.parametrize("path", ["/stats", "/documents"])
def test_an_unknown_corpus_is_named(path: str) -> None:
    reply = client_of(an_engine()).get(path, params={"corpus": "papers"})

    assert (reply.status_code, reply.json()["error"]["code"]) == (404, "unknown_corpus")


def test_a_corpus_is_deleted_once() -> None:
    client = client_of(an_engine())

    assert client.delete("/corpora/default").json() == {"dropped": "default"}
    assert client.delete("/corpora/default").status_code == 404
    assert client.delete("/corpora/Not a name").status_code == 422


def test_a_corpus_gets_another_name() -> None:
    client = client_of(an_engine())

    assert client.patch("/corpora/default", json={"name": "ours"}).json() == {"renamed": "default", "name": "ours"}
    assert client.get("/stats", params={"corpus": "ours"}).status_code == 200
    assert client.patch("/corpora/default", json={"name": "ours"}).status_code == 404
    assert client.patch("/corpora/ours", json={"name": "Not a name"}).status_code == 422
