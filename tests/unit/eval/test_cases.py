"""Cases are read strictly: what is wrong is named by line, and null differs from absent."""

from pathlib import Path
from typing import Any

import pytest

from eval.cases import BadCasesError, Case, Evidence, apart, by_category
from eval.questions.files import read_cases

GOOD = '{"id": "a", "question": "What is solar power?"}'


def written(folder: Path, *lines: str) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_a_full_row_becomes_a_typed_case(tmp_path: Path) -> None:
    row = (
        '{"id": "a", "question": "Who?", "answer": "Bell", "relevant_docs": ["bell.txt"], "relevance": {"7": 2}, '
        '"evidence": [{"doc": "bell.txt", "page_index": 0, "text": "Bell did."}], '
        '"reference_context": "Bell did.", "category": "factual", "type": "ignored"}'
    )

    assert read_cases(written(tmp_path, row)) == (
        Case(
            id="a",
            question="Who?",
            answer="Bell",
            relevant_docs=("bell.txt",),
            relevance={"7": 2},
            evidence=(Evidence(doc="bell.txt", page_index=0, text="Bell did."),),
            reference_context="Bell did.",
            category="factual",
        ),
    )


def test_an_answer_of_null_is_unanswerable_and_an_absent_one_is_unknown(tmp_path: Path) -> None:
    null, absent, known = read_cases(
        written(
            tmp_path,
            '{"id": "null", "question": "Q?", "answer": null}',
            '{"id": "absent", "question": "Q?"}',
            '{"id": "known", "question": "Q?", "answer": "A"}',
        )
    )

    assert [case.unanswerable for case in (null, absent, known)] == [True, False, False]
    assert null.answer is None
    assert absent.answer is None


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({"relevant_docs": ("b.md", "a.md")}, "b.md"),
        ({"relevance": {"none.md": 0.0, "some.md": 1.0, "all.md": 2.0}}, "all.md"),
        ({"evidence": (Evidence(doc="a.pdf", page_index=0, text="It is."),)}, "a.pdf"),
        ({"relevance": {"none.md": 0.0}}, None),
    ],
)
def test_a_question_is_drawn_from_the_first_document_that_holds_its_answer(
    known: dict[str, Any], expected: str | None
) -> None:
    assert Case(id="a", question="Q?", **known).drawn_from == expected


def test_cases_keep_the_order_of_the_file_and_blank_lines_are_passed_over(tmp_path: Path) -> None:
    path = written(tmp_path, '{"id": "b", "question": "Q?"}', "", "  ", '{"id": "a", "question": "Q?"}', "")

    assert [case.id for case in read_cases(path)] == ["b", "a"]


def test_an_unusual_line_separator_inside_a_question_does_not_cut_the_row(tmp_path: Path) -> None:
    (case,) = read_cases(written(tmp_path, '{"id": "a", "question": "one\u2028two"}'))

    assert case.question == "one\u2028two"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"question": "Q?"}', r"Line 2 of .* is not a case \(`id`: Field required"),
        ('{"id": "", "question": "Q?"}', r"Line 2 of .* is not a case \(`id`"),
        ('{"id": 7, "question": "Q?"}', r"Line 2 of .* is not a case \(`id`: Input should be a valid string"),
        ('{"id": "b"}', r"Line 2 of .* is not a case \(`question`: Field required"),
        ('{"id": "b", "question": "Q?", "answer": ""}', r"Line 2 of .* is not a case \(`answer`"),
        ('{"id": "b", "question": "Q?", "relevance": {"7": -1}}', r"Line 2 of .* is not a case \(`relevance.7`"),
    ],
    ids=[
        "no id",
        "empty id",
        "id of another type",
        "no question",
        "empty answer",
        "negative gain",
    ],
)
def test_a_bad_line_stops_the_reading_and_is_named(tmp_path: Path, line: str, told: str) -> None:
    with pytest.raises(BadCasesError, match=told):
        read_cases(written(tmp_path, GOOD, line))


def test_questions_without_an_answer_stand_apart_and_unknown_ones_do_not() -> None:
    known = Case(id="1", question="q", answer="a", category="factual")
    nowhere = Case(id="2", question="q", answer=None, category="no_answer")
    unknown = Case(id="3", question="q")

    assert apart([known, nowhere, unknown]) == ([known, unknown], [nowhere])
    assert by_category([known, nowhere, unknown]) == {"factual": [known], "no_answer": [nowhere], "": [unknown]}
