"""Questions and runs in the formats of others, and runs of others as ours."""

import json
from pathlib import Path

import pytest

from eval.__main__ import main
from eval.cases import Case
from eval.cells import failed, not_applicable, scored
from eval.questions.reading import read_questions
from eval.rows import Quote, Row, Seen
from eval.run_folder import Header, RunFolder
from tests.fakes.runs import DAM, SALT, case, reply, write_run

QUESTION = {
    "id": "769",
    "question": "Which learning institution held a three-day event?",
    "answer": "The Institute",
    "relevance": {"81234": 2.0, "5412": 1.0},
}


def written(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    """Return the folder of a run of one question."""
    folder = RunFolder(tmp_path / "ours")
    folder.create(
        Header(started="", questions="q", questions_sha256="", target="in process"),
        (Case(id="769", question="Which?", relevance={"a.md": 1.0}),),
    )
    seen = tuple(Seen(text="x", doc_id=name) for name in ("b.md", "a.md", "b.md"))
    cited = (Quote(number=1, doc_id="b.md", quote="x"),)
    with folder.writing():
        folder.append_row(Row(id="769", outcome="answered", answer="So it is. [1]", passages=seen, citations=cited))
    return folder.path


def test_questions_become_topics_and_qrels_which_a_command_reads_together(tmp_path: Path) -> None:
    source = written(tmp_path / "q.jsonl", QUESTION)
    trec, again = tmp_path / "trec", tmp_path / "again.jsonl"

    main(["convert", str(source), "--to", "trec", "--out", str(trec)])
    main(["convert", str(trec / "queries.tsv"), "--qrels", str(trec / "qrels.txt"), "--out", str(again)])

    (case,) = read_questions(again)
    assert case == Case(id="769", question=str(QUESTION["question"]), relevance={"81234": 2.0, "5412": 1.0})


def test_a_run_becomes_a_run_file_of_its_documents_by_rank(ours: Path, tmp_path: Path) -> None:
    out = tmp_path / "run.txt"

    assert main(["convert", "--run", str(ours), "--to", "trec", "--out", str(out)]) == 0

    assert out.read_text() == "769 Q0 b.md 1 2 treeline\n769 Q0 a.md 2 1 treeline\n"


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """Return the folder of a run in which each outcome comes up."""
    cases = [
        case("said", "Which salt?", "Solar salt.", alternatives=("Salt.",)),
        case("none", "Who?", None),
        case("x", "Why?", "So."),
    ]
    rows = [
        reply("said", "It is solar salt [1]. It is a mixture [2][1]. It melts.", SALT, DAM, citations=(
            Quote(number=1, doc_id="salt.md", quote="x"), Quote(number=2, url="http://example.org/dam", quote="x"),
        )),
        Row(id="none", outcome="declined", answer="I don't know."),
        Row(id="x", outcome="failed", answer=None, reason="It is down."),
    ]  # fmt: skip
    cells = {
        "said": {"answer": {"contains": scored(0.5)}},
        "none": {"answer": {"contains": not_applicable("no answer")}},
        "x": {"answer": {"contains": failed("down")}},
    }
    return write_run(tmp_path / "whole", cases, rows, cells).path


def test_a_run_becomes_a_log_of_inspect(whole: Path, tmp_path: Path) -> None:
    assert main(["convert", "--run", str(whole), "--to", "inspect", "--out", str(tmp_path / "log.json")]) == 0

    log = json.loads((tmp_path / "log.json").read_text(encoding="utf-8"))
    said, none, failing = log["samples"]
    assert (log["version"], log["status"], log["eval"]["dataset"]["samples"]) == (2, "success", 3)
    assert (log["results"]["total_samples"], log["results"]["completed_samples"]) == (3, 2)
    assert log["results"]["scores"] == [
        {
            "name": "contains",
            "scorer": "contains",
            "scored_samples": 1,
            "unscored_samples": 2,
            "metrics": {"mean": {"name": "mean", "value": 0.5}},
        }
    ]
    assert (said["input"], said["target"], said["scores"]["contains"]["value"]) == (
        "Which salt?",
        ["Solar salt.", "Salt."],
        0.5,
    )
    assert said["output"]["choices"][0]["message"]["content"].startswith("It is solar salt [1].")
    assert (none["scores"], none["metadata"]["outcome"], none["error"]) == ({}, "declined", None)
    assert (failing["output"]["choices"], failing["error"]["message"]) == ([], "It is down.")


def test_a_run_becomes_answers_that_judges_of_trec_read(whole: Path, tmp_path: Path) -> None:
    assert main(["convert", "--run", str(whole), "--to", "autojudge", "--out", str(tmp_path / "run.jsonl")]) == 0

    said, none = map(json.loads, (tmp_path / "run.jsonl").read_text(encoding="utf-8").splitlines())
    about = said["metadata"]
    assert (about["run_id"], about["narrative_id"], about["narrative"]) == ("whole", "said", "Which salt?")
    assert said["references"] == ["salt.md", "http://example.org/dam"]
    assert said["answer"] == [
        {"text": "It is solar salt.", "citations": [0]},
        {"text": "It is a mixture.", "citations": [1, 0]},
        {"text": "It melts.", "citations": []},
    ]
    assert (none["references"], none["answer"]) == ([], [{"text": "I don't know.", "citations": []}])


def test_an_answer_too_long_to_be_cut_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [Row(id="long", outcome="answered", answer="word " * 5_000)]
    folder = write_run(tmp_path / "a", [case("long", "Why?", "So.")], rows, {})

    assert main(["convert", "--run", str(folder.path), "--to", "autojudge", "--out", str(tmp_path / "x")]) == 1
    assert "long" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_runs_of_others_are_scored_as_ours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    questions = written(tmp_path / "q.jsonl", QUESTION)
    (tmp_path / "run.txt").write_text("769 Q0 9 1 7.5 bm25\n769 Q0 5412 2 3.5 bm25\n")

    main(["convert", str(questions), "--run", str(tmp_path / "run.txt"), "--out", str(tmp_path / "ranking")])
    assert main(["score", str(tmp_path / "ranking")]) == 0

    told = capsys.readouterr().out
    asked = Header.of(questions, "in process")
    ranking = RunFolder(tmp_path / "ranking").cells()["769"]
    assert RunFolder(tmp_path / "ranking").header().questions_sha256 == asked.questions_sha256  # compares with ours
    assert ranking["mrr"].score == 0.5
    assert ranking["contains"].score is None  # a ranking answers nothing, which is not a wrong answer
    assert "ndcg@10" in told


@pytest.mark.parametrize(
    "arguments",
    [
        ["--out", "x"],
        ["q.jsonl", "--to", "inspect", "--out", "x"],
        ["--run", "missing", "--out", "x"],
        ["q.jsonl", "--documents", "d", "--out", "x"],
    ],
    ids=["nothing", "questions as a log", "a run without questions", "documents that are not there"],
)
def test_what_cannot_be_converted_is_refused(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "q.jsonl", {"id": "1", "question": "Which?"})

    assert main(["convert", *arguments]) == 1

    assert "ERROR" not in capsys.readouterr().out
    assert not (tmp_path / "x").exists()
