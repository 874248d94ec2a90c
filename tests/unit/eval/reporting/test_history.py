import shutil
import time
from pathlib import Path

import pytest

from eval.cells import scored
from eval.reporting import history as history_of_runs
from eval.reporting.history import overview, read_history
from eval.run_folder import RunFolder, Scored
from eval.scoring.catalogue import METRICS
from tests.fakes.runs import DAM, SALT, SAMPLE_CASES, SAMPLE_ROWS, case, reply, sample_run, write_run


def test_runs_of_the_same_questions_stand_in_the_order_in_which_they_began(tmp_path: Path) -> None:
    sample_run(tmp_path / "a", started="2026-03-03T00:00:00+00:00", fingerprint="two")
    sample_run(tmp_path / "b", started="2026-03-02T00:00:00+00:00", fingerprint="two")
    this = sample_run(tmp_path / "c", started="2026-03-01T00:00:00+00:00", fingerprint="one")

    history = read_history(this)

    assert [(past.name, past.this) for past in history.runs] == [("c", True), ("b", False), ("a", False)]
    assert history.changes == [1]
    assert history.runs[0].kept.means["word_recall"].value == 0.3
    assert history.runs[0].kept.means["abstention_recall"].value == 0.5


def test_runs_of_other_questions_are_not_mixed_in(tmp_path: Path) -> None:
    this = sample_run(tmp_path / "a")
    sample_run(tmp_path / "b", questions_sha256="77" * 32)

    history = read_history(this)

    assert [past.name for past in history.runs] == ["a"]
    assert history.left_out == []


def test_runs_that_cannot_stand_beside_are_named_with_the_reason(tmp_path: Path) -> None:
    this = sample_run(tmp_path / "a")
    write_run(tmp_path / "part", SAMPLE_CASES[:1], SAMPLE_ROWS[:1], {"right": {"answer": {"word_recall": scored(1)}}})
    write_run(tmp_path / "unscored", SAMPLE_CASES, SAMPLE_ROWS, {})
    sample_run(tmp_path / "torn")
    (tmp_path / "torn" / "rows.jsonl").write_text("{\n")
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "run.json").write_text("{")
    (tmp_path / "notes").mkdir()

    history = read_history(this)

    assert [past.name for past in history.runs] == ["a"]
    assert set(history.left_out) == {
        "damaged: bad_run", "part: asked 1 of the questions", "torn: bad_run", "unscored: no scores",
    }  # fmt: skip


def test_the_oldest_of_very_many_runs_are_left_out_but_never_this_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_of_runs, "MOST", 3)
    this = sample_run(tmp_path / "old", started="2020-01-01T00:00:00+00:00")
    for number in range(4):
        row, cells = reply("right", "1991"), {"right": {"answer": {"word_recall": scored(1)}}}
        write_run(tmp_path / f"n{number}", SAMPLE_CASES, [row], cells)

    history = read_history(this)

    assert (len(history.runs), history.older) == (3, 2)
    assert history.runs[0].this


def test_a_line_marks_where_the_system_became_another_one(tmp_path: Path) -> None:
    for number, fingerprint in enumerate(("one", "one", "two")):
        sample_run(tmp_path / f"{number}", started=f"2026-03-0{number + 1}T00:00:00+00:00", fingerprint=fingerprint)
    history = read_history(RunFolder(tmp_path / "2"))

    assert history.changes == [2]
    assert [(place, past.this, mean) for place, past, mean in history.points(METRICS["word_recall"])] == [
        (0, False, 0.3), (1, False, 0.3), (2, True, 0.3),
    ]  # fmt: skip


def test_a_link_to_a_run_is_no_second_run(tmp_path: Path) -> None:
    this = sample_run(tmp_path / "a")
    sample_run(tmp_path / "b")
    for name in "ab":
        (tmp_path / f"link-{name}").symlink_to(tmp_path / name)

    assert [past.name for past in read_history(this).runs] == ["a", "b"]


def test_what_changed_between_two_runs_is_named(tmp_path: Path) -> None:
    usual = {"retrieval": {"top_k": 20, "merge": True}}
    sample_run(tmp_path / "a", started="2026-03-01T00:00:00+00:00", settings=usual)
    this = sample_run(
        tmp_path / "b",
        started="2026-03-02T00:00:00+00:00",
        settings={"retrieval": {"top_k": 8, "merge": True}, "new": 1},
        versions={"treeline": "0.9.1", "python": "3.11.9"},
    )
    row = this.rows()["right"]
    with this.writing():
        this.append_scores(Scored(id="right", of=row.digest(), family="ragas", by="a judge", cells={}))

    history = read_history(this)

    assert history.changed(0) == []
    assert history.changed(1) == ["settings.retrieval.top_k: 20 → 8", "versions.treeline: 0.9.0 → 0.9.1"]
    assert history.runs[1].kept.judges == {"ragas": "a judge"}


def test_what_is_kept_of_a_run_is_computed_again_where_its_scores_have_changed(tmp_path: Path) -> None:
    this, other = sample_run(tmp_path / "a"), sample_run(tmp_path / "b")
    before = {past.name: past.kept.means["word_recall"].value for past in read_history(this).runs}
    row = other.rows()["missed"]
    with other.writing():
        other.append_scores(Scored(id=row.id, of=row.digest(), family="answer", cells={"word_recall": scored(1.0)}))

    after = {past.name: past.kept.means["word_recall"].value for past in read_history(this).runs}

    assert before == {"a": 0.3, "b": 0.3}
    assert after == {"a": 0.3, "b": 0.5}


def test_a_hundred_runs_of_300_rows_open_within_2_seconds(tmp_path: Path) -> None:
    cases = [case(f"q{n}", f"What is {n}?", "1991") for n in range(300)]
    rows = [reply(one.id, "In 1991 [1].", DAM, SALT) for one in cases]
    cells = {one.id: {"answer": {"word_recall": scored(1.0)}} for one in cases}
    first = write_run(tmp_path / "000", cases, rows, cells)
    overview(first)
    for number in range(1, 100):
        shutil.copytree(first.path, tmp_path / f"{number:03}")  # with their times, as `cp -a` does

    started = time.process_time()
    history = read_history(first)

    assert time.process_time() - started < 2
    assert len(history.runs) == 100
