"""How much a judge disagrees with itself: the noise floor below which a difference of two runs means nothing.

Flow: a run's repeated scores -> **here** -> `scoring/judge_option.py`, `comparing/`, `reporting/`. Pure.
"""

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from eval.run_folder import Scored


@dataclass(frozen=True, slots=True)
class Noise:
    """How far the scores of one metric scatter over repeats.

    Attributes:
        rows: that were scored at least twice.
        repeats: the most times that a row was scored.
        row_sd: standard deviation of one score of one row, pooled over the rows.
        mean_sd: standard deviation of the mean over these rows, each scored once; a run whose cells are averages of
            n repeats has 1 / sqrt(n) of it.
    """

    rows: int
    repeats: int
    row_sd: float
    mean_sd: float


def noise(scores: Iterable[Scored]) -> dict[str, Noise]:
    """Return the noise of each metric that has rows scored twice or more."""
    repeated: dict[str, dict[str, list[float]]] = {}
    for line in scores:
        for name, cell in line.cells.items():
            if cell.score is not None:
                repeated.setdefault(name, {}).setdefault(line.id, []).append(cell.score)
    usable = {name: [values for values in rows.values() if len(values) > 1] for name, rows in repeated.items()}
    return {name: _noise(rows) for name, rows in usable.items() if rows}


def _noise(rows: list[list[float]]) -> Noise:
    variance = math.fsum(statistics.variance(values) for values in rows) / len(rows)
    return Noise(len(rows), max(map(len, rows)), math.sqrt(variance), math.sqrt(variance / len(rows)))
