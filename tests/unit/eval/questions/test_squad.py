"""SQuAD's files are one JSON value each: questions, and the documents that come with them."""

import json
from pathlib import Path
from typing import Any

import pytest

from eval.cases import BadCasesError
from eval.nuggets import find_region, fold
from eval.questions.reading import documents_of, read_questions

NORMANS = "The Normans were the people who in the 10th and 11th centuries gave their name to Normandy, in France."
SQUAD: dict[str, Any] = {
    "version": "v2.0",
    "data": [
        {
            "title": "Normans",
            "paragraphs": [
                {
                    "context": NORMANS,
                    "qas": [
                        {
                            "id": "56ddde6b",
                            "question": "When were the Normans in Normandy?",
                            "answers": [
                                {"text": "10th and 11th centuries", "answer_start": 40},
                                {"text": "in the 10th and 11th centuries", "answer_start": 33},
                                {"text": "10th and 11th centuries", "answer_start": 40},
                            ],
                            "is_impossible": False,
                        },
                        {
                            "plausible_answers": [{"text": "Normandy", "answer_start": 84}],
                            "question": "Who gave their name to Normandy in the 1000's?",
                            "id": "5ad39d53",
                            "answers": [],
                            "is_impossible": True,
                        },
                    ],
                },
                {"context": "A second paragraph without questions.", "qas": []},
            ],
        }
    ],
}


def written(folder: Path, value: object, name: str = "questions", **options: Any) -> Path:
    path = folder / name
    path.write_text(json.dumps(value, **options))
    return path


@pytest.mark.parametrize("indent", [None, 2])
def test_squad_is_read_with_its_answers_paragraph_and_near_misses(tmp_path: Path, indent: int | None) -> None:
    path = written(tmp_path, SQUAD, indent=indent)

    answered, impossible = read_questions(path)

    assert answered.answer == "10th and 11th centuries"
    assert answered.alternatives == ("in the 10th and 11th centuries",)
    assert answered.nuggets[0].any == (answered.answer, *answered.alternatives)
    assert answered.relevant_docs == ("Normans",)
    ((title, text),) = documents_of(path).items()
    span = find_region(fold(text), answered.regions[0])
    assert title == "Normans"
    assert span is not None
    assert fold(text)[slice(*span)] == fold(NORMANS)
    assert impossible.unanswerable


def test_squad_1_has_no_near_misses_and_is_told_as_well(tmp_path: Path) -> None:
    path = written(tmp_path, {"data": SQUAD["data"], "version": "1.1"})

    assert len(read_questions(path, limit=1)) == 1


def test_a_file_of_another_shape_says_where_it_differs(tmp_path: Path) -> None:
    with pytest.raises(BadCasesError, match=r"SQuAD.*data\.0\.paragraphs"):
        read_questions(written(tmp_path, {"data": [{"title": "Normans"}]}))
