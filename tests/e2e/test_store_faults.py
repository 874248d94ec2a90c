"""The stores of a running service go away, hang, come back empty or cannot be written: it says so, and goes on."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import BETZ, MAIN, WIND
from tests.e2e.program import Program
from tests.e2e.test_workers import eventually
from tests.servers.databases import ChromaServer, PostgresServer, chroma_server, postgres_server
from tests.servers.isolated import can_mount

TIMEOUT_S = 90
ANSWER = "Albert Betz"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


class Served:
    """A service whose vectors and documents are on servers of its own."""

    def __init__(self, folder: Path, model_cache: Path, stack: ExitStack) -> None:
        (folder / "sources").mkdir()
        (folder / "chroma").mkdir()
        (folder / "sources" / "wind.md").write_text(WIND)
        self.chroma: ChromaServer = stack.enter_context(chroma_server(folder / "chroma"))
        self.postgres: PostgresServer = stack.enter_context(postgres_server())
        settings = {
            "RAG_INDEX__DIR": str(folder / "index"),
            "RAG_INDEX__CHROMA_URL": self.chroma.url,
            "RAG_INDEX__DATABASE_URL": self.postgres.url,
            "RAG_EMBED__CACHE_DIR": str(model_cache),
            "RAG_CACHE__ENTRIES": "0",
            "RAG_SERVE__PORT": "0",
        }
        self.program = stack.enter_context(Program([MAIN, "--ingest", str(folder / "sources")], settings, folder))

    def ask(self) -> httpx.Response:
        return httpx.post(f"{self.program.url}/evaluate", json={"query": BETZ, "iid": "1"}, timeout=TIMEOUT_S)

    def answers(self) -> bool:
        return ANSWER in self.ask().text

    def ready(self) -> dict[str, Any]:
        return dict(httpx.get(f"{self.program.url}/ready", timeout=TIMEOUT_S).json())


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Iterator[Served]:
    with ExitStack() as stack:
        served = Served(tmp_path_factory.mktemp("served"), model_cache, stack)
        assert served.answers()
        yield served


def refused(served: Served) -> bool:
    """Say whether a question is refused in words, on every route, and whether `/ready` knows."""
    stream = httpx.post(f"{served.program.url}/run", json={"question": BETZ}, timeout=TIMEOUT_S)
    reply = served.ask()
    assert reply.status_code in {200, 503}
    if reply.status_code == 200 or served.ready().get("ready"):
        return False
    assert reply.json()["error"]["code"] == "store_unavailable", reply.text
    assert stream.status_code == 503 or (ANSWER not in stream.text and '"error":' in stream.text)
    assert "Traceback" not in reply.text + stream.text
    return True


@pytest.mark.fault("C1")
@pytest.mark.parametrize("name", ["chroma", "postgres"])
def test_a_server_that_is_down_is_told_and_used_again_when_it_is_back(served: Served, name: str) -> None:
    server = getattr(served, name)
    (server.kill if name == "chroma" else server.stop)()

    eventually(lambda: refused(served))
    server.start()

    eventually(served.answers)
    eventually(lambda: served.ready().get("ready", False))


@pytest.mark.fault("C2", "C9")
@pytest.mark.parametrize("name", ["chroma", "postgres"])
def test_a_frozen_server_holds_no_question_for_long(served: Served, name: str) -> None:
    server = getattr(served, name)
    server.freeze()
    try:
        eventually(lambda: refused(served))
        assert httpx.get(f"{served.program.url}/health", timeout=TIMEOUT_S).status_code == 200
    finally:
        server.thaw()

    eventually(served.answers)


@pytest.mark.fault("C3")
def test_a_server_that_was_emptied_gives_no_answer_from_nothing(served: Served) -> None:
    collections = f"{served.chroma.url}/api/v2/tenants/default_tenant/databases/default_database/collections"
    for collection in httpx.get(collections).json():
        httpx.delete(f"{collections}/{collection['name']}").raise_for_status()

    reply = served.ask()

    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "index_damaged")
    eventually(lambda: not served.ready()["ready"])  # what was seen a second ago may be told again


@pytest.mark.fault("C6")
def test_an_index_that_is_deleted_under_the_service_is_told_by_each_question_and_by_ready(
    copied: dict[str, str], tmp_path: Path
) -> None:
    with Program([MAIN], copied, tmp_path) as program:
        shutil.rmtree(tmp_path / "index")
        reply = httpx.post(f"{program.url}/evaluate", json={"query": BETZ, "iid": "1"}, timeout=TIMEOUT_S)
        stream = httpx.post(f"{program.url}/run", json={"question": BETZ}, timeout=TIMEOUT_S)
        ready = httpx.get(f"{program.url}/ready", timeout=TIMEOUT_S)
        health = httpx.get(f"{program.url}/health", timeout=TIMEOUT_S)

    assert not reply.json()["answered"]
    assert reply.json()["warnings"][0].startswith("unknown_corpus")
    assert "There is no corpus 'default'" in stream.text
    assert (ready.status_code, health.status_code) == (503, 200)
    assert "Traceback" not in program.log


@pytest.mark.fault("C8")
def test_vectors_that_are_damaged_under_the_service_are_told_by_each_question_and_both_probes(
    copied: dict[str, str], tmp_path: Path
) -> None:
    with Program([MAIN], {**copied, "RAG_CACHE__ENTRIES": "0"}, tmp_path) as program:
        file = tmp_path / "index" / "default" / "vectors" / "chroma.sqlite3"
        file.write_bytes(b"\xff" * file.stat().st_size)
        asked = httpx.post(f"{program.url}/evaluate", json={"query": BETZ, "iid": "1"}, timeout=TIMEOUT_S)
        eventually(lambda: httpx.get(f"{program.url}/ready", timeout=TIMEOUT_S).status_code == 503)
        health = httpx.get(f"{program.url}/health", timeout=TIMEOUT_S)
        replies = [asked, health, httpx.get(f"{program.url}/ready", timeout=TIMEOUT_S)]

    assert (asked.status_code, health.status_code) == (503, 200)
    assert (health.json()["status"], health.json()["failing_stores"]) == ("degraded", ["vectors"])
    assert not [reply.text for reply in replies if str(tmp_path) in reply.text]
    assert str(file.parent) in program.log


@pytest.mark.fault("C6", "A4")
@pytest.mark.skipif(not can_mount(), reason="a read-only disk can only be mounted by root, with `unshare`")
def test_an_index_on_a_read_only_disk_is_refused_by_each_question(copied: dict[str, str], tmp_path: Path) -> None:
    read_only = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && exec "$2" "$3"'
    command = ["unshare", "-m", "sh", "-c", read_only, "sh", copied["RAG_INDEX__DIR"], sys.executable, MAIN]
    replaced = ["-c", f"import os; os.execvp('unshare', {command})"]  # the process stays the same
    with Program(replaced, copied, tmp_path) as program:
        reply = httpx.post(f"{program.url}/evaluate", json={"query": BETZ, "iid": "1"}, timeout=TIMEOUT_S)
        ready = httpx.get(f"{program.url}/ready", timeout=TIMEOUT_S)

    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "storage_full")
    assert ready.status_code == 503
    assert "Traceback" not in program.log
