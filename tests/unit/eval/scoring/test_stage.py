"""A run is scored once, goes on where it was, and keeps no line twice."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from eval.cells import Cell, failed, scored
from eval.run_folder import SCORES, Header, RunFolder
from eval.scoring.stage import EachRow, Line, Todo, score_run
from tests.fakes.eval_rows import answered, case, unreplied


class Counting:
    """Scores the rows by their order of coming, and can break."""

    family = "answer"

    def __init__(self, *, break_after: int | None = None, cell: Cell | None = None) -> None:
        self.asked: list[tuple[str, int]] = []
        self._break_after = break_after
        self._cell = cell

    def score(self, todo: Todo, repeat: int = 0) -> Iterator[Line]:
        for _, row in todo:
            if len(self.asked) == self._break_after:
                raise KeyboardInterrupt
            self.asked.append((row.id, repeat))
            yield row.id, {"answer": self._cell or scored(len(self.asked))}


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    folder = RunFolder(tmp_path / "run")
    folder.create(Header(started="now", questions="q.jsonl", questions_sha256="0", target="x"), (case("1"), case("2")))
    with folder.writing():
        folder.append_row(answered("one", "1"))
        folder.append_row(answered("two", "2"))
    return folder


def lines(folder: RunFolder) -> int:
    return (folder.path / SCORES).read_text().count("\n")


def test_what_is_scored_already_is_not_scored_again(folder: RunFolder) -> None:
    scorer = Counting()

    with folder.writing():
        score_run(folder, [scorer])
        score_run(folder, [scorer])

    assert scorer.asked == [("1", 0), ("2", 0)]
    assert folder.cells() == {"1": {"answer": scored(1)}, "2": {"answer": scored(2)}}


def test_a_run_that_was_broken_off_goes_on_after_the_rows_that_are_kept(folder: RunFolder) -> None:
    with folder.writing():
        with pytest.raises(KeyboardInterrupt):
            score_run(folder, [Counting(break_after=1)])
        rest = Counting()
        score_run(folder, [rest])

    assert rest.asked == [("2", 0)]


def test_each_repeat_is_a_line_of_its_own_and_the_cells_are_their_mean(folder: RunFolder) -> None:
    scorer = Counting()

    with folder.writing():
        score_run(folder, [scorer], repeats=2)

    assert scorer.asked == [("1", 0), ("2", 0), ("1", 1), ("2", 1)]
    assert folder.cells()["1"]["answer"] == scored((1 + 3) / 2)


def test_cells_that_failed_are_tried_again_and_replaced(folder: RunFolder) -> None:
    with folder.writing():
        score_run(folder, [Counting(cell=failed("the judge is down"))])
        score_run(folder, [Counting()])

    assert folder.cells()["1"]["answer"] == scored(1)


def test_a_row_without_reply_is_not_scored_again_and_again(folder: RunFolder) -> None:
    cases = (case("1"), case("2"), case("3"))
    lost = RunFolder(folder.path.with_name("lost"))
    lost.create(folder.header(), cases)
    scorer = Counting(cell=failed("no reply"))

    with lost.writing():
        lost.append_row(unreplied("3"))
        score_run(lost, [scorer])
        score_run(lost, [scorer])

    assert scorer.asked == [("3", 0)]


def test_a_new_reply_to_a_question_is_scored_again(folder: RunFolder) -> None:
    lost = RunFolder(folder.path.with_name("lost"))
    lost.create(folder.header(), (case("1"),))
    scorer = Counting()

    with lost.writing():
        lost.append_row(unreplied("1"))
        score_run(lost, [scorer])
        lost.append_row(answered("at last", "1"))
        score_run(lost, [scorer])

    assert scorer.asked == [("1", 0), ("1", 0)]
    assert lost.cells()["1"]["answer"] == scored(2)


def test_scoring_again_writes_only_what_has_changed(folder: RunFolder) -> None:
    same = EachRow("answer", lambda _case, row: {"length": scored(len(row.answer or ""))})
    other = EachRow("answer", lambda _case, row: {"length": scored(4 if row.id == "1" else 3)})

    with folder.writing():
        score_run(folder, [same])
        score_run(folder, [same], again=True)
        assert lines(folder) == 2
        score_run(folder, [other], again=True)

    assert lines(folder) == 3
    assert {id_: cells["length"].score for id_, cells in folder.cells().items()} == {"1": 4, "2": 3}


def test_progress_is_told_by_family(folder: RunFolder) -> None:
    told: list[tuple[str, int, int]] = []

    with folder.writing():
        score_run(folder, [EachRow("speed", lambda *_: {})], progress=lambda *step: told.append(step))

    assert told == [("speed", 1, 2), ("speed", 2, 2)]
