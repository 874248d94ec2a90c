"""A submission killed in the middle goes on where it was, and its file is whole or absent at every moment."""

import json
import signal
import threading
from pathlib import Path

import pytest

from tests.e2e.program import Process, run
from tests.servers.evaluated_service import Asked, EvaluatedService, Reply, a_reply

IDS = [f"V_{number}" for number in range(8)]
HELD_BACK = "V_4"


@pytest.mark.promise("A04")
def test_a_killed_submission_goes_on_where_it_was(tmp_path: Path) -> None:
    validation = tmp_path / "t2t_val.jsonl"
    validation.write_text("".join(json.dumps({"query": f"q {id_}", "iid": id_}) + "\n" for id_ in IDS))
    reached, released = threading.Event(), threading.Event()

    def script(asked: Asked, before: int) -> Reply:
        if asked["iid"] == HELD_BACK and not before:
            reached.set()
            released.wait(60)
        return a_reply(asked)

    with EvaluatedService(script) as service:
        command = ["-m", "eval", "submit", validation.name, "--url", service.url, "--out", "sub", "--concurrency", "1"]
        with Process(command, {}, tmp_path) as process:
            assert reached.wait(60)
            process.signal(signal.SIGKILL)
            process.exit_code()
        assert not (tmp_path / "sub" / "result.jsonl").exists()
        released.set()

        again = run(command, {}, tmp_path)

    assert again.returncode == 0, again.stderr
    assert "4 of 8 questions have a reply already" in again.stderr
    assert service.asked == [*IDS[:5], *IDS[4:]]
    results = [json.loads(line) for line in (tmp_path / "sub" / "result.jsonl").read_text().splitlines()]
    assert results == [{"query_id": id_, "generated_response": f"Answer to q {id_}"} for id_ in IDS]
