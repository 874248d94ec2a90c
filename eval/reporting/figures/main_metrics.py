"""Choose the figures that stand for a run: the few main metrics, and how long answers took.

Flow: `gather.py` -> **here** -> the page and the Markdown. Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from eval.cells import Mean, Metric
from eval.reporting.figures.distributions import percentile
from eval.reporting.gather import OVER_ALL, Gathered

# Of each line the first metric that was scored: what was said, whether it is backed, whether it could be found.
MAIN = (
    ("answer_correctness", "word_recall", "contains", "crag_score"),
    ("faithfulness", "deepeval_faithfulness", "citation_recall", "citation_precision"),
    ("evidence@4000", "mrr", "recall@4000", "answer@4000"),
    ("similarity", "ragas_semantic_similarity", "token_f1"),
)


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds to the whole answer.

    Attributes:
        values: of the questions that got a reply.
    """

    values: tuple[float, ...]
    p50: float
    p95: float


def main_metrics(run: Gathered) -> list[Metric]:
    """Return up to four metrics that stand for the run; the first ones there are, where none of `MAIN` was scored."""
    known = {metric.name: metric for metric in run.metrics if mean_of(run, metric).n}
    chosen = list[Metric]()
    for names in MAIN:
        chosen += [known[name] for name in names if name in known and known[name] not in chosen][:1]
    others = [metric for metric in known.values() if metric.family != "speed" and metric.name not in OVER_ALL]
    return chosen or others[: len(MAIN)]


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
    return Latency(values, percentile(values, 0.5), percentile(values, 0.95)) if values else None


def is_share(values: Sequence[float]) -> bool:
    """Whether all values lie between 0 and 1, so that they can be drawn as a part of a whole."""
    return bool(values) and min(values) >= 0 and max(values) <= 1
