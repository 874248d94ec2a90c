"""A client that a generator makes of the OpenAPI description: it asks, streams, ingests, and gets typed values."""

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import MAIN
from tests.e2e.program import Program

GENERATOR = Path(__file__).parents[2] / ".venv-client/bin/openapi-python-client"
KEY = "a-key-of-sixteen-characters"
QUESTION = "Who laid out the garden of Sandvik?"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not GENERATOR.exists(), reason="there is no .venv-client: `make test-slow` makes it"),
]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Iterator[Program]:
    folder = tmp_path_factory.mktemp("generated")
    settings = {
        "RAG_INDEX__DIR": str(folder / "index"),
        "RAG_EMBED__CACHE_DIR": str(model_cache),
        "RAG_SERVE__PORT": "0",
        "RAG_SERVE__KEYS": KEY,
    }
    with Program([MAIN], settings, folder) as program:
        yield program


@pytest.fixture(scope="module")
def part(service: Program, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return what finds a module of the client, which is made of the running service's description."""
    folder = tmp_path_factory.mktemp("client")
    described = httpx.get(f"{service.url}/openapi.json", headers={"Api-Key": KEY}, timeout=60)
    (folder / "openapi.json").write_bytes(described.content)
    command = [str(GENERATOR), "generate", "--path", f"{folder}/openapi.json", "--meta", "none"]
    made = subprocess.run(
        [*command, "--output-path", f"{folder}/treeline_client"], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    sys.path.insert(0, str(folder))
    try:
        yield lambda name: importlib.import_module(f"treeline_client.{name}")
    finally:
        sys.path.remove(str(folder))


@pytest.fixture(scope="module")
def client(service: Program, part: Any) -> Iterator[Any]:
    with part("client").AuthenticatedClient(service.url, KEY, timeout=httpx.Timeout(120)) as client:
        yield client


@pytest.fixture(scope="module", autouse=True)
def job(client: Any, part: Any) -> Any:
    """Return the job that took a file."""
    file = part("types").File(
        payload=b"# Yearly report\n\nThe garden of Sandvik was laid out in 1977 by Nora Vik.\n", file_name="garden.md"
    )
    body = part("models").PostDocumentsBody(file=[file])
    return part("api.ingest.post_documents").sync(client=client, body=body, wait=True)


def test_it_ingests(job: Any, part: Any) -> None:
    assert isinstance(job, part("models").JobReply)
    assert job.state == part("models").JobReplyState.DONE


def test_it_asks(client: Any, part: Any) -> None:
    models = part("models")

    reply = part("api.ask.post_query").sync(client=client, body=models.QueryBody(question=QUESTION))

    assert isinstance(reply, models.QueryReply)
    assert isinstance(reply.answer, str)
    assert "Nora Vik" in reply.answer
    assert [type(citation) for citation in reply.citations] == [models.Citation]
    assert "garden.md" in reply.citations[0].doc_id


def test_it_streams(client: Any, part: Any) -> None:
    models, post_run = part("models"), part("api.competition.post_run")
    asked = post_run._get_kwargs(body=models.RunBody(question=QUESTION))

    with client.get_httpx_client().stream(**asked) as reply:
        sent = [line.removeprefix("data:") for line in reply.iter_lines() if line.startswith("data:")]

    records = [models.RunRecord.from_dict(json.loads(one)) for one in sent]
    assert [record.complete for record in records] == [False] * (len(records) - 1) + [True]
    assert "Nora Vik" in records[-1].final_report


def test_it_learns_why_it_is_refused(client: Any, service: Program, part: Any) -> None:
    models, post_query = part("models"), part("api.ask.post_query")
    body = models.QueryBody(question=QUESTION, corpus="nowhere")

    unknown = post_query.sync(client=client, body=body)
    with part("client").AuthenticatedClient(service.url, "another-key-of-sixteen") as stranger:
        refused = post_query.sync_detailed(client=stranger, body=body)

    assert isinstance(unknown, models.ErrorReply)
    assert unknown.error.code == "unknown_corpus"
    assert refused.status_code == 401
    assert isinstance(refused.parsed, models.ErrorReply)
