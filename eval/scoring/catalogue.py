"""Every metric there is, by name, as `metrics.toml` describes it.

Imports no model and no library of an evaluation, so that two runs can be compared where nothing of that is installed.
"""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from eval.cells import Metric
from eval.metrics import BUDGETS_CHARS

SPEED, COST = "speed", "cost"
TAKES = frozenset({SPEED, COST})  # what an answer takes, not how good it is
# Of the questions with an answer, and of those without: two numbers that trade against each other.
DECLINED = ("declined", "abstention_recall")
# Whether declining is right depends on the kind of question: over one kind alone this is always 0 or 1.
OVER_ALL = frozenset({"abstention_precision"})

_DESCRIBED = tomllib.loads(Path(__file__).with_name("metrics.toml").read_text(encoding="utf-8"))
METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        (full := name.replace("@N", f"@{budget}")): Metric(full, family, better, about.replace(" N ", f" {budget} "))
        for family, directions in _DESCRIBED.items()
        for better, metrics in directions.items()
        for name, about in metrics.items()
        for budget in BUDGETS_CHARS  # a name without a budget comes out the same each time
    }
)


def metric_of(name: str) -> Metric:
    """Return what is known of a metric; of one that is not in the catalogue, that higher is taken for better."""
    unknown = "A metric that this version of Treeline does not know."
    return METRICS.get(name) or Metric(name, "other", "higher", unknown)


def in_order(names: Iterable[str]) -> list[Metric]:
    """Return the metrics of these names in the catalogue's order, those that it does not know last."""
    places = {name: place for place, name in enumerate(METRICS)}
    return [metric_of(name) for name in sorted(names, key=lambda name: (places.get(name, len(places)), name))]


def names_of(family: str) -> tuple[str, ...]:
    """Return the names of a family's metrics, in order."""
    return tuple(name for name, metric in METRICS.items() if metric.family == family)
