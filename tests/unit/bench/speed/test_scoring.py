"""The run that is scored for its time is made of real sentences, no two rows alike."""

from pathlib import Path

import pytest

from bench.datasets import NoDataSetError
from bench.speed.scoring import Scoring, make_run, measure, table
from eval.cells import scored
from eval.scoring.stage import EachRow
from tests.fakes.tables import plain_rows

TEXTS = [" ".join(f"Sentence {number} of text {name} says what it says." for number in range(9)) for name in "ab"]


def test_rows_differ_and_quote_their_passages(tmp_path: Path) -> None:
    run = make_run(TEXTS, 4, tmp_path / "run")

    rows = list(run.rows().values())
    assert [case.id for case in run.cases()] == [row.id for row in rows] == ["00000", "00001", "00002", "00003"]
    assert len({row.answer for row in rows}) == 4
    assert rows[0].answer == (
        "Sentence 0 of text a says what it says. [1] Sentence 1 of text says what it says. [1] "
        "Sentence 2 of text a says what it says. [1]"
    )
    for row in rows:
        for quote in row.citations:
            assert quote.quote == row.passages[0].text[quote.start : quote.end]


def test_short_texts_are_left_out(tmp_path: Path) -> None:
    with pytest.raises(NoDataSetError, match="No text has 6 sentences"):
        make_run(["One. Two."], 4, tmp_path / "run")


def test_every_family_has_its_time(tmp_path: Path) -> None:
    scorers = [EachRow(family, lambda *_: {"x": scored(1)}) for family in ("speed", "abstention")]

    measured = measure(make_run(TEXTS, 3, tmp_path / "run"), scorers)

    assert (measured.rows, list(measured.seconds)) == (3, ["speed", "abstention"])
    assert all(seconds > 0 for seconds in measured.seconds.values())


def test_the_table_gives_the_sum() -> None:
    scoring = Scoring(10, 100, seconds={"speed": 1.0, "abstention": 0.5}, cpu_s={"speed": 1.5, "abstention": 0.25})

    assert plain_rows(table(scoring))[1:] == [
        "| speed | 4 | 1.0 | 1.5 |",
        "| abstention | 3 | 0.5 | 0.2 |",
        "| all |  | 1.5 | 1.8 |",
    ]
