"""A baseline is a run without what differs from machine to machine, and the repository holds one of the sample."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from eval.__main__ import main
from eval.cells import scored
from eval.comparing.baseline import SAMPLE, keep
from eval.comparing.command import failures, wanted_metrics
from eval.comparing.pairing import Run, join, read_run
from eval.comparing.verdicts import judge
from eval.questions.files import read_cases
from eval.rows import Row
from eval.run_folder import RunFolder
from tests.fakes.runs import case, reply, write_run
from tests.unit.eval.comparing.pairs import questions, run

ROOT = Path(__file__).parents[4]
MAKEFILE = (ROOT / "Makefile").read_text()


@pytest.fixture
def whole(tmp_path: Path) -> RunFolder:
    cells = {"1": {"retrieval": {"doc@1": scored(1)}, "speed": {"seconds": scored(0.5)}}}
    return write_run(tmp_path / "whole", [case("1", "Is it?", "It is.")], [reply("1", "It is [1].", "It is.")], cells)


def test_what_is_kept_compares_as_the_run_itself(whole: RunFolder, tmp_path: Path) -> None:
    keep(whole, tmp_path / "kept")

    verdicts = judge(join(read_run(RunFolder(tmp_path / "kept")), read_run(whole)))
    assert [(one.metric.name, one.verdict) for one in verdicts.overall] == [
        ("replied", "no difference"),
        ("doc@1", "no difference"),
    ]


def test_times_passages_and_locks_are_not_kept(whole: RunFolder, tmp_path: Path) -> None:
    keep(whole, tmp_path / "kept")

    kept = {path.name: path.read_text() for path in (tmp_path / "kept").iterdir()}
    assert sorted(kept) == ["cases.jsonl", "rows.jsonl", "run.json", "scores.jsonl"]
    assert not re.search("seconds|timings|passages|speed", kept["rows.jsonl"] + kept["scores.jsonl"])
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".part")] == []


def test_what_changes_is_shown_before_it_is_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = run(tmp_path / "old", questions(20), {"doc@1": [1.0] * 20})
    new = run(tmp_path / "new", questions(20), {"doc@1": [0.0] * 20})

    assert main(["baseline", str(new.path), "--to", str(old.path)]) == 0
    assert "worse: doc@1 -1.000" in capsys.readouterr().out
    assert read_run(old).cells["q00"]["doc@1"].score == 0.0


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "lacks a reply to 2 of 2 questions, e.g. q00"),
        ([Row(id="q00", outcome="answered", answer="So."), Row(id="q01", outcome="failed", answer=None)], "1 of 2"),
    ],
    ids=["none was asked", "one failed"],
)
def test_a_run_that_is_not_whole_is_no_baseline(
    tmp_path: Path, rows: list[Row], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = {row.id: {"retrieval": {"doc@1": scored(1)}} for row in rows}
    folder = write_run(tmp_path / "new", questions(2), rows, cells)

    assert main(["baseline", str(folder.path), "--to", str(tmp_path / "kept")]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "kept").exists()


def test_failed_scores_are_no_baseline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = run(tmp_path / "new", questions(2), {"doc@1": [1.0, None]})

    assert main(["baseline", str(folder.path), "--to", str(tmp_path / "kept")]) == 1
    assert "has failed scores, e.g. retrieval of q01" in capsys.readouterr().err


def test_a_folder_of_something_else_is_never_replaced(whole: RunFolder, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.txt").write_text("Years of work.")

    assert main(["baseline", str(whole.path), "--to", str(precious)]) == 1
    assert (precious / "thesis.txt").read_text() == "Years of work."


def test_the_samples_baseline_is_of_the_sample_as_it_is() -> None:
    folder = RunFolder(ROOT / SAMPLE)

    assert [each.question for each in folder.cases()] == [
        each.question for each in read_cases(ROOT / "data/questions.jsonl")
    ]
    assert sum(path.stat().st_size for path in folder.path.iterdir()) < 400_000
    assert not re.search(r'"/[a-z]+/|timings_ms', "".join(path.read_text() for path in folder.path.iterdir()))


@pytest.mark.promise("E26")
@pytest.mark.parametrize(
    ("spoiled", "fails"), [(2, False), (9, True)], ids=["two answers of another CPU pass", "nine lost answers do not"]
)
def test_make_regress_fails_on_a_real_loss_alone(spoiled: int, fails: bool) -> None:
    baseline = read_run(RunFolder(ROOT / SAMPLE))
    losses = re.search(r"LOSS := (.*)", MAKEFILE)
    judged = re.search(r"JUDGED := ((?:.*\\\n)*.*)", MAKEFILE)
    assert losses
    assert judged
    joined = join(baseline, _declining(baseline, spoiled))

    wanted = wanted_metrics(judged[1].replace("\\", "").split(), joined)

    failed = failures(judge(joined, float(losses[1])), wanted)
    assert list(failed) == (["word_recall", "token_f1", "declined"] if fails else [])


def _declining(side: Run, count: int) -> Run:
    """The same run, in which as many of the answered questions are declined."""
    answered = [id_ for id_, cells in side.cells.items() if cells["declined"].score == 0][:count]
    lost = {"word_recall": scored(0), "token_f1": scored(0), "declined": scored(1)}
    cells = {id_: {**of, **lost} if id_ in answered else of for id_, of in side.cells.items()}
    return replace(side, cells=cells)
