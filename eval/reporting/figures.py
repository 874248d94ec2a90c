"""Choose the main figures of a run, lay out its tables, and choose the questions that are shown as examples.

Flow: `gather.py` -> **here** -> the page, the Markdown and the JSON, which show the same. Pure.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval.cases import Case
from eval.cells import Cell, Mean, Metric
from eval.comparing.verdicts import Difference
from eval.reporting.failures import KINDS, Kind
from eval.reporting.gather import TITLES, Gathered
from eval.scoring.catalogue import DECLINED
from eval.scoring.ragas_metrics import OF_CONTEXTS
from eval.summary import OVER_ALL, Means
from eval.tables import quantile

EXAMPLES = 3
NO_SHARE = frozenset({"speed", "cost"})
# Of each line the first metric that was scored: what was said, whether it is backed, whether it could be found.
MAIN = (
    ("answer_correctness", "word_recall", "contains", "crag_score"),
    ("faithfulness", "deepeval_faithfulness", "citation_recall", "citation_precision"),
    ("evidence@4000", "mrr", "recall@4000", "answer@4000"),
    ("similarity", "ragas_semantic_similarity", "token_f1"),
)


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds to the whole answer, of the questions that got a reply."""

    values: tuple[float, ...]
    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class Line:
    """A metric in a table.

    Attributes:
        share: the mean, for metrics whose scores lie between 0 and 1; None for others: they are not shares.
        lacks: where it does not apply or can say nothing, and why; empty where it applies to all questions.
        scatter: of the mean, from a judge's disagreement with itself; None where it judged once.
        beside: this run against another one; None without one.
    """

    metric: Metric
    mean: Mean
    share: float | None
    lacks: str = ""
    scatter: float | None = None
    beside: Difference | None = None


@dataclass(frozen=True, slots=True)
class Category:
    """A line of the table by category.

    Attributes:
        good, judged: questions that came to a good end, of those that can be judged.
        lines: of the main metrics and of `DECLINED`, the same ones in every category.
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


def main_metrics(run: Gathered) -> list[Metric]:
    """Return up to four metrics that stand for the run; the first ones there are, where none of `MAIN` was scored."""
    known = {metric.name: metric for metric in run.metrics if mean_of(run, metric).n}
    chosen = dict.fromkeys(next((name for name in names if name in known), "") for names in MAIN)
    others = [name for name, metric in known.items() if metric.family not in NO_SHARE and name not in OVER_ALL]
    return [known[name] for name in chosen if name] or [known[name] for name in others[: len(MAIN)]]


def mean_of(run: Gathered, metric: Metric) -> Mean:
    """Return the mean over the answerable questions; over the others if the metric is of those alone."""
    mean = run.summary.answerable[metric.name]
    return mean if mean.n else run.summary.unanswerable[metric.name]


def scores_of(run: Gathered, metric: Metric) -> list[float]:
    """Return every score of a metric, in the order of the questions."""
    cells = (run.cells.get(case.id, {}).get(metric.name) for case in run.cases)
    return [cell.score for cell in cells if cell is not None and cell.score is not None]


def latency(run: Gathered) -> Latency | None:
    """Return how long replies took; None if nothing tells it."""
    values = tuple(row.seconds for row in run.rows.values() if row.outcome != "failed" and row.seconds > 0)
    return Latency(values, quantile(values, 0.5), quantile(values, 0.95)) if values else None


def lines(run: Gathered, cases: Sequence[Case], means: Means, beside: Sequence[Difference] = ()) -> list[Line]:
    """Return a line for each metric that says something of these cases."""
    return [_line(run, metric, means, cases, beside) for metric in run.told(means, cases)]


def unmeasured(run: Gathered, cases: Sequence[Case], means: Means) -> dict[str, list[str]]:
    """Return the metrics that apply to none of these cases, by the reason that most of the cases give."""
    told, found = run.told(means, cases), dict[str, list[str]]()
    for metric in run.metrics:
        if metric not in told and metric.name not in OVER_ALL and (why := _lacking(run, metric, cases)):
            found.setdefault(why.most_common(1)[0][0], []).append(metric.name)
    return found


def by_family(found: Sequence[Line]) -> dict[str, list[Line]]:
    """Group lines by what their family is called."""
    families: dict[str, list[Line]] = {}
    for line in found:
        families.setdefault(TITLES.get(line.metric.family, line.metric.family), []).append(line)
    return families


def categories(run: Gathered) -> list[Category]:
    """Return the table by category, in the order in which they come up; questions without one have the name `""`."""
    main, found = main_metrics(run), []
    main += [metric for metric in run.metrics if metric.name in DECLINED and metric not in main]
    for name, means in run.summary.by_category.items():
        cases = [case for case in run.cases if (case.category or "") == name]
        states = [run.verdicts[case.id].kind.state for case in cases]
        figures = [_line(run, metric, means, cases) for metric in main]
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


def suggestions(run: Gathered) -> list[Kind]:
    """Return the classes that came up and against which something can be tried, the most frequent first."""
    return sorted((kind for kind in run.kinds if kind.advice), key=lambda kind: -run.counts[kind.key])


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


def _line(
    run: Gathered, metric: Metric, means: Means, cases: Sequence[Case], beside: Sequence[Difference] = ()
) -> Line:
    mean, why = means[metric.name], _lacking(run, metric, cases)
    lacks = [f"Does not apply to {why.total()} of {len(cases)} questions: {why.most_common(1)[0][0]}."] if why else []
    if metric.name in OF_CONTEXTS and (blind := sum(_is_blind(run.cells.get(case.id, {}), metric) for case in cases)):
        lacks.append(
            f"Is 0 for {blind} questions although the passages hold what is looked for (context@8000): RAGAS wants "
            "passages that are like a reference context as a whole, letter by letter, and longer ones never are."
        )
    is_share = metric.family not in NO_SHARE and all(0 <= score <= 1 for score in scores_of(run, metric))
    return Line(
        metric,
        mean,
        mean.value if is_share else None,
        " ".join(lacks),
        run.scatter.get(metric.name),
        next((one for one in beside if one.metric.name == metric.name), None),
    )


def _lacking(run: Gathered, metric: Metric, cases: Sequence[Case]) -> Counter[str]:
    """Count why a metric does not apply to questions."""
    cells = (run.cells.get(case.id, {}).get(metric.name) for case in cases)
    return Counter(cell.not_applicable for cell in cells if cell is not None and cell.not_applicable is not None)


def _is_blind(cells: Mapping[str, Cell], metric: Metric) -> bool:
    """Whether RAGAS finds nothing in passages that hold half of the reference contexts' runs of words, or more."""
    score, held = (cells[name].score if name in cells else None for name in (metric.name, "context@8000"))
    return score == 0 and held is not None and held >= 0.5
