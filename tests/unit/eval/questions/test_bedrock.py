"""bedrock-rag-eval: null is unanswerable, and rows without an id are named by their number."""

from pathlib import Path

import pytest

from eval.cases import BadCasesError, Case
from eval.questions.reading import read_questions

ROWS = (
    '{"question": "What is it?", "ground_truth_answer": "A service.", "ground_truth_context": "It serves.", '
    '"category": "factual"}\n\n'
    '{"question": "Which colour?", "ground_truth_answer": null, "ground_truth_context": "", "category": "no_answer"}\n'
    '{"id": "mine", "question": "Why?", "ground_truth_answer": "So."}\n'
)


def test_rows_become_cases_and_null_is_unanswerable(tmp_path: Path) -> None:
    path = tmp_path / "eval_dataset.jsonl"
    path.write_text(ROWS)

    known, unanswerable, named = read_questions(path)

    assert known == Case(
        id="row-1", question="What is it?", answer="A service.", reference_context="It serves.", category="factual"
    )
    assert (unanswerable.id, unanswerable.unanswerable, unanswerable.references) == ("row-2", True, ())
    assert named.id == "mine"


def test_a_row_that_does_not_say_whether_there_is_an_answer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "eval_dataset.jsonl"
    path.write_text(ROWS + '{"question": "What?"}\n')

    with pytest.raises(BadCasesError, match=r"Line 5 of .*`ground_truth_answer`: Field required.*bedrock-rag-eval"):
        read_questions(path)
