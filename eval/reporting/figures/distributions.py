"""Sort scores into bars, and find the points of a line: the arithmetic behind the pictures.

Flow: cells -> **here** -> the templates, which draw. Pure.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

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
    two_valued: bool


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
    return Histogram(low, high, tuple(counts), two_valued=False)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def _round_up(value: float) -> float:
    """Return the next number whose first digit is 1, 2, 3, 4, 5, 6 or 8 and whose others are 0."""
    if value <= 0:
        return 0.0
    size = 10.0 ** math.floor(math.log10(value))
    return next(digit * size for digit in (1, 2, 3, 4, 5, 6, 8, 10) if digit * size >= value * (1 - 1e-9))
