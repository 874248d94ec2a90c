"""Lay out the pictures: bars of a distribution, the parts of a whole, the lines of a history.

Flow: `distributions.py` and `history.py` -> **here** -> the templates, which only draw. Pure. Units are those of each
picture's own view box; colours are the style sheet's.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from eval.cells import Metric
from eval.reporting.figures.distributions import Histogram, histogram
from eval.reporting.figures.history import History
from eval.reporting.figures.main_metrics import Latency, scores_of
from eval.reporting.gather import Gathered
from eval.reporting.number_format import duration, figure

WIDTH, HEIGHT = 260.0, 96.0
TALL = 150.0
EDGE = 12.0


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle with what it stands for."""

    x: float
    y: float
    width: float
    height: float
    label: str
    kind: str = ""
    count: int = 0


@dataclass(frozen=True, slots=True)
class Distribution:
    """The picture of one metric.

    Attributes:
        marks: lines across it: place, label.
        ends: what stands below its axis: place, label.
        told: the same in words.
    """

    title: str
    about: str
    bars: list[Bar]
    marks: list[tuple[float, str]]
    ends: tuple[tuple[float, str], tuple[float, str]]
    told: str


@dataclass(frozen=True, slots=True)
class Point:
    """A run in a line."""

    x: float
    y: float
    label: str
    value: str
    this: bool


@dataclass(frozen=True, slots=True)
class Trend:
    """The picture of one metric over the runs.

    Attributes:
        line: the corners, as SVG wants them.
        changes: where the system became another one.
        low, high: the ends of the vertical axis, spelt.
    """

    metric: Metric
    points: list[Point]
    line: str
    changes: list[float]
    low: str
    high: str
    told: str


def distributions(run: Gathered) -> list[Distribution]:
    """Return a picture for every metric with scores, times of the whole answer excepted."""
    pictures = []
    for metric in run.metrics:
        values = scores_of(run, metric)
        if not values or metric.name == "seconds":
            continue
        spread = histogram(values, shares=metric.family != "speed")
        told = f"{metric.name}: {_spelt(spread)}"
        ends = ((0.0, f"{spread.low:g}"), (WIDTH, f"{spread.high:g}"))
        if spread.two_valued:
            ends = ((65.0, "0"), (195.0, "1"))
            told = f"{metric.name}: {spread.counts[-1]} of {len(values)} are 1, the others 0."
        pictures.append(Distribution(metric.name, metric.about, _bars(spread), [], ends, told))
    return pictures


def latency_picture(latency: Latency) -> Distribution:
    """Return the picture of the times of whole answers, with the median and the 95th percentile marked."""
    spread = histogram(latency.values, shares=False)
    width = spread.high - spread.low
    marks = [
        (round(WIDTH * (value - spread.low) / width, 1), f"{name} {duration(value)}")
        for name, value in (("p50", latency.p50), ("p95", latency.p95))
    ]
    told = f"Seconds to the whole answer: median {duration(latency.p50)}, 95th percentile {duration(latency.p95)}."
    about = "From the question to the whole answer, as the asker saw it."
    return Distribution("latency", about, _bars(spread), marks, ((0.0, "0"), (WIDTH, duration(spread.high))), told)


def parts(keys: Sequence[tuple[str, str, int]], width: float = 1000.0) -> list[Bar]:
    """Return a bar cut into parts, each given as key, title and count; empty ones are left out."""
    whole = sum(count for _, _, count in keys)
    found, at = list[Bar](), 0.0
    for key, title, count in keys:
        if count:
            size = width * count / whole
            found.append(Bar(round(at, 2), 0, round(size, 2), 1, f"{title}: {count} of {whole}", key))
            at += size
    return found


def trends(history: History, metrics: Sequence[Metric]) -> list[Trend]:
    """Return a picture for each metric that at least two runs scored; nothing for a single run."""
    pictures = []
    for metric in metrics:
        means = [past.means.get(metric.name) for past in history.runs]
        values = [mean.value if mean else None for mean in means]
        there = [value for value in values if value is not None]
        if len(there) < 2:
            continue
        low, high = _ends(there)
        points = [
            Point(
                _place(number, len(values)),
                _level(value, low, high),
                f"{past.name}: {figure(value)}",
                figure(value),
                past.this,
            )
            for number, (past, value) in enumerate(zip(history.runs, values, strict=True))
            if value is not None
        ]
        step = (_place(1, len(values)) - _place(0, len(values))) / 2
        pictures.append(
            Trend(
                metric,
                points,
                " ".join(f"{point.x:g},{point.y:g}" for point in points),
                [round(_place(number, len(values)) - step, 1) for number in history.changes],
                f"{low:g}",
                f"{high:g}",
                f"{metric.name} over {len(there)} runs: from {figure(there[0])} to {figure(there[-1])}.",
            )
        )
    return pictures


def _bars(spread: Histogram) -> list[Bar]:
    most, width = max(spread.counts), WIDTH / len(spread.counts)
    step = (spread.high - spread.low) / len(spread.counts)
    found = []
    for place, count in enumerate(spread.counts):
        height = round(HEIGHT * count / most, 1)
        start = spread.low + place * step
        label = f"{place}: {count}" if spread.two_valued else f"{start:.3g} to {start + step:.3g}: {count}"
        if spread.two_valued:  # two names, not a range: apart from each other
            found.append(Bar(25 + 130 * place, round(HEIGHT - height, 1), 80, height, label, count=count))
            continue
        found.append(
            Bar(round(place * width + 1, 1), round(HEIGHT - height, 1), round(width - 2, 1), height, label, count=count)
        )
    return found


def _spelt(spread: Histogram) -> str:
    step = (spread.high - spread.low) / len(spread.counts)
    filled = (f"{count} from {spread.low + place * step:.3g}" for place, count in enumerate(spread.counts) if count)
    return f"bars {step:.3g} wide: {', '.join(filled)}."


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """Return tenths around the values where they are parts of a whole, so that small changes show; else round ends."""
    if min(values) < 0 or max(values) > 1:
        spread = histogram(values)
        return spread.low, spread.high
    return max(0, math.floor(10 * min(values) - 0.5)) / 10, min(10, math.ceil(10 * max(values) + 0.5)) / 10


def _place(number: int, of: int) -> float:
    return round(EDGE + (WIDTH - 2 * EDGE) * number / max(1, of - 1), 1)


def _level(value: float, low: float, high: float) -> float:
    return round(EDGE + (TALL - 2 * EDGE) * (1 - (value - low) / (high - low)), 1)
