"""`/documents/{doc_id}/original` over files that were read, kept, changed, deleted, and swapped for links."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from index.documents.sources import SourceNote
from index.documents.span_tree import SpanTree
from index.documents.store import Document, StoredDocument
from ingestion.originals import open_original, salt_of
from tests.failing import failing
from tests.fakes.engines import FakeEngine
from tests.fakes.http import client_of

DATA = b"# Wind\n\nTurbines turn wind into power.\n" * 40_000
NAME = 'guide/wind "ä" & more.md'
AT = "/documents/guide/wind%20%22%C3%A4%22%20&%20more.md/original"
HTML = {"accept": "text/html"}


def engine_over(folder: Path, *further: Document, metadata: dict[str, Any] | None = None) -> FakeEngine:
    """Return an engine over a corpus into which a file was read, with further documents of the same file."""
    path = folder / NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(DATA)
    read = (Document(NAME, "Wind", "Turbines."), *further)
    stored = [StoredDocument.of(replace(one, source=NAME), f"0a1b{at}c", SpanTree([])) for at, one in enumerate(read)]
    engine = FakeEngine(documents=stored)
    digest = hashlib.sha256(DATA + salt_of(metadata, NAME).encode()).hexdigest()[:32]
    note = SourceNote(NAME, str(folder.resolve()), NAME, f"{digest}/pipeline", {"metadata": metadata or {}})
    engine.corpus.ledger.note([note])
    return engine


def client_over(folder: Path, *further: Document, **serve: Any) -> TestClient:
    return client_of(engine_over(folder, *further), serve={"originals": True, **serve})


def test_the_file_comes_as_a_download_under_its_name(tmp_path: Path) -> None:
    reply = client_over(tmp_path).get(AT, headers=HTML)

    assert (reply.status_code, reply.content) == (200, DATA)
    assert reply.headers["content-type"] == "application/octet-stream"
    assert reply.headers["x-content-type-options"] == "nosniff"
    plain, extended = reply.headers["content-disposition"].removeprefix("attachment; ").split("; ")
    assert plain == 'filename="wind_______more.md"'
    assert extended == "filename*=UTF-8''wind%20%22%C3%A4%22%20%26%20more.md"


def test_a_part_of_a_container_gives_the_whole(tmp_path: Path) -> None:
    client = client_over(tmp_path, Document(f"{NAME}/report.pdf", "Report", "Text."))

    assert client.get(AT.replace("/original", "/report.pdf/original")).content == DATA
    assert client.get(AT.replace("/original", "/report.pdf")).json()["original"] == 'wind "ä" & more.md'


def test_metadata_of_the_run_counts_in_the_hash(tmp_path: Path) -> None:
    client = client_of(engine_over(tmp_path, metadata={"topic": "wind"}), serve={"originals": True})

    assert client.get(AT).status_code == 200


@pytest.mark.parametrize(("originals", "status"), [(None, 200), (True, 200), (False, 404)])
def test_an_uploaded_file_is_given_unless_none_is(tmp_path: Path, originals: bool | None, status: int) -> None:
    source = "uploads/wind.md"
    engine = FakeEngine(
        documents=[StoredDocument.of(Document(source, "Wind", "Turbines.", source=source), "0a1b", SpanTree([]))]
    )
    (tmp_path / ".uploads" / "default").mkdir(parents=True)
    (tmp_path / ".uploads" / "default" / "wind.md").write_bytes(DATA)
    digest = hashlib.sha256(DATA).hexdigest()[:32]
    engine.corpus.ledger.note([SourceNote(source, "/before/it/was/renamed", "wind.md", f"{digest}/pipeline")])
    client = client_of(engine, index={"dir": tmp_path}, serve={"originals": originals})

    assert client.get(f"/documents/{source}/original").status_code == status
    assert client.get(f"/documents/{source}").json()["original"] == ("wind.md" if status == 200 else None)


def test_files_of_ingested_folders_are_not_given_by_default(tmp_path: Path) -> None:
    client = client_of(engine_over(tmp_path))

    reply = client.get(AT)

    assert (reply.status_code, reply.json()["error"]["code"]) == (404, "original_unavailable")
    assert "RAG_SERVE__ORIGINALS" in reply.json()["error"]["detail"]
    assert client.get(AT.removesuffix("/original")).json()["original"] is None
    assert "/original" not in client.get(AT.removesuffix("/original"), headers=HTML).text


def test_the_page_of_the_document_links_to_it(tmp_path: Path) -> None:
    client = client_over(tmp_path)
    page = client.get(AT.removesuffix("/original"), headers=HTML).text

    link = page.split("/original?corpus=default")[0].rpartition('href="')[2] + "/original?corpus=default"

    assert client.get(f"{AT.removesuffix('/original')}/../{link}").content == DATA


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    client = client_over(tmp_path)
    (tmp_path / NAME).write_bytes(DATA[:-1] + b"!")

    reply = client.get(AT)

    assert (reply.status_code, reply.json()["error"]["code"]) == (409, "original_changed")


def test_a_file_that_changes_while_it_is_sent_breaks_off(tmp_path: Path) -> None:
    engine = engine_over(tmp_path)
    note = engine.corpus.ledger.get(NAME)
    assert note is not None
    pieces = open_original(note).pieces()
    assert next(pieces) == DATA[:1_000_000]
    (tmp_path / NAME).write_bytes(b"x")

    with failing("original_changed"):
        list(pieces)


def test_a_deleted_file_is_gone(tmp_path: Path) -> None:
    client = client_over(tmp_path)
    (tmp_path / NAME).unlink()

    reply = client.get(AT)

    assert (reply.status_code, reply.json()["error"]["code"]) == (410, "original_gone")


@pytest.mark.parametrize("place", ["file", "folder"])
def test_no_link_is_followed_though_the_bytes_behind_it_are_the_same(tmp_path: Path, place: str) -> None:
    client = client_over(tmp_path / "in")
    path = (tmp_path / "in" / NAME) if place == "file" else (tmp_path / "in" / NAME).parent
    path.rename(tmp_path / "out")
    path.symlink_to(tmp_path / "out")

    reply = client.get(AT)

    assert (reply.status_code, reply.json()["error"]["code"]) == (410, "original_gone")
    assert "link" in reply.json()["error"]["detail"]


def test_a_file_of_which_nothing_is_known_is_not_given(tmp_path: Path) -> None:
    engine = engine_over(tmp_path)
    client = client_of(engine, serve={"originals": True})
    engine.corpus.ledger.forget([NAME])

    assert client.get(AT).json()["error"]["code"] == "original_unavailable"
    assert client.get(AT.removesuffix("/original")).json()["original"] is None


@pytest.mark.parametrize("path", ["other.md", "..%2F..%2Fetc%2Fpasswd", "%2Fetc%2Fpasswd", "guide"])
def test_only_documents_have_originals(tmp_path: Path, path: str) -> None:
    reply = client_over(tmp_path).get(f"/documents/{path}/original")

    assert (reply.status_code, reply.json()["error"]["code"]) == (404, "unknown_document")


def test_a_document_whose_id_ends_so_keeps_its_address(tmp_path: Path) -> None:
    client = client_over(tmp_path, Document("a/original", "An original", "Its text."))

    assert client.get("/documents/a/original").json()["text"] == "Its text."
    assert client.get("/documents/a/original/original").content == DATA
