"""Key points, ARGUE, relevance and report quality by a judge whose judgements are known: exact scores."""

import json
from pathlib import Path

import pytest

from eval.cases import Case
from eval.cells import Cell
from eval.rows import Row
from eval.scoring.judge_client import Judge
from eval.scoring.judged.families import OWN, Family
from settings import JudgeSettings
from tests.fakes.eval_rows import answered, case, declined, quote, seen
from tests.servers.scripted_judge import choices_of, input_of
from tests.servers.scripted_llm import Request, Script, ScriptedLLM

POINTS = [
    {"text": "The mill is old", "vital": True},
    {"text": "The mill is blue", "vital": False},
    {"text": "Tea is served", "vital": False},
    {"text": "Ada owns it", "vital": True},
]
QUOTES = (quote(1, "The mill is old and Ada owns it."), quote(2, "Tea is served."))


def cells_of(server: ScriptedLLM, tmp_path: Path, family: Family, of: Case, row: Row) -> dict[str, Cell]:
    judge = Judge(JudgeSettings(base_url=server.base_url, model="m", cache_dir=tmp_path / "cache"))
    return {name: cell for _, cells in family.scorer(judge).score([(of, row)]) for name, cell in cells.items()}


def scores(cells: dict[str, Cell]) -> dict[str, float | None]:
    return {name: cell.score for name, cell in cells.items()}


def reasons(cells: dict[str, Cell]) -> set[str | None]:
    return {cell.not_applicable or cell.failed for cell in cells.values()}


def test_key_points_are_supported_omitted_or_contradicted(server: ScriptedLLM, tmp_path: Path) -> None:
    row = answered("The mill is old. The mill is not blue. Ada owns it [1].")

    cells = cells_of(server, tmp_path, OWN["key_points"], case(nuggets=POINTS), row)

    assert scores(cells) == {"key_point_recall": 2 / 4, "key_points_omitted": 1 / 4, "key_points_contradicted": 1 / 4}
    assert [input_of(request)["items"] for request in server.requests] == [[point["text"] for point in POINTS]]


def test_key_points_are_made_of_the_reference_once_for_all_families(server: ScriptedLLM, tmp_path: Path) -> None:
    known, row = case(answer="The mill is old. Ada owns it."), answered("The mill is old.")

    cells = cells_of(server, tmp_path, OWN["key_points"], known, row)
    before = len(server.requests)
    cells_of(server, tmp_path, OWN["nuggets_judged"], known, row)

    assert scores(cells) == {"key_point_recall": 1 / 2, "key_points_omitted": 1 / 2, "key_points_contradicted": 0}
    assert (before, len(server.requests)) == (3, 4)


def test_a_declined_answer_omits_every_key_point(server: ScriptedLLM, tmp_path: Path) -> None:
    cells = cells_of(server, tmp_path, OWN["key_points"], case(nuggets=POINTS), declined())

    assert scores(cells) == {"key_point_recall": 0, "key_points_omitted": 1, "key_points_contradicted": 0}
    assert not server.requests


def test_argue_counts_sentences_whose_every_citation_supports_them(server: ScriptedLLM, tmp_path: Path) -> None:
    cited = "The mill is old [1]. Ada owns it [1][2]. The mill is blue [1]. Tea is served [2]."
    answer = f"Tea is served. So all is well. {cited}"

    cells = cells_of(server, tmp_path, OWN["argue"], case(nuggets=POINTS), answered(answer, citations=QUOTES))

    # Of six sentences one needs no citation and has none; the first and the last are right.
    precision, recall = 2 / 5, 2 / 4
    assert scores(cells) == pytest.approx(
        {
            "argue_sentence_precision": precision,
            "argue_nugget_recall": recall,
            "argue_f1": 2 * precision * recall / (precision + recall),
        }
    )
    said = input_of(server.requests[-1])["answer"]
    assert "Tea is served" in said
    assert "Ada owns it" not in said, "nuggets are looked for in the right sentences alone"


def test_argue_asks_nothing_again_of_what_support_has_judged(server: ScriptedLLM, tmp_path: Path) -> None:
    known, row = case(nuggets=POINTS), answered("The mill is blue [1].", citations=QUOTES)
    cells_of(server, tmp_path, OWN["support"], known, row)

    cells = cells_of(server, tmp_path, OWN["argue"], known, row)

    assert scores(cells) == {"argue_sentence_precision": 0, "argue_nugget_recall": 0, "argue_f1": 0}
    assert len(server.requests) == 1


def test_argue_without_nuggets_has_precision_alone(server: ScriptedLLM, tmp_path: Path) -> None:
    cells = cells_of(server, tmp_path, OWN["argue"], case(), answered("The mill is old [1].", citations=QUOTES))

    assert cells["argue_sentence_precision"].score == 1
    assert {cells[name].score for name in ("argue_nugget_recall", "argue_f1")} == {None}


def test_argue_of_sentences_that_need_no_citation(server: ScriptedLLM, tmp_path: Path) -> None:
    row = answered("So all is well.", fingerprint="f")

    cells = cells_of(server, tmp_path, OWN["argue"], case(nuggets=POINTS), row)

    assert scores(cells) == {"argue_sentence_precision": None, "argue_nugget_recall": 0, "argue_f1": None}


@pytest.mark.parametrize("family", [OWN["support"], OWN["argue"]], ids=lambda family: family.name)
def test_what_is_too_long_is_not_cut_into_sentences(family: Family, server: ScriptedLLM, tmp_path: Path) -> None:
    cells = cells_of(server, tmp_path, family, case(nuggets=POINTS), answered("x" * 30_000, citations=QUOTES))

    assert all(cell.failed for cell in cells.values())
    assert not server.requests


def test_passages_are_graded_and_their_order_is_scored_without_a_reference(server: ScriptedLLM, tmp_path: Path) -> None:
    grades = [1, 3, 0, 2, 0, 0, 0, 0, 0, 0, 0, 2]
    passages = tuple(seen(f"{grade} and text {place}") for place, grade in enumerate(grades))

    cells = cells_of(server, tmp_path, OWN["relevance"], case(), answered("It is.", passages=passages))

    gain, best = 1 + 7 / 1.5849625007 + 3 / 2.3219280949, 7 + 3 / 1.5849625007 + 3 / 2 + 1 / 2.3219280949
    assert scores(cells) == pytest.approx(
        {
            "judged_p@1": 0,
            "judged_p@5": 2 / 5,
            "judged_p@10": 2 / 10,
            "judged_ap": (1 / 2 + 2 / 4 + 3 / 12) / 3,
            "judged_mrr": 1 / 2,
            "judged_ndcg@10": gain / best,
        }
    )
    assert [len(input_of(request)["items"]) for request in server.requests] == [10, 2]


def test_passages_of_a_declined_row_are_graded_and_may_all_be_useless(server: ScriptedLLM, tmp_path: Path) -> None:
    cells = cells_of(server, tmp_path, OWN["relevance"], case(), declined(passages=(seen("1"), seen("0"))))

    assert set(scores(cells).values()) == {0, 1}
    assert [name for name, cell in cells.items() if cell.score] == ["judged_ndcg@10"]


def test_a_report_is_rated_by_one_criterion_at_a_time(server: ScriptedLLM, tmp_path: Path) -> None:
    row = answered("clarity 10, depth 0, balance 7, breadth 4, insight 9.")

    cells = cells_of(server, tmp_path, OWN["report_quality"], case(), row)

    assert scores(cells) == {
        "report_clarity": 10,
        "report_depth": 0,
        "report_balance": 7,
        "report_breadth": 4,
        "report_insight": 9,
        "report_quality": 60,
    }
    assert [input_of(request)["items"] for request in server.requests] == [
        ["clarity"], ["depth"], ["balance"], ["breadth"], ["insight"],
    ]  # fmt: skip
    assert set(scores(cells_of(server, tmp_path, OWN["report_quality"], case(), declined())).values()) == {0}


@pytest.mark.parametrize("name", OWN)
def test_a_reply_that_is_no_judgement_fails_the_row(name: str, tmp_path: Path) -> None:
    def strange(request: Request) -> str:
        return json.dumps({"labels": ["surely"] * len(input_of(request)["items"])}) if choices_of(request) else ""

    row = answered("The mill is blue [1].", citations=QUOTES, passages=(seen("1"),))
    with ScriptedLLM(Script(text=strange)) as server:
        cells = cells_of(server, tmp_path, OWN[name], case(nuggets=POINTS), row)

    assert reasons(cells)
    assert all("surely" in (cell.failed or "") for cell in cells.values())


@pytest.mark.parametrize("name", OWN)
def test_no_more_is_asked_than_was_announced(name: str, server: ScriptedLLM, tmp_path: Path) -> None:
    known = case(answer="The mill is old. Ada owns it.")
    row = answered("The mill is blue [1]. It rains. So it is [2].", citations=QUOTES, passages=(seen("1"), seen("2")))

    cells_of(server, tmp_path, OWN[name], known, row)

    announced = sum(judged.questions_about(known, row) for judged in OWN[name].metrics)
    assert 0 < len(server.requests) <= announced
