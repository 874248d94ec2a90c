"""CRAG: pages come along, alternatives in either spelling, and two answers mean something special."""

import bz2
import json
from pathlib import Path
from typing import Any

import pytest

from eval.cases import BadCasesError, Case, GivenPage
from eval.questions.reading import read_questions

ROW: dict[str, Any] = {
    "interaction_id": "1",
    "query": "Who published the limit?",
    "question_type": "simple",
    "answer": "Albert Betz",
    "alternative_answers": [],
    "search_results": [{"page_url": "https://example.org/betz", "page_result": "<p>Betz did.</p>", "page_name": "x"}],
}


def read(folder: Path, **changes: Any) -> Case:
    path = folder / "crag.jsonl"
    path.write_text(json.dumps(ROW | changes))
    (case,) = read_questions(path)
    return case


def test_a_packed_row_becomes_a_case_with_its_pages(tmp_path: Path) -> None:
    path = tmp_path / "dev_data.jsonl.bz2"
    path.write_bytes(bz2.compress(json.dumps(ROW).encode() + b"\n"))

    assert read_questions(path) == (
        Case(
            id="1",
            question="Who published the limit?",
            answer="Albert Betz",
            category="simple",
            pages=(GivenPage(url="https://example.org/betz", html="<p>Betz did.</p>"),),
        ),
    )


@pytest.mark.parametrize(
    "written",
    [["A. Betz", " "], '["A. Betz"]', "['A. Betz']", "[\n 'A. Betz',]"],
    ids=["list", "JSON", "Python", "lines"],
)
def test_alternatives_are_read_in_each_spelling(tmp_path: Path, written: object) -> None:
    assert read(tmp_path, alternative_answers=written).alternatives == ("A. Betz",)


def test_alternatives_are_read_under_the_name_of_later_releases(tmp_path: Path) -> None:
    path = tmp_path / "crag.jsonl"
    path.write_text(json.dumps({**{key: ROW[key] for key in ("interaction_id", "query", "answer")}, "alt_ans": ["B"]}))

    assert read_questions(path)[0].alternatives == ("B",)


@pytest.mark.parametrize("written", ["['a' 'b']", "[1", "a", '{"a": 1}', "{'a': 1}", "[[1]]"])
def test_alternatives_that_are_no_list_of_texts_are_refused(tmp_path: Path, written: str) -> None:
    with pytest.raises(BadCasesError, match=r"Line 1 of .*`alternative_answers"):
        read(tmp_path, alternative_answers=written)


@pytest.mark.parametrize("written", ["i don't know", "I don’t know."])
def test_not_knowing_as_the_right_answer_makes_a_case_unanswerable(tmp_path: Path, written: str) -> None:
    assert read(tmp_path, answer=written).unanswerable


def test_an_invalid_question_has_an_answer_that_says_so(tmp_path: Path) -> None:
    case = read(tmp_path, answer="invalid question", question_type="false_premise")

    assert (case.answer, case.category, case.unanswerable) == ("invalid question", "false_premise", False)
