"""`compose.yaml`: sound by Compose's own check, and its three processes work together.

No container engine is needed: they run here with the environment that the file gives them, addresses in place of the
containers' names.
"""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.e2e.conftest import MAIN
from tests.e2e.program import REPOSITORY, Program
from tests.servers.databases import chroma_server, postgres_server

COMPOSE: dict[str, Any] = yaml.safe_load((REPOSITORY / "compose.yaml").read_text(encoding="utf-8"))
SERVICES = COMPOSE["services"]


@pytest.mark.parametrize("profile", [[], ["--profile", "vllm"]], ids=["default", "vllm"])
def test_compose_accepts_the_file(profile: list[str], tmp_path: Path) -> None:
    program = shutil.which("docker-compose")
    if program is None:
        pytest.skip("docker-compose is not installed (Debian: `apt-get install docker-compose`)")
    shutil.copy(REPOSITORY / "compose.yaml", tmp_path)
    shutil.copy(REPOSITORY / ".env.example", tmp_path / ".env")

    checked = subprocess.run(
        [program, *profile, "config", "--quiet"], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert checked.returncode == 0, checked.stderr
    assert checked.stderr == ""


def test_service_and_chroma_are_published_to_this_machine_alone_and_everything_starts_again() -> None:
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert published == {"treeline": ["127.0.0.1:8000:8000"], "chroma": ["127.0.0.1:8001:8000"]}
    assert {service["restart"] for service in SERVICES.values()} == {"unless-stopped"}
    assert SERVICES["treeline"]["depends_on"].keys() == {"chroma", "postgres"}
    assert all("healthcheck" in SERVICES[name] for name in ("chroma", "postgres", "vllm"))
    assert (
        (REPOSITORY / "constraints.txt").read_text().count(f"\nchromadb=={SERVICES['chroma']['image'].split(':')[1]}")
    )


@pytest.mark.promise("E01")
@pytest.mark.slow
def test_its_processes_answer_together(model_cache: Path, tmp_path: Path) -> None:
    documents = tmp_path / "data" / "corpus"
    documents.mkdir(parents=True)
    (documents / "solar.md").write_text("# Cells\n\nA perovskite tandem cell has two layers.\n", encoding="utf-8")
    environment = SERVICES["treeline"]["environment"]
    _, script, *arguments = SERVICES["treeline"]["command"]
    assert script == Path(MAIN).name

    with chroma_server(tmp_path / "chroma") as chroma, postgres_server() as postgres:
        here = {
            **environment,
            "RAG_SERVE__HOST": "127.0.0.1",
            "RAG_SERVE__PORT": "0",
            "RAG_EMBED__CACHE_DIR": str(model_cache),
            "RAG_INDEX__DIR": str(tmp_path / "index"),
            "RAG_INGEST__ROOT": str(tmp_path / "data"),
            "RAG_INDEX__CHROMA_URL": environment["RAG_INDEX__CHROMA_URL"].replace("http://chroma:8000", chroma.url),
            "RAG_INDEX__DATABASE_URL": postgres.url,
        }
        with Program([MAIN, *arguments], here, tmp_path) as service:
            body = {"question": "How many layers has a perovskite tandem cell?"}
            answer = httpx.post(f"{service.url}/query", json=body, timeout=60).json()

            assert "two layers" in answer["answer"]
            assert len(postgres.schemas()) == 1
            assert httpx.get(
                f"{chroma.url}/api/v2/tenants/default_tenant/databases/default_database/collections"
            ).json()
