"""Two readers and a writer, each with its own disk, as on several machines: PostgreSQL, a Chroma server and HAProxy."""

import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import httpx
import pytest

from tests.e2e.conftest import BETZ, MAIN, WIND
from tests.e2e.program import Program
from tests.e2e.test_workers import eventually
from tests.servers.databases import chroma_server, free_port, postgres_server
from tests.servers.proxy import reverse_proxy

QUESTIONS = 200
CLIENTS = 4


class Replicas:
    """The services.

    Attributes:
        url: of the proxy before the readers.
        ports: of the readers.
        sources: what clients may have ingested.
    """

    def __init__(self, folder: Path, variables: dict[str, str], stack: ExitStack) -> None:
        self._folder, self._stack = folder, stack
        self.sources = folder / "sources"
        self.sources.mkdir()
        (self.sources / "wind.md").write_text(WIND, encoding="utf-8")
        (folder / "chroma").mkdir()
        chroma = stack.enter_context(chroma_server(folder / "chroma"))
        postgres = stack.enter_context(postgres_server())
        self._variables = {
            **variables,
            "RAG_INDEX__CHROMA_URL": chroma.url,
            "RAG_INDEX__DATABASE_URL": postgres.url,
            "RAG_SERVE__ALLOWED_HOSTS": "127.0.0.1",
        }
        self.writer = stack.enter_context(self._program("writer", 0, ["--ingest", str(self.sources)]))
        self.ports = [free_port(), free_port()]
        with ThreadPoolExecutor(2) as threads:
            self.readers = list(threads.map(self.started, self.ports))
        self.url = stack.enter_context(reverse_proxy(folder, self.ports))

    def started(self, port: int) -> Program:
        """Start a reader on a port."""
        return self._stack.enter_context(self._program("reader", port, []))

    def refusing(self) -> Program:
        """Start a reader that does not know the writer."""
        return self._stack.enter_context(self._program("reader", 0, [], writer_url=""))

    def _program(self, role: str, port: int, arguments: list[str], writer_url: str | None = None) -> Program:
        folder = self._folder / f"{role}{port}"
        folder.mkdir(exist_ok=True)
        own = {
            "RAG_SERVE__ROLE": role,
            "RAG_SERVE__PORT": str(port),
            "RAG_INDEX__DIR": str(folder / "index"),
            "RAG_PIPELINES__DIR": str(folder / "tasks"),
        }
        if role == "reader":
            own["RAG_SERVE__WRITER_URL"] = self.writer.url if writer_url is None else writer_url
        return Program([MAIN, *arguments], {**self._variables, **own}, folder)


@pytest.fixture(scope="module")
def replicas(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Iterator[Replicas]:
    with ExitStack() as stack:
        yield Replicas(tmp_path_factory.mktemp("replicas"), {"RAG_EMBED__CACHE_DIR": str(model_cache)}, stack)


def ask(url: str, question: str = BETZ) -> str:
    return httpx.post(f"{url}/evaluate", json={"query": question, "iid": "1"}, timeout=60).raise_for_status().text


def says(url: str, question: str, words: str) -> bool:
    return words in ask(url, question)


def is_gone(url: str) -> bool:
    return httpx.get(url, timeout=60).status_code == 404


def is_asked(proxy_url: str, url: str) -> bool:
    """Say whether a replica is ready and the proxy knows it."""
    ready = httpx.get(f"{url}/ready", timeout=60)
    asked = [httpx.get(f"{proxy_url}/ready", timeout=60) for _ in range(4)]
    return ready.is_success and ready.json()["process"] in [one.json().get("process") for one in asked]


@pytest.mark.fault("C7")
def test_a_commit_is_seen_by_both(replicas: Replicas) -> None:
    (replicas.sources / "tides.md").write_text("# Tides\n\nThe barrage of La Rance yields 240 megawatts.")

    # Through a reader, which hands it to the writer.
    job = httpx.post(f"{replicas.url}/ingest", json={"path": "tides.md", "wait": True}, timeout=60).json()

    assert job["state"] == "done"
    for port in replicas.ports:
        eventually(partial(says, f"http://127.0.0.1:{port}", "How much does La Rance yield?", "240 megawatts"))
    deleted = httpx.delete(f"{replicas.url}/documents/tides.md", timeout=60)
    assert deleted.json()["deleted"] == 1
    for port in replicas.ports:
        eventually(partial(is_gone, f"http://127.0.0.1:{port}/documents/tides.md"))


@pytest.mark.fault("C7")
def test_no_question_is_lost_when_a_reader_is_killed_or_restarted(replicas: Replicas) -> None:
    with ThreadPoolExecutor(CLIENTS) as clients:
        asked = [clients.submit(ask, replicas.url) for _ in range(QUESTIONS)]
        asked[QUESTIONS // 8].result()
        replicas.readers[0].signal(signal.SIGKILL)
        asked[QUESTIONS // 2].result()
        replicas.started(replicas.ports[0])
        eventually(partial(is_asked, replicas.url, f"http://127.0.0.1:{replicas.ports[0]}"))
        # A rolling restart: the other one ends what it has begun.
        asked += [clients.submit(ask, replicas.url) for _ in range(QUESTIONS // 4)]
        replicas.readers[1].signal(signal.SIGTERM)

        answers = [one.result() for one in asked]

    assert all("Albert Betz" in answer for answer in answers)
    assert len(answers) == QUESTIONS + QUESTIONS // 4


def test_a_reader_without_a_writer_s_address_refuses_writes(replicas: Replicas) -> None:
    reader = replicas.refusing()
    refusals = [
        httpx.post(f"{reader.url}/ingest", json={"path": "wind.md"}, timeout=60),
        httpx.delete(f"{reader.url}/documents/wind.md", timeout=60),
    ]

    for refused in refusals:
        assert refused.status_code == 403
        assert "RAG_SERVE__ROLE=writer" in refused.json()["error"]["detail"]
    assert "Albert Betz" in ask(reader.url)
