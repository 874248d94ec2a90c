"""Files that a client sends: kept, read by a job, refused without a trace, gone with their document."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import pytest
from starlette.testclient import TestClient

from api.jobs.queue import MAX_QUEUED, Result
from errors import ModelError
from index.documents.sources import SourceNote
from ingestion.schema import Progress, RunOptions, Summary
from ingestion.uploads import Uploads
from settings import IndexSettings, IngestSettings, Settings
from tests.fakes.engines import FakeEngine
from tests.fakes.http import client_of
from tests.fakes.ingesting import FakeIngester
from tests.unit.api.routes.test_catalogue import a_document, only

WIND = ("wind.md", b"# Wind\n\nWind turns blades.\n")


class Service:
    """A service with one empty corpus, whose uploads lie below `folder`."""

    def __init__(self, folder: Path, ingester: FakeIngester | None = None, **ingest: Any) -> None:
        self.folder = folder
        self.engine = FakeEngine()
        self.ingester = ingester or FakeIngester()
        settings: dict[str, Any] = {"index": IndexSettings(dir=folder), "ingest": IngestSettings(**ingest)}
        self.client: TestClient = client_of(self.engine, ingester=self.ingester, **settings)
        self.uploads = Uploads(Settings(**settings))

    def send(self, *files: tuple[str, bytes], **query: Any) -> httpx2.Response:
        parts = [("file", file) for file in files]
        return self.client.post("/documents", params={"wait": True} | query, files=parts)

    def raw(self, body: bytes, kind: str = "multipart/form-data; boundary=x") -> httpx2.Response:
        return self.client.post("/documents", params={"wait": True}, content=body, headers={"Content-Type": kind})

    def on_disk(self) -> dict[str, bytes]:
        """Return every file below the folder."""
        files = (path for path in self.folder.rglob("*") if path.is_file())
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in files}

    def has(self, source: str, doc_id: str = "", **note: Any) -> None:
        """Put a document of an uploaded file into the corpus, with the note of its file."""
        document = replace(a_document(doc_id or source, 1), source=source, version=source.encode().hex())
        self.engine.corpus.documents.publish([document], [np.empty((0, 8), np.float32)])
        self.note(source, **note)

    def note(self, source: str, **note: Any) -> None:
        folder = str(self.uploads.folder("default"))
        self.engine.corpus.ledger.note([SourceNote(source, folder, source.removeprefix("uploads/"), **note)])


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Service]:
    return partial(Service, tmp_path)


Make = Callable[..., Service]


def a_part(name: bytes, content: bytes = b"Wind.") -> bytes:
    return b'--x\r\nContent-Disposition: form-data; name="file"; filename="' + name + b'"\r\n\r\n' + content + b"\r\n"


def test_files_are_kept_and_a_job_reads_their_folder(make: Make) -> None:
    service = make()

    reply = service.send(WIND, ("résumé.txt", b"Hello."))

    assert reply.status_code == 200
    assert reply.json()["request"] == {"corpus": "default", "files": ["wind.md", "résumé.txt"]}
    assert reply.json()["docs_ok"] == 3
    assert service.on_disk() == {".uploads/default/wind.md": WIND[1], ".uploads/default/résumé.txt": b"Hello."}
    folder = (service.folder / ".uploads" / "default").resolve()
    options = RunOptions(root_name="uploads", files=("résumé.txt", "wind.md"))
    assert service.ingester.asked == [("default", folder, options)]


def test_without_wait_the_job_is_told_at_once(make: Make) -> None:
    service = make(FakeIngester(held=True))

    reply = service.send(WIND, wait=False)
    job = service.client.get(reply.headers["location"]).json()

    assert (reply.status_code, job["job"]) == (202, reply.json()["job"])
    service.ingester.go.set()


def test_the_same_name_again_replaces_the_file(make: Make) -> None:
    service = make()
    service.send(WIND)

    service.send(("wind.md", b"Newer."))

    assert service.on_disk() == {".uploads/default/wind.md": b"Newer."}


def test_an_upload_that_fails_leaves_things_as_they_were(make: Make) -> None:
    service = make()
    service.send(WIND)
    service.ingester.failure = ModelError("It is gone.", "Put it back.")

    reply = service.send(("wind.md", b"Newer."), ("more.md", b"More."))

    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "model_unavailable")
    assert service.on_disk() == {".uploads/default/wind.md": WIND[1]}


class SlowReader(FakeIngester):
    """Notes a record of each new file in the corpus, then waits to be stopped."""

    service: Service

    def ingest(
        self, corpus: str, path: Path, options: RunOptions, tell: Callable[[Progress], None], stop: threading.Event
    ) -> Result:
        for name in options.files or ():
            self.service.has(f"uploads/{name}")
        return super().ingest(corpus, path, options, tell, stop)


def test_a_cancelled_upload_leaves_nothing_and_the_next_one_reads_its_own_files_only(make: Make) -> None:
    ingester = SlowReader(held=True, began=threading.Event())
    service = ingester.service = make(ingester)
    sent = [service.send((name, b"Wind."), wait=False) for name in ("running.csv", "waiting.csv")]
    assert ingester.began.wait(10)

    for reply in reversed(sent):
        service.client.delete(reply.headers["location"])
    ingester.held = False
    service.send(WIND)

    assert service.on_disk() == {".uploads/default/wind.md": WIND[1]}
    assert set(service.engine.corpus.documents.versions()) == {"uploads/wind.md"}
    assert [note.source for note in service.engine.corpus.ledger.all()] == ["uploads/wind.md"]
    assert [options.files for _, _, options in ingester.asked if options] == [("running.csv",), ("wind.md",)]


@pytest.mark.parametrize("way", ["DELETE", "POST"])
def test_a_file_that_never_reached_the_corpus_can_be_deleted(make: Make, way: str) -> None:
    service = make()
    folder = service.folder / ".uploads" / "default"
    folder.mkdir(parents=True)
    (folder / "left.csv").write_text("a,b")
    (folder / "rows.jsonl").write_text("{}")
    service.has("uploads/rows.jsonl", "uploads/rows.jsonl#000001")
    other = {"filters": [{"key": "year", "operator": "is_empty", "value": None}]}
    dry = service.client.post("/documents/delete", json={"filter": only("uploads/left.csv"), "dry_run": True}).json()
    assert (dry["matched"], dry["doc_ids"]) == (1, ["uploads/left.csv"])
    assert service.client.post("/documents/delete", json={"filter": other, "dry_run": True}).json()["matched"] == 1

    if way == "DELETE":
        assert service.client.delete("/documents/uploads/left.csv").json()["deleted"] == 1
        assert service.client.delete("/documents/uploads/left.csv").status_code == 404
        assert service.client.delete("/documents/uploads/rows.jsonl").status_code == 404
    else:
        reply = service.client.post("/documents/delete", json={"filter": only("uploads/left.csv")}).json()
        assert (reply["matched"], reply["deleted"]) == (1, 1)

    assert set(service.on_disk()) == {".uploads/default/rows.jsonl"}


@pytest.mark.parametrize(
    "name",
    [
        *(b"../wind.md", b"..\\\\wind.md", b"/etc/wind.md", b"a/wind.md", b"..", b".", b""),
        *(b".hidden.md", b" .md", b"wind\x00.md", b"wind\x1b.md", b"wind\x7f.md"),
        *(b"w" * 300 + b".md", "ü".encode() * 130 + b".md"),
        *(b"wind.exe", b"wind", b"wind.md.rar", b"wind.pdf.gz"),
    ],
)
def test_a_name_that_is_refused_leaves_nothing_and_the_other_files_are_taken(make: Make, name: bytes) -> None:
    service = make()

    alone = service.raw(a_part(name) + b"--x--\r\n")
    assert (alone.status_code, alone.json()["error"]["code"]) == (422, "bad_upload")
    assert service.on_disk() == {}
    assert service.ingester.asked == []

    reply = service.raw(a_part(b"good.md") + a_part(name) + a_part(b"more.md") + b"--x--\r\n")
    assert reply.status_code == 200
    (refused,) = reply.json()["request"]["refused"]
    assert refused["source"] == name.decode(errors="replace").replace("\\\\", "\\")[:240]
    assert set(service.on_disk()) == {".uploads/default/good.md", ".uploads/default/more.md"}


def test_each_file_of_an_upload_is_refused_by_itself_and_all_refusals_are_named(make: Make) -> None:
    service = make(max_file_mb=1)
    refused = [("film.mp4", b"x"), ("empty.md", b""), ("large.txt", b"x" * 1_100_000), ("wind.md", b"Again.")]

    reply = service.send(("film.mp4", b"x"), WIND, *refused[1:], wait=False)
    none = service.send(*refused[:3])

    request = service.client.get(reply.headers["location"]).json()["request"]
    assert request["files"] == ["wind.md"]
    assert {one["source"] for one in request["refused"]} == {name for name, _ in refused}
    assert service.on_disk() == {".uploads/default/wind.md": WIND[1]}
    assert (none.status_code, none.json()["error"]["code"]) == (422, "bad_upload")
    assert all(name in none.json()["error"]["detail"] for name, _ in refused[:3])


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"--x--\r\n", b"nonsense", a_part(b"wind.md"), a_part(b"wind.md") + b"--x"),
        a_part(b"wind.md", b"") + b"--x--\r\n",
        b'--x\r\nContent-Disposition: form-data; name="corpus"\r\n\r\npapers\r\n--x--\r\n',
        b"--x\r\n\r\nWind.\r\n--x--\r\n",
        b"--x\r\n" + b"X-A: b\r\n" * 50 + b"\r\nWind.\r\n--x--\r\n",
    ],
    ids=["empty", "no part", "garbage", "cut", "cut end", "empty file", "field", "no header", "headers"],
)
def test_a_body_that_is_no_upload_leaves_nothing(make: Make, body: bytes) -> None:
    service = make()

    reply = service.raw(body)

    assert (reply.status_code, reply.json()["error"]["code"]) == (422, "bad_upload")
    assert service.on_disk() == {}


@pytest.mark.parametrize(
    "kind",
    [
        *("application/json", "multipart/form-data", "multipart/mixed; boundary=x", ""),
        f"multipart/form-data; boundary={'x' * 300}",
    ],
)
def test_another_content_type_or_boundary_is_told(make: Make, kind: str) -> None:
    reply = make().raw(a_part(b"wind.md") + b"--x--\r\n", kind)

    assert (reply.status_code, reply.json()["error"]["code"]) == (422, "bad_upload")


def test_what_is_too_large_leaves_nothing(make: Make) -> None:
    service = make(max_upload_mb=2, max_file_mb=1)

    body = service.send(WIND, ("large.txt", b"x" * 2_100_000))
    file = service.send(("large.txt", b"x" * 1_100_000))

    assert (body.status_code, body.json()["error"]["code"]) == (413, "body_too_large")
    assert (file.status_code, file.json()["error"]["code"]) == (422, "bad_upload")
    assert "large.txt" in file.json()["error"]["detail"]
    assert service.on_disk() == {}


@pytest.mark.fault("D2")
def test_a_large_body_of_unknown_length_ends_at_the_limit(make: Make) -> None:
    service = make(max_upload_mb=1)

    def endless() -> Iterator[bytes]:
        yield a_part(b"wind.md", b"x" * 1_000_000)[:-2]
        for _ in range(20):
            yield b"x" * 100_000

    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    reply = service.client.post("/documents", content=endless(), headers=headers)

    assert reply.status_code == 413
    assert service.on_disk() == {}


@pytest.mark.parametrize("corpus", ["../x", "UPPER", "a/b", ".uploads", ""])
def test_no_corpus_has_such_a_name(make: Make, corpus: str) -> None:
    service = make()

    assert service.send(WIND, corpus=corpus).status_code == 422
    assert service.on_disk() == {}


def test_uploads_can_be_turned_off(make: Make) -> None:
    service = make(max_upload_mb=0)

    assert service.send(WIND).json()["error"]["code"] == "ingest_refused"
    assert service.on_disk() == {}


def test_a_full_line_of_jobs_leaves_things_as_they_were(make: Make) -> None:
    service = make()
    service.send(WIND)
    service.ingester.held = True
    service.ingester.began = threading.Event()
    first = service.send(WIND, wait=False)
    assert service.ingester.began.wait(10)
    for _ in range(MAX_QUEUED):
        service.send(WIND, wait=False)

    refused = service.send(("wind.md", b"Newer."), ("more.md", b"More."))

    assert (first.status_code, refused.status_code) == (202, 429)
    assert set(service.on_disk().values()) == {WIND[1]}
    assert sum(path.startswith(".uploads/default/") for path in service.on_disk()) == 1


def test_a_deleted_document_takes_its_file_along(make: Make) -> None:
    service = make()
    service.send(WIND, ("calm.md", b"Calm."), ("storm.md", b"Storm."))
    for name in ("wind.md", "calm.md", "storm.md"):
        service.has(f"uploads/{name}")

    assert service.client.delete("/documents/uploads/wind.md").json()["deleted"] == 1
    dry = service.client.post("/documents/delete", json={"filter": only("uploads/calm.md"), "dry_run": True})
    assert dry.json()["matched"] == 1
    assert set(service.on_disk()) == {".uploads/default/calm.md", ".uploads/default/storm.md"}
    service.client.post("/documents/delete", json={"filter": only("uploads/calm.md")})

    assert set(service.on_disk()) == {".uploads/default/storm.md"}
    assert [note.source for note in service.engine.corpus.ledger.all()] == ["uploads/storm.md"]


@pytest.mark.parametrize("source", ["wind.md", "other/wind.md", "uploads/deep/wind.md", "uploads/../../keep.md"])
def test_documents_of_other_folders_leave_uploads_alone(make: Make, source: str) -> None:
    service = make()
    (service.folder / "keep.md").write_text("Keep.")
    service.send(WIND)
    service.has(source)

    assert service.client.post("/documents/delete", json={"filter": only(source)}).json()["deleted"] == 1
    assert set(service.on_disk()) == {"keep.md", ".uploads/default/wind.md"}


class FailingReader(FakeIngester):
    """Notes in the corpus that `broken.md` cannot be read, and that of `partly.jsonl` a record cannot."""

    service: Service

    def ingest(
        self, corpus: str, path: Path, options: RunOptions, tell: Callable[[Progress], None], stop: threading.Event
    ) -> Result:
        self.service.note("uploads/broken.md", failures=("It is no text.",))
        self.service.has("uploads/partly.jsonl", failures=("Line 2 is no JSON.",))
        return super().ingest(corpus, path, options, tell, stop)


def test_a_file_that_cannot_be_read_is_told_and_not_kept(make: Make) -> None:
    failed = [{"source": "uploads/broken.md", "reason": "It is no text."}]
    ingester = FailingReader(Summary("default", failed=failed))
    service = ingester.service = make(ingester)

    reply = service.send(("broken.md", b"\0"), ("partly.jsonl", b"{}"))

    assert reply.json()["errors"] == failed
    assert set(service.on_disk()) == {".uploads/default/partly.jsonl"}
    assert [note.source for note in service.engine.corpus.ledger.all()] == ["uploads/partly.jsonl"]


@pytest.mark.parametrize("size", [1, 1_000_000])
def test_a_disk_that_is_full_is_told(size: int, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    open_ = Path.open

    def full(path: Path, mode: str = "r", **options: Any) -> Any:
        return open_(Path("/dev/full"), "wb") if mode == "xb" else open_(path, mode, **options)

    monkeypatch.setattr(Path, "open", full)
    service = make()
    reply = service.send(("wind.md", b"x" * size))

    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "storage_full")
    assert service.on_disk() == {}
