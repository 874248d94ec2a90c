"""Compare the passages that several systems retrieve for the same questions.

Flow: data sets -> `build.py` (ours and the stock recipe over the same texts) -> **here** -> table and JSON.

`compare` asks and scores; `table` is what people read. Both are pure but for the systems they are given.
"""

import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.cases import Case
from eval.metrics import Mean, Ranked, Scores, mean_scores, score_passages

STOCK = "stock"
OURS = "ours"
Retrieve = Callable[[str], Sequence[Ranked]]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Several systems on one data set.

    Attributes:
        name: the data set.
        means: system -> metric -> mean, the stock recipe first.
        scores: system -> case id -> metric -> score.
        median_ms: system -> time of one retrieval.
    """

    name: str
    means: dict[str, dict[str, Mean]]
    scores: dict[str, dict[str, Scores]]
    median_ms: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON-ready values."""
        return {
            "means": {
                system: {metric: {"value": mean.value, "n": mean.n} for metric, mean in means.items()}
                for system, means in self.means.items()
            },
            "median_ms": self.median_ms,
            "scores": self.scores,
        }


def compare(name: str, cases: Sequence[Case], systems: Mapping[str, Retrieve]) -> Comparison:
    """Ask every system every question, and score what it returns."""
    means, scores, median_ms = {}, {}, {}
    for system, retrieve in systems.items():
        results: dict[str, Sequence[Ranked]] = {}
        times_ms = []
        for case in cases:
            started = time.perf_counter()
            results[case.id] = retrieve(case.question)
            times_ms.append((time.perf_counter() - started) * 1000)
        scores[system] = _scored(cases, results)
        means[system] = mean_scores(cases, scores[system], lambda _case, scored: scored, nothing={})
        median_ms[system] = round(statistics.median(times_ms), 1)
    return Comparison(name, means, scores, median_ms)


def table(comparisons: Sequence[Comparison]) -> str:
    """Return one Markdown table of all sets: metric by metric, and means over the metrics that every system has.

    `diff` is ours less the stock recipe's, in questions: the difference of the means times n.
    """
    systems = list(comparisons[0].means)
    lines = [f"| set | metric | n | {' | '.join(systems)} | diff |", f"|---|---|{'---:|' * (len(systems) + 2)}"]
    shared: list[list[float]] = []
    for comparison in comparisons:
        of_set: list[list[float]] = []
        for metric in in_order(metric for means in comparison.means.values() for metric in means):
            cells = [comparison.means[system].get(metric) for system in systems]
            values = [cell.value if cell else None for cell in cells]
            n = max(cell.n for cell in cells if cell)
            lines.append(_row(comparison.name, metric, str(n), values, _difference(systems, values, n)))
            of_set += [[value for value in values if value is not None]] if None not in values else []
        lines.append(_mean_row(comparison.name, of_set))
        shared += of_set
    if len(comparisons) > 1:
        lines.append(_mean_row("all", shared))
    return "\n".join(lines)


def in_order(metrics: Iterable[str]) -> list[str]:
    """Return each name once, by family and then by its number."""
    return sorted(set(metrics), key=lambda metric: (metric.partition("@")[0], len(metric), metric))


def _scored(cases: Sequence[Case], results: Mapping[str, Sequence[Ranked]]) -> dict[str, Scores]:
    # A system that knows no pages is not measured by them, rather than given 0.
    paged = any(passage.pages for passages in results.values() for passage in passages)
    return {
        case.id: {
            metric: score
            for metric, score in score_passages(case, results[case.id]).items()
            if paged or not metric.startswith("page@")
        }
        for case in cases
    }


def _difference(systems: Sequence[str], values: Sequence[float | None], n: int) -> str:
    by_system = dict(zip(systems, values, strict=True))
    stock, ours = by_system.get(STOCK), by_system.get(OURS)
    return "" if stock is None or ours is None else f"{(ours - stock) * n:+.1f}"


def _mean_row(name: str, cells: Sequence[Sequence[float]]) -> str:
    values = [statistics.mean(column) for column in zip(*cells, strict=True)]
    return _row(f"**{name}**", "**mean**", f"{len(cells)} metrics" if len(cells) > 1 else "1 metric", values, "")


def _row(name: str, metric: str, n: str, values: Sequence[float | None], last: str) -> str:
    shown = ["–" if value is None else f"{value:.3f}" for value in values]
    return f"| {' | '.join([name, metric, n, *shown, last])} |"
