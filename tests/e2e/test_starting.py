"""What the service does before it accepts a connection, and what it says when it does not start."""

import re
import socket
from pathlib import Path

import httpx
import pytest

from tests.e2e.arena import Arena, violations
from tests.e2e.conftest import MAIN
from tests.e2e.program import Program, run


def refused(changes: dict[str, str], variables: dict[str, str], folder: Path) -> str:
    """Start the service with changed settings; return the one line it ends with."""
    ended = run([MAIN], {**variables, **changes}, folder)

    assert ended.returncode == 1
    lines = ended.stderr.strip().splitlines()
    assert len(lines) == 1, ended.stderr
    assert lines[0].startswith("error[")
    return lines[0]


def test_help_needs_no_settings(tmp_path: Path) -> None:
    ended = run([MAIN, "--help"], {"RAG_NONSENSE": "1"}, tmp_path)

    assert ended.returncode == 0
    assert "RAG_*" in ended.stdout


def test_an_unknown_argument_is_a_usage_error(tmp_path: Path) -> None:
    assert run([MAIN, "--port", "1"], {}, tmp_path).returncode == 2


def test_a_misspelt_setting_stops_the_start_and_names_the_nearest(variables: dict[str, str], folder: Path) -> None:
    assert "RAG_SERVE__PORT" in refused({"RAG_SERVE__PORTT": "1"}, variables, folder)


@pytest.mark.slow
def test_a_source_that_has_no_key_stops_the_start(variables: dict[str, str], folder: Path) -> None:
    assert "RAG_SOURCES__CLUEWEB_KEY" in refused({"RAG_ANSWER__SOURCES": "clueweb"}, variables, folder)


@pytest.mark.fault("E3")
def test_other_machines_are_not_let_in_by_accident(variables: dict[str, str], folder: Path) -> None:
    assert "RAG_SERVE__OPEN=true" in refused({"RAG_SERVE__HOST": "0.0.0.0"}, variables, folder)


@pytest.mark.promise("A42")
@pytest.mark.fault("B13")
def test_a_taken_port_is_named(variables: dict[str, str], folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert f"port {port}" in refused({"RAG_SERVE__PORT": port}, variables, folder)


@pytest.mark.fault("A11")
def test_an_index_of_other_chunk_sizes_is_refused_with_both_values(copied: dict[str, str], tmp_path: Path) -> None:
    line = refused({"RAG_CHUNK__LEAF_TOKENS": "64"}, copied, tmp_path)

    assert "index_mismatch" in line
    assert {"128", "64"} <= set(re.findall(r"\d+", line))
    assert "reembed" in line


@pytest.mark.fault("B13")
def test_a_missing_model_is_one_line(variables: dict[str, str], folder: Path) -> None:
    assert "model_unavailable" in refused({"RAG_EMBED__MODEL": str(folder / "nowhere")}, variables, folder)


@pytest.mark.fault("A7")
def test_a_second_service_on_the_same_corpus_is_told_who_holds_it(
    service: Program, variables: dict[str, str], folder: Path
) -> None:
    line = refused({}, variables, folder)

    assert "corpus_locked" in line
    assert service.url in line


def test_a_service_without_documents_answers_and_is_not_ready(variables: dict[str, str], folder: Path) -> None:
    nothing = {**variables, "RAG_INDEX__DIR": str(folder / "nothing")}
    with Program([MAIN], nothing, folder) as program:
        ready = httpx.get(f"{program.url}/ready")
        body = httpx.post(f"{program.url}/run", json={"question": "What turns?"}).content
        reply = httpx.post(f"{program.url}/evaluate", json={"query": "What turns?", "iid": "1"}).json()

    assert ready.status_code == 503
    assert violations(body) == []
    assert (Arena().read([body]).report or "").startswith("I don't know")
    assert reply["generated_response"] == Arena().read([body]).report
    assert reply["answered"] is False
