"""Say between which bounds the true mean difference of paired scores lies, by resampling the pairs.

Flow: the differences of one metric -> **here** -> `verdicts.py`. Pure; knows neither runs nor metrics.

The interval is the expanded percentile interval: percentiles of resampled means (B. Efron and R. Tibshirani, "An
Introduction to the Bootstrap", 1993, chapter 13), taken further out as far as Student's t lies beyond the normal
distribution and n beyond n - 1 (T. Hesterberg, "What Teachers Should Know about the Bootstrap", The American
Statistician 69:4, 2015). Plain percentiles are too narrow for few pairs. BCa and studentized intervals are better
still where differences are smooth and skewed, and worse where most of them are 0 and the others 1 or -1, which is what
scores of answers look like: 89 and 85 of 100 hold the true value there, where this one's 92 do (50 pairs, 8 % differ).

Over 1,000 seeded trials of 30 to 200 pairs each, the 95 % interval holds the true value in 92 to 98 of 100: normal and
exponential differences, and 0/1 scores of which 6 pairs or more differ on average. Where fewer do no resampling can
tell (76 of 100 with 30 pairs, 8 % of which differ), since what was hardly seen is hardly drawn; `verdicts.py` gives no
verdict then.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri, stdtr, stdtrit

LEVEL = 0.95
SAMPLES = 10_000
_DRAWN_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True)
class Interval:
    """What is known of a mean difference.

    Attributes:
        mean: of the differences.
        low, high: bounds of the 95 % interval; both `mean` where all differences are equal.
        p: the smallest level of error at which the interval would leave out 0, in (0, 1]; 1 where it is 0 throughout.
    """

    mean: float
    low: float
    high: float
    p: float


def paired_interval(differences: npt.NDArray[np.float64], samples: int = SAMPLES, seed: int = 0) -> Interval:
    """Resample paired differences.

    Args:
        differences: second minus first score of each pair, shape (n,), n >= 2, finite.
        samples: resampled means, 1,000 or more: the bounds are their outermost percentiles.
        seed: the same one draws the same.
    """
    mean, n = float(differences.mean()), len(differences)
    if not differences.any():
        return Interval(0.0, 0.0, 0.0, 1.0)
    means = np.sort(_resampled_means(differences, samples, seed))
    stretch = math.sqrt(n / (n - 1))
    tail = float(ndtr(stretch * stdtrit(n - 1, (1 - LEVEL) / 2)))
    low, high = np.quantile(means, [tail, 1 - tail])
    beyond = 1 + min(np.count_nonzero(means <= 0), np.count_nonzero(means >= 0))
    p = 2 * float(stdtr(n - 1, ndtri(min(0.5, beyond / (samples + 1))) / stretch))
    return Interval(mean, float(low), float(high), p)


def _resampled_means(values: npt.NDArray[np.float64], samples: int, seed: int) -> npt.NDArray[np.float64]:
    generator = np.random.default_rng(seed)
    at_once = max(1, _DRAWN_AT_ONCE // len(values))
    return np.concatenate(
        [
            values[generator.integers(0, len(values), (min(at_once, samples - begin), len(values)))].mean(axis=1)
            for begin in range(0, samples, at_once)
        ]
    )
