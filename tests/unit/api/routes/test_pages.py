"""`/pages` and `/marks` over files that were read, kept, changed and deleted."""

import hashlib
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image
from starlette.testclient import TestClient

from index.documents.sources import SourceNote
from index.documents.span_tree import SpanTree
from index.documents.store import StoredDocument
from ingestion.reading.pdf import read_pdf
from tests.fakes.engines import FakeEngine
from tests.fakes.http import client_of
from tests.fakes.pdfs import make_pdf

PDF = make_pdf("Turbines turn wind\ninto power.", "Blades are long.\nThe second page ends here.", "")
NAME = "guide/wind & more.pdf"
AT = "guide/wind%20&%20more.pdf"


def engine_over(
    folder: Path, data: bytes = PDF, name: str = NAME, metadata: dict[str, str] | None = None
) -> FakeEngine:
    """Return an engine over a corpus into which a file was read."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    read = replace(read_pdf(data, name), content_type="pdf")
    engine = FakeEngine(documents=[StoredDocument.of(read, "0a1b2c", SpanTree([]))])
    salt = json.dumps(metadata, sort_keys=True) if metadata else ""
    digest = f"{hashlib.sha256(data + salt.encode()).hexdigest()[:32]}/pipeline"
    root = str(folder.resolve())
    engine.corpus.ledger.note([SourceNote(name, root, name, digest, {"metadata": metadata or {}})])
    return engine


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    return client_of(engine_over(tmp_path))


def test_a_page_is_an_image_that_is_kept_by_its_tag(client: TestClient) -> None:
    reply = client.get(f"/pages/2/{AT}?width=500")

    assert reply.status_code == 200
    assert reply.headers["content-type"] == "image/jpeg"
    assert reply.headers["cache-control"] == "private, no-cache"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert Image.open(io.BytesIO(reply.content)).width == 800
    again = client.get(f"/pages/2/{AT}?width=500", headers={"if-none-match": reply.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get(f"/pages/2/{AT}?width=900").headers["etag"] != reply.headers["etag"]


def test_a_span_over_a_page_break_is_marked_on_both_pages(client: TestClient) -> None:
    text = client.get(f"/documents/{AT}").json()["text"]
    start, end = text.index("into power."), text.index(" are long")

    found = client.get(f"/marks/{AT}", params={"start": start, "end": end}).json()

    assert (found["corpus"], found["doc_id"], found["pages"]) == ("default", NAME, 3)
    assert [(mark["page"], len(mark["rects"]), mark["complete"]) for mark in found["marks"]] == [
        (1, 1, True),
        (2, 1, True),
    ]
    assert all(0 <= share <= 1 for mark in found["marks"] for rect in mark["rects"] for share in rect)


def test_without_a_span_it_is_said_that_pages_can_be_shown(client: TestClient) -> None:
    assert client.get(f"/marks/{AT}").json() == {"corpus": "default", "doc_id": NAME, "pages": 3, "marks": []}


def test_metadata_of_the_run_counts_in_the_hash_as_it_did_at_ingestion(tmp_path: Path) -> None:
    client = client_of(engine_over(tmp_path, metadata={"topic": "wind", "doc_type": "guide"}))

    assert client.get(f"/marks/{AT}").status_code == 200


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        (f"/pages/4/{AT}", 404, "page_unavailable"),
        (f"/pages/0/{AT}", 422, "invalid_request"),
        (f"/pages/one/{AT}", 422, "invalid_request"),
        (f"/pages/1/{AT}?width=0", 422, "invalid_request"),
        (f"/pages/1/{AT}?corpus=other", 404, "unknown_corpus"),
        ("/pages/1/other.pdf", 404, "unknown_document"),
        ("/pages/1/..%2F..%2Fetc%2Fpasswd", 404, "unknown_document"),
        ("/marks/%2Fetc%2Fpasswd", 404, "unknown_document"),
        (f"/marks/{AT}?start=5&end=5", 404, "page_unavailable"),
        (f"/marks/{AT}?start=5&end=5000", 404, "page_unavailable"),
        (f"/marks/{AT}?start=-5&end=50", 422, "invalid_request"),
    ],
)
def test_what_is_not_there_is_refused(path: str, status: int, code: str, client: TestClient) -> None:
    reply = client.get(path)

    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)


def test_a_file_that_changed_since_it_was_read_is_not_shown(tmp_path: Path) -> None:
    client = client_of(engine_over(tmp_path))
    (tmp_path / NAME).write_bytes(make_pdf("Another text", "", ""))

    error = client.get(f"/marks/{AT}?start=0&end=5").json()["error"]

    assert error == {"code": "page_unavailable", "detail": "The file has changed since it was read. Ingest it again."}


def test_a_deleted_file_and_one_that_the_ledger_does_not_know_are_not_shown(tmp_path: Path) -> None:
    engine = engine_over(tmp_path)
    client = client_of(engine)
    (tmp_path / NAME).unlink()
    assert "No such file" in client.get(f"/pages/1/{AT}").json()["error"]["detail"]

    engine.corpus.ledger.note([SourceNote(NAME, str(tmp_path), NAME)])  # to be read again
    assert "not known which file" in client.get(f"/pages/1/{AT}").json()["error"]["detail"]
    engine.corpus.ledger.forget([NAME])
    assert "not known which file" in client.get(f"/pages/1/{AT}").json()["error"]["detail"]


def test_only_pdf_files_have_pages() -> None:
    document = StoredDocument("a.md", "A", "Text.", version="0a1b2c", content_type="markdown")

    reply = client_of(FakeEngine(documents=[document])).get("/pages/1/a.md")

    assert (reply.status_code, reply.json()["error"]["code"]) == (404, "page_unavailable")
