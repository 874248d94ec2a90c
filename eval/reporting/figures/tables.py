"""Lay out the figures of a run as lines of tables, and choose the questions that are shown as examples.

Flow: `gather.py` -> **here** -> the page and the Markdown, which show the same. Pure.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from eval.cases import Case
from eval.cells import Mean, Metric
from eval.reporting.failures import KINDS, Kind
from eval.reporting.figures.main_metrics import is_share, main_metrics, scores_of
from eval.reporting.gather import TITLES, Gathered
from eval.summary import Means

EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Beside:
    """The same questions in another run.

    Attributes:
        other: the other run's mean over the questions that both scored.
        difference: this run's mean over them less the other's.
        n: how many they are.
    """

    other: float
    difference: float
    n: int


@dataclass(frozen=True, slots=True)
class Line:
    """A metric in a table.

    Attributes:
        share: the mean, for metrics whose scores lie between 0 and 1; None for others: they are no part of a whole.
        scatter: of the mean, from a judge's disagreement with itself; None where it judged once.
        beside: None without another run.
    """

    metric: Metric
    mean: Mean
    share: float | None
    scatter: float | None = None
    beside: Beside | None = None


@dataclass(frozen=True, slots=True)
class Category:
    """A line of the table by category.

    Attributes:
        good, judged: questions that came to a good end, of those that can be judged.
        lines: of the main metrics, in their order.
    """

    name: str
    questions: int
    good: int
    judged: int
    lines: Sequence[Line]


@dataclass(frozen=True, slots=True)
class Change:
    """A question whose class is another one than in the other run."""

    case: Case
    before: Kind
    now: Kind


def lines(run: Gathered, cases: Sequence[Case], means: Means, other: Gathered | None = None) -> list[Line]:
    """Return a line for each metric that says something of these cases."""
    return [_line(run, metric, means, cases, other) for metric in run.told(means, cases)]


def by_family(found: Sequence[Line]) -> dict[str, list[Line]]:
    """Group lines by what their family is called."""
    families: dict[str, list[Line]] = {}
    for line in found:
        families.setdefault(TITLES.get(line.metric.family, line.metric.family), []).append(line)
    return families


def categories(run: Gathered) -> list[Category]:
    """Return the table by category, in the order in which they come up; questions without one have the name `""`."""
    main, found = main_metrics(run), []
    for name, means in run.summary.by_category.items():
        cases = [case for case in run.cases if (case.category or "") == name]
        states = [run.verdicts[case.id].kind.state for case in cases]
        figures = [_line(run, metric, means, cases, None) for metric in main]
        found.append(Category(name, len(cases), states.count("good"), len(states) - states.count("open"), figures))
    return found


def examples(run: Gathered) -> list[tuple[Kind, list[Case]]]:
    """Return each class of failures with its first questions."""
    return [(kind, run.of_kind(kind.key)[:EXAMPLES]) for kind in KINDS if kind.state == "bad" and run.counts[kind.key]]


def weakest(run: Gathered) -> list[Case]:
    """Return the right answers with the lowest main scores, to fill up the examples where little went wrong."""
    bad = sum(len(cases) for _, cases in examples(run))
    main = [metric.name for metric in main_metrics(run)]

    def score(case: Case) -> float:
        cells = (run.cells.get(case.id, {}).get(name) for name in main)
        return math.fsum(cell.score for cell in cells if cell is not None and cell.score is not None)

    return sorted(run.of_kind("right"), key=score)[: max(0, EXAMPLES - bad)]


def changes(run: Gathered, other: Gathered) -> list[Change]:
    """Return the questions whose class changed between a good and a bad one, losses first."""
    questions = {case.id: case.question for case in other.cases}
    found = [
        Change(case, other.verdicts[case.id].kind, run.verdicts[case.id].kind)
        for case in run.cases
        if questions.get(case.id) == case.question
    ]
    turned = [change for change in found if {change.before.state, change.now.state} == {"good", "bad"}]
    return sorted(turned, key=lambda change: change.now.state)


def _line(run: Gathered, metric: Metric, means: Means, cases: Sequence[Case], other: Gathered | None) -> Line:
    mean = means[metric.name]
    share = mean.value if metric.family != "speed" and is_share(scores_of(run, metric)) else None
    return Line(
        metric, mean, share, run.scatter.get(metric.name), _beside(run, other, metric.name, cases) if other else None
    )


def _beside(run: Gathered, other: Gathered, name: str, cases: Sequence[Case]) -> Beside | None:
    pairs, questions = [], {case.id: case.question for case in other.cases}
    for case in cases:
        if questions.get(case.id) != case.question:
            continue
        one, two = (which.cells.get(case.id, {}).get(name) for which in (run, other))
        if one and two and one.score is not None and two.score is not None:
            pairs.append((one.score, two.score))
    if not pairs:
        return None
    theirs = math.fsum(two for _, two in pairs) / len(pairs)
    return Beside(theirs, math.fsum(one for one, _ in pairs) / len(pairs) - theirs, len(pairs))
