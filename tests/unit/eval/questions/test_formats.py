"""Formats with one question a row: what is known becomes a case, what is wrong is named by line."""

import bz2
import json
from pathlib import Path
from typing import Any

import pytest

from eval.cases import BadCasesError, Case, GivenPage
from eval.questions.reading import read_questions

MMU_RAG = (
    '{"query": "who was betz", "reference": "\\nA physicist. ", "iid": "V_1"}\n'
    '{"query": "why wind", "reference": null, "iid": "V_2"}\n'
    '{"query": "why sun", "iid": "V_3"}\n'
)


@pytest.mark.promise("A53")
def test_rows_of_mmu_rag_become_cases_and_a_missing_reference_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "t2t_val.jsonl"
    path.write_text(MMU_RAG)

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
def test_a_row_of_mmu_rag_that_cannot_be_asked_is_named(tmp_path: Path, row: str, message: str) -> None:
    path = tmp_path / "t2t_val.jsonl"
    path.write_text(row)

    with pytest.raises(BadCasesError, match=message):
        read_questions(path)


CRAG: dict[str, Any] = {
    "interaction_id": "1",
    "query": "Who published the limit?",
    "query_time": "03/10/2024, 23:19:21 PT",
    "question_type": "simple",
    "answer": "Albert Betz",
    "alternative_answers": [],
    "search_results": [{"page_url": "https://example.org/betz", "page_result": "<p>Betz did.</p>", "page_name": "x"}],
}


def crag_case(folder: Path, **changes: Any) -> Case:
    path = folder / "crag.jsonl"
    path.write_text(json.dumps(CRAG | changes))
    (case,) = read_questions(path)
    return case


def test_a_packed_row_becomes_a_case_with_its_pages(tmp_path: Path) -> None:
    path = tmp_path / "dev_data.jsonl.bz2"
    path.write_bytes(bz2.compress(json.dumps(CRAG).encode() + b"\n"))

    assert read_questions(path) == (
        Case(
            id="1",
            question="Who published the limit?",
            answer="Albert Betz",
            category="simple",
            pages=(GivenPage(url="https://example.org/betz", html="<p>Betz did.</p>"),),
            query_time="03/10/2024, 23:19:21 PT",
        ),
    )


@pytest.mark.parametrize(
    "written",
    [["A. Betz", " "], '["A. Betz"]', "['A. Betz']", "[\n 'A. Betz',]"],
    ids=["list", "JSON", "Python", "lines"],
)
def test_alternatives_are_read_in_each_spelling(tmp_path: Path, written: object) -> None:
    assert crag_case(tmp_path, alternative_answers=written).alternatives == ("A. Betz",)


def test_alternatives_are_read_under_the_name_of_later_releases(tmp_path: Path) -> None:
    path = tmp_path / "crag.jsonl"
    path.write_text(json.dumps({**{key: CRAG[key] for key in ("interaction_id", "query", "answer")}, "alt_ans": ["B"]}))

    assert read_questions(path)[0].alternatives == ("B",)


@pytest.mark.parametrize("written", ["['a' 'b']", "[1", "a", '{"a": 1}', "{'a': 1}", "[[1]]"])
def test_alternatives_that_are_no_list_of_texts_are_refused(tmp_path: Path, written: str) -> None:
    with pytest.raises(BadCasesError, match=r"Line 1 of .*`alternative_answers"):
        crag_case(tmp_path, alternative_answers=written)


@pytest.mark.parametrize("written", ["i don't know", "I don’t know."])
def test_not_knowing_as_the_right_answer_makes_a_case_unanswerable(tmp_path: Path, written: str) -> None:
    assert crag_case(tmp_path, answer=written).unanswerable


def test_an_invalid_question_has_an_answer_that_says_so(tmp_path: Path) -> None:
    case = crag_case(tmp_path, answer="invalid question", question_type="false_premise")

    assert (case.answer, case.category, case.unanswerable) == ("invalid question", "false_premise", False)


BEDROCK = (
    '{"question": "What is it?", "ground_truth_answer": "A service.", "ground_truth_context": "It serves.", '
    '"category": "factual"}\n\n'
    '{"question": "Which colour?", "ground_truth_answer": null, "ground_truth_context": "", "category": "no_answer"}\n'
    '{"id": "mine", "question": "Why?", "ground_truth_answer": "So."}\n'
)


@pytest.mark.promise("E22")
def test_rows_of_bedrock_become_cases_and_null_is_unanswerable(tmp_path: Path) -> None:
    path = tmp_path / "eval_dataset.jsonl"
    path.write_text(BEDROCK)

    known, unanswerable, named = read_questions(path)

    assert known == Case(
        id="row-1", question="What is it?", answer="A service.", reference_context="It serves.", category="factual"
    )
    assert (unanswerable.id, unanswerable.unanswerable, unanswerable.references) == ("row-2", True, ())
    assert named.id == "mine"


def test_a_row_that_does_not_say_whether_there_is_an_answer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "eval_dataset.jsonl"
    path.write_text(BEDROCK + '{"question": "What?"}\n')

    with pytest.raises(BadCasesError, match=r"Line 5 of .*`ground_truth_answer`: Field required.*bedrock-rag-eval"):
        read_questions(path)


RAGAS = (
    Case(
        id="row-1",
        question='Who said "wind",\nand when?',
        answer="Betz\ndid.",
        reference_contexts=("Betz's limit", 'a "b"'),
        category="single_hop",
    ),
    Case(id="row-2", question="Why?"),
)
# What ragas 0.4 writes: csv.DictWriter and json.dumps of the same rows.
RAGAS_CSV = (
    "user_input,reference_contexts,reference,synthesizer_name\r\n"
    '"Who said ""wind"",\nand when?","[""Betz\'s limit"", \'a ""b""\']","Betz\ndid.",single_hop\r\n'
    "Why?,,,\r\n"
)
RAGAS_JSONL = (
    r'{"user_input": "Who said \"wind\",\nand when?", "reference_contexts": ["Betz'
    r"'"
    r's limit", "a \"b\""], '
    r'"reference": "Betz\ndid.", "synthesizer_name": "single_hop"}'
    '\n{"user_input": "Why?", "reference": null}\n'
)


@pytest.mark.parametrize(
    "text", [RAGAS_CSV, "\ufeff" + RAGAS_CSV, RAGAS_JSONL], ids=["CSV", "CSV with a byte order mark", "JSON lines"]
)
def test_both_spellings_become_the_same_cases(tmp_path: Path, text: str) -> None:
    path = tmp_path / "testset"
    path.write_bytes(text.encode())

    assert read_questions(path) == RAGAS


def test_an_index_that_pandas_wrote_is_a_column_that_is_not_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "testset.csv"
    path.write_text(",user_input,reference\n0,Why?,So.\n")

    assert read_questions(path) == (Case(id="row-1", question="Why?", answer="So."),)
    assert capsys.readouterr().err.endswith("Columns not used: (one without a name).\n")


def test_a_column_of_a_megabyte_is_read(tmp_path: Path) -> None:
    path = tmp_path / "testset.csv"
    path.write_text(f"user_input,reference\nWhy?,{'x' * 1_000_000}\n")

    assert len(read_questions(path)[0].answer or "") == 1_000_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"user_input": [{"type": "human", "content": "x"}]}', "Line 1 .*`user_input`: is a conversation"),
        (
            "user_input,reference_contexts\nq,\"['a' 'b']\"\n",
            "Line 2 .*`reference_contexts`: should be a list of texts",
        ),
        ("user_input,reference\nq,r\n\nq,r,s\n", "Line 4 .* has 3 columns where the header names 2"),
        ('user_input,reference\n"a\nb",r\nq,"abc\nd', "not CSV from line 4 on: unexpected end of data"),
        ("user_input,user_input\nq,r\n", "names a column twice"),
        ("user_input,reference\n", "holds no question"),
        ("user_input;reference\na;b\n", "in no known format; their columns are: user_input;reference"),
    ],
    ids=["conversation", "numpy's list", "a comma too many", "torn", "column twice", "only a header", "semicolons"],
)
def test_what_is_wrong_is_named_by_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "testset"
    path.write_text(text)

    with pytest.raises(BadCasesError, match=message):
        read_questions(path)


def test_csv_that_is_no_utf_8_is_named_by_line(tmp_path: Path) -> None:
    path = tmp_path / "testset.csv"
    path.write_bytes(b"user_input\nq\ncaf\xe9\n")

    with pytest.raises(BadCasesError, match=r"Line 3 of .* is not UTF-8 \(byte 4\)"):
        read_questions(path)
