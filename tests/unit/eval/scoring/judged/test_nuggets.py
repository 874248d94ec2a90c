"""Nuggets by a judge whose judgements are known: exact recalls, and what bad replies leave of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from eval.cases import Case
from eval.cells import Cell
from eval.rows import Row
from eval.scoring.catalogue import names_of
from eval.scoring.judge_client import Judge
from eval.scoring.judged.families import OWN
from settings import JudgeSettings
from tests.fakes.eval_rows import answered, case, declined, unreplied
from tests.servers.scripted_judge import input_of, judgement, schema_of
from tests.servers.scripted_llm import Request, Script, ScriptedLLM

NAMES = list(names_of("nuggets_judged"))
GIVEN = [
    {"text": "Ada built the mill", "vital": True},
    {"text": "It stands in Kent", "vital": True},
    {"text": "It has sails", "vital": False},
    {"text": "Nobody lives there", "vital": False},
]
ANSWER = "Ada built the mill [1]. It stands by the sea. It has sails."


def judge_of(server: ScriptedLLM, tmp_path: Path) -> Judge:
    settings = JudgeSettings(base_url=server.base_url, model="m", cache_dir=tmp_path / "cache")
    return Judge(settings)


def cells_of(judge: Judge, *pairs: tuple[Case, Row], repeat: int = 0) -> dict[str, dict[str, Cell]]:
    return {id_: cells for id_, cells in OWN["nuggets_judged"].scorer(judge).score(pairs, repeat)}


def scores(cells: dict[str, Cell]) -> dict[str, float | None]:
    return {name: cell.score for name, cell in cells.items()}


def test_given_nuggets_are_used_as_they_are(server: ScriptedLLM, tmp_path: Path) -> None:
    cells = cells_of(judge_of(server, tmp_path), (case(answer="Ada.", nuggets=GIVEN), answered(ANSWER)))["q"]

    assert scores(cells) == pytest.approx(
        {
            "judged_vital_recall": 1.5 / 2,
            "judged_nugget_recall": 2.5 / 4,
            "judged_weighted_recall": (1.5 + 0.5) / 3,
            "judged_vital_recall_strict": 1 / 2,
            "judged_nugget_recall_strict": 2 / 4,
            "judged_weighted_recall_strict": (1 + 0.5) / 3,
        }
    )
    assert [input_of(request)["items"] for request in server.requests] == [[one["text"] for one in GIVEN]]
    assert "[1]" not in input_of(server.requests[0])["answer"]


def test_nuggets_are_made_of_what_the_case_knows_thirty_at_most_and_the_best_twenty_are_kept(
    server: ScriptedLLM, tmp_path: Path
) -> None:
    okay = [f"Perhaps number {n} is so" for n in range(25)]
    vital = [f"Number {n} is so" for n in range(9)]
    known = case(answer=". ".join(okay), reference_contexts=[*vital, vital[0], "Number 8 is so. Number 9 is so"])

    cells = cells_of(judge_of(server, tmp_path), (known, answered(f"{vital[0]}. {okay[0]}.")))["q"]

    asked = [(schema_of(request), len(input_of(request).get("items", ()))) for request in server.requests]
    assert asked == [("texts", 0), ("texts", 0), *[("labels", 10)] * 5]
    # Of the thirty first ones five are vital; fifteen others fill the twenty up.
    assert scores(cells) == pytest.approx(
        {
            "judged_vital_recall": (1 + 4 * 0) / 5,
            "judged_nugget_recall": (1 + 1 + 14 * 0.5) / 20,
            "judged_weighted_recall": (1 + 0.5 + 14 * 0.25) / 12.5,
            "judged_vital_recall_strict": 1 / 5,
            "judged_nugget_recall_strict": 2 / 20,
            "judged_weighted_recall_strict": 1.5 / 12.5,
        }
    )


def test_nuggets_are_made_once_for_all_runs_and_repetitions(server: ScriptedLLM, tmp_path: Path) -> None:
    known, judge = case(answer="Ada built the mill"), judge_of(server, tmp_path)
    cells_of(judge, (known, answered(ANSWER)))
    cells_of(judge, (known, answered("Nobody knows.")))
    cells_of(judge, (known, answered(ANSWER)), repeat=1)

    assert [schema_of(request) for request in server.requests].count("texts") == 1
    assert len(server.requests) == 2 + 3


def test_what_needs_no_judge_asks_none(server: ScriptedLLM, tmp_path: Path) -> None:
    with_nuggets = {"answer": "Ada.", "nuggets": GIVEN}

    cells = cells_of(
        judge_of(server, tmp_path),
        (case("a", **with_nuggets), declined("a")),
        (case("b", **with_nuggets), unreplied("b")),
        (case("c"), answered(ANSWER, "c")),
        (case("d", answer=None), declined("d")),
        (case("e"), unreplied("e")),
    )

    assert set(scores(cells["a"]).values()) == {0.0}
    assert {cell.failed for cell in cells["b"].values()} == {"no reply: the service took more than 5 s"}
    for id_ in "ce":  # a metric that a case does not allow cannot fail
        assert {cell.not_applicable for cell in cells[id_].values()} == {
            "the case has neither nuggets nor a reference to make them from"
        }
    assert {cell.not_applicable for cell in cells["d"].values()} == {"the corpus does not answer the question"}
    assert not server.requests


def test_without_a_vital_nugget_there_is_no_vital_recall(server: ScriptedLLM, tmp_path: Path) -> None:
    cells = cells_of(judge_of(server, tmp_path), (case(nuggets=GIVEN[2:]), answered(ANSWER)))["q"]

    assert [name for name, cell in cells.items() if cell.not_applicable == "no nugget is vital"] == [
        "judged_vital_recall",
        "judged_vital_recall_strict",
    ]
    assert cells["judged_nugget_recall"].score == 0.5


@pytest.mark.parametrize(
    "reply",
    [
        {"labels": ["full"]},
        {"labels": ["full", "full", "full", "surely"]},
        {"labels": [1, 1, 1, 1]},
        {"verdicts": []},
        "Well, yes.",
    ],
    ids=["too few", "another word", "numbers", "another shape", "prose"],
)
def test_a_reply_that_is_no_judgement_fails_the_row_and_is_asked_once(reply: Any, tmp_path: Path) -> None:
    with ScriptedLLM(Script(text=reply if isinstance(reply, str) else json.dumps(reply))) as server:
        judge = judge_of(server, tmp_path)
        cells = cells_of(judge, (case(nuggets=GIVEN), answered(ANSWER)))["q"]

    assert all((cell.failed or "").startswith("The judge") for cell in cells.values())
    assert (list(cells), len(server.requests)) == (NAMES, 1)


@pytest.mark.parametrize("reply", ['{"texts": []}', '{"texts": [" "]}', '{"texts": "one"}'])
def test_a_reference_without_a_fact_is_no_perfect_score(reply: str, tmp_path: Path) -> None:
    def without_facts(request: Request) -> str:
        return reply if schema_of(request) == "texts" else judgement(request)

    with ScriptedLLM(Script(text=without_facts)) as server:
        cells = cells_of(judge_of(server, tmp_path), (case(answer="Ada."), answered(ANSWER)))["q"]

    assert all(cell.failed for cell in cells.values())
