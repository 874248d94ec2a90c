"""Runs of earlier versions are compared by scores of this one, or it is said why they cannot be."""

import json
from pathlib import Path

import pytest

from eval.__main__ import main
from eval.cells import scored
from eval.comparing import command
from eval.comparing.baseline import keep
from eval.comparing.pairing import NotScoredError, read_run
from eval.run_folder import HEADER, SCORES, RunFolder
from eval.scoring.offline import retrieval, service
from eval.scoring.stage import EachRow
from tests.fakes.runs import DAM, case, reply, write_run


@pytest.fixture(autouse=True)
def _scored_without_models(monkeypatch: pytest.MonkeyPatch) -> None:
    scorers = (
        EachRow("retrieval", retrieval.score_retrieval),
        EachRow("abstention", service.score_abstention),
    )
    monkeypatch.setattr(command, "offline_scorers", lambda _: scorers)


def earlier(path: Path) -> RunFolder:
    """Write a run whose scores are bound to its replies by a digest that this version does not make."""
    cases = [case(f"q{n}", f"What is {n}?", "1991", relevant_docs=("docs/1.md",)) for n in range(12)]
    rows = [reply(one.id, "In 1991 [1].", DAM) for one in cases]
    folder = write_run(path, cases, rows, {one.id: {"retrieval": {"doc@1": scored(0.0)}} for one in cases})
    lines = [json.loads(line) for line in (path / SCORES).read_text().splitlines()]
    (path / SCORES).write_text("".join(json.dumps({**line, "of": "an older digest"}) + "\n" for line in lines))
    return folder


def test_scores_of_an_earlier_format_are_refused_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(NotScoredError, match=r"of an earlier format.*--reopen"):
        read_run(earlier(tmp_path / "old"))


def test_reopened_runs_are_scored_by_this_version_and_stay_as_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [earlier(tmp_path / name) for name in ("a", "b")]
    before = {path.name: path.read_bytes() for path in folders[0].path.iterdir()}

    assert main(["compare", *(str(folder.path) for folder in folders), "--reopen", "--fail-on", "doc@1"]) == 0

    shown = capsys.readouterr().out
    assert f"# {folders[0].path} (A)" in shown
    assert "| doc@1 " in shown
    assert "1.000" in next(line for line in shown.splitlines() if "| doc@1 " in line)
    assert {path.name: path.read_bytes() for path in folders[0].path.iterdir()} == before


def test_a_baseline_says_why_it_cannot_be_scored_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = write_run(
        tmp_path / "whole", [case("1", "Is it?", "It is.")], [reply("1", "It is [1].", "It is.")],
        {"1": {"retrieval": {"doc@1": scored(1)}}},
    )  # fmt: skip
    keep(whole, tmp_path / "kept")

    assert main(["compare", str(tmp_path / "kept"), str(whole.path), "--reopen"]) == 1
    assert "kept without passages and citations" in capsys.readouterr().err


def test_a_run_of_another_layout_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = earlier(tmp_path / "old")
    header = json.loads((folder.path / HEADER).read_text())
    (folder.path / HEADER).write_text(json.dumps({**header, "format": 0}))

    assert main(["compare", str(folder.path), str(folder.path), "--reopen"]) == 1
    assert "another version (format 0)" in capsys.readouterr().err
