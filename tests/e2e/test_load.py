"""More clients than the service has room for, clients that hang up at any moment, and probes meanwhile."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.e2e.arena import Arena, violations
from tests.e2e.conftest import MAIN, WIND
from tests.e2e.program import Program

SCRIPTED = str(Path(__file__).parent / "scripted_service.py")
QUESTION = {"question": "What?"}
TIMEOUT_S = 60
# Generous: the machine that runs the tests may have two cores and other work.


def ask(url: str) -> httpx.Response:
    return httpx.post(f"{url}/run", json=QUESTION, timeout=TIMEOUT_S)


@pytest.mark.promise("G18")
@pytest.mark.fault("B4")
@pytest.mark.slow
def test_more_questions_than_there_is_room_for_are_refused_at_once_and_the_others_answered(tmp_path: Path) -> None:
    with Program([SCRIPTED, "--seconds", "2", "--slots", "2", "--queue", "3"], {}, tmp_path) as program:
        with ThreadPoolExecutor(30) as clients:
            replies = list(clients.map(ask, [program.url] * 30))

        statuses = Counter(reply.status_code for reply in replies)
        taken = [reply for reply in replies if reply.status_code == 200]
        assert set(statuses) == {200, 429}
        assert 5 <= statuses[200] <= 10
        for reply in taken:
            assert violations(reply.content) == []
            assert Arena().read([reply.content]).report == ("word " * 40).strip()
        assert any("**Waiting** for 3 questions" in reply.text for reply in taken)
        refused = [reply for reply in replies if reply.status_code == 429]
        assert all(int(reply.headers["retry-after"]) > 0 for reply in refused)
        assert program.log.count("stream closed after 40 of 40 words") == len(taken)


@pytest.mark.promise("C16")
@pytest.mark.fault("B11")
@pytest.mark.slow
def test_probes_are_answered_while_questions_and_an_ingestion_run(tmp_path: Path, model_cache: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    (library / "wind.md").write_text(WIND)
    settings = {
        "RAG_INDEX__DIR": str(tmp_path / "index"),
        "RAG_EMBED__CACHE_DIR": str(model_cache),
        "RAG_SERVE__PORT": "0",
        "RAG_INGEST__ROOT": str(library),
    }
    probes = 0

    with Program([MAIN], settings, tmp_path) as program, ThreadPoolExecutor(8) as clients:
        httpx.post(f"{program.url}/ingest", json={"path": ".", "wait": True}, timeout=TIMEOUT_S).raise_for_status()
        for number in range(40):
            (library / f"{number}.md").write_text(f"# Part {number}\n\n" + WIND * 20)
        job = httpx.post(f"{program.url}/ingest", json={"path": ".", "wait": False}, timeout=TIMEOUT_S).json()["job"]
        replies = [clients.submit(ask, program.url) for _ in range(8)]
        while not all(reply.done() for reply in replies):
            assert httpx.get(f"{program.url}/health", timeout=TIMEOUT_S).status_code == 200
            probes += 1
        ingesting = httpx.get(f"{program.url}/ingest/{job}", timeout=TIMEOUT_S).json()["state"]
        httpx.delete(f"{program.url}/ingest/{job}", timeout=TIMEOUT_S)

    assert ingesting == "running"
    assert probes > 0
    assert [violations(reply.result().content) for reply in replies] == [[]] * 8
