"""Test sets of RAGAS, as it writes them: JSON lines, and CSV whose lists are Python's."""

from pathlib import Path

import pytest

from eval.cases import BadCasesError, Case
from eval.questions.reading import read_questions

EXPECTED = (
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
CSV = (
    "user_input,reference_contexts,reference,synthesizer_name\r\n"
    '"Who said ""wind"",\nand when?","[""Betz\'s limit"", \'a ""b""\']","Betz\ndid.",single_hop\r\n'
    "Why?,,,\r\n"
)
JSONL = (
    r'{"user_input": "Who said \"wind\",\nand when?", "reference_contexts": ["Betz'
    r"'"
    r's limit", "a \"b\""], '
    r'"reference": "Betz\ndid.", "synthesizer_name": "single_hop"}'
    '\n{"user_input": "Why?", "reference": null}\n'
)


@pytest.mark.parametrize("text", [CSV, "\ufeff" + CSV, JSONL], ids=["CSV", "CSV with a byte order mark", "JSON lines"])
def test_both_spellings_become_the_same_cases(tmp_path: Path, text: str) -> None:
    path = tmp_path / "testset"
    path.write_bytes(text.encode())

    assert read_questions(path) == EXPECTED


def test_an_index_that_pandas_wrote_is_a_column_that_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "testset.csv"
    path.write_text(",user_input,reference\n0,Why?,So.\n")
    told: list[str] = []

    assert read_questions(path, tell=told.append) == (Case(id="row-1", question="Why?", answer="So."),)
    assert told[0].endswith("Columns not used: (one without a name).")


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
