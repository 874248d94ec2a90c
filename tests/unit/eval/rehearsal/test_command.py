"""The rehearsal says what the ranking would see of a good service, of a stranger's, and of broken ones."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from eval.__main__ import main
from eval.cells import scored
from eval.run_folder import RunFolder
from eval.scoring.stage import EachRow, score_run
from tests.servers.contestant import (
    Contestant,
    Record,
    Sent,
    good_evaluate,
    good_records,
    good_run,
    record,
    stream_of,
)

IDS = [f"V_{number}" for number in range(7)]
ANSWER = "Heat pumps move heat [1]."


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "t2t_val.jsonl"
    path.write_text("".join(json.dumps({"query": f"What is {id_}?", "iid": id_}) + "\n" for id_ in IDS))
    return path


@pytest.fixture
def rehearse(questions: Path, tmp_path: Path) -> Callable[..., int]:
    def run(service: Contestant, *options: str) -> int:
        return main(["check-run", service.url, str(questions), "--out", str(tmp_path / "out"), *options])

    return run


def table_of(printed: str) -> dict[str, list[str]]:
    """Return the cells of each line of the table, by its first one."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\|.*\|$", printed, re.M)]
    return {name: cells for name, *cells in lines}


def asked_of(body: Record) -> bool:
    """Whether it is one of the file's questions, not one of check-run's."""
    return "V_" in str(body)


def running(records: list[Record], **more: object) -> Callable[[Record], Sent]:
    """Return a `/run` that streams these records to the file's questions, and is good to check-run's."""
    return lambda body: Sent(stream_of(records), **more) if asked_of(body) else good_run(body)  # type: ignore[arg-type]


def test_a_good_service_is_ready(
    rehearse: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Contestant() as service:
        assert rehearse(service) == 0

    printed = capsys.readouterr().out
    found = table_of(printed)
    assert found["questions asked"] == ["7 of 7", "7 of 7"]
    assert found["answered"] == ["7", "7"]
    assert found["empty answers"] == found["errors, no reply"] == found["replies that break the contract"] == ["0", "0"]
    assert found["steps of an answer"] == ["2", "–"]
    assert found["characters of a step"] == ["18 (14–21)", "–"]
    size = len(b": ping\n\n" + stream_of(good_records()))
    assert float(found["on the wire, largest, KiB"][0]) == pytest.approx(size / 1024, abs=0.1)
    assert "ROUGE-L" not in found, "the file has no references"
    assert "28 rules kept, 0 broken" in printed
    lines = (tmp_path / "out" / "result.jsonl").read_text().splitlines()
    assert [json.loads(line)["query_id"] for line in lines] == IDS
    assert RunFolder(tmp_path / "out" / "run").rows()["V_0"].answer == ANSWER


@pytest.mark.promise("A46")
def test_scores_stand_there_where_references_are_given(
    rehearse: Callable[..., int],
    questions: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [{"query": f"What is {id_}?", "iid": id_, "reference": "Heat."} for id_ in IDS]
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    scorers = (
        EachRow("answer", lambda *_: {"rouge_l": scored(0.25)}),
        EachRow("speed", lambda *_: pytest.fail("not of the ranking")),
    )
    monkeypatch.setattr("eval.rehearsal.command.offline_scorers", lambda _: scorers)

    with Contestant() as service:
        assert rehearse(service, "--limit", "3") == 0

    found = table_of(capsys.readouterr().out)
    assert found["questions asked"] == ["3 of 3", "3 of 3"]
    assert found["ROUGE-L"] == ["0.250", "0.250"]


class Judged:
    """Stands for a judge that finds every answer half right."""

    given_up = False

    def score(self, folder: RunFolder, _: object) -> None:
        half = EachRow("ragas", lambda *_: {"faithfulness": scored(0.5)})
        score_run(folder, [half], by="a judge")

    def describe(self, _: RunFolder) -> str:
        return "## The judge"


def test_a_judge_reads_what_evaluate_replies(
    rehearse: Callable[..., int], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_JUDGE__BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("RAG_JUDGE__MODEL", "a judge")
    monkeypatch.setattr("eval.rehearsal.command.judged_scorers", lambda *_: [])
    monkeypatch.setattr("eval.rehearsal.command.Judging", lambda *_, **__: Judged())
    with Contestant() as service:
        assert rehearse(service) == 0

    printed = capsys.readouterr().out
    assert table_of(printed)["judge: faithfulness"] == ["–", "0.500"]
    assert "## The judge" in printed


@pytest.mark.parametrize("set_", ["BASE_URL", "MODEL"])
def test_half_a_judge_is_refused_before_anything_is_asked(
    set_: str, rehearse: Callable[..., int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(f"RAG_JUDGE__{set_}", "http://127.0.0.1:9/v1")
    with Contestant(run=lambda _: 1 / 0) as service:  # type: ignore[arg-type,return-value]
        assert rehearse(service) == 1

    captured = capsys.readouterr()
    assert "RAG_JUDGE__" in captured.err
    assert not captured.out


def test_a_stranger_is_read_and_its_breaches_are_named(
    rehearse: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    def theirs(body: Record) -> Sent:
        records: list[Record] = [
            {"intermediate_steps": "Thinking", "final_report": None, "is_intermediate": True, "is_complete": False},
            {"intermediate_steps": "Thinking", "final_report": ANSWER, "is_intermediate": False, "is_complete": True},
        ]
        return Sent(stream_of(records), content_type="") if "question" in body else good_run(body)

    with Contestant(run=theirs) as service:
        assert rehearse(service) == 1

    printed = capsys.readouterr().out
    found = table_of(printed)
    assert found["answered"] == ["7", "7"]
    assert found["replies that break the contract"] == ["7", "0"]
    assert found["steps of an answer"][0] == "1"
    assert "FAIL  run/complete" in printed
    assert "FAIL  run/content-type" in printed


def test_empty_answers_are_counted_and_every_question_is_asked(
    rehearse: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def evaluate(body: Record) -> Sent:
        empty = {"query_id": body.get("iid"), "generated_response": " "}
        return (
            Sent(json.dumps(empty).encode(), content_type="application/json") if asked_of(body) else good_evaluate(body)
        )

    records = [record("**Searching**.", None, thinks=True), record("**Searching**.", " ", thinks=False, complete=True)]
    with Contestant(run=running(records), evaluate=evaluate) as service:
        assert rehearse(service) == 1

    printed = capsys.readouterr().out
    found = table_of(printed)
    assert found["questions asked"] == ["7 of 7", "7 of 7"]
    assert found["empty answers"] == ["7", "7"]
    assert found["errors, no reply"] == ["0", "0"]
    assert "14 answers empty" in printed
    assert "7 of 7 questions have no answer" in printed
    assert not (tmp_path / "out" / "result.jsonl").exists()


@pytest.mark.parametrize(
    ("run", "rule"),
    [
        (running(good_records()[:4]), "run/complete"),
        (running(good_records()[:4], declared=10**6), "run/status"),
    ],
    ids=["no last record", "broken off"],
)
def test_what_came_of_a_stream_without_an_end_is_read(
    run: Callable[[Record], Sent], rule: str, rehearse: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    with Contestant(run=run) as service:
        assert rehearse(service) == 1

    printed = capsys.readouterr().out
    assert table_of(printed)["answered"] == ["7", "7"]
    assert f"FAIL  {rule}" in printed


def test_steps_that_come_after_the_answer_began_are_counted(
    rehearse: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    more = "**Searching**.|||---|||**Found** 2 passages.|||---|||**Late**."
    records = [*good_records()[:4], {**good_records()[4], "intermediate_steps": more}]
    with Contestant(run=running(records)) as service:
        assert rehearse(service) == 0

    assert table_of(capsys.readouterr().out)["streams with steps after the answer"] == ["7", "0"]


def test_a_late_answer_is_not_ready(
    rehearse: Callable[..., int], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eval.rehearsal.recorder.LIMIT_S", 0)
    with Contestant() as service:
        assert rehearse(service) == 1

    assert "14 answers late" in capsys.readouterr().out


def test_errors_are_counted_by_what_was_said(rehearse: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    def run(body: Record) -> Sent:
        return Sent(b"{}", 429, "application/json") if "V_3" in str(body) else good_run(body)

    with Contestant(run=run) as service:
        assert rehearse(service) == 1

    printed = capsys.readouterr().out
    assert table_of(printed)["errors, no reply"] == ["1", "0"]
    assert "- /run, 1 of 7: The status is 429." in printed


def test_a_service_that_went_down_is_not_asked_to_the_end(
    rehearse: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    def evaluate(body: Record) -> Sent:
        return Sent(b"{}", 500, "application/json") if asked_of(body) else good_evaluate(body)

    with Contestant(evaluate=evaluate) as service:
        assert rehearse(service, "--concurrency", "1") == 1

    captured = capsys.readouterr()
    assert table_of(captured.out)["questions asked"] == ["7 of 7", "5 of 7"]
    assert "2 questions not asked" in captured.out


def test_replies_of_an_earlier_rehearsal_are_not_mixed_with_new_ones(
    rehearse: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    with Contestant() as service:
        assert rehearse(service) == 0
        assert rehearse(service) == 1

    assert "out holds something already" in capsys.readouterr().err
