"""Pairs of runs of which every score is known."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.cases import Case
from eval.cells import Cell, failed, scored
from eval.comparing.pairing import Joined, join, read_run
from eval.rows import Row
from eval.run_folder import RunFolder
from tests.fakes.runs import case, write_run

FAMILIES = {
    "doc@1": "retrieval",
    "declined": "abstention",
    "abstention_recall": "abstention",
    "seconds": "speed",
    "answer_chars": "cost",
}
Scores = Mapping[str, Sequence[float | None]]


def questions(n: int, **known: Any) -> list[Case]:
    return [case(f"q{number:02}", f"What is {number}?", f"It is {number}.", **known) for number in range(n)]


def run(path: Path, cases: Sequence[Case], scores: Scores, **header: Any) -> RunFolder:
    """Write a run whose metrics have these scores, one a case; None is a failed one."""
    rows = [Row(id=each.id, outcome="answered", answer=f"Said by {path.name} of {each.id}.") for each in cases]
    cells: dict[str, dict[str, dict[str, Cell]]] = {}
    for name, values in scores.items():
        for each, value in zip(cases, values, strict=True):
            cell = failed("no reply: down") if value is None else scored(value)
            cells.setdefault(each.id, {}).setdefault(FAMILIES.get(name, "answer"), {})[name] = cell
    return write_run(path, cases, rows, cells, **header)


def pair(path: Path, before: Scores, after: Scores, cases: Sequence[Case] | None = None) -> Joined:
    """Join two runs of the same questions."""
    asked = cases or questions(len(next(iter(before.values()))))
    return join(read_run(run(path / "a", asked, before)), read_run(run(path / "b", asked, after)))
