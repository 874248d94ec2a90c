"""`python -m eval score RUN`: the run has its scores and its table, or the reason why there is none."""

import sys
from pathlib import Path

import pytest

from eval.__main__ import main
from eval.cells import scored
from eval.run_folder import Header, RunFolder
from tests.fakes.eval_rows import answered, case, declined


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """Return a run that needs no model: none of its questions has an answer."""
    monkeypatch.setitem(sys.modules, "eval.scoring.ragas_calls", None)  # importing it fails
    folder = RunFolder(tmp_path / "run")
    cases = (case("1", answer=None), case("2", answer=None))
    folder.create(Header(started="now", questions="q.jsonl", questions_sha256="0", target="in process"), cases)
    with folder.writing():
        folder.append_row(declined("1"))
        folder.append_row(answered("Betz.", "2"))
    return folder


@pytest.mark.promise("E23")
def test_a_run_that_was_only_asked_is_scored_and_told(folder: RunFolder, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", str(folder.path)]) == 0

    assert folder.cells()["1"]["abstention_recall"] == scored(1)
    out, err = capsys.readouterr()
    assert "abstention_recall" in out
    assert "0.500" in out
    assert "abstention: 2 rows scored" in err
    assert err.count("RAGAS's metrics are left out") == 1


def test_scores_are_recomputed_but_not_kept_twice(folder: RunFolder) -> None:
    main(["score", str(folder.path)])
    before = (folder.path / "scores.jsonl").read_bytes()

    main(["score", str(folder.path)])

    assert (folder.path / "scores.jsonl").read_bytes() == before


def test_a_folder_without_a_run_stays_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", str(tmp_path / "none")]) == 1

    assert "holds no run" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def test_a_run_that_is_being_written_is_left_alone(folder: RunFolder, capsys: pytest.CaptureFixture[str]) -> None:
    with folder.writing():
        assert main(["score", str(folder.path)]) == 1

    assert "error[run_busy]: Another process is writing" in capsys.readouterr().err
