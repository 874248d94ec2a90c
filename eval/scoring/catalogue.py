"""Every metric there is, by name, as `metrics.toml` describes it.

Imports no model and no library of an evaluation, so that two runs can be compared where nothing of that is installed.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from eval.cells import Metric
from eval.metrics import BUDGETS_CHARS

SPEED, COST = "speed", "cost"
# Of the questions with an answer, and of those without: two numbers that trade against each other.
DECLINED = ("declined", "abstention_recall")

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


def names_of(family: str) -> tuple[str, ...]:
    """Return the names of a family's metrics, in order."""
    return tuple(name for name, metric in METRICS.items() if metric.family == family)
