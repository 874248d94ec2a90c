"""Ratings are those of the model, and their intervals hold the truth as often as they say."""

import numpy as np
import pytest

from eval.preferring.bradley_terry import intervals, ratings

TIES = 0.3
ODDS = np.array([[1, 1.5, 3], [1 / 1.5, 1, 2], [1 / 3, 1 / 2, 1]])
SHARES = (1 - TIES) * ODDS / (1 + ODDS) + TIES / 2


def test_ten_wins_to_one_are_four_hundred_points() -> None:
    wins = np.array([[0.0, 1e6], [1e5, 0.0]])

    assert ratings(wins) == pytest.approx([1200, 800], abs=0.01)


def test_wins_are_expected_as_often_as_they_were_seen() -> None:
    wins = np.random.default_rng(1).integers(0, 40, (5, 5)).astype(float)
    wins[0, 1:], wins[1:, 0] = 500, 0
    np.fill_diagonal(wins, 0)

    strength = ratings(wins)

    expected = 1 / (1 + 10 ** ((strength[None, :] - strength[:, None]) / 400))
    seen = wins + 0.5 * (1 - np.eye(5))  # one tie more for each pair
    games = seen + seen.T
    assert (games * expected * (1 - np.eye(5))).sum(1) == pytest.approx(seen.sum(1), abs=1e-4)
    assert strength.mean() == pytest.approx(1000)
    assert np.isfinite(strength).all()


def test_intervals_hold_the_true_rating_in_92_to_98_of_100_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval.preferring.bradley_terry.RESAMPLES", 300)
    truth = ratings(1e7 * SHARES * (1 - np.eye(3)))
    held = []
    for seed in range(150):
        draws = np.random.default_rng(seed).random((60, 3, 3))
        decided = np.where(draws < SHARES - TIES / 2, 1.0, np.where(draws < SHARES + TIES / 2, 0.5, 0.0))
        upper = np.triu(decided, 1)
        wins = upper + np.tril(1 - decided.swapaxes(1, 2), -1)
        low, high = intervals(wins)
        held += ((low <= truth) & (truth <= high)).tolist()

    assert 0.92 <= np.mean(held) <= 0.98
