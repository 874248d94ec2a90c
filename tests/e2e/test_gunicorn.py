"""`gunicorn main:app`, as the competition's template starts a service."""

import shutil
import signal
from pathlib import Path

import httpx

from tests.e2e.program import REPOSITORY, Program, run

COMMAND = ["-m", "gunicorn", "main:app", "-k", "uvicorn.workers.UvicornWorker"]
COMMAND += ["--config", str(REPOSITORY / "gunicorn.conf.py"), "--bind", "127.0.0.1:0", "--no-control-socket"]


def test_one_worker_answers_and_ends_with_sigterm(variables: dict[str, str], folder: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    shutil.copytree(folder / "index", index, ignore=shutil.ignore_patterns("*lock*"))

    with Program([*COMMAND, "-w", "1"], {**variables, "RAG_INDEX__DIR": str(index)}, tmp_path) as service:
        reply = httpx.post(f"{service.url}/evaluate", json={"query": "Who published the Betz limit?", "iid": "1"})
        service.signal(signal.SIGTERM)

        assert service.exit_code() == 0
    assert "Albert Betz" in reply.json()["generated_response"]
    assert "server" not in reply.headers


def test_more_workers_are_refused_in_one_line(tmp_path: Path) -> None:
    ended = run([*COMMAND, "-w", "4"], {}, tmp_path)

    assert ended.returncode == 1
    (line,) = [line for line in ended.stderr.splitlines() if "[INFO]" not in line]
    assert line.startswith("error[")
    assert "-w 1" in line


def test_other_machines_are_not_let_in_by_accident(tmp_path: Path) -> None:
    ended = run([*COMMAND, "--bind", "0.0.0.0:0"], {}, tmp_path)

    assert ended.returncode == 1
    assert "RAG_SERVE__OPEN=true" in ended.stderr
