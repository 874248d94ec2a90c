"""The format is recognised by content, one line reports what was read, and a damaged file is reported as damaged."""

import argparse
import bz2
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from eval.cases import BadCasesError, Case
from eval.questions.files import read_cases
from eval.questions.reading import add_question_arguments, questions_of, read_questions

OWN = '{"id": "a", "question": "Q?", "answer": "A", "mood": 1}\n{"id": "b", "question": "Q?", "answer": null}\n'
MANY = "".join(json.dumps({"id": str(n), "question": f"Q{n * 7919}?"}) + "\n" for n in range(3000)).encode()


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "questions"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_our_own_questions_are_read_as_strictly_as_ever(tmp_path: Path) -> None:
    path = written(tmp_path, OWN)

    assert read_questions(path) == read_cases(path)
    with pytest.raises(BadCasesError, match=r"Line 3 of .*`answer`: Input should be a valid string"):
        read_questions(written(tmp_path, OWN + '{"id": "c", "question": "Q?", "answer": 5}\n'))


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress], ids=["plain", "gzip", "bzip2"])
def test_packed_files_are_told_by_their_first_bytes(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    assert len(read_questions(written(tmp_path, pack(MANY)))) == 3000


def test_one_line_says_what_was_read_and_what_is_not_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    read_questions(written(tmp_path, OWN + '{"id": "c", "question": "Q?", "colour": "red"}'))

    assert capsys.readouterr().err == (
        "questions: 3 questions, 1 with a reference answer, 1 without an answer in the corpus, "
        "1 whose answer is not given (Treeline's own questions). Columns not used: colour, mood.\n"
    )


def test_a_limit_leaves_the_rest_unread(tmp_path: Path) -> None:
    assert [case.id for case in read_questions(written(tmp_path, OWN + "damage"), limit=2)] == ["a", "b"]


def test_a_format_can_be_named(tmp_path: Path) -> None:
    row = '{"id": "a", "question": "Q?", "ground_truth_answer": "A"}'

    assert read_questions(written(tmp_path, row), format_name="treeline") == (Case(id="a", question="Q?"),)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no question"),
        (b"\n  \n", "holds no question"),
        (b"\xef\xbb\xbf", "holds no question"),
        (OWN.encode() + b'{"id": "c", "quest', "Line 3 of .*, the last, is torn"),
        (b'{"id": "c", "quest\n' + OWN.encode(), "Line 1 of .* is not a JSON object"),
        (OWN.encode() + b"5\n", "Line 3 of .* is not a JSON object. Write one JSON object a line"),
        (b"[\n" + OWN.encode() + b"]", r"begins a JSON list. Write one object a line"),
        (OWN.encode() * 2, "Line 3 of .* repeats the id 'a' of line 1"),
        (OWN.encode() + '{"id": "é"}'.encode("latin-1"), r"Line 3 of .* is not UTF-8 \(byte 9\)"),
        (OWN.encode("utf-16"), "UTF-16"),
        (b"PK\x03\x04\x14\x00\x00\x00", "is not text"),
        (b'{"prompt": "x", "completion": "y"}', "no known format; their columns are: prompt, completion. .*--format"),
        (gzip.compress(MANY, mtime=0)[:-500], "cannot be read: .*Copy or download the file again"),
        (bz2.compress(MANY)[:-500], "cannot be read: .*Copy or download the file again"),
        (
            gzip.compress(MANY, mtime=0)[:2000] + b"xxxx" + gzip.compress(MANY, mtime=0)[2004:],
            "cannot be read: .*again",
        ),
        (bz2.compress(MANY)[:2000] + b"xxxx" + bz2.compress(MANY)[2004:], "cannot be read: .*again"),
    ],
    ids=[
        "empty",
        "blank lines",
        "only a byte order mark",
        "torn last line",
        "torn line within",
        "a number",
        "a JSON list",
        "id twice",
        "Latin-1",
        "UTF-16",
        "zip",
        "another format",
        "cut gzip",
        "cut bzip2",
        "damaged gzip",
        "damaged bzip2",
    ],
)
def test_what_cannot_be_read_says_why_and_what_to_do(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(BadCasesError, match=message):
        read_questions(written(tmp_path, content))


def test_a_byte_order_mark_is_no_part_of_the_first_row(tmp_path: Path) -> None:
    path = written(tmp_path, b"\xef\xbb\xbf" + OWN.encode())

    assert [case.id for case in read_questions(path)] == ["a", "b"]
    assert [case.id for case in read_cases(path)] == ["a", "b"]


def test_a_file_that_the_system_refuses_is_told_in_its_words(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(BadCasesError, match=r"cannot be read: Not a directory. Name a file that can be read"):
        read_questions(tmp_path / "file" / "questions")


def test_the_arguments_name_the_questions(tmp_path: Path) -> None:
    parser = argparse.ArgumentParser()
    add_question_arguments(parser)
    path = written(tmp_path, OWN)

    assert [case.id for case in questions_of(parser.parse_args([str(path), "--limit", "1"]))] == ["a"]
    with pytest.raises(BadCasesError, match="has no splits"):
        questions_of(parser.parse_args([str(path), "--split", "dev"]))
    with pytest.raises(BadCasesError, match="It was read as questions of CRAG"):
        questions_of(parser.parse_args([str(path), "--format", "crag"]))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadCasesError, match="There is no file"):
        read_questions(tmp_path / "none.jsonl")
