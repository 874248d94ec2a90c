"""Support of sentences by their quotes, by a judge whose judgements are known."""

from pathlib import Path

import pytest

from eval.cases import Case
from eval.cells import Cell
from eval.rows import Row
from eval.scoring.judge_client import Judge
from eval.scoring.judged.families import OWN
from settings import JudgeSettings
from tests.fakes.eval_rows import answered, case, declined, quote
from tests.servers.scripted_judge import input_of
from tests.servers.scripted_llm import ScriptedLLM

CASE = case(answer="Ada.")
QUOTES = (
    quote(1, "In 1802 Ada built the mill."),
    quote(2, "It stands in Kent, by the sea."),
    quote(3, "Tea is served."),
)


def cells_of(server: ScriptedLLM, tmp_path: Path, row: Row, of: Case = CASE) -> dict[str, Cell]:
    judge = Judge(JudgeSettings(base_url=server.base_url, model="m", cache_dir=tmp_path / "cache"))
    ((_, cells),) = OWN["support"].scorer(judge).score([(of, row)])
    return cells


def test_each_sentence_is_judged_by_each_quote_that_it_cites(server: ScriptedLLM, tmp_path: Path) -> None:
    answer = "# The mill\n\nAda built the mill [1][3]. It stands alone [2]. Nobody knows why."

    cells = cells_of(server, tmp_path, answered(answer, citations=QUOTES))

    precision, recall = (1 + 0 + 0.5) / 3, (1 + 0.5 + 0) / 3
    assert {name: cell.score for name, cell in cells.items()} == pytest.approx(
        {
            "support_precision": precision,
            "support_recall": recall,
            "support_f1": 2 * precision * recall / (precision + recall),
        }
    )
    # The first sentence stands in its quote word for word.
    assert [[item["quote"] for item in input_of(request)["items"]] for request in server.requests] == [
        [QUOTES[2].quote, QUOTES[1].quote]
    ]


def test_a_mark_without_a_quote_supports_nothing(server: ScriptedLLM, tmp_path: Path) -> None:
    cells = cells_of(server, tmp_path, answered("Ada built the mill [9].", citations=QUOTES))

    assert {cell.score for cell in cells.values()} == {0}
    assert not server.requests


def test_an_answer_without_marks_has_no_precision(server: ScriptedLLM, tmp_path: Path) -> None:
    cells = cells_of(server, tmp_path, answered("Ada built the mill.", fingerprint="f"))

    assert cells["support_recall"].score == 0
    assert {cells[name].not_applicable for name in ("support_precision", "support_f1")} == {
        "the answer has no citations"
    }


def test_what_cannot_be_judged_says_why(server: ScriptedLLM, tmp_path: Path) -> None:
    def why(row: Row, of: Case = CASE) -> set[str | None]:
        return {cell.not_applicable or cell.failed for cell in cells_of(server, tmp_path, row, of).values()}

    assert why(declined()) == {"the service declined"}
    assert why(answered("It. [1]")) == {"the service reports no citations"}
    assert why(answered("It. [1]", citations=QUOTES), case(answer=None)) == {"the corpus does not answer the question"}
    assert why(answered("x" * 30_000, citations=QUOTES)) != {None}
