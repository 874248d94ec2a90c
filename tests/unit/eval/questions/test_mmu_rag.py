"""The competition's validation file: its ids stay as they are, a missing reference is unknown, not unanswerable."""

from pathlib import Path

import pytest

from eval.cases import BadCasesError, Case
from eval.questions.reading import read_questions

ROWS = (
    '{"query": "who was betz", "reference": "\\nA physicist. ", "iid": "V_1"}\n'
    '{"query": "why wind", "reference": null, "iid": "V_2"}\n'
    '{"query": "why sun", "iid": "V_3"}\n'
)


def test_rows_become_cases_and_a_missing_reference_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "t2t_val.jsonl"
    path.write_text(ROWS)

    cases = read_questions(path)

    assert cases == (
        Case(id="V_1", question="who was betz", answer="A physicist."),
        Case(id="V_2", question="why wind"),
        Case(id="V_3", question="why sun"),
    )
    assert [case.unanswerable for case in cases] == [False, False, False]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('{"query": "q", "iid": 5}', r"Line 1 of .*`iid`: Input should be a valid string"),
        ('{"query": "q", "iid": " V_1"}', r"Line 1 of .*`iid`: begins or ends with white space"),
        ('{"query": " ", "iid": "V_1"}', r"Line 1 of .*`query`: String should have at least 1 character"),
        ('{"query": "q", "iid": ""}', r"Line 1 of .*`iid`: String should have at least 1 character"),
    ],
    ids=["a number as id", "an id that would be stripped", "a blank query", "an empty id"],
)
def test_a_row_that_cannot_be_asked_is_named(tmp_path: Path, row: str, message: str) -> None:
    path = tmp_path / "t2t_val.jsonl"
    path.write_text(row)

    with pytest.raises(BadCasesError, match=message):
        read_questions(path)
