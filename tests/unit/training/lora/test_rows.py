"""Rows of question, passages and answer: read strictly, or made of questions and what our retrieval finds."""

import json
from pathlib import Path

import pytest

from eval.cases import BadCasesError, Case
from query_engine.schema.passage import Passage
from tests.fakes.llm import passage
from training.lora.rows import Row, Shown, read_rows, rows_of_questions, write_rows

ROW = {"question": "When?", "passages": [{"title": "Betz", "text": "It was 1919."}], "answer": "In 1919 [1]."}


def _file(folder: Path, *rows: object) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_rows_are_read_and_written(tmp_path: Path) -> None:
    rows = read_rows(_file(tmp_path, ROW, ROW | {"answer": None}))
    assert rows[0] == Row(question="When?", passages=(Shown(title="Betz", text="It was 1919."),), answer="In 1919 [1].")
    assert rows[1].answer is None

    write_rows(rows, tmp_path / "again.jsonl")
    assert read_rows(tmp_path / "again.jsonl") == rows


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        (ROW | {"answer": "In 1919 [2]."}, r"cites \[2\], but has 1"),
        (ROW | {"passages": []}, "`passages`"),
        (ROW | {"answers": "x"}, "`answers`"),
        ({"question": "When?", "passages": ROW["passages"]}, "`answer`"),
        ("text", "not a row"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, row: object, fault: str) -> None:
    with pytest.raises(BadCasesError, match="Line 2") as caught:
        read_rows(_file(tmp_path, ROW, row))
    assert caught.match(fault)


def test_a_file_without_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadCasesError, match="holds no row"):
        read_rows(_file(tmp_path))


def _found(*texts: str) -> list[Passage]:
    return [passage(text) for text in texts]


def _made(case: Case, *texts: str) -> list[Row]:
    return list(rows_of_questions([case], lambda _: _found(*texts), lambda _: None, seed=0))


def test_quotes_are_cited_by_where_they_are_shown() -> None:
    reference = "Albert Betz published his limit in the year 1919 [3]."
    case = Case(id="1", question="When?", reference_contexts=(reference,))
    (row,) = _made(case, "Nothing of it.", "Before it. Albert Betz published his limit in the year 1919 [3]. After.")

    rank = 1 + next(place for place, shown in enumerate(row.passages) if "Betz" in shown.text)
    # The document's own reference mark is none of ours.
    assert row.answer == f"Albert Betz published his limit in the year 1919. [{rank}]"


def test_a_short_answer_is_cited_and_an_unanswerable_question_declined() -> None:
    (row,) = _made(Case(id="1", question="When?", answer="1919"), "It was 1919.")
    assert row.answer == "1919 [1]"
    (row,) = _made(Case(id="1", question="When?", answer=None), "It was 1919.")
    assert row.answer is None


@pytest.mark.parametrize(
    "case",
    [
        Case(id="1", question="When?"),
        Case(id="1", question="When?", answer="1920"),
        Case(id="1", question="When?", reference_context="A sentence that stands in no passage at all, I think."),
    ],
)
def test_what_was_not_found_is_not_learnt(case: Case) -> None:
    assert not _made(case, "It was 1919.")
    assert not _made(case)
