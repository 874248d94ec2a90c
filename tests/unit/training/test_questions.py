"""Questions to learn from: the project's formats, and rows of question, doc and quotes."""

import json
from pathlib import Path

import pytest

from eval.cases import BadCasesError
from training.questions import read_training_questions


def _file(folder: Path, *rows: object) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_rows_with_quotes_are_read(tmp_path: Path) -> None:
    rows = [
        {
            "question": "What is glass?",
            "form": "fact",
            "doc": "Glass.txt",
            "quotes": ["Glass is a solid."],
            "nearest": None,
        },
        {"question": "Who sells it?", "form": "near_miss", "doc": "Glass.txt", "quotes": [], "nearest": None},
    ]
    answered, near_miss = read_training_questions(_file(tmp_path, *rows))

    assert (answered.relevant_docs, answered.references) == (("Glass.txt",), ("Glass is a solid.",))
    assert near_miss.unanswerable
    assert not near_miss.relevant_docs


def test_the_formats_of_the_evaluation_are_read(tmp_path: Path) -> None:
    path = _file(tmp_path, {"id": "a", "question": "Q?", "answer": "yes", "relevant_docs": ["d.md"]})
    assert [case.id for case in read_training_questions(path)] == ["a"]


def test_a_bad_row_is_named(tmp_path: Path) -> None:
    path = _file(tmp_path, {"question": "Q?", "doc": "d", "quotes": ["q"]}, {"question": "Q?", "doc": 7, "quotes": []})
    with pytest.raises(BadCasesError, match="Line 2"):
        read_training_questions(path)
