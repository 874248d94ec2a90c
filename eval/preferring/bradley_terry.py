"""Turn duels into ratings: the model of Bradley and Terry, with intervals.

`command.py`'s duels -> **here** -> its tables. Pure.

A run of strength b beats one of strength c with probability 1 / (1 + exp(c - b)) (R. Bradley and M. Terry, Biometrika
39:324, 1952); a tie counts as half a win of each, as in Chatbot Arena (W. Chiang et al., 2024, arXiv 2403.04132). Each
pair of runs gets one tie more than was seen: otherwise a run that wins every duel would be infinitely strong. Ratings
are on the scale of Elo, 1000 on average: 400 points more are ten wins to one. Intervals come from resampled questions,
since the duels of a question are not independent.
"""

import math

import numpy as np
from scipy.special import expit

from eval.comparing.intervals import Numbers

RESAMPLES = 1000
_STEPS = 50


def ratings(wins: Numbers) -> Numbers:
    """Return the rating of each run, shape (..., runs).

    Args:
        wins: of each run (second to last axis) over each other one (last axis), ties counting 0.5, shape
            (..., runs, runs).
    """
    runs = wins.shape[-1]
    wins = wins + 0.5 * (1 - np.eye(runs))
    games = wins + wins.swapaxes(-1, -2)
    strength: Numbers = np.zeros(wins.shape[:-1])
    for _ in range(_STEPS):  # Newton's method; the log-likelihood is concave
        expected = expit(strength[..., :, None] - strength[..., None, :])
        slope = (wins - games * expected).sum(-1)
        weight = games * expected * (1 - expected)
        curvature = weight.sum(-1)[..., None] * np.eye(runs) - weight + 1.0  # + 1: the strengths sum to 0
        step = np.linalg.solve(curvature, slope[..., None])[..., 0]
        longest = np.abs(step).max(-1, keepdims=True)
        strength += step / np.maximum(1, longest)
        if longest.max() < 1e-9:
            break
    return 1000 + strength * (400 / math.log(10))


def intervals(wins: Numbers) -> tuple[Numbers, Numbers]:
    """Return the bounds of each rating's 95 % interval, each of shape (runs,).

    Args:
        wins: by question, shape (questions, runs, runs).
    """
    questions = len(wins)
    drawn = np.random.default_rng(0).multinomial(questions, [1 / questions] * questions, RESAMPLES)
    resampled = ratings(np.tensordot(drawn.astype(float), wins, axes=1))
    low, high = np.quantile(resampled, [0.025, 0.975], axis=0)
    return low, high
