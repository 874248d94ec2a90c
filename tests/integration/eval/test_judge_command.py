"""`python -m eval score RUN --judge`, with RAGAS, the project's embedder and a judge whose judgements are known."""

from pathlib import Path

import pytest

from eval.__main__ import main
from eval.cases import Case
from eval.rows import Row, Seen
from eval.run_folder import Header, RunFolder
from tests.servers.scripted_judge import judgement
from tests.servers.scripted_llm import Request, Script, ScriptedLLM


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """Return a run of one good answer, one that is half right, and one that says nothing of the reference."""
    made = RunFolder(tmp_path / "run")
    answers = ["Ada built the mill. It stands in Kent", "Ada built the mill. It is blue", "Nobody did"]
    cases = [
        Case(id=str(n), question="Who built the mill?", answer="Ada built the mill. It stands in Kent")
        for n in range(len(answers))
    ]
    made.create(Header(started="", questions="q", questions_sha256="", target="in process"), tuple(cases))
    with made.writing():
        for case, answer in zip(cases, answers, strict=True):
            passages = (Seen(text="Ada built the mill. It stands in Kent", doc_id="mill.md"),)
            made.append_row(Row(id=case.id, outcome="answered", answer=answer, passages=passages))
    return made


def test_a_run_is_judged_and_what_the_judge_made_of_it_is_told(
    folder: RunFolder, model_cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def junk_for_one(request: Request) -> str:
        return "Hm." if "Nobody did" in str(request) else judgement(request)

    monkeypatch.chdir(folder.path)
    monkeypatch.setenv("RAG_EMBED__CACHE_DIR", str(model_cache))
    monkeypatch.setenv("RAG_JUDGE__MODEL", "rule")
    monkeypatch.setattr("eval.scoring.judge_client.RETRIES", 0)
    with ScriptedLLM(Script(text=junk_for_one)) as server:
        monkeypatch.setenv("RAG_JUDGE__BASE_URL", server.base_url)
        code = main(["score", str(folder.path), "--judge", "--repeats", "2"])

    told = capsys.readouterr().out
    assert code == 0
    assert mean_of(told, "faithfulness") == "0.750 2/3"  # all and half of their statements
    assert mean_of(told, "factual_correctness") == "0.750 2/3"
    assert mean_of(told, "context_recall") == "1.000 3/3"
    assert "faithfulness, answer_relevancy, answer_correctness, factual_correctness: 2 of 3 rows scored." in told
    assert "| faithfulness | 2 | 2 | 0.000 | 0.0000 |" in " ".join(told.split())
    assert mean_of(told, "judged_vital_recall") == "0.750 2/3"  # the second answer states one of two facts


def mean_of(table: str, metric: str) -> str:
    """Return mean and coverage of a metric, as they stand in the first table that has it."""
    line = next(line for line in table.splitlines() if f"| {metric} " in line)
    return " ".join(cell.strip() for cell in line.split("|")[3:5])
