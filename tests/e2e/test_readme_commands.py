"""The README's commands, typed as a newcomer types them, on the sample corpus."""

import json
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.e2e.program import REPOSITORY, START_TIMEOUT_S, Program, environment, run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (REPOSITORY / ".venv" / ".dev").exists(), reason="not installed by make: the commands would install first"
    ),
]


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> dict[str, str]:
    """Keep the index of the checkout out of it."""
    index = tmp_path_factory.mktemp("readme") / "index"
    return {"RAG_INDEX__DIR": str(index), "RAG_EMBED__CACHE_DIR": str(model_cache), "RAG_SERVE__PORT": "0"}


def make(settings: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "--no-print-directory", *arguments],
        env=environment(**settings),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=START_TIMEOUT_S,
        check=False,
    )


def test_make_ask_answers_with_a_numbered_source(settings: dict[str, str]) -> None:
    asked = make(settings, "ask", "Q=What did Albert Betz find out about wind turbines?")

    assert asked.returncode == 0, asked.stderr
    assert "Albert Betz published the limit in 1919" in asked.stdout
    assert "[1] Onshore wind - wind/onshore.md" in asked.stdout
    assert "**Searching**" in asked.stderr


def test_make_ask_declines_what_the_documents_do_not_hold(settings: dict[str, str]) -> None:
    asked = make(settings, "ask", "Q=How do I get a red wine stain out of a tablecloth?")

    assert asked.returncode == 0, asked.stderr
    assert "Closest passages:" in asked.stdout
    assert "[1]" not in asked.stdout


def test_a_question_is_never_read_by_the_shell(settings: dict[str, str], tmp_path: Path) -> None:
    victim = tmp_path / "made"
    asked = make(settings, "ask", f"Q=\"; touch {victim}; `touch {victim}` $(touch {victim}) 'What is wind?'")

    assert asked.returncode == 0, asked.stderr
    assert not victim.exists()


def test_ingesting_the_sample_again_changes_nothing(settings: dict[str, str]) -> None:
    for _ in range(2):
        ingested = run(["-m", "ingestion", str(REPOSITORY / "data" / "corpus")], settings, REPOSITORY)
        assert ingested.returncode == 0, ingested.stderr
    summary = json.loads(ingested.stdout)

    assert (summary["new"], summary["changed"], summary["leaves"], summary["failed"]) == (0, 0, 0, [])
    assert summary["unchanged"] >= 14


@pytest.mark.promise("C13")
def test_the_service_brings_the_sample_in_and_the_terminal_asks_it(settings: dict[str, str], tmp_path: Path) -> None:
    sample = str(REPOSITORY / "data" / "corpus")
    with Program([str(REPOSITORY / "main.py"), "--ingest", sample], settings, tmp_path) as service:
        assert httpx.get(f"{service.url}/ready").status_code == 200

        asked = run(["-m", "query_engine", "What is solar salt made of?"], settings, tmp_path)
        again = run(["-m", "ingestion", sample, "--corpus", "default"], settings, tmp_path)
        elsewhere = run(["-m", "ingestion", str(tmp_path)], settings, tmp_path)

    assert asked.returncode == 0, asked.stderr
    assert "60 per cent sodium nitrate" in asked.stdout
    assert f"[1] {service.url}/documents/solar/concentrating-solar.md" in asked.stdout
    assert again.returncode == 0, again.stderr
    assert "0 new, 0 changed" in again.stderr
    assert elsewhere.returncode == 1
    assert f"The service at {service.url}, which holds the corpus" in elsewhere.stderr
    assert "RAG_INGEST__ROOT" in elsewhere.stderr
    assert len(elsewhere.stderr.strip().splitlines()) == 1
