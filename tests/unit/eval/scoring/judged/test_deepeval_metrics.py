"""DeepEval in another process, by a judge whose verdicts are known."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from eval.cases import Case
from eval.cells import Cell
from eval.rows import Row, Seen
from eval.scoring.judge_client import Judge
from eval.scoring.judged.deepeval_metrics import deepeval_scorer
from settings import JudgeSettings
from tests.failing import failing
from tests.servers.scripted_judge import fixed_judgement
from tests.servers.scripted_llm import Request, Script, ScriptedLLM

HOME = Path(__file__).parents[5]
FAKE = HOME / "tests/fakes/deepeval_environment"
REAL = HOME / ".venv-deepeval/bin/python"
SCORES = {
    "deepeval_faithfulness": 3 / 4,
    "deepeval_answer_relevancy": 1 / 4,
    "deepeval_contextual_precision": 2 / 3,
    "deepeval_contextual_recall": 1 / 2,
}
CASE = Case(id="1", question="Who built the mill?", answer="Ada built it. It stands in Kent.")


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """Return an interpreter that finds the fake DeepEval."""
    script = tmp_path / "python"
    script.write_text(f'#!/bin/sh\nPYTHONPATH={FAKE} exec {sys.executable} "$@"\n')
    script.chmod(0o755)
    return script


@pytest.fixture
def server() -> Iterator[ScriptedLLM]:
    with ScriptedLLM(Script(text=fixed_judgement)) as running:
        yield running


def judge_of(server: ScriptedLLM, tmp_path: Path) -> Judge:
    settings = JudgeSettings(base_url=server.base_url, model="m", cache_dir=tmp_path / "cache")
    return Judge(settings)


def cells_of(judge: Judge, python: Path, *answers: str) -> dict[str, dict[str, Cell]]:
    passages = tuple(Seen(text=text) for text in ("Ada built the mill.", "Nothing.", "It stands in Kent."))
    rows = [Row(id=answer, outcome="answered", answer=answer, passages=passages) for answer in answers]
    pairs = [(CASE.model_copy(update={"id": row.id}), row) for row in rows]
    return {id_: cells for id_, cells in deepeval_scorer(judge, python).score(pairs)}


def test_scores_are_those_that_follow_from_the_verdicts(server: ScriptedLLM, python: Path, tmp_path: Path) -> None:
    judge = judge_of(server, tmp_path)

    cells = cells_of(judge, python, "a", "b", "c")

    assert {name: cell.score for name, cell in cells["b"].items()} == pytest.approx(SCORES)
    assert cells["a"] == cells["b"] == cells["c"]
    assert judge.tally.replies == len(server.requests) == 12
    remembering = judge_of(server, tmp_path)
    assert cells_of(remembering, python, "a", "b", "c") == cells
    assert (remembering.tally.remembered, len(server.requests)) == (12, 12)


@pytest.mark.slow
@pytest.mark.skipif(not REAL.exists(), reason="there is no environment .venv-deepeval: `make test-slow` makes it")
def test_the_real_deepeval_computes_the_same_but_ranks_precision(server: ScriptedLLM, tmp_path: Path) -> None:
    judge = judge_of(server, tmp_path)

    told: list[str] = []
    judge.tell = told.append

    cells = cells_of(judge, REAL, "a", "b")

    assert told == ["deepeval: 2 rows to judge, at most 14 questions to the judge"]

    assert {name: cell.score for name, cell in cells["a"].items()} == pytest.approx(
        SCORES | {"deepeval_contextual_precision": (1 + 2 / 3) / 2}
    )
    assert judge.tally.replies + judge.tally.remembered == 2 * 7


def test_one_bad_reply_or_crash_of_a_metric_is_one_cell(python: Path, tmp_path: Path) -> None:
    def sometimes(request: Request) -> str:
        prompt = request["messages"][0]["content"]
        if prompt.startswith("Faithfulness: a"):
            return '{"verdicts": []}'
        if prompt.startswith("ContextualRecall: a"):
            return '{"verdicts": [{"verdict": "perhaps"}]}'
        return "Well, yes." if prompt.startswith("AnswerRelevancy: a") else fixed_judgement(request)

    with ScriptedLLM(Script(text=sometimes)) as server:
        cells = cells_of(judge_of(server, tmp_path), python, "a", "connect")

    assert (cells["a"]["deepeval_faithfulness"].failed or "").startswith("The judge's reply judges nothing: ")
    assert (cells["a"]["deepeval_answer_relevancy"].failed or "").startswith("The judge's reply is not a JSON object: ")
    assert "(verdicts.0.verdict: 'perhaps' is not one of" in (cells["a"]["deepeval_contextual_recall"].failed or "")
    assert cells["a"]["deepeval_contextual_precision"].score == pytest.approx(2 / 3)
    assert {cell.failed for cell in cells["connect"].values()} == {
        "DeepEval cannot compute it: OSError: no connection is made from here."
    }


def test_a_process_that_dies_fails_the_cells_and_is_said(server: ScriptedLLM, python: Path, tmp_path: Path) -> None:
    cells = cells_of(judge_of(server, tmp_path), python, "die")

    assert {cell.failed for cell in cells["die"].values()} == {"DeepEval's process ended."}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("absent", "No such file or directory"),
        ("without", "it is not installed there"),
        ("no-python", "this is not a Python"),
    ],
)
def test_an_environment_without_it_is_told_before_anything_is_judged(
    name: str, why: str, server: ScriptedLLM, tmp_path: Path
) -> None:
    for script, line in {"without": f'exec {sys.executable} "$@"', "no-python": "exit 1"}.items():
        (tmp_path / script).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / script).chmod(0o755)

    with failing("deepeval_missing", match=rf"{why}.*pip install -r requirements-deepeval.txt"):
        deepeval_scorer(judge_of(server, tmp_path), tmp_path / name)


def test_a_deepeval_that_cannot_be_loaded_says_why(server: ScriptedLLM, tmp_path: Path) -> None:
    (tmp_path / "deepeval.py").write_text("import something_that_is_missing")
    (tmp_path / "python").write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec {sys.executable} "$@"\n')
    (tmp_path / "python").chmod(0o755)

    with failing("deepeval_missing", match="No module named 'something_that_is_missing'"):
        cells_of(judge_of(server, tmp_path), tmp_path / "python", "a")
