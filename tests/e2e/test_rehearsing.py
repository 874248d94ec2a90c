"""The rehearsal of the real application, over an engine that writes what a script says."""

import json
from pathlib import Path

from tests.e2e.program import Program, run

SCRIPTED = str(Path(__file__).parent / "scripted_service.py")


def test_the_real_application_is_ready(tmp_path: Path) -> None:
    questions = tmp_path / "t2t_val.jsonl"
    rows = [{"query": f"What is {number}?", "iid": f"V_{number}"} for number in range(9)]
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows))

    with Program([SCRIPTED, "--seconds", "0.1"], {}, tmp_path) as service:
        command = ["-m", "eval", "check-run", service.url, questions.name, "--limit", "6", "--out", "out"]
        rehearsal = run(command, {}, tmp_path)

    assert rehearsal.returncode == 0, rehearsal.stdout + rehearsal.stderr
    assert len((tmp_path / "out" / "result.jsonl").read_text().splitlines()) == 6
