"""Sort scores into the bars of a distribution, and choose the scale of a history.

Flow: `gather.py`, `history.py` -> **here** -> the templates, which place and draw. Pure.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from eval.cells import Metric
from eval.reporting.gather import NO_SHARE, Gathered
from eval.reporting.history import History, Past
from eval.tables import duration, quantile

BARS = 10


@dataclass(frozen=True, slots=True)
class Picture:
    """The picture of one distribution.

    Attributes:
        counts: scores in each bar; the last bar includes its upper end.
        edges: of the bars, one more than there are bars. Two bars: there are only zeros and ones.
        ends: what stands below both ends of its axis.
        caption: the same in words.
        marks: lines across it: value, label.
    """

    title: str
    about: str
    counts: list[int]
    edges: list[float]
    ends: tuple[str, str]
    caption: str
    marks: tuple[tuple[float, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Trend:
    """The picture of one metric over the runs.

    Attributes:
        points: each run that has a mean: its place in the history, the run, the mean.
        low, high: the ends of the vertical axis.
    """

    metric: Metric
    points: list[tuple[int, Past, float]]
    low: float
    high: float


def histogram(values: Sequence[float], *, shares: bool = True) -> tuple[list[int], list[float]]:
    """Sort at least one value into bars, and return the counts and the edges.

    Args:
        values: finite numbers.
        shares: they are parts of a whole where they all lie between 0 and 1: then that is the range, else it ends at
            a round number.
    """
    if shares and set(values) <= {0.0, 1.0}:
        return [list(values).count(0.0), list(values).count(1.0)], [0.0, 0.5, 1.0]
    low = 0.0 if min(values) >= 0 else -_round_up(-min(values))
    high = 1.0 if shares and low >= -1 and 0 <= max(values) <= 1 else _round_up(max(values))
    # Rounded, because 0.3 belongs to the bar that begins there, and the third of ten steps is a little more.
    edges = np.linspace(low, high if high > low else low + 1, BARS + 1).round(12)
    return np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0].tolist(), edges.tolist()


def pictures(run: Gathered) -> Iterator[Picture]:
    """Yield the picture of the times of whole answers, and one for every other metric with scores."""
    if run.seconds:
        counts, edges = histogram(run.seconds, shares=False)
        marks = {share: quantile(run.seconds, share) for share in (0.5, 0.95)}
        p50, p95 = map(duration, marks.values())
        yield Picture(
            "latency",
            "From the question to the whole answer, as the asker saw it.",
            counts,
            edges,
            ("0", duration(edges[-1])),
            f"Seconds to the whole answer: median {p50}, 95th percentile {p95}.",
            ((marks[0.5], f"p50 {p50}"), (marks[0.95], f"p95 {p95}")),
        )
    for metric in run.metrics:
        values = run.scores(metric)
        if values and metric.name != "seconds":
            counts, edges = histogram(values, shares=metric.family not in NO_SHARE)
            filled = (f"{count} from {start:.3g}" for count, start in zip(counts, edges, strict=False) if count)
            caption = f"bars {edges[1] - edges[0]:.3g} wide: {', '.join(filled)}."
            if len(counts) == 2:
                caption = f"{counts[1]} of {len(values)} are 1, the others 0."
            ends = (f"{edges[0]:g}", f"{edges[-1]:g}")
            yield Picture(metric.name, metric.about, counts, edges, ends, f"{metric.name}: {caption}")


def trends(history: History, metrics: Sequence[Metric]) -> Iterator[Trend]:
    """Yield a picture for each metric that at least two runs scored; nothing for a single run."""
    for metric in metrics:
        means = ((place, past, past.kept.means.get(metric.name)) for place, past in enumerate(history.runs))
        points = [(place, past, mean.value) for place, past, mean in means if mean and mean.value is not None]
        if len(points) > 1:
            yield Trend(metric, points, *_ends([value for _, _, value in points]))


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """Return tenths around the values where they are parts of a whole, so that small changes show; else round ends."""
    if min(values) < 0 or max(values) > 1:
        _, edges = histogram(values)
        return edges[0], edges[-1]
    return max(0, math.floor(10 * min(values) - 0.5)) / 10, min(10, math.ceil(10 * max(values) + 0.5)) / 10


def _round_up(value: float) -> float:
    """Return the next number whose first digit is 1, 2, 3, 4, 5, 6 or 8 and whose others are 0."""
    if value <= 0:
        return 0.0
    size = 10.0 ** math.floor(math.log10(value))
    return next(digit * size for digit in (1, 2, 3, 4, 5, 6, 8, 10) if digit * size >= value * (1 - 1e-9))
