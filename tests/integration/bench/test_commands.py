"""`python -m bench` on a data set of two documents: real indexes, the real stock recipe, real answers."""

import json
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.speed import ingest
from tests.fakes.tables import plain_rows

pytestmark = pytest.mark.slow

TEXTS = {
    "rotor.txt": "Rotor\n\nThe wind turns the rotor of a turbine. The rotor drives a generator of 4 megawatts.",
    "cells.txt": "Cells\n\nPhotovoltaic cells turn sunlight into direct current without any moving parts.",
}
QUESTIONS = [
    {"id": "1", "question": "What drives the generator?", "answer": "The rotor", "relevant_docs": ["rotor.txt"]},
    {
        "id": "2",
        "question": "What do photovoltaic cells make?",
        "answer": "Direct current",
        "relevant_docs": ["cells.txt"],
    },
]


@pytest.fixture
def data(tmp_path: Path, model_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data set, with a separate folder for indexes and figures."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAG_BENCH__DIR", str(tmp_path / "bench"))
    monkeypatch.setenv("RAG_EMBED__CACHE_DIR", str(model_cache))
    corpus = tmp_path / "power" / "corpus"
    corpus.mkdir(parents=True)
    for name, text in TEXTS.items():
        (corpus / name).write_text(text)
    (tmp_path / "power" / "questions.jsonl").write_text("\n".join(map(json.dumps, QUESTIONS)))
    return tmp_path / "power"


def test_retrieval_prints_one_table_and_keeps_the_figures(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["retrieval", "--data", str(data), "--limit", "1"]) == 0

    rows = plain_rows(capsys.readouterr().out)
    figures = json.loads((data.parent / "bench" / "retrieval.json").read_text())
    assert rows[0] == "| set | metric | n | stock | ours | ours, leaves only | diff |"
    assert "| power | doc@1 | 1 | 1.000 | 1.000 | 1.000 | +0.0 |" in rows
    assert figures["sets"]["power"]["means"]["stock"]["answer@2000"] == {"value": 1.0, "n": 1}


def test_documents_divided_among_corpora_are_measured_beside_the_whole(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):  # the second run replaces what the first one left
        assert main(["retrieval", "--data", str(data), "--ours-only", "--merge", "--corpora", "2"]) == 0

        rows = plain_rows(capsys.readouterr().out)
        assert rows[0] == "| set | metric | n | ours | ours, 2 corpora | diff |"
        assert "| power | doc@1 | 2 | 1.000 | 1.000 |  |" in rows


@pytest.mark.timeout(600)
def test_ingestion_is_measured_from_start_to_exit(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The model is converted already, and a second start of everything would double the time of this test.
    monkeypatch.setattr(ingest, "warm_up", lambda *_: None)

    assert main(["ingest", "--data", str(data), "--documents", "2", "--repeats", "1"]) == 0

    rows = [row.strip("| ").split(" | ") for row in plain_rows(capsys.readouterr().out) if row.startswith("| power")]
    shown = {row[1]: row[2:] for row in rows}
    figures = json.loads((data.parent / "bench" / "ingest.json").read_text())["sets"]["power"]
    (stock,), ours = figures["stock"], figures["ours"]
    assert shown["documents"] == ["–", "2", "–"]
    assert shown["leaves"] == ["2", "2", "–"]
    assert shown["leaves embedded by that"] == ["–", "0", "–"]
    for run in (stock, ours["first"][0]):
        assert min(run["wall_s"], run["cpu_s"], run["index_mb"]) > 0
        assert run["peak_mb"] > 100
    assert min(ours["query_s"][0], ours["ready_s"][0]) > 0
    assert [path.name for path in (data.parent / "bench").iterdir()] == ["ingest.json"]


def test_natural_questions_are_asked_of_three_systems_and_the_answers_can_be_read(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    question = {
        "id": "n1",
        "corpus": "power",
        "form": "fact",
        "question": "What turns the rotor of a turbine?",
        "answer": "The wind",
        "nuggets": [{"text": "wind", "vital": True, "any": ["the wind turns"]}],
        "regions": [{"doc": "rotor.txt", "quote_start": "The wind", "quote_end": "4 megawatts."}],
    }
    elsewhere = question | {"id": "n2", "corpus": "absent"}
    questions = data.parent / "open_questions" / "questions.jsonl"
    questions.parent.mkdir()
    questions.write_text("\n".join(map(json.dumps, [question, elsewhere])))

    assert main(["helpful", "--data", str(data.parent)]) == 0

    shown = capsys.readouterr()
    rows = plain_rows(shown.out)
    assert rows[0] == "open_questions"
    assert rows[2] == "| measure | ours | ours, even | ours, odd | first leaf | stock |"
    assert "| helpful (n = 1) | 1.000 | 1.000 | – | 1.000 | 1.000 |" in rows
    assert "office: skipped, it is not in" in shown.err
    assert "absent: 1 questions skipped" in shown.err
    kept = data.parent / "bench"
    figures = json.loads((kept / "helpful.json").read_text())["sets"]["open_questions"]
    assert figures["stock"]["means"]["vital recall"] == {"value": 1.0, "n": 1}
    for system in ("ours", "first_leaf", "stock"):
        (line,) = (kept / "helpful" / "open_questions" / f"{system}.jsonl").read_text().splitlines()
        answer = json.loads(line)
        assert answer["id"] == "n1"
        assert answer["verbatim"] == len(answer["citations"]) > 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["helpful", "--data", "absent"], "error[no_data_set]: There is no data set of natural questions in "),
        (["retrieval", "--data", "absent"], "error[no_data_set]: There is no data set in absent."),
        (
            ["retrieval", "--data", "power", "--sets", "solar"],
            "There is no data set 'solar' in power. There are: power.",
        ),
    ],
    ids=["no natural questions", "no data", "unknown set"],
)
def test_a_missing_data_set_is_one_line_and_exit_code_1(
    data: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    assert data.is_dir()
    assert main(arguments) == 1
    assert told in capsys.readouterr().err


def test_a_limit_below_1_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["retrieval", "--limit", "0"])

    assert "argument --limit" in capsys.readouterr().err


def test_questions_are_timed_as_the_corpus_grows_and_over_its_parts(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["growth", "--data", str(data), "--scale", "2", "4", "--parts", "2"]) == 0

    rows = plain_rows(capsys.readouterr().out)
    figures = json.loads((data.parent / "bench" / "growth.json").read_text())["sets"]["power"]
    leaves = [one["leaves"] for one in figures]
    assert leaves == [leaves[0] * times for times in (1, 2, 4, 4)]
    assert "| power | corpora | 1 | 1 | 1 | 2 |" in rows
    assert all(one["disk_mb"] > 0 and one["memory_mb"] > 0 and one["open_s"] > 0 for one in figures)
    assert all(0 < one["retrieve_cpu_ms"] < one["answer_cpu_ms"] for one in figures)
    assert [one["documents"] for one in figures] == [2, 4, 8, 8]
    assert [len(one["upkeep_ms"]) for one in figures] == [6, 6, 6, 0]
    assert all(took > 0 for one in figures for took in one["upkeep_ms"].values())
    assert all(len(one["answer_ms"]) == len(one["retrieve_ms"]) == 2 for one in figures)


def test_whole_answers_are_timed_for_one_client_and_for_several(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_SERVE__SLOTS", "3")

    assert main(["load", "--data", str(data), "--clients", "2", "--workers", "1", "--rounds", "1"]) == 0

    rows = plain_rows(capsys.readouterr().out)
    figures = json.loads((data.parent / "bench" / "load.json").read_text())["sets"]["power"]
    assert [row.split(" | ")[:3] for row in rows[1:3]] == [["| power", "1", "1"], ["| power", "1", "2"]]
    assert figures["loads"]["1"].keys() == {"1", "2"}
    for load in figures["loads"]["1"].values():
        assert 0 < load["first_ms"][0] <= load["complete_ms"][0]
        assert len(load["complete_ms"]) == figures["questions"] == 1
