"""BEIR folders: the questions that a split judges, with graded relevance."""

import gzip
from pathlib import Path

import pytest

from eval.cases import BadCasesError, Case
from eval.questions.reading import read_questions

QUERIES = (
    '{"_id": "1", "text": "Which wing?", "metadata": {}}\n{"_id": "2", "text": "b?"}\n{"_id": "3", "text": "c?"}\n'
)
TEST = "query-id\tcorpus-id\tscore\n3\td1\t1\n1\td1\t2\n1\td2\t0\n1\td3\t-1\n"
DEV = "2\td1\t1\r\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "qrels").mkdir()
    (tmp_path / "queries.jsonl").write_text(QUERIES)
    (tmp_path / "qrels/test.tsv").write_text(TEST)
    (tmp_path / "qrels/dev.tsv").write_text(DEV)
    return tmp_path


def test_the_questions_of_the_test_split_carry_their_grades(folder: Path) -> None:
    assert read_questions(folder) == (
        Case(id="1", question="Which wing?", relevance={"d1": 2.0}),
        Case(id="3", question="c?", relevance={"d1": 1.0}),
    )


def test_another_split_without_a_header_is_read(folder: Path) -> None:
    assert read_questions(folder, split="dev") == (Case(id="2", question="b?", relevance={"d1": 1.0}),)


def test_packed_queries_are_read(folder: Path) -> None:
    (folder / "queries.jsonl").unlink()
    (folder / "queries.jsonl.gz").write_bytes(gzip.compress(QUERIES.encode()))

    assert [case.id for case in read_questions(folder, limit=1)] == ["1"]


def test_a_split_that_is_not_there_is_told_with_those_that_are(folder: Path) -> None:
    with pytest.raises(BadCasesError, match=r"no split 'train'.*there are: dev, test"):
        read_questions(folder, split="train")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "qrels/test.tsv",
            "query-id\tcorpus-id\tscore\n1\td1\thigh\n",
            r"Line 2 of .* is not a judgement: '1\\td1\\thigh'",
        ),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\n1 d1 2\n", "Line 2 of .* is not a judgement"),
        ("qrels/test.tsv", "1\t0\td1\t2\n1\t0\td1\t2\n", "Line 2 of .* is not a judgement"),
        ("qrels/test.tsv", "1\td1\tnan\n1\td1\tnan\n", "Line 2 of .* is not a judgement"),
        ("qrels/test.tsv", TEST + "9\td1\t1\n", r"judges 1 queries that are not in queries.jsonl: '9'"),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\n", "test.tsv holds no judgement"),
        ("queries.jsonl", '{"_id": "1"}\n', "Line 1 of .*`text`: Field required"),
        ("queries.jsonl", QUERIES + '{"_id": "3", "text": "d?"}\n', "Line 4 of .* repeats the id '3' of line 3"),
    ],
    ids=["word", "blanks", "TREC's four columns", "nan", "unknown query", "no judgement", "no text", "id twice"],
)
def test_a_damaged_folder_is_refused(folder: Path, name: str, text: str, message: str) -> None:
    (folder / name).write_text(text)

    with pytest.raises(BadCasesError, match=message):
        read_questions(folder)


def test_a_folder_that_is_none_says_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(BadCasesError, match=r"not a BEIR folder: it has no queries.jsonl"):
        read_questions(tmp_path)
    (tmp_path / "questions.jsonl").write_text("{}")
    with pytest.raises(BadCasesError, match=f"or a file of questions, e.g. {tmp_path}/questions.jsonl"):
        read_questions(tmp_path)
    (tmp_path / "queries.jsonl").write_text(QUERIES)
    with pytest.raises(BadCasesError, match=r"not a BEIR folder: it has no qrels/"):
        read_questions(tmp_path)


def test_a_file_out_of_the_folder_names_the_folder(folder: Path) -> None:
    with pytest.raises(BadCasesError, match=f"part of a BEIR folder. Name the folder: {folder}"):
        read_questions(folder / "queries.jsonl")
