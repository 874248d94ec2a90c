"""Sort scores into the bars of a distribution.

Flow: scores -> **here** -> `templates/macros.html`, which places, names and draws. Pure.
"""

import math
from collections.abc import Sequence

import numpy as np

BARS = 10


def histogram(values: Sequence[float], *, shares: bool = True) -> tuple[list[int], list[float]]:
    """Sort at least one value into bars, and return the counts and the edges; zeros and ones have a bar each.

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


def _round_up(value: float) -> float:
    """Return the next number whose first digit is 1, 2, 3, 4, 5, 6 or 8 and whose others are 0."""
    if value <= 0:
        return 0.0
    size = 10.0 ** math.floor(math.log10(value))
    return next(digit * size for digit in (1, 2, 3, 4, 5, 6, 8, 10) if digit * size >= value * (1 - 1e-9))
