"""The start script of a container with vLLM inside: a scripted server stands in for vLLM."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.e2e.program import REPOSITORY, Process, environment
from tests.servers.databases import free_port

START = REPOSITORY / "deploy" / "submission" / "vllm" / "start"
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
VLLM = f"""#!{sys.executable}
import signal, sys
from tests.servers.scripted_llm import Script, ScriptedLLM
server = ScriptedLLM(Script(text="The German physicist Albert Betz published the limit in 1919. [1]"))
server._port = int(sys.argv[sys.argv.index("--port") + 1])
with server:
    signal.sigwait([signal.SIGTERM])
"""


@pytest.fixture
def started(copied: dict[str, str], tmp_path: Path) -> Iterator[tuple[Process, dict[str, str]]]:
    """Start both; `python main.py` runs in the checkout, as in the image."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "vllm").write_text(VLLM, encoding="utf-8")
    (programs / "vllm").chmod(0o755)
    (tmp_path / "main.py").symlink_to(REPOSITORY / "main.py")
    own = {
        "RAG_LLM__MODEL": "scripted",
        "RAG_LLM__CONTEXT_TOKENS": "4096",
        "VLLM_PORT": str(free_port()),
        "PATH": f"{programs}:{PATH}",
    }
    with Process(["-c", f"import os; os.execv({str(START)!r}, ['start'])"], copied | own, tmp_path) as process:
        yield process, own


@pytest.mark.slow
def test_the_model_answers_and_both_end_with_sigterm(started: tuple[Process, dict[str, str]]) -> None:
    process, own = started
    url = process.wait_for(r"on (http://\S+)$", 120)[1]

    body = {"query": "Who published the Betz limit?", "iid": "1"}
    reply = httpx.post(f"{url}/evaluate", json=body, timeout=60).json()
    process.signal(signal.SIGTERM)
    process.exit_code()

    assert "Albert Betz" in reply["generated_response"]
    assert reply["synthesizer"] != "extractive"
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{own['VLLM_PORT']}/health")


def test_it_ends_when_vllm_cannot_start(tmp_path: Path) -> None:
    (tmp_path / "vllm").write_text("#!/bin/sh\necho 'no GPU' >&2\nexit 3\n", encoding="utf-8")
    (tmp_path / "vllm").chmod(0o755)
    own = environment(
        RAG_LLM__MODEL="m",
        RAG_LLM__CONTEXT_TOKENS="4096",
        VLLM_PORT=str(free_port()),
        PATH=f"{tmp_path}:{PATH}",
    )

    ended = subprocess.run([START], env=own, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)

    assert ended.returncode != 0
    assert "no GPU" in ended.stderr
