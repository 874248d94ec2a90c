"""The interval holds the true difference about 95 times in 100, for the differences that scores of answers have."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from eval.comparing.intervals import CORRELATION, Numbers, chances, paired_interval, smallest_difference, summed

Draw = Callable[[np.random.Generator, int], Numbers]


def smooth(generator: np.random.Generator, n: int) -> Numbers:
    return generator.normal(0.05, 0.3, n)


def skewed(generator: np.random.Generator, n: int) -> Numbers:
    return generator.exponential(0.2, n) - 0.15


def one_in_five(generator: np.random.Generator, n: int) -> Numbers:
    return generator.choice([-1.0, 0.0, 1.0], n, p=[0.06, 0.8, 0.14])


def one_in_twelve(generator: np.random.Generator, n: int) -> Numbers:
    return generator.choice([-1.0, 0.0, 1.0], n, p=[0.03, 0.92, 0.05])


def only_losses(generator: np.random.Generator, n: int) -> Numbers:
    return generator.choice([-1.0, 0.0], n, p=[0.2, 0.8])


def partial_losses(generator: np.random.Generator, n: int) -> Numbers:
    return np.where(generator.random(n) < 0.3, generator.normal(-0.1, 0.3, n), 0.0)


@pytest.mark.parametrize(
    ("draw", "truth", "n"),
    [
        pytest.param(draw, truth, n, id=f"{draw.__name__}, {n} pairs")
        for draw, truth, least in (
            (smooth, 0.05, 20),
            (skewed, 0.05, 20),
            (one_in_five, 0.08, 30),
            (one_in_twelve, 0.02, 100),
            (only_losses, -0.2, 30),
            (partial_losses, -0.03, 20),
        )
        for n in (20, 30, 50, 100, 300)
        if n >= least
    ],
)
def test_the_interval_holds_a_known_difference_in_92_to_98_of_100_trials(draw: Draw, truth: float, n: int) -> None:
    intervals = [paired_interval(draw(np.random.default_rng([seed, n]), n)) for seed in range(1_000)]

    assert 920 <= sum(interval.low <= truth <= interval.high for interval in intervals) <= 980


def test_no_difference_anywhere_is_exactly_none() -> None:
    interval = paired_interval(np.zeros(40))

    assert (interval.mean, interval.low, interval.high) == (0, 0, 0)
    assert chances(np.zeros((40, 2))).tolist() == [1, 1]


def test_the_chance_of_one_metric_is_that_of_a_sign_test_where_all_pairs_differ_as_much() -> None:
    differences = np.array([1.0] * 9 + [-1.0] + [0.0] * 30)

    (chance,) = chances(differences[:, None])

    assert chance == pytest.approx(2 * (1 + 10) / 2**10, rel=0.15)


def test_metrics_that_go_together_cost_nothing_and_others_do() -> None:
    generator = np.random.default_rng(3)
    clear = generator.normal(0.1, 0.3, 80)
    alone = chances(clear[:, None])[0]

    twins = chances(np.stack([clear] * 20, axis=1))
    strangers = chances(np.column_stack([clear, generator.normal(0, 0.3, (80, 19))]))

    assert twins == pytest.approx([alone] * 20)
    assert strangers[0] > 3 * alone


def test_among_many_metrics_without_a_difference_one_stands_out_as_often_as_is_said() -> None:
    found = [chances(np.random.default_rng(seed).normal(0, 1, (40, 15))).min() for seed in range(200)]

    assert sum(chance <= 0.1 for chance in found) == pytest.approx(20, abs=10)


def test_more_flips_than_fit_into_memory_at_once_are_made_in_parts() -> None:
    differences = np.random.default_rng(1).normal(0.03, 1, (5_000, 1))

    deviations = abs(differences.mean()) / (differences.std() / math.sqrt(5_000))
    assert chances(differences)[0] == pytest.approx(1 - math.erf(deviations / math.sqrt(2)), abs=0.02)


@pytest.mark.parametrize(("documents", "each"), [(12, 5), (20, 5), (40, 3)])
def test_the_interval_of_questions_that_share_documents_holds_a_known_difference(documents: int, each: int) -> None:
    """Half of what a question differs by is its document's. As if they were independent, 84 of 100 hold it or fewer."""
    clusters = np.repeat(np.arange(documents), each)
    held = alone = 0
    for seed in range(1_000):
        generator = np.random.default_rng([seed, documents])
        differences = 0.05 + generator.normal(0, 0.2, documents)[clusters] + generator.normal(0, 0.2, len(clusters))
        for_all, of_each = paired_interval(differences, clusters), paired_interval(differences)
        held += for_all.low <= 0.05 <= for_all.high
        alone += of_each.low <= 0.05 <= of_each.high

    assert 920 <= held <= 985
    assert alone < 880


def test_clusters_of_one_pair_change_nothing() -> None:
    differences = np.random.default_rng(5).normal(0.1, 0.3, (30, 2))

    assert paired_interval(differences[:, 0], np.arange(30)[::-1]) == paired_interval(differences[:, 0])
    assert summed(differences, np.arange(30)).tolist() == differences.tolist()


def test_a_difference_that_balances_within_each_cluster_is_not_certain() -> None:
    interval = paired_interval(np.array([1.0, -1.0] * 15), np.repeat(np.arange(15), 2))

    assert interval.low < interval.mean == 0 < interval.high


def test_of_documents_that_do_not_differ_a_change_is_found_by_chance_as_often_as_is_said() -> None:
    clusters = np.repeat(np.arange(15), 6)
    found = []
    for seed in range(200):
        generator = np.random.default_rng(seed)
        differences = generator.normal(0, 1, 15)[clusters] + generator.normal(0, 1, 90)
        found.append(chances(summed(differences[:, None], clusters))[0])

    assert sum(chance <= 0.1 for chance in found) == pytest.approx(20, abs=10)


@pytest.mark.parametrize(("documents", "each"), [(53, 1), (40, 4)])
def test_the_smallest_difference_is_found_in_about_three_of_four_comparisons(documents: int, each: int) -> None:
    """80 of 100 by the formula; the interval is a little wider, for the changes that a few pairs cannot show."""
    clusters = np.repeat(np.arange(documents), each)
    n, found, seen = len(clusters), 0, 0.0
    for seed in range(1_000):
        generator = np.random.default_rng([seed, documents])
        of_document = generator.normal(0, 0.2 if each > 1 else 0, documents)[clusters]
        before = of_document + generator.normal(0, 0.3, n)
        again = CORRELATION * before + math.sqrt(1 - CORRELATION**2) * (
            generator.normal(0, 0.2 if each > 1 else 0, documents)[clusters] + generator.normal(0, 0.3, n)
        )
        seen = smallest_difference(clusters, before)
        found += paired_interval(again + seen - before, clusters).low > 0

    assert 680 <= found <= 820


def test_where_no_scores_are_known_the_worst_of_scores_of_0_to_1_is_assumed() -> None:
    half, alone = np.array([0.0, 1.0] * 50), np.arange(100)

    assert smallest_difference(alone) == pytest.approx(2.8016 * 0.5 / 10, rel=1e-3)
    assert smallest_difference(alone, half) == pytest.approx(smallest_difference(alone), rel=0.01)
    assert smallest_difference(alone, np.ones(100)) == smallest_difference(alone)
    assert smallest_difference(alone // 4) == pytest.approx(2 * smallest_difference(alone))
