"""Ingestion over HTTP, by the real service: beside the questions, through a stop, and back out again."""

import itertools
import random
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import BETZ, MAIN, WIND
from tests.e2e.program import Program

TIMEOUT_S = 60
ASKING_THREADS = 8
EDITIONS = 3
LIBRARY_SIZE = 16


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that the service may ingest."""
    library = tmp_path_factory.mktemp("library")
    for name in ("energy", "odd", "books", "long"):
        (library / name).mkdir()
    (library / "energy" / "wind.md").write_text(WIND)
    return library


@pytest.fixture(scope="module")
def settings(library: Path, model_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the settings of a service that has no corpus yet."""
    return {
        "RAG_INDEX__DIR": str(tmp_path_factory.mktemp("index")),
        "RAG_EMBED__CACHE_DIR": str(model_cache),
        "RAG_SERVE__PORT": "0",
        "RAG_INGEST__ROOT": str(library),
    }


@pytest.fixture(scope="module")
def client(settings: dict[str, str], library: Path) -> Iterator[httpx.Client]:
    """Return a client of a service that has no corpus yet; each test here makes its own."""
    with Program([MAIN], settings, library) as program, httpx.Client(base_url=program.url, timeout=TIMEOUT_S) as client:
        yield client


def ask(client: httpx.Client) -> dict[str, Any]:
    reply = client.post("/evaluate", json={"query": BETZ, "iid": "1"})
    assert reply.status_code == 200
    found: dict[str, Any] = reply.json()
    return found


def ingest(client: httpx.Client, **body: Any) -> dict[str, Any]:
    reply = client.post("/ingest", json={"wait": True} | body)
    assert reply.status_code == 200, reply.text
    job = reply.json()
    return {"state": job["state"], **job["result"]} if job["result"] else {"state": job["state"]}


def test_a_service_without_documents_gets_some_answers_and_forgets_them_again(client: httpx.Client) -> None:
    wind = {"path": "energy", "topic": "wind power", "metadata": {"year": 2024}}
    planned = ingest(client, path="energy", dry_run=True)
    assert (planned["new"], planned["dry_run"]) == (1, True)
    assert client.get("/stats").status_code == 404

    assert ingest(client, **wind)["docs_ok"] == 1
    before = ask(client)
    assert before["citations"][0]["doc_id"] == "wind.md"
    assert ingest(client, **wind)["unchanged"] == 1

    stats = client.get("/stats").json()
    assert (stats["documents"], stats["md_count"], stats["failed_sources"]) == (1, 1, 0)
    assert stats["size_bytes"] > 1000
    year = {"filters": [{"key": "year", "operator": ">", "value": 2000}, {"key": "topic", "value": "wind power"}]}
    listed = client.get("/documents", params={"filter": httpx.Response(200, json=year).text}).json()
    assert [document["doc_id"] for document in listed["documents"]] == ["wind.md"]

    assert client.post("/documents/delete", json={"filter": year, "dry_run": True}).json()["matched"] == 1
    assert client.post("/documents/delete", json={"filter": year}).json()["deleted"] == 1
    after = ask(client)
    assert (after["answered"], after["citations"]) == (False, [])
    assert after["fingerprint"] != before["fingerprint"]

    # The file is still there, so the next ingestion brings the document back.
    assert ingest(client, **wind)["new"] == 1
    assert client.delete("/documents/wind.md").status_code == 200
    assert client.delete("/documents/wind.md").status_code == 404


@pytest.mark.promise("E18")
def test_no_kept_answer_outlives_the_documents_it_was_written_from(client: httpx.Client) -> None:
    def query() -> tuple[bool, bool]:
        reply = client.post("/query", json={"question": BETZ, "corpus": "kept"})
        assert reply.status_code == 200, reply.text
        return reply.json()["answered"], reply.json()["cache_hit"]

    ingest(client, path="energy", corpus="kept")
    assert [query(), query()] == [(True, False), (True, True)]
    assert client.delete("/documents/wind.md", params={"corpus": "kept"}).status_code == 200
    assert [query(), query()] == [(False, False), (False, True)]


@pytest.mark.promise("G05")
def test_a_file_that_cannot_be_read_is_told_and_retried(client: httpx.Client, library: Path) -> None:
    (library / "odd" / "bad.pdf").write_bytes(b"%PDF-1.7 and nothing more")
    (library / "odd" / "good.txt").write_text("A barrage uses the tide.")
    first = ingest(client, path="odd", corpus="odd")
    assert (first["docs_total"], first["docs_ok"], first["docs_failed"]) == (2, 1, 1)
    assert first["errors"][0]["source"] == "bad.pdf"
    assert client.get("/stats?corpus=odd").json()["failed_sources"] == 1
    sizes = {corpus["name"]: corpus["documents"] for corpus in client.get("/corpora").json()["corpora"]}
    assert sizes["odd"] == 1

    (library / "odd" / "bad.pdf").write_text("Not a PDF but a text about tides.")
    again = ingest(client, retry=True, corpus="odd")
    assert (again["state"], again["docs_total"]) == ("done", 1)


@pytest.mark.promise("E30")
@pytest.mark.fault("E1")
@pytest.mark.parametrize("path", ["..", "/etc/passwd", "/proc/self/environ", "energy/../../index", "link"])
def test_nothing_outside_the_root_is_read(client: httpx.Client, library: Path, path: str) -> None:
    (library / "link").unlink(missing_ok=True)
    (library / "link").symlink_to("/etc")
    before = client.get("/ingest").json()

    assert client.post("/ingest", json={"path": path}).status_code == 403
    assert client.get("/ingest").json() == before


def write_library(folder: Path, edition: int) -> dict[str, str]:
    """Write documents whose every sentence names its edition; return their texts by doc_id."""
    subjects = ["rotor", "tower", "gearbox", "cable"]
    texts = {
        f"book{n:02}.txt": "\n\n".join(
            f"Edition {edition} says of the {subject} of turbine {n}, page {part}: it weighs {n * part + edition} tons."
            for part, subject in enumerate(subjects * 3)
        )
        for n in range(LIBRARY_SIZE)
    }
    for name, text in texts.items():
        (folder / "books" / name).write_text(text)
    return texts


@pytest.mark.slow
def test_questions_are_answered_from_whole_documents_while_an_ingestion_replaces_them(
    client: httpx.Client, library: Path
) -> None:
    editions = [write_library(library, edition) for edition in range(EDITIONS)]
    done = threading.Event()

    def keep_asking(number: int) -> int:
        for asked in itertools.count(1):
            question = f"How many tons does the rotor of turbine {(number + asked) % LIBRARY_SIZE} weigh?"
            reply = client.post("/retrieve", json={"question": question, "corpus": "books"}).raise_for_status()
            for passage in reply.json()["passages"]:
                known = [texts[passage["doc_id"]] for texts in editions]
                assert any(passage["text"] == text[passage["start"] : passage["end"]] for text in known)
            assert reply.json()["passages"]
            evaluation = {"query": question, "iid": str(asked), "corpus": "books"}
            client.post("/evaluate", json=evaluation).raise_for_status()
            client.get("/health").raise_for_status()
            if done.is_set():
                return asked
        raise AssertionError

    write_library(library, 0)
    ingest(client, path="books", corpus="books")
    with ThreadPoolExecutor(ASKING_THREADS) as pool:
        asking = [pool.submit(keep_asking, number) for number in range(ASKING_THREADS)]
        try:
            for edition in (*range(1, EDITIONS), 0):
                write_library(library, edition)
                assert ingest(client, path="books", corpus="books")["changed"] == LIBRARY_SIZE
        finally:
            done.set()
        assert all(future.result() for future in asking)


def write_long_texts(folder: Path) -> None:
    """Write several batches of short leaves, no two alike."""
    words = random.Random(7)
    for n in range(40):
        sentences = (" ".join(f"w{words.randrange(9999)}" for _ in range(12)) + "." for _ in range(20))
        (folder / "long" / f"{n:02}.txt").write_text(" ".join(sentences))


def first_commit(client: httpx.Client, address: str) -> int:
    """Wait until a running job has committed documents; return how many."""
    pause = threading.Event()
    while not (job := client.get(address).json())["progress"] or not job["progress"]["documents"]:
        assert job["state"] in {"queued", "running"}, job
        pause.wait(0.1)
    return int(job["progress"]["documents"])


@pytest.mark.slow
def test_a_stop_ends_a_job_in_order_and_the_same_request_goes_on_from_there(
    settings: dict[str, str], library: Path, tmp_path: Path
) -> None:
    write_long_texts(library)
    own = settings | {"RAG_INDEX__DIR": str(tmp_path), "RAG_CHUNK__LEAF_TOKENS": "16"}
    with (
        Program([MAIN], own, tmp_path) as program,
        httpx.Client(base_url=program.url, timeout=TIMEOUT_S) as client,
        ThreadPoolExecutor(1) as pool,
    ):
        address = client.post("/ingest", json={"path": "long", "wait": False}).headers["location"]
        waiting = pool.submit(ingest, client, path="long")
        committed = first_commit(client, address)
        program.signal(signal.SIGTERM)

        assert waiting.result()["state"] == "cancelled"
        assert program.exit_code() == 143
        assert "Traceback" not in program.log

    with Program([MAIN], own, tmp_path) as program, httpx.Client(base_url=program.url, timeout=TIMEOUT_S) as client:
        assert client.get(address).status_code == 404
        # A few more than were committed, to save time.
        rest = ingest(client, path="long", limit=committed + 2)

        assert rest["unchanged"] >= committed
        assert rest["new"] == committed + 2 - rest["unchanged"]
