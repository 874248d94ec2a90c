"""Declining is right or wrong by the case; time is that of replies alone."""

import pytest

from eval.cases import Case
from eval.cells import Cell, not_applicable, scored
from eval.rows import Row
from eval.scoring.offline.service import score_abstention, score_cost, score_speed
from tests.fakes.eval_rows import answered, case, declined, seen, unreplied

ANSWERABLE, UNANSWERABLE, UNKNOWN = case(answer="Betz"), case(answer=None), case()


@pytest.mark.promise("G15")
@pytest.mark.parametrize(
    ("of", "row", "scores"),
    [
        (ANSWERABLE, answered("Betz."), {"declined": 0.0}),
        (ANSWERABLE, declined(), {"declined": 1.0, "abstention_precision": 0.0}),
        (UNANSWERABLE, answered("Betz."), {"abstention_recall": 0.0}),
        (UNANSWERABLE, declined(), {"abstention_recall": 1.0, "abstention_precision": 1.0}),
        (UNKNOWN, declined(), {}),
        (case(relevant_docs=["a.txt"]), declined(), {"declined": 1.0, "abstention_precision": 0.0}),
    ],
    ids=["answered", "wrongly declined", "wrongly answered", "declined", "nobody knows", "a document is known"],
)
def test_declining_is_scored_by_whether_there_is_an_answer(of: Case, row: Row, scores: dict[str, float]) -> None:
    cells = score_abstention(of, row)

    assert {name: cell.score for name, cell in cells.items() if cell.score is not None} == scores
    assert {name for name, cell in cells.items() if cell.not_applicable} == cells.keys() - scores.keys()


@pytest.mark.promise("E28")
def test_a_row_without_reply_is_no_abstention() -> None:
    cells = score_abstention(UNANSWERABLE, unreplied())

    assert cells["abstention_recall"].failed == "no reply: the service took more than 5 s"
    assert cells["abstention_precision"].failed == "no reply: the service took more than 5 s"
    assert cells["declined"] == not_applicable("the question has no answer")


def test_times_are_those_that_were_told() -> None:
    row = answered("Betz.", seconds=1.5, first_record_s=0.25, timings_ms={"retrieve": 30.0, "total": 90.0})

    assert score_speed(ANSWERABLE, row) == {
        "seconds": scored(1.5),
        "first_record_s": scored(0.25),
        "retrieve_ms": scored(30),
        "write_ms": not_applicable("the service reports no time of writing"),
    }


def test_a_failure_is_not_fast() -> None:
    cells = score_speed(ANSWERABLE, unreplied())

    assert set(cells.values()) == {Cell(not_applicable="no reply: the service took more than 5 s")}


def test_the_cost_is_what_was_read_and_written() -> None:
    assert score_cost(case(answer="x"), answered("Betz.", passages=[seen("12345"), seen("678")])) == {
        "passage_chars": scored(8), "answer_chars": scored(5),
    }  # fmt: skip
    assert score_cost(case(answer="x"), answered("Betz."))["passage_chars"].not_applicable
    assert score_cost(case(answer="x"), unreplied())["answer_chars"].not_applicable
