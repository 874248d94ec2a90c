"""Sort scores into the bars of a distribution, and place the points of a history.

Flow: `figures.py`, `history.py` -> **here** -> the templates, which draw. Pure.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from eval.cells import Metric
from eval.reporting.figures import Latency, scores_of
from eval.reporting.gather import Gathered
from eval.reporting.history import History, Past
from eval.tables import duration, figure

BARS = 10


@dataclass(frozen=True, slots=True)
class Histogram:
    """How scores are spread.

    Attributes:
        low, high: the range that the bars share evenly.
        counts: scores in each bar; the last bar includes `high`.
        two_valued: there are only zeros and ones, and a bar for each.
    """

    low: float
    high: float
    counts: tuple[int, ...]
    two_valued: bool = False

    def start(self, bar: int) -> float:
        """Return where a bar begins."""
        return self.low + bar * (self.high - self.low) / len(self.counts)


@dataclass(frozen=True, slots=True)
class Picture:
    """The picture of one distribution.

    Attributes:
        ends: what stands below both ends of its axis.
        caption: the same in words.
        marks: lines across it: value, label.
    """

    title: str
    about: str
    spread: Histogram
    ends: tuple[str, str]
    caption: str
    marks: tuple[tuple[float, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Trend:
    """The picture of one metric over the runs.

    Attributes:
        points: each run that has a mean: its place among all, 0 to 1, the height, 0 to 1, the run, the mean.
        changes: where the system became another one, 0 to 1.
        low, high: the ends of the vertical axis.
        caption: the same in words.
    """

    metric: Metric
    points: list[tuple[float, float, Past, float]]
    changes: list[float]
    low: float
    high: float
    caption: str


def histogram(values: Sequence[float], *, shares: bool = True) -> Histogram:
    """Sort at least one value into bars.

    Args:
        values: finite numbers.
        shares: they are parts of a whole where they all lie between 0 and 1: then that is the range, else it ends at
            a round number.
    """
    if shares and set(values) <= {0.0, 1.0}:
        return Histogram(0.0, 1.0, (list(values).count(0.0), list(values).count(1.0)), two_valued=True)
    low = 0.0 if min(values) >= 0 else -_round_up(-min(values))
    high = 1.0 if shares and low >= -1 and 0 <= max(values) <= 1 else _round_up(max(values))
    high = high if high > low else low + 1
    counts = [0] * BARS
    for value in values:
        counts[min(BARS - 1, int((value - low) / (high - low) * BARS))] += 1
    return Histogram(low, high, tuple(counts))


def distributions(run: Gathered, latency: Latency | None) -> list[Picture]:
    """Return the picture of the times of whole answers, and one for every other metric with scores."""
    pictures = [_of_times(latency)] if latency else []
    for metric in run.metrics:
        values = scores_of(run, metric)
        if values and metric.name != "seconds":
            spread = histogram(values, shares=metric.family not in ("speed", "cost"))
            filled = [f"{count} from {spread.start(bar):.3g}" for bar, count in enumerate(spread.counts) if count]
            caption = f"bars {spread.start(1) - spread.low:.3g} wide: {', '.join(filled)}."
            if spread.two_valued:
                caption = f"{spread.counts[1]} of {len(values)} are 1, the others 0."
            ends = (f"{spread.low:g}", f"{spread.high:g}")
            pictures.append(Picture(metric.name, metric.about, spread, ends, f"{metric.name}: {caption}"))
    return pictures


def trends(history: History, metrics: Sequence[Metric]) -> list[Trend]:
    """Return a picture for each metric that at least two runs scored; nothing for a single run."""
    last, pictures = max(1, len(history.runs) - 1), []
    for metric in metrics:
        means = [(past.means.get(metric.name), past) for past in history.runs]
        values = [mean.value for mean, _ in means if mean and mean.value is not None]
        if len(values) < 2:
            continue
        low, high = _ends(values)
        points = [
            (place / last, (mean.value - low) / (high - low), past, mean.value)
            for place, (mean, past) in enumerate(means)
            if mean and mean.value is not None
        ]
        caption = f"{metric.name} over {len(values)} runs: from {figure(values[0])} to {figure(values[-1])}."
        changes = [(place - 0.5) / last for place in history.changes]
        pictures.append(Trend(metric, points, changes, low, high, caption))
    return pictures


def _of_times(latency: Latency) -> Picture:
    spread = histogram(latency.values, shares=False)
    p50, p95 = duration(latency.p50), duration(latency.p95)
    return Picture(
        "latency",
        "From the question to the whole answer, as the asker saw it.",
        spread,
        ("0", duration(spread.high)),
        f"Seconds to the whole answer: median {p50}, 95th percentile {p95}.",
        ((latency.p50, f"p50 {p50}"), (latency.p95, f"p95 {p95}")),
    )


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """Return tenths around the values where they are parts of a whole, so that small changes show; else round ends."""
    if min(values) < 0 or max(values) > 1:
        spread = histogram(values)
        return spread.low, spread.high
    return max(0, math.floor(10 * min(values) - 0.5)) / 10, min(10, math.ceil(10 * max(values) + 0.5)) / 10


def _round_up(value: float) -> float:
    """Return the next number whose first digit is 1, 2, 3, 4, 5, 6 or 8 and whose others are 0."""
    if value <= 0:
        return 0.0
    size = 10.0 ** math.floor(math.log10(value))
    return next(digit * size for digit in (1, 2, 3, 4, 5, 6, 8, 10) if digit * size >= value * (1 - 1e-9))
