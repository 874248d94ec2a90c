"""Folders that are watched, by a command and by the service: what changes is found within seconds."""

import signal
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from tests.e2e.conftest import MAIN
from tests.e2e.program import START_TIMEOUT_S, Process, Program, run

pytestmark = pytest.mark.slow

WAIT_S = 60


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "wind.md").write_text("# Wind\n\nTurbines turn wind into power.\n")
    return folder


@pytest.fixture
def own(tmp_path: Path, model_cache: Path) -> dict[str, str]:
    """Return settings for a corpus of this test alone."""
    folders = {"RAG_INDEX__DIR": str(tmp_path / "index"), "RAG_EMBED__CACHE_DIR": str(model_cache)}
    return {**folders, "RAG_SERVE__PORT": "0"}


def watching(docs: Path, own: dict[str, str]) -> Process:
    return Process(["-m", "ingestion", "--watch", str(docs), "--json"], own, docs.parent)


def test_a_command_follows_what_changes_and_ends_in_order(docs: Path, own: dict[str, str]) -> None:
    with watching(docs, own) as process:
        process.wait_for('"event": "watching"', START_TIMEOUT_S)

        (docs / "water.md").write_text("# Water\n\nDams hold water back.\n")
        process.wait_for('"source": "water.md", "outcome": "new"', WAIT_S)
        process.wait_for('"event": "done", .*"new": 1, .*"files": 1,', WAIT_S)

        (docs / "wind.md").unlink()
        process.wait_for('"source": "wind.md", "outcome": "removed"', WAIT_S)

        process.signal(signal.SIGTERM)
        assert process.exit_code() == 0
    listed = run(["-m", "ingestion", "documents"], own, docs.parent).stdout
    assert "water.md" in listed
    assert "wind.md" not in listed


def test_what_was_committed_survives_a_kill_and_the_next_start_goes_on(docs: Path, own: dict[str, str]) -> None:
    with watching(docs, own) as process:
        process.wait_for('"event": "watching"', START_TIMEOUT_S)
        process.signal(signal.SIGKILL)
        process.exit_code()
    (docs / "water.md").write_text("# Water\n\nDams hold water back.\n")

    with watching(docs, own) as process:
        process.wait_for('"event": "done", .*"new": 1, .*"unchanged": 1,', START_TIMEOUT_S)
        process.wait_for('"event": "watching"', WAIT_S)
        process.signal(signal.SIGINT)
        process.wait_for('"event": "stopping"', WAIT_S)


def test_the_service_follows_its_folder_and_does_the_work_of_a_command_that_watches_too(
    docs: Path, own: dict[str, str]
) -> None:
    with Program([MAIN, "--ingest", str(docs), "--watch"], own, docs.parent) as service:
        with watching(docs, own) as process:
            process.wait_for('"event": "watching"', START_TIMEOUT_S)
            (docs / "water.md").write_text("# Water\n\nDams hold water back.\n")
            until(lambda: "water.md" in listed(service))
            process.signal(signal.SIGTERM)
            assert process.exit_code() == 0

        (docs / "wind.md").unlink()
        until(lambda: "wind.md" not in listed(service))
        service.signal(signal.SIGTERM)
        assert service.exit_code() == 143


def listed(service: Program) -> set[str]:
    return {brief["doc_id"] for brief in httpx.get(f"{service.url}/documents").json()["documents"]}


def until(holds: Callable[[], bool]) -> None:
    """Ask until it holds; the test's own time limit ends this."""
    while not holds():
        pass
