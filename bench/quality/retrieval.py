"""Compare the passages that several systems retrieve for the same questions: `python -m bench retrieval`.

Flow: data sets -> `build.py` (ours and the stock recipe over the same texts) -> **here** -> table and JSON.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

from bench.arguments import add_limit, add_sets, choose_sets
from bench.build import OURS, STOCK, open_engines, open_stock
from bench.figures import keep
from bench.made_corpora import join_divided
from eval.argument_types import whole_number
from eval.cases import Case
from eval.cells import Mean
from eval.metrics import BUDGETS_CHARS, Ranked, Scores, mean_scores, score_passages
from eval.questions.files import read_cases
from eval.tables import aligned, figure
from query_engine.engine import Engine
from query_engine.inquiry import Inquiry
from settings import Settings

Retrieve = Callable[[str], Sequence[Ranked]]
NAMES = {True: OURS, False: f"{OURS}, leaves only"}


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
        means = {
            system: {metric: {"value": mean.value, "n": mean.n} for metric, mean in of_system.items()}
            for system, of_system in self.means.items()
        }
        return {"means": means, "median_ms": self.median_ms, "scores": self.scores}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `python -m bench retrieval`."""
    add_sets(parser)
    add_limit(parser)
    parser.add_argument(
        "--merge",
        action=argparse.BooleanOptionalAction,
        help="measure ours only with, or only without merging leaves into larger passages (default: both)",
    )
    parser.add_argument("--ours-only", action="store_true", help="leave the stock recipe out")
    parser.add_argument(
        "--corpora",
        type=whole_number,
        metavar="N",
        help="measure ours also over the documents divided into N corpora, asked as one",
    )


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Build both indexes if need be, ask every question, print one table."""
    merge = [True, False] if arguments.merge is None else [arguments.merge]
    comparisons = []
    for data_set in choose_sets(arguments):
        cases = read_cases(data_set.questions)[: arguments.limit]
        with open_engines(data_set, settings) as engines, ExitStack() as stack:
            asked = {"": engines.get()}
            if arguments.corpora:
                name = f", {arguments.corpora} corpora"
                asked[name] = join_divided(engines, settings, data_set.name, arguments.corpora)
            systems: dict[str, Retrieve] = {}
            if not arguments.ours_only:
                systems[STOCK] = stack.enter_context(closing(open_stock(data_set, asked[""], settings))).retrieve
            systems |= {
                NAMES[merged] + suffix: _ours(one, settings, merge=merged)
                for suffix, one in asked.items()
                for merged in merge
            }
            comparisons.append(compare(data_set.name, cases, systems))
    print(table(comparisons))
    keep("retrieval", {comparison.name: comparison.to_dict() for comparison in comparisons}, settings)
    return 0


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
        means[system] = mean_scores(scores[system].values())
        median_ms[system] = round(statistics.median(times_ms), 1)
    return Comparison(name, means, scores, median_ms)


def table(comparisons: Sequence[Comparison]) -> str:
    """Return one table of all sets: metric by metric, means over the metrics that every system has, and median times.

    `diff` is ours less the stock recipe's, in questions: the difference of the means times n.
    """
    systems = list(comparisons[0].means)
    lines: list[list[str]] = []
    shared: list[list[float]] = []
    for comparison in comparisons:
        of_set: list[list[float]] = []
        for metric in _in_order(metric for means in comparison.means.values() for metric in means):
            cells = [comparison.means[system].get(metric) for system in systems]
            values = [cell.value if cell else None for cell in cells]
            n = max(cell.n for cell in cells if cell)
            by_system = dict(zip(systems, values, strict=True))
            stock, ours = by_system.get(STOCK), by_system.get(OURS)
            diff = "" if stock is None or ours is None else f"{(ours - stock) * n:+.1f}"
            lines.append([comparison.name, metric, str(n), *map(figure, values), diff])
            of_set += [[value for value in values if value is not None]] if None not in values else []
        lines.append(_mean_row(comparison.name, of_set))
        times = (figure(comparison.median_ms[system], 1) for system in systems)
        asked = str(len(comparison.scores[systems[0]]))
        lines.append([comparison.name, "one retrieval, p50, ms", asked, *times, ""])
        shared += of_set
    if len(comparisons) > 1:
        lines.append(_mean_row("all", shared))
    return aligned(["set", "metric", "n", *systems, "diff"], lines, left=(0, 1))


def _ours(engine: Engine, settings: Settings, *, merge: bool) -> Retrieve:
    """Return our retrieval within the largest budget that is scored."""
    options = settings.retrieval.model_copy(update={"budget_chars": max(BUDGETS_CHARS), "merge": merge})
    return lambda question: engine.retrieve(Inquiry(question), options).passages


def _in_order(metrics: Iterable[str]) -> list[str]:
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


def _mean_row(name: str, cells: Sequence[Sequence[float]]) -> list[str]:
    values = [statistics.mean(column) for column in zip(*cells, strict=True)]
    metrics = f"{len(cells)} metric{'s' if len(cells) > 1 else ''}"
    return [f"**{name}**", "**mean**", metrics, *map(figure, values), ""]
