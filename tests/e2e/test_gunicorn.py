"""`gunicorn main:app`, as the competition's template starts a service."""

import json
import signal
from pathlib import Path

import httpx
import pytest

from tests.e2e.program import REPOSITORY, START_TIMEOUT_S, Process, Program, run
from tests.e2e.test_workers import eventually

COMMAND = ["-m", "gunicorn", "main:app", "-k", "uvicorn.workers.UvicornWorker"]
COMMAND += ["--config", str(REPOSITORY / "gunicorn.conf.py"), "--bind", "127.0.0.1:0", "--no-control-socket"]


@pytest.mark.promise("A41")
def test_one_worker_answers_writes_json_and_ends_with_sigterm(copied: dict[str, str], tmp_path: Path) -> None:
    with Process([*COMMAND, "-w", "1"], copied | {"RAG_SERVE__LOG_FORMAT": "json"}, tmp_path) as service:
        url = service.wait_for(r'"url": "(http[^"]+)"', START_TIMEOUT_S)[1]
        reply = httpx.post(f"{url}/evaluate", json={"query": "Who published the Betz limit?", "iid": "1"}, timeout=60)
        service.signal(signal.SIGTERM)

        assert service.exit_code() == 0
    lines = [json.loads(line) for line in service.log.splitlines()]
    assert lines[0]["event"].startswith("Starting gunicorn")
    assert [line["route"] for line in lines if line["event"] == "request"] == ["/evaluate"]
    assert "Albert Betz" in reply.json()["generated_response"]
    assert "server" not in reply.headers


@pytest.mark.promise("A41")
def test_several_workers_answer_and_write_for_each_other(copied: dict[str, str], tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "peat.md").write_text("# Peat\n\nPeat from Ringmoor was burnt until 1957.")
    own = {"RAG_INGEST__ROOT": str(sources), "RAG_PIPELINES__DIR": str(tmp_path / "tasks")}

    with Program([*COMMAND, "-w", "3"], copied | own, tmp_path) as service:
        job = httpx.post(f"{service.url}/ingest", json={"path": "peat.md", "wait": True}, timeout=120).json()
        body = {"query": "Until when was peat from Ringmoor burnt?", "iid": "1"}
        eventually(lambda: "1957" in httpx.post(f"{service.url}/evaluate", json=body, timeout=120).text)
        processes = {httpx.get(f"{service.url}/ready", timeout=120).json()["process"]["workers"] for _ in range(5)}
        service.signal(signal.SIGTERM)

        assert service.exit_code() == 0
    assert job["state"] == "done"
    assert processes == {3}


def test_other_machines_are_not_let_in_by_accident(tmp_path: Path) -> None:
    ended = run([*COMMAND, "--bind", "0.0.0.0:0"], {}, tmp_path)

    assert ended.returncode == 1
    assert "RAG_SERVE__OPEN=true" in ended.stderr


@pytest.mark.promise("A55")
@pytest.mark.parametrize("options", [["-k", "gthread"], ["-k", "sync", "--threads", "4"]], ids=" ".join)
def test_the_line_for_flask_is_refused_with_the_right_one(options: list[str], tmp_path: Path) -> None:
    ended = run([*COMMAND, *options], {}, tmp_path)

    assert ended.returncode == 1
    assert "-k uvicorn.workers.UvicornWorker" in ended.stderr.splitlines()[-1]
    assert "Traceback" not in ended.stderr
