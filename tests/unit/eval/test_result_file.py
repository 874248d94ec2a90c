"""A file of results is written whole or not at all, and judged line by line as the organisers judge it."""

import json
from pathlib import Path

import pytest

from eval.__main__ import main
from eval.rows import Row
from eval.submitting import Verdict, judge, write
from tests.failing import failing

IDS = ["V_1", "V_2", "V_3", "V_4", "V_5"]
ANSWERS = {id_: f"Answer to {id_}.\u2028 «é»\n[1]" for id_ in IDS}
ROWS = {id_: Row(id=id_, outcome="answered", answer=answer) for id_, answer in ANSWERS.items()}


def line(query_id: object = "V_1", generated_response: object = "Wind.", **more: object) -> str:
    return json.dumps({"query_id": query_id, "generated_response": generated_response, **more}) + "\n"


def judged(content: str | bytes) -> Verdict:
    return judge(content.encode() if isinstance(content, str) else content, IDS)


def test_all_answers_are_written_in_the_order_of_the_questions_with_two_keys_each(tmp_path: Path) -> None:
    verdict, _ = write(tmp_path / "result.jsonl", dict(reversed(ROWS.items())), IDS, allow_missing=False)

    assert verdict.valid(allow_missing=False)
    lines = (tmp_path / "result.jsonl").read_text(encoding="utf-8").splitlines()  # cuts at U+2028 as well
    assert [json.loads(text) for text in lines] == [
        {"query_id": id_, "generated_response": ANSWERS[id_]} for id_ in IDS
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["result.jsonl"]


def test_a_file_that_is_not_whole_leaves_the_one_before_it_alone(tmp_path: Path) -> None:
    path = tmp_path / "result.jsonl"
    path.write_text("before")

    verdict, _ = write(path, {id_: ROWS[id_] for id_ in IDS[1:]}, IDS, allow_missing=False)

    assert (verdict.missing, verdict.valid(allow_missing=False)) == (("V_1",), False)
    assert path.read_text() == "before"
    assert [found.name for found in tmp_path.iterdir()] == ["result.jsonl"]


@pytest.mark.promise("A06")
@pytest.mark.parametrize(("count", "written"), [(4, True), (3, False)], ids=["80 %", "60 %"])
def test_missing_answers_are_allowed_down_to_eighty_percent(tmp_path: Path, count: int, written: bool) -> None:
    path = tmp_path / "result.jsonl"

    write(path, {id_: ROWS[id_] for id_ in IDS[:count]}, IDS, allow_missing=True)

    assert path.exists() == written


def test_a_folder_that_takes_no_file_is_told(tmp_path: Path) -> None:
    with failing("bad_submission", match="cannot be written: No such file or directory"):
        write(tmp_path / "none" / "result.jsonl", ROWS, IDS, allow_missing=False)


def test_other_keys_and_any_order_are_allowed() -> None:
    content = "".join(line(id_, citations=[], answered=True) for id_ in reversed(IDS))

    assert judged(content) == Verdict((), (), 5)


@pytest.mark.promise("A05", "A06")
@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        (line(generated_response=" \n"), "Line 2 answers 'V_1' with nothing."),
        (
            line(generated_response=None),
            "Line 2 is not a result (`generated_response`: ",
        ),
        (line("V_2"), "Line 2 answers 'V_2' a second time, after line 1."),
        (line("V_9"), "Line 2 answers 'V_9', which is not a question of the validation file."),
        (line("v_1"), "Line 2 answers 'v_1', which is not a question of the validation file."),
        (line(1), "Line 2 is not a result (`query_id`: Input should be a valid string)."),
        ("[]\n", "Line 2 is not a result (Input should be an object)."),
        ("\n", "Line 2 is blank."),
        (
            b'{"query_id": "V_1", "generated_response": "caf\xe9"}\n',
            "Line 2 is not a result (Invalid JSON: invalid unicode code point at ",
        ),
        (line()[:-9], "Line 2 is not a result (Invalid JSON: EOF while parsing a value at "),
    ],
    ids=[
        "empty answer",
        "null",
        "twice",
        "another's id",
        "letters changed",
        "number",
        "list",
        "blank",
        "Latin-1",
        "torn",
    ],
)
def test_each_line_that_is_wrong_is_named(bad: str | bytes, fault: str) -> None:
    verdict = judged(line("V_2").encode() + (bad.encode() if isinstance(bad, str) else bad))

    assert len(verdict.faults) == 1
    assert verdict.faults[0].startswith(fault)
    assert not verdict.valid(allow_missing=True)
    assert verdict.missing == ("V_1", "V_3", "V_4", "V_5")


def test_an_empty_file_and_none_at_all_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert judged("").faults == ("The file is empty.",)
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"id": "V_1", "question": "What is it?"}')
    assert main(["submit", str(questions), "--validate", str(tmp_path / "none.jsonl")]) == 1
    assert "cannot be read: No such file" in capsys.readouterr().err
