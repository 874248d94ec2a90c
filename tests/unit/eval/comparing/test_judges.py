"""Two runs that different models judged: the comparison says so, since it may be the judge that changed its mind."""

from pathlib import Path

from eval.cells import scored
from eval.comparing.pairing import changes, read_run
from eval.run_folder import RunFolder, Scored
from tests.fakes.runs import case, reply, write_run


def run_judged_by(path: Path, judge: str) -> RunFolder:
    row = reply("1", "It is.", "It is.")
    folder = write_run(path, [case("1", "Is it?", "It is.")], [row], {"1": {"answer": {"contains": scored(1)}}})
    with folder.writing():
        cells = {"faithfulness": scored(1)}
        folder.append_scores(Scored(id="1", of=row.digest(), family="ragas", by=judge, cells=cells))
    return folder


def test_another_judge_is_among_the_changes(tmp_path: Path) -> None:
    wise = read_run(run_judged_by(tmp_path / "a", "wise"))
    other = read_run(run_judged_by(tmp_path / "b", "other"))

    assert changes(wise, other) == {"judge.ragas": ("wise", "other")}
    assert changes(wise, wise) == {}
