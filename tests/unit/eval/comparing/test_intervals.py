"""The interval holds the true difference about 95 times in 100, for the differences that scores of answers have."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from eval.comparing.intervals import paired_interval

Numbers = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Numbers]


def smooth(generator: np.random.Generator, n: int) -> Numbers:
    return generator.normal(0.05, 0.3, n)


def skewed(generator: np.random.Generator, n: int) -> Numbers:
    return generator.exponential(0.2, n) - 0.15


def one_in_five(generator: np.random.Generator, n: int) -> Numbers:
    return generator.choice([-1.0, 0.0, 1.0], n, p=[0.06, 0.8, 0.14])


def one_in_twelve(generator: np.random.Generator, n: int) -> Numbers:
    return generator.choice([-1.0, 0.0, 1.0], n, p=[0.03, 0.92, 0.05])


@pytest.mark.parametrize(
    ("draw", "truth", "n"),
    [
        pytest.param(draw, truth, n, id=f"{draw.__name__}, {n} pairs")
        for draw, truth, least in (
            (smooth, 0.05, 30),
            (skewed, 0.05, 30),
            (one_in_five, 0.08, 30),
            (one_in_twelve, 0.02, 100),
        )
        for n in (30, 50, 100, 200)
        if n >= least
    ],
)
def test_the_interval_holds_a_known_difference_in_92_to_98_of_100_trials(draw: Draw, truth: float, n: int) -> None:
    intervals = [paired_interval(draw(np.random.default_rng([seed, n]), n), 1_000, seed) for seed in range(1_000)]

    assert 920 <= sum(interval.low <= truth <= interval.high for interval in intervals) <= 980


def test_the_same_seed_draws_the_same() -> None:
    differences = smooth(np.random.default_rng(1), 40)

    assert paired_interval(differences, seed=3) == paired_interval(differences, seed=3)
    assert paired_interval(differences, seed=3) != paired_interval(differences, seed=4)


def test_no_difference_anywhere_is_exactly_none() -> None:
    interval = paired_interval(np.zeros(40))

    assert (interval.mean, interval.low, interval.high, interval.p) == (0, 0, 0, 1)


def test_one_constant_difference_is_told_for_certain() -> None:
    interval = paired_interval(np.full(20, 0.25))

    assert (interval.low, interval.high) == (0.25, 0.25)
    assert interval.p < 0.002


@pytest.mark.parametrize("shift", [0.0, 0.02, 0.05, 0.08, 0.12, 0.2, -0.1])
def test_p_is_below_a_twentieth_where_the_interval_leaves_out_0(shift: float) -> None:
    interval = paired_interval(np.random.default_rng(7).normal(shift, 0.3, 60))

    assert (interval.p < 0.05) == (interval.low > 0 or interval.high < 0)


def test_more_draws_than_fit_into_memory_at_once_are_drawn_in_parts() -> None:
    differences = smooth(np.random.default_rng(1), 5_000)

    interval = paired_interval(differences)

    error = differences.std(ddof=1) / np.sqrt(5_000)
    assert interval.low == pytest.approx(interval.mean - 1.96 * error, abs=0.1 * error)
    assert interval.high == pytest.approx(interval.mean + 1.96 * error, abs=0.1 * error)
