from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from api.jobs.queue import MAX_QUEUED, Jobs
from errors import CorpusLockedError, IndexMismatchError, StorageError
from index.documents.store import Metadata
from ingestion.schema import RunOptions, Summary
from settings import IngestSettings
from tests.fakes.engines import FakeEngine
from tests.fakes.http import client_of
from tests.fakes.ingesting import FakeIngester


def service(root: Path | None, ingester: FakeIngester, **options: Any) -> TestClient:
    """Return a client of a service that may ingest below `root`."""
    return client_of(FakeEngine(), ingester=ingester, ingest=IngestSettings(root=root), **options)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "wind.md").write_text("Wind.")
    return tmp_path


def ingest(folder: Path, ingester: FakeIngester, **body: Any) -> httpx2.Response:
    return service(folder, ingester).post("/ingest", json={"path": "docs", "wait": True} | body)


@pytest.mark.promise("G06")
def test_a_job_is_accepted_at_once_and_can_be_watched_and_cancelled(root: Path) -> None:
    ingester = FakeIngester(held=True)
    client = service(root, ingester)
    accepted = client.post("/ingest", json={"path": "docs", "wait": False})
    assert accepted.status_code == 202
    assert ingester.began.wait(10)

    address = accepted.headers["location"]
    running = client.get(address).json()
    assert running["state"] == "running"
    assert running["job"] == accepted.json()["job"] == address.removeprefix("/ingest/")
    assert running["request"] == {"corpus": "default", "path": str(root / "docs")}
    assert running["progress"]["files_total"] == 4
    assert [job["job"] for job in client.get("/ingest").json()["jobs"]] == [running["job"]]

    waiting = client.post("/ingest", json={"path": "docs", "wait": False}).headers["location"]
    assert client.delete(waiting).json()["state"] == "cancelled"
    stopping = client.delete(address)
    assert stopping.status_code == 202 or stopping.json()["state"] == "cancelled"


@pytest.mark.promise("E05")
@pytest.mark.parametrize("wait", [True, None])
def test_a_client_that_waits_or_whose_job_is_short_gets_what_an_evaluation_client_reads(
    root: Path, wait: bool | None
) -> None:
    failed = [{"source": "bad.pdf", "reason": "It is damaged."}]
    summary = Summary("default", new=2, unchanged=1, leaves=8, duration_s=1.5, failed=failed)

    reply = ingest(root, FakeIngester(summary), wait=wait)

    assert reply.status_code == 200
    body = reply.json()
    assert body["state"] == "done"
    assert body["result"].items() >= summary.to_dict().items()
    assert {
        "docs_total": 4,
        "docs_ok": 3,
        "docs_failed": 1,
        "chunks_total": 40,
        "chunks_indexed": 8,
        "duration_sec": 1.5,
        "errors": failed,
    }.items() <= body.items()


@pytest.mark.promise("E05")
def test_a_job_that_takes_longer_is_a_202(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.routes.ingest.REPLY_WITHIN_S", 0.01)
    client = service(root, FakeIngester(held=True))
    reply = client.post("/ingest", json={"path": "docs"})

    assert reply.status_code == 202
    told = reply.json()
    assert reply.headers["location"] == f"/ingest/{told['job']}"
    assert (told["docs_total"], told["docs_failed"], told["chunks_total"], told["errors"]) == (None, None, None, [])
    assert min(told["docs_ok"], told["chunks_indexed"], told["duration_sec"]) >= 0


@pytest.mark.promise("E04")
@pytest.mark.parametrize(
    "size", [{"chunk_size": 800}, {"chunk_overlap": 120}, {"chunk_size": 800, "chunk_overlap": None}]
)
def test_sizes_per_request_change_nothing_and_the_setting_is_named(root: Path, size: dict[str, int | None]) -> None:
    reply = ingest(root, FakeIngester(), **size)

    assert reply.status_code == 200
    assert "RAG_CHUNK__LEAF_TOKENS" in reply.json()["warnings"][0]


def test_sizes_that_are_null_are_left_out(root: Path) -> None:
    reply = ingest(root, FakeIngester(), chunk_size=None, chunk_overlap=None)

    assert reply.status_code == 200
    assert "warnings" not in reply.json()


def test_the_folder_of_the_start_is_named_as_it_was_then(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    ingester = FakeIngester()
    client = service(None, ingester, ingested=Path("docs"))
    assert client.post("/ingest", json={"path": "docs"}).status_code == 200

    assert [path for _, path, _ in ingester.asked] == [root / "docs"]


def test_every_option_reaches_the_ingestion(root: Path) -> None:
    ingester = FakeIngester()
    metadata: Metadata = {"year": 2024, "tags": ["a", "b"], "open": True, "ratio": 0.5}

    ingest(
        root,
        ingester,
        corpus="papers",
        root="mine",
        metadata=metadata,
        topic="wind",
        doc_type="figure",
        limit=5,
        dry_run=True,
        prune=True,
    )

    named: Metadata = {"topic": "wind", "doc_type": "figure"}
    options = RunOptions("mine", metadata | named, limit=5, dry_run=True, prune=True)
    assert ingester.asked == [("papers", root / "docs", options)]


@pytest.mark.parametrize("name", ["../a.md", "/a.md", "notes/../../a.md", ".git/a.md", "", "a//b.md", "a\0.md"])
def test_a_file_out_of_the_folder_or_hidden_in_it_is_refused(root: Path, name: str) -> None:
    ingester = FakeIngester()

    assert ingest(root, ingester, files=[name]).status_code == 422
    assert not ingester.began.is_set()


def test_a_retry_needs_no_path_and_no_root() -> None:
    ingester = FakeIngester()
    client = service(None, ingester)
    assert client.post("/ingest", json={"retry": True, "wait": True}).status_code == 200
    unknown = client.post("/ingest", json={"retry": True, "corpus": "none"})

    assert ingester.asked == [("default", None, None)]
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "unknown_corpus")


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [("../", 403, "ingest_refused"), ("/etc", 403, "ingest_refused"), ("none", 404, "unknown_path")],
)
def test_a_path_that_is_not_below_the_root_starts_no_job(root: Path, path: str, status: int, code: str) -> None:
    ingester = FakeIngester()
    reply = ingest(root, ingester, path=path)

    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)
    assert ingester.asked == []


def test_without_a_root_ingestion_is_off_and_the_remedy_is_told() -> None:
    client = service(None, FakeIngester())
    reply = client.post("/ingest", json={"path": "docs"})

    assert reply.status_code == 403
    assert "RAG_INGEST__ROOT" in reply.json()["error"]["detail"]


def test_what_the_service_was_started_with_may_be_ingested_again(root: Path) -> None:
    ingester = FakeIngester()
    client = service(None, ingester, ingested=root / "docs")
    again = client.post("/ingest", json={"path": str(root / "docs"), "wait": True})
    beside = client.post("/ingest", json={"path": str(root)})

    assert (again.status_code, beside.status_code) == (200, 403)
    assert [path for _, path, _ in ingester.asked] == [root / "docs"]


def test_the_path_is_checked_again_when_the_job_begins(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    ingester = FakeIngester(held=True)
    outside = tmp_path_factory.mktemp("outside")
    client = service(root, ingester)
    client.post("/ingest", json={"path": "docs", "wait": False})
    assert ingester.began.wait(10)
    waiting = client.post("/ingest", json={"path": "docs", "wait": False}).headers["location"]
    (root / "docs").rename(root / "moved")
    (root / "docs").symlink_to(outside)
    ingester.go.set()
    last = client.post("/ingest", json={"path": "moved", "wait": True})

    assert last.status_code == 200
    assert client.get(waiting).json()["error"]["code"] == "ingest_refused"
    assert [path for _, path, _ in ingester.asked] == [root / "docs", root / "moved"]


def test_pruning_one_file_is_refused(root: Path) -> None:
    reply = ingest(root, FakeIngester(), path="docs/wind.md", prune=True)

    assert reply.status_code == 422
    assert "Prune a whole folder" in reply.json()["error"]["detail"]


@pytest.mark.parametrize("wait", [True, None])
def test_a_failed_job_answers_who_waits_with_its_own_status(root: Path, wait: bool | None) -> None:
    full = StorageError("The disk is full.", "Free some space.")

    reply = ingest(root, FakeIngester(failure=full), wait=wait)

    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "storage_full")


def test_a_bug_in_a_job_is_an_internal_error(root: Path) -> None:
    assert ingest(root, FakeIngester(failure=ZeroDivisionError("inside"))).status_code == 500


@pytest.mark.parametrize(
    "failure",
    [
        CorpusLockedError("Corpus 'default' is in use by process 7.", "Wait."),
        IndexMismatchError("The index was built with other settings.", "Set them back."),
    ],
    ids=["locked", "other settings"],
)
def test_a_corpus_that_cannot_be_opened_is_refused_before_a_job_begins(root: Path, failure: Exception) -> None:
    jobs = Jobs()
    client = client_of(failures={"default": failure}, jobs=jobs, ingest=IngestSettings(root=root))

    reply = client.post("/ingest", json={"path": "docs"})

    assert reply.status_code == 503
    assert jobs.recent() == []


def test_a_full_line_is_told_with_the_time_to_come_back(root: Path) -> None:
    ingester = FakeIngester(held=True)
    client = service(root, ingester)
    client.post("/ingest", json={"path": "docs", "wait": False})
    assert ingester.began.wait(10)
    statuses = [client.post("/ingest", json={"path": "docs", "wait": False}).status_code for _ in range(MAX_QUEUED)]
    full = client.post("/ingest", json={"path": "docs", "wait": False})

    assert set(statuses) == {202}
    assert (full.status_code, full.json()["error"]["code"]) == (429, "too_many_jobs")
    assert int(full.headers["retry-after"]) > 0


@pytest.mark.parametrize("method", ["GET", "DELETE"])
@pytest.mark.parametrize("job", ["none", "%00", "..%2f.."])
def test_an_unknown_job_is_a_404_that_says_what_became_of_it(method: str, job: str) -> None:
    reply = client_of().request(method, f"/ingest/{job}")

    assert reply.status_code == 404
    if job == "none":
        assert "what was committed stays" in reply.json()["error"]["detail"]


def test_probes_are_answered_while_a_job_runs(root: Path) -> None:
    ingester = FakeIngester(held=True)
    client = service(root, ingester)
    client.post("/ingest", json={"path": "docs", "wait": False})
    assert ingester.began.wait(10)

    assert client.get("/health").json()["status"] == "ok"
    assert client.get("/ready").status_code == 200
