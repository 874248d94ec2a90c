"""Several processes behind one port: they answer like one, one of them writes for all, and a killed one is replaced."""

import json
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from index.layout.lock import CorpusLock, holder_of
from tests.e2e.conftest import BETZ, MAIN
from tests.e2e.program import Program

QUESTIONS = (
    BETZ,
    "When did the barrage of La Rance open?",
    "What absorbs blue light?",
    "How much does pumped storage return?",
    "Who wrote Hamlet?",
    "Which documents are there?",
    "How does the power in moving air grow, and what does La Rance yield?",
)
PATIENCE_S = 60


class Workers(Program):
    """A service with two workers, one of which writes."""

    def get(self, path: str) -> httpx.Response:
        """Ask through a new connection, which any worker may take."""
        return httpx.get(self.url + path, timeout=PATIENCE_S)

    def post(self, path: str, /, **body: Any) -> httpx.Response:
        """Do the same."""
        return httpx.post(self.url + path, json=body, timeout=PATIENCE_S)

    def pids(self) -> dict[bool, int]:
        """Return the process that writes (True) and the one that does not."""
        found: dict[bool, int] = {}

        def both() -> bool:
            process = self.get("/ready").json()["process"]
            found[process["writes"]] = process["pid"]
            return len(found) == 2

        eventually(both)
        return found

    def of_both(self, read: Callable[[], Any]) -> list[Any]:
        """Return what `read` returns often enough for both workers to be asked, without repetitions."""
        seen: list[Any] = []
        for _ in range(10):
            if (one := read()) not in seen:
                seen.append(one)
        return seen


def eventually(happened: Callable[[], bool], within_s: float = PATIENCE_S) -> None:
    """Wait for something that other processes do."""
    until = time.monotonic() + within_s
    while not happened():
        assert time.monotonic() < until
        time.sleep(0.05)


@contextmanager
def suspended(pid: int) -> Iterator[None]:
    """Suspend a worker, so that the other one answers: which of two idle ones takes a connection is left to chance."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.fixture(scope="module")
def settings(variables: dict[str, str], folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    own = tmp_path_factory.mktemp("workers")
    shutil.copytree(folder / "index", own / "index", ignore=shutil.ignore_patterns("lock", "readers", "feedback*"))
    (own / "new").mkdir()
    places = {"RAG_INDEX__DIR": own / "index", "RAG_INGEST__ROOT": own / "new", "RAG_PIPELINES__DIR": own / "tasks"}
    return {**variables, **{name: str(path) for name, path in places.items()}, "RAG_SERVE__WORKERS": "2"}


@pytest.fixture(scope="module")
def workers(settings: dict[str, str]) -> Iterator[Workers]:
    with Workers([MAIN], settings, Path(settings["RAG_INDEX__DIR"]).parent) as program:
        program.pids()
        yield program


@pytest.mark.fault("F3")
def test_they_answer_as_one_process_does(workers: Workers, service: Program) -> None:
    for question in QUESTIONS:
        for path, body in (
            ("/evaluate", {"query": question, "iid": "1"}),
            ("/retrieve", {"query": question}),
        ):
            alone = _content(httpx.post(service.url + path, json=body, timeout=PATIENCE_S), service.url)
            assert workers.of_both(partial(_asked, workers, path, body)) == [alone]


def test_a_document_that_any_of_them_takes_is_found_by_both(workers: Workers, settings: dict[str, str]) -> None:
    for number in range(4):  # through either of them
        file = Path(settings["RAG_INGEST__ROOT"]) / f"hydrogen{number}.md"
        file.write_text(f"# Hydrogen\n\nElectrolyser number {number} splits {number}7 litres of water an hour.")

        job = workers.post("/ingest", path=file.name, wait=True).json()
        committed = time.monotonic()

        assert job["state"] == "done"
        assert workers.get(f"/ingest/{job['job']}").json()["state"] == "done"
        asked = {"query": f"How many litres does electrolyser number {number} split?", "iid": "1"}
        eventually(partial(_all_say, workers, asked, f"{number}7 litres"))
        assert time.monotonic() - committed < PATIENCE_S


def test_a_deletion_holds_for_both(workers: Workers, settings: dict[str, str]) -> None:
    file = Path(settings["RAG_INGEST__ROOT"]) / "peat.md"
    file.write_text("# Peat\n\nPeat from Ringmoor was burnt until 1957.")
    assert workers.post("/ingest", path="peat.md", wait=True).status_code == 200

    deleted = httpx.delete(f"{workers.url}/documents/peat.md", timeout=PATIENCE_S)

    assert deleted.json()["deleted"] == 1
    eventually(lambda: {workers.get("/documents/peat.md").status_code for _ in range(10)} == {404})


def test_feedback_on_an_answer_of_one_may_come_to_the_other(workers: Workers) -> None:
    for _ in range(6):
        given = workers.post("/query", question=BETZ).json()["answer_id"]
        assert workers.post("/feedback", answer_id=given, verdict="good").is_success


def test_cleared_answers_are_forgotten_by_both(workers: Workers) -> None:
    def remembered() -> bool:
        return bool(workers.post("/query", question=BETZ).json()["cache_hit"])

    pids = workers.pids().values()
    for other in pids:
        with suspended(other):
            remembered()
            assert remembered()

    workers.post("/cache/clear")

    for other in pids:
        with suspended(other):
            assert [remembered(), remembered()] == [False, True]


def test_a_task_is_run_once_and_seen_by_both(workers: Workers) -> None:
    task = workers.post("/task/enqueue", **{"query": "Betz limit", "1": {"id": "corpus_datasource"}}).text

    assert {workers.get(f"/task/progress/{task}").status_code for _ in range(10)} == {200}


@pytest.mark.parametrize(
    ("writes", "number"), [(False, signal.SIGKILL), (True, signal.SIGKILL), (True, signal.SIGTERM)]
)
def test_a_worker_that_ends_is_replaced_and_the_other_goes_on(
    workers: Workers, settings: dict[str, str], *, writes: bool, number: signal.Signals
) -> None:
    before = workers.pids()
    os.kill(before[writes], number)
    eventually(lambda: not psutil.pid_exists(before[writes]))

    answered = 0
    until = time.monotonic() + PATIENCE_S
    while answered < 20:  # those that were queued at the killed one are cut
        try:
            answered += "Albert Betz" in workers.post("/evaluate", query=BETZ, iid="1").text
        except httpx.TransportError:
            assert time.monotonic() < until
    after = workers.pids()

    assert after[not writes] == before[not writes]
    assert after[writes] != before[writes]
    file = Path(settings["RAG_INGEST__ROOT"]) / f"after{writes}{number.name}.md"
    file.write_text("# Geothermal heat\n\nThe well of Larderello lit five bulbs in 1904.")
    assert workers.post("/ingest", path=file.name, wait=True).json()["state"] == "done"


@pytest.mark.fault("C10")
def test_an_ingestion_whose_writer_is_killed_is_told_before_the_next_writer_has_loaded_and_loses_nothing(
    workers: Workers, settings: dict[str, str]
) -> None:
    folder = Path(settings["RAG_INGEST__ROOT"]) / "many"
    folder.mkdir()
    names = [f"tide{number}.md" for number in range(100)]
    for number, name in enumerate(names):
        (folder / name).write_text(f"# Tide {number}\n\n" + f"Barrage {number} has {number} turbines. " * 10)
    job = workers.post("/ingest", path="many", wait=False).json()["job"]

    writer = workers.pids()[True]
    opened = workers.log.count("startup complete")
    eventually(lambda: workers.get(f"/ingest/{job}").json()["progress"] is not None)
    os.kill(writer, signal.SIGKILL)
    eventually(lambda: not psutil.pid_exists(writer))

    told = workers.get(f"/ingest/{job}").json()

    assert workers.log.count("startup complete") == opened
    assert (told["state"], told["error"]["code"]) == ("failed", "job_interrupted")
    assert [(one["job"], one["state"]) for one in workers.get("/ingest").json()["jobs"]] == [(job, "failed")]
    again = workers.post("/ingest", path="many", wait=True).json()
    assert (again["state"], again["result"]["failed"]) == ("done", [])
    assert again["result"]["new"] + again["result"]["unchanged"] == len(names)
    assert workers.post("/ingest", path="many", wait=True).json()["result"]["unchanged"] == len(names)


def test_it_holds_the_corpus_and_leaves_it_clean(workers: Workers, settings: dict[str, str]) -> None:
    corpus = Path(settings["RAG_INDEX__DIR"]) / "default"
    workers.pids()

    assert workers.url in str(holder_of(corpus))
    workers.signal(signal.SIGTERM)
    assert workers.exit_code() == 143
    CorpusLock(corpus).release()


def _content(reply: httpx.Response, url: str) -> dict[str, Any]:
    """Return what an answer says, without what differs each time it is given."""
    # Distances of a Chroma server differ in the seventh digit from those of one in this process.
    content = dict(json.loads(reply.text.replace(url, ""), parse_float=lambda number: round(float(number), 5)))
    for name in ("answer_id", "retrieval_id", "timings_ms"):
        content.pop(name, None)
    return content


def _asked(workers: Workers, path: str, body: dict[str, str]) -> dict[str, Any]:
    return _content(workers.post(path, **body), workers.url)


def _all_say(workers: Workers, asked: dict[str, str], words: str) -> bool:
    return all(words in workers.post("/evaluate", **asked).text for _ in range(8))
