"""`treeline mcp` as programs start it: over a corpus that is free, beside a service that holds it, and its end."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests.e2e.conftest import BETZ, MAIN, WIND
from tests.e2e.program import STOP_TIMEOUT_S, Program, environment, run

COMMAND = ["-m", "treeline", "mcp"]
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which the programs run."""
    return tmp_path_factory.mktemp("mcp")


@pytest.fixture(scope="module")
def free(place: Path, model_cache: Path) -> dict[str, str]:
    """Return the settings of a corpus that no process holds."""
    (place / "docs").mkdir()
    (place / "docs" / "wind.md").write_text(WIND, encoding="utf-8")
    chosen = {"RAG_INDEX__DIR": str(place / "index"), "RAG_EMBED__CACHE_DIR": str(model_cache)}
    ingestion = run(["-m", "ingestion", "docs"], chosen, place)
    assert ingestion.returncode == 0, ingestion.stderr
    return chosen


def server(variables: dict[str, str], place: Path) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=COMMAND, env=environment(**variables), cwd=place)


async def structured(client: Client, tool: str, **arguments: str) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    found: dict[str, Any] = result.structured_content
    return found


@pytest.mark.promise("G22")
@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_the_sdks_client_asks_searches_and_reads(free: dict[str, str], place: Path, era: str) -> None:
    told: list[str | None] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001  # the SDK's
        told.append(message)

    async with Client(server(free, place), mode=era) as client:
        asked = await client.call_tool("ask", {"question": BETZ}, progress_callback=note)
        found = await structured(client, "search", query=BETZ)
        read = await structured(client, "fetch", id=found["results"][0]["id"])
        corpora = await structured(client, "list_corpora")
        resources = await client.list_resources()

    assert "59.3 per cent" in asked.structured_content["answer"]
    assert asked.structured_content["citations"][0]["url"].startswith("treeline:/documents/wind.md?corpus=default")
    assert any(message and message.startswith("**Searching**") for message in told)
    assert read["text"] == WIND.strip()
    assert resources.resources == []
    assert [(one["name"], one["documents"], one["is_default"]) for one in corpora["corpora"]] == [("default", 1, True)]


@pytest.mark.parametrize(
    ("end", "code"), [(None, 0), (signal.SIGTERM, 143), (signal.SIGINT, 130)], ids=["input", "SIGTERM", "SIGINT"]
)
def test_it_ends_with_its_input_or_a_signal_and_writes_nothing_but_the_protocol(
    free: dict[str, str], place: Path, end: signal.Signals | None, code: int
) -> None:
    with subprocess.Popen(
        [sys.executable, *COMMAND],
        env=environment(**free),
        cwd=place,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(json.dumps(INITIALIZE) + "\n")
        process.stdin.flush()
        first = json.loads(process.stdout.readline())
        if end is None:
            process.stdin.close()
        else:
            process.send_signal(end)
        ended = process.wait(STOP_TIMEOUT_S)

        assert first["result"]["serverInfo"]["name"] == "treeline"
        assert (ended, process.stdout.read()) == (code, "")
        assert "Traceback" not in process.stderr.read()


@pytest.mark.slow
def test_beside_a_service_it_names_the_address_of_the_same_tools(free: dict[str, str], place: Path) -> None:
    with Program([MAIN], free | {"RAG_SERVE__PORT": "0"}, place) as service:
        refused = run(COMMAND, free, place)

        assert (refused.returncode, refused.stdout) == (1, "")
        assert f"{service.url}/mcp" in refused.stderr
