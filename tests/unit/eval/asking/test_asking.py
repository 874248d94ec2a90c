import asyncio
from pathlib import Path

import pytest

from eval.asking.asking import Keeper, OutageError, ask_all
from eval.asking.target import NoReplyError
from eval.cases import Case
from eval.rows import Row
from eval.run_folder import RunFolder, RunFolderError
from tests.unit.eval.asking.fakes import ScriptedTarget, a_case, a_header, a_row, impatient, unreachable

CASES = tuple(a_case(f"q{number}") for number in range(1, 9))


async def ask(target: ScriptedTarget, folder: RunFolder, concurrency: int = 1) -> list[str]:
    told: list[str] = []
    keeper = Keeper(folder, a_header(), CASES)
    try:
        await ask_all(CASES, target, keeper, impatient(), concurrency=concurrency, tell=lambda row: told.append(row.id))
    finally:
        assert told == [row.id for row in folder.rows().values()] or concurrency > 1 or not folder.exists()
    return told


@pytest.mark.promise("G13")
async def test_so_many_questions_are_asked_at_a_time_and_no_more(tmp_path: Path) -> None:
    class Counting(ScriptedTarget):
        now = most = 0

        async def ask(self, case: Case) -> Row:
            self.now += 1
            self.most = max(self.most, self.now)
            for _ in range(5):
                await asyncio.sleep(0)
            self.now -= 1
            return await super().ask(case)

    target = Counting()

    await ask(target, RunFolder(tmp_path / "run"), concurrency=3)

    assert target.most == 3


async def test_a_reply_in_between_ends_the_stretch(tmp_path: Path) -> None:
    target = ScriptedTarget(**{id_: [unreachable()] for id_ in ("q1", "q2", "q3", "q4", "q6", "q7", "q8")})

    await ask(target, RunFolder(tmp_path / "run"))

    assert len(target.asked) == len(CASES)


async def test_questions_that_are_refused_are_no_outage(tmp_path: Path) -> None:
    refused = NoReplyError("The question is blank.", "Write one.", refused=True)
    target = ScriptedTarget(**{f"q{number}": [refused] for number in range(2, 9)})

    await ask(target, RunFolder(tmp_path / "run"))

    assert len(target.asked) == len(CASES)


async def test_an_outage_from_the_first_question_on_begins_no_run(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")

    with pytest.raises(OutageError):
        await ask(ScriptedTarget(**{case.id: [unreachable()] for case in CASES}), folder)

    assert not folder.exists()


@pytest.mark.parametrize("concurrency", [1, 4])
async def test_a_reply_of_another_system_stops_the_run(tmp_path: Path, concurrency: int) -> None:
    folder = RunFolder(tmp_path / "run")
    target = ScriptedTarget(q4=[a_row("q4", fingerprint="f2")])

    with pytest.raises(RunFolderError, match=r"have the fingerprint f1, this one has f2.*--out FOLDER"):
        await ask(target, folder, concurrency)

    assert "q4" not in folder.rows()
    assert {row.fingerprint for row in folder.rows().values()} == {"f1"}
