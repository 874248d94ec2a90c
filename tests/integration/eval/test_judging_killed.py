"""Judging that is killed: what was judged stays, what was asked is not asked again, and the scores are the same."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from eval.cases import Case
from eval.rows import Row
from eval.run_folder import Header, RunFolder
from tests.servers.scripted_llm import Request, Script, ScriptedLLM

HOME = Path(__file__).parents[3]
ROWS, METRICS, KILLS = 40, 3, 3
CHILD = f"""
import json, sys
from contextlib import asynccontextmanager
from pathlib import Path
from eval.run_folder import RunFolder
from eval.scoring.judge_client import Judge
from eval.scoring.judged.scorer import Judged, JudgedScorer
from eval.scoring.stage import score_run
from settings import JudgeSettings

url, run, cache = sys.argv[1:]
judge = Judge(JudgeSettings(base_url=url, model="m", cache_dir=Path(cache)))

@asynccontextmanager
async def asker(repeat):
    async def ask(name, material):
        return await judge.ask(name + material.answer, {{}}, str(repeat), lambda text: json.loads(text)["score"])
    yield ask

metrics = [Judged(str(n), ("answer",), 1) for n in range({METRICS})]
folder = RunFolder(Path(run))
with folder.writing():
    score_run(folder, [JudgedScorer("toy", metrics, judge, asker)])
"""


def rule(request: Request) -> str:
    return json.dumps({"score": sum(map(ord, request["messages"][0]["content"])) % 101 / 101})


def folder_in(path: Path) -> RunFolder:
    folder = RunFolder(path)
    cases = tuple(Case(id=str(n), question="?") for n in range(ROWS))
    folder.create(Header(started="", questions="", questions_sha256="", target=""), cases)
    with folder.writing():
        for case in cases:
            folder.append_row(Row(id=case.id, outcome="answered", answer=f"It is {case.id}."))
    return folder


def judging(server: ScriptedLLM, folder: RunFolder, cache: Path) -> subprocess.Popen[bytes]:
    arguments = [sys.executable, "-c", CHILD, server.base_url, str(folder.path), str(cache)]
    return subprocess.Popen(arguments, cwd=HOME)


@pytest.mark.fault("F1")
def test_killed_again_and_again_it_ends_with_the_scores_of_an_unbroken_run(tmp_path: Path) -> None:
    whole, broken = folder_in(tmp_path / "whole"), folder_in(tmp_path / "broken")
    with ScriptedLLM(Script(text=rule)) as server:
        assert judging(server, whole, tmp_path / "one").wait(60) == 0
        unbroken = len(server.requests)
        for kill in range(1, KILLS + 1):
            process = judging(server, broken, tmp_path / "other")
            share = unbroken + unbroken * kill // (KILLS + 1)
            assert server.wait_until(lambda seen, share=share: len(seen.requests) >= share, 60)  # type: ignore[misc]
            process.send_signal(signal.SIGKILL)
            process.wait(60)
        assert judging(server, broken, tmp_path / "other").wait(60) == 0
        asked = len(server.requests) - unbroken

    assert unbroken == ROWS * METRICS
    assert broken.cells() == whole.cells()
    assert len(broken.scores()) == ROWS
    assert unbroken <= asked <= unbroken + 4 * KILLS  # at most what was under way at each kill
