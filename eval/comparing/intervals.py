"""Say between which bounds the true mean difference of paired scores lies, and how often chance alone would reach it.

Flow: the differences of pairs -> **here** -> `verdicts.py`, `speed.py`. Pure; knows neither runs nor metrics.

**The interval** is Student's for the mean of the differences, whose variance is estimated with two more pairs: one as
far above the mean as any pair lies from it, and one as far below. Where few of many scores of 0 and 1 differ, these are
nearly the pseudo-observations of D. Bonett and R. Price ("Adjusted Wald Confidence Interval for a Difference of
Binomial Proportions Based on Paired Data", Journal of Educational and Behavioral Statistics 37:479, 2012), about the
observed mean. Without them few changed pairs look surer than they are, and resampling does not help: what was hardly
seen is hardly drawn (of 30 pairs that differ in 8 %, 82 of 100 bootstrap intervals hold the true value, 99 of these).
Over 800 seeded trials of 30 to 300 pairs each it holds the true value in 92 to 98 of 100, and in more where fewer than
6 pairs differ. It holds it less often where a few large differences stand among many small ones: in 89 of 100 with 30
pairs with 3 large ones.

**Clusters**: questions about one document go well or badly together, so that 60 about 6 documents tell less than 60
about 60. What a document's questions differ from the mean by is summed up and counts as one draw, with one degree of
freedom less than there are documents: the cluster-robust error of E. Miller ("Adding Error Bars to Evals", 2024,
arXiv:2411.00640, section 2.2). A randomization turns a document's questions round together. Where each has its own
document, nothing changes.

**The chance** of a difference is that of a randomization test: if both runs are equally good, each pair might as well
have come the other way round (R. Fisher, 1935; for rankings: M. Smucker, J. Allan and B. Carterette, "A Comparison of
Statistical Significance Tests for Information Retrieval Evaluation", CIKM 2007). It needs no assumption about how
scores are distributed. All metrics of a question are turned round together, and each difference is compared with the
largest one of all metrics, stepping down (P. Westfall and S. Young, "Resampling-Based Multiple Testing", 1993): that
bounds how often any of the metrics is called different without being so, as Holm's correction does, and loses less
where metrics go together, as `recall@2000` and `recall@8000` do. (Y. Benjamini and Y. Hochberg's correction bounds the
share of wrong calls among all calls, which is 1 whenever nothing changed.)
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

LEVEL = 0.95
FEWEST_PAIRS = 10
MOST_CHANCE = 0.01
FLIPS = 10_000
POWER = 0.8
CORRELATION = 0.5  # of two runs' scores of a question; Miller found 0.3 to 0.7 among models
_AT_ONCE = 4_000_000

Numbers = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Interval:
    """What is known of a mean difference.

    Attributes:
        mean: of the differences.
        low, high: bounds of the 95 % interval; all are 0 where no pair differs.
    """

    mean: float
    low: float
    high: float


def paired_interval(differences: Numbers, clusters: Places | None = None) -> Interval:
    """Return the interval of a mean difference.

    Args:
        differences: second minus first score of each pair, shape (n,), n >= 2, finite.
        clusters: number of each pair's cluster, shape (n,), at least two different ones; each pair its own if None.
    """
    mean = float(differences.mean())
    drawn = differences - mean if clusters is None else summed(differences - mean, clusters)
    n = len(drawn)
    drawn = drawn * (n / len(differences))
    # Where all differ alike: that is not certain either.
    most = float(np.abs(drawn).max()) or float(np.abs(differences).max())
    error = float(np.append(drawn, [most, -most]).std(ddof=1)) / math.sqrt(n)
    reach = -float(stdtrit(n - 1, (1 - LEVEL) / 2)) * error
    return Interval(mean, mean - reach, mean + reach)


def smallest_difference(clusters: Places, scores: Numbers | None = None) -> float:
    """Return the true difference of two runs' means that a comparison is to find in 80 of 100 cases, at a level of 5 %.

    E. Miller, section 5 of the paper above: (z(level) + z(power)) times the error of the mean difference, which is that
    of one run's mean times sqrt(2 - 2 * `CORRELATION`). `paired_interval` is wider, and shows it in 7 of 10 cases;
    `verdicts.py` asks for less chance than 5 %, and so for more.

    Args:
        clusters: number of each question's cluster, shape (n,), n >= 1.
        scores: of one run, shape (n,). Where they are not known, or all alike, the worst of scores of 0 to 1: a half
            are 0, a half 1, and all questions of a cluster the same.
    """
    deviations = np.zeros(len(clusters)) if scores is None else scores - scores.mean()
    drawn = summed(deviations, clusters)
    squares = float(np.square(drawn).sum()) * len(drawn) / max(1, len(drawn) - 1)
    if not deviations.any():
        squares = float(np.square(summed(np.full(len(clusters), 0.5), clusters)).sum())
    error = math.sqrt(squares * (2 - 2 * CORRELATION)) / len(clusters)
    return float(ndtri((1 + LEVEL) / 2) + ndtri(POWER)) * error


def summed(differences: Numbers, clusters: Places) -> Numbers:
    """Return the sums by cluster, shape (clusters, ...), of differences of shape (n, ...)."""
    _, places = np.unique(clusters, return_inverse=True)
    sums = np.zeros((places.max(initial=-1) + 1, *differences.shape[1:]))
    np.add.at(sums, places, differences)
    return sums


def chances(differences: Numbers) -> Numbers:
    """Return for each metric how often chance alone makes any metric differ as much, in (0, 1].

    Args:
        differences: of each pair or cluster (rows) and metric (columns); 0 where a metric has no pair.
    """
    pairs, metrics = differences.shape
    size = np.sqrt(np.square(differences).sum(axis=0))
    scaled = np.divide(differences, size, out=np.zeros_like(differences), where=size > 0)
    observed = np.abs(scaled.sum(axis=0))
    order = np.argsort(-observed)
    reached = np.zeros(metrics)
    generator = np.random.default_rng(0)
    for begin in range(0, FLIPS, step := max(1, _AT_ONCE // max(1, pairs))):
        signs = generator.integers(0, 2, (min(step, FLIPS - begin), pairs), dtype=np.int8) * 2.0 - 1
        flipped = np.abs(signs @ scaled)[:, order]
        largest = np.maximum.accumulate(flipped[:, ::-1], axis=1)[:, ::-1]  # of this metric and the less clear ones
        reached += np.count_nonzero(largest >= observed[order] - 1e-9, axis=0)
    found = np.empty(metrics)
    found[order] = np.maximum.accumulate((1 + reached) / (1 + FLIPS))
    return found
