"""TREC's topics, qrels and runs, as trec_eval reads them; BEIR's folders: the questions that a split judges."""

import gzip
from pathlib import Path

import pytest

from eval.cases import BadCasesError, Case
from eval.questions import trec
from eval.questions.reading import read_questions

TOPICS = "301\tInternational organized crime\n302\tPoliomyelitis, and post-polio\n"
QRELS = "301 0 FT911-1 2\n301\t0\tFT911-2\t0\n302 0 FT911-3 1\n"
RUN = "301 Q0 FT911-2 1 3.5 bm25\n301 Q0 FT911-1 2 4.5 bm25\n302 Q0 FT911-9 1 1e-1 bm25\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "file"
    path.write_text(text)
    return path


def test_topics_are_told_by_their_tab_and_take_their_grades_from_qrels(tmp_path: Path) -> None:
    cases = read_questions(written(tmp_path, TOPICS))
    path = written(tmp_path, QRELS)

    assert [(case.id, case.question) for case in cases] == [
        ("301", "International organized crime"),
        ("302", "Poliomyelitis, and post-polio"),
    ]
    judged = trec.with_qrels(cases, trec.read_qrels(path), path)
    assert [case.relevance for case in judged] == [{"FT911-1": 2.0}, {"FT911-3": 1.0}]


def test_a_run_is_ranked_by_score_as_trec_eval_does(tmp_path: Path) -> None:
    assert trec.read_run(written(tmp_path, RUN)) == {"301": ["FT911-1", "FT911-2"], "302": ["FT911-9"]}


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    case = Case(id="1", question="Which\twing?", relevance={"a.md": 2.0}, relevant_docs=("b.md",))
    other = Case(id="2", question="Why?", relevant_docs=("b c.md",))

    assert trec.read_topics(written(tmp_path, trec.topic_lines([case])))[0].question == "Which wing?"
    assert trec.read_qrels(written(tmp_path, trec.qrel_lines([case, other]))) == {
        "1": {"a.md": 2.0},
        "2": {"b%20c.md": 1.0},
    }
    rankings = {"1": ["a.md", "b.md"], "2": ["c.md"]}
    assert trec.read_run(written(tmp_path, trec.run_lines(rankings))) == rankings


@pytest.mark.parametrize("line", ["301 0 FT911-1", "301 0 FT911-1 high", "301 0 FT911-1 nan", "301 0 a b 1"])
def test_a_wrong_judgement_is_named(tmp_path: Path, line: str) -> None:
    with pytest.raises(BadCasesError, match="Line 2 of"):
        trec.read_qrels(written(tmp_path, f"301 0 x 1\n{line}\n"))


BEIR_QUERIES = (
    '{"_id": "1", "text": "Which wing?", "metadata": {}}\n{"_id": "2", "text": "b?"}\n{"_id": "3", "text": "c?"}\n'
)
BEIR_TEST = "query-id\tcorpus-id\tscore\n3\td1\t1\n1\td1\t2\n1\td2\t0\n1\td3\t-1\n"
BEIR_DEV = "2\td1\t1\r\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "qrels").mkdir()
    (tmp_path / "queries.jsonl").write_text(BEIR_QUERIES)
    (tmp_path / "qrels/test.tsv").write_text(BEIR_TEST)
    (tmp_path / "qrels/dev.tsv").write_text(BEIR_DEV)
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
    (folder / "queries.jsonl.gz").write_bytes(gzip.compress(BEIR_QUERIES.encode()))

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
        ("qrels/test.tsv", BEIR_TEST + "9\td1\t1\n", r"judges 1 queries that are not in queries.jsonl: '9'"),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\n", "test.tsv holds no judgement"),
        ("queries.jsonl", '{"_id": "1"}\n', "Line 1 of .*`text`: Field required"),
        ("queries.jsonl", BEIR_QUERIES + '{"_id": "3", "text": "d?"}\n', "Line 4 of .* repeats the id '3' of line 3"),
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
    (tmp_path / "queries.jsonl").write_text(BEIR_QUERIES)
    with pytest.raises(BadCasesError, match=r"not a BEIR folder: it has no qrels/"):
        read_questions(tmp_path)


def test_a_file_out_of_the_folder_names_the_folder(folder: Path) -> None:
    with pytest.raises(BadCasesError, match=f"part of a BEIR folder. Name the folder: {folder}"):
        read_questions(folder / "queries.jsonl")
