"""Find the questions that changed most between two runs, for a person to look at.

Flow: `pairing.py` -> **here** -> `printing.py`. Pure.

How much a row changed is the mean over the families of metrics of the mean change within each, counted so that more is
better: otherwise the family with the most metrics would decide. Times do not count.
"""

import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from eval.cases import Case
from eval.cells import Cell
from eval.comparing.pairing import Joined
from eval.comparing.verdicts import TIE, metric_of
from eval.rows import Row


@dataclass(frozen=True, slots=True)
class Changed:
    """One question whose scores changed.

    Attributes:
        better_by: the mean change; below 0 it became worse.
        scores: metric -> score before and after, those that changed, the largest change first.
    """

    case: Case
    a: Row
    b: Row
    better_by: float
    scores: Mapping[str, tuple[float, float]]


def changed_rows(joined: Joined) -> list[Changed]:
    """Return every question of which a score changed, the worst loss first."""
    found = []
    for case in joined.cases:
        scores = _changed_scores(joined.a.cells[case.id], joined.b.cells[case.id])
        if scores:
            better_by = _mean_over_families(scores, joined.a.cells[case.id], joined.b.cells[case.id])
            found.append(Changed(case, joined.a.rows[case.id], joined.b.rows[case.id], better_by, scores))
    return sorted(found, key=lambda one: one.better_by)


def _changed_scores(a: Mapping[str, Cell], b: Mapping[str, Cell]) -> dict[str, tuple[float, float]]:
    pairs = {name: pair for name, pair in _pairs(a, b).items() if abs(pair[1] - pair[0]) > TIE}
    return dict(sorted(pairs.items(), key=lambda item: -abs(item[1][1] - item[1][0])))


def _pairs(a: Mapping[str, Cell], b: Mapping[str, Cell]) -> dict[str, tuple[float, float]]:
    both = {name: (a[name].score, cell.score) for name, cell in b.items() if name in a}
    return {
        name: (before, after)
        for name, (before, after) in both.items()
        if before is not None and after is not None and metric_of(name).family != "speed"
    }


def _mean_over_families(
    scores: Mapping[str, tuple[float, float]], a: Mapping[str, Cell], b: Mapping[str, Cell]
) -> float:
    families: dict[str, list[float]] = {}
    for name in _pairs(a, b):
        before, after = scores.get(name, (0.0, 0.0))
        sign = 1 if metric_of(name).better == "higher" else -1
        families.setdefault(metric_of(name).family, []).append(sign * (after - before))
    return statistics.fmean(map(statistics.fmean, families.values()))
