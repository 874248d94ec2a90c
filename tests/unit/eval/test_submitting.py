"""`submit` asks, writes a file that can be handed in, and says why it did not; `--validate` judges any file."""

import json
from pathlib import Path

import pytest

from eval.__main__ import main
from tests.servers.evaluated_service import Asked, EvaluatedService, Reply, a_reply

IDS = [f"V_{number}" for number in range(10)]


@pytest.fixture
def validation(tmp_path: Path) -> Path:
    path = tmp_path / "t2t_val.jsonl"
    path.write_text("".join(json.dumps({"query": f"q {id_}", "iid": id_, "reference": "r"}) + "\n" for id_ in IDS))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "submission"


def submit(validation: Path, service: EvaluatedService, folder: Path, *more: str) -> int:
    return main(["submit", str(validation), "--url", service.url, "--out", str(folder), "--attempts", "1", *more])


def results(folder: Path) -> dict[str, str]:
    lines = (folder / "result.jsonl").read_text(encoding="utf-8").splitlines()
    return {found["query_id"]: found["generated_response"] for found in map(json.loads, lines)}


@pytest.mark.promise("A04")
def test_every_question_is_answered_in_a_file_that_can_be_handed_in(
    validation: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with EvaluatedService(lambda asked, _: a_reply(asked, synthesizer="a model", citations=[])) as service:
        code = submit(validation, service, folder)

    assert code == 0
    assert results(folder) == {id_: f"Answer to q {id_}" for id_ in IDS}
    said = capsys.readouterr().out
    assert "result.jsonl: 10 of 10 questions are answered." in said
    assert "Answers of 15 to 15 characters, median 15." in said
    assert "warning" not in said
    assert main(["submit", str(validation), "--validate", str(folder / "result.jsonl")]) == 0


def test_what_failed_is_told_and_asked_again_and_nothing_else_is(
    validation: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def script(asked: Asked, before: int) -> Reply:
        return Reply({}, 503) if asked["iid"] == "V_3" and not before else a_reply(asked)

    with EvaluatedService(script) as service:
        assert submit(validation, service, folder) == 1
        assert not (folder / "result.jsonl").exists()
        said = capsys.readouterr().out
        assert "result.jsonl is not written.\n1 of 10 questions have no answer: V_3.\n  V_3: " in said
        assert "status 503" in said

        assert submit(validation, service, folder) == 0

    assert service.asked[10:] == ["V_3"]
    assert list(results(folder)) == IDS


def test_an_empty_answer_makes_no_file_unless_missing_ones_are_allowed(
    validation: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def script(asked: Asked, _: int) -> Reply:
        return a_reply(asked, " \n" if asked["iid"] == "V_0" else None)

    with EvaluatedService(script) as service:
        assert submit(validation, service, folder) == 1
        assert "  V_0: the reply holds no text" in capsys.readouterr().out

        assert submit(validation, service, folder, "--allow-missing") == 0

    assert list(results(folder)) == IDS[1:]
    assert "1 of 10 questions have no answer: V_0." in capsys.readouterr().out


def test_quotes_and_answers_that_say_nothing_is_known_are_told_before_handing_in(
    validation: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def script(asked: Asked, _: int) -> Reply:
        if asked["iid"] == "V_1":
            return a_reply(asked, "I don't know.", answered=False)
        return a_reply(asked, synthesizer="extractive" if asked["iid"] == "V_2" else "a model")

    with EvaluatedService(script) as service:
        assert submit(validation, service, folder) == 0

    said = capsys.readouterr().out
    assert "1 of them say that the answer is not known, e.g. V_1." in said
    assert "warning: 1 answers are quotes that no language model wrote, e.g. V_2" in said


def test_a_file_of_results_that_somebody_else_left_there_is_not_replaced(
    validation: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder.mkdir()
    (folder / "result.jsonl").write_text("precious")

    with EvaluatedService(lambda asked, _: a_reply(asked)) as service:
        assert submit(validation, service, folder) == 1

    assert (folder / "result.jsonl").read_text() == "precious"
    assert service.asked == []
    assert "holds no run, but other things (result.jsonl)" in capsys.readouterr().err


def test_validate_lists_every_line_that_is_wrong(
    validation: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.jsonl"
    good = '{"query_id": "V_1", "generated_response": "x"}\n'
    path.write_text(good + good + '{"query_id": "V_2", "generated_response": " "}\nnonsense\n')

    assert main(["submit", str(validation), "--validate", str(path)]) == 1

    assert capsys.readouterr().out.splitlines() == [
        f"{path}: 1 of 10 questions are answered.",
        "Line 2 answers 'V_1' a second time, after line 1.",
        "Line 3 answers 'V_2' with nothing.",
        "Line 4 is not a result (Invalid JSON: expected ident at line 1 column 2).",
        "9 of 10 questions have no answer: V_0, V_2, V_3, V_4, V_5 and 4 more.",
        "Not valid.",
    ]
