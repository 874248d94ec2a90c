"""A client's upload is read while another client's goes on, into the same corpus, with real stores."""

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from api.app import create_app
from api.jobs.ingester import Ingester
from api.jobs.queue import Jobs
from errors import UnreadableError
from index.documents.blobs import LeftOut
from index.documents.store import Document
from ingestion.pipeline import pipeline
from ingestion.reading.files import SourceFile
from query_engine.build import Engines
from settings import EmbedSettings, IndexSettings, Settings
from tests.fakes.library import OwnReader

pytestmark = pytest.mark.fault("D13")

SLOW, SMALL = "slow.md", "small.md"


class SlowReader(OwnReader):
    """Takes as long for one file as the test wants; that file holds a second document, which is read after that."""

    began, go = threading.Event(), threading.Event()

    def read(self, file: SourceFile) -> Iterator[Document | LeftOut | UnreadableError]:
        yield from super().read(file)
        if file.path.name == SLOW:
            self.began.set()
            assert self.go.wait(60)
            yield Document(f"{file.doc_id}#2", "Two", "The second half of the slow file.", source=file.doc_id)


@pytest.fixture(params=["minilm"])
def service(
    tmp_path: Path, model_cache: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[tuple[TestClient, TestClient]]:
    """Yield two clients of one service."""
    monkeypatch.setattr("ingestion.build.Reader", SlowReader)
    monkeypatch.setattr(pipeline, "BEAT_S", 0.01)
    SlowReader.began.clear()
    SlowReader.go.clear()
    settings = Settings(
        index=IndexSettings(dir=tmp_path / "index"), embed=EmbedSettings(model=request.param, cache_dir=model_cache)
    )
    with closing(Engines(settings)) as engines, closing(Jobs()) as jobs:
        app = create_app(engines, settings, Ingester(engines, settings), jobs)
        with (
            TestClient(app, base_url="http://localhost", client=("10.0.0.1", 1)) as one,
            TestClient(app, base_url="http://localhost", client=("10.0.0.2", 1)) as other,
        ):
            yield one, other
            SlowReader.go.set()


@pytest.mark.parametrize("service", ["minilm", "auto"], indirect=True)
def test_a_small_upload_is_there_while_a_long_one_of_another_client_goes_on(
    service: tuple[TestClient, TestClient],
) -> None:
    one, other = service
    long = one.post("/documents", files={"file": (SLOW, b"# Slow\n\nThe first half.\n")})
    assert SlowReader.began.wait(60)

    small = other.post("/documents", params={"wait": True}, files={"file": (SMALL, b"# Small\n\nThe tide is high.\n")})
    deleted = other.delete(f"/documents/uploads/{SMALL}")
    meanwhile = one.get(long.headers["location"]).json()
    SlowReader.go.set()
    again = one.post("/documents", params={"wait": True}, files={"file": (SLOW, b"# Slow\n\nAll of it.\n")})

    assert (small.status_code, small.json()["docs_ok"]) == (200, 1)
    assert meanwhile["state"] == "running"
    assert deleted.status_code == 409  # the long one may yet write
    assert one.get(long.headers["location"]).json()["docs_ok"] == 2
    assert again.json()["result"]["changed"] == 1
    found = {document["doc_id"] for document in one.get("/documents").json()["documents"]}
    assert found == {f"uploads/{SLOW}", f"uploads/{SLOW}#2", f"uploads/{SMALL}"}


def test_a_document_on_its_way_belongs_to_its_file(service: tuple[TestClient, TestClient]) -> None:
    one, other = service
    long = one.post("/documents", files={"file": (SLOW, b"# Slow\n\nThe first half.\n")})
    assert SlowReader.began.wait(60)

    record = b'{"id": "%s", "text": "The same id."}\n{"id": "b", "text": "Another."}\n' % SLOW.encode()
    small = other.post("/documents", params={"wait": True}, files={"file": ("records.jsonl", record)}).json()

    assert (small["docs_ok"], small["docs_failed"]) == (1, 1)
    assert f"uploads/{SLOW}" in small["errors"][0]["reason"]
    SlowReader.go.set()
    assert one.get(long.headers["location"]).status_code == 200
