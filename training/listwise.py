"""Fit a linear score so that the right items of each list come first: listwise softmax.

Flow: `fusion_weights/fit.py` (leaves of a search) and `reader/choice.py` (windows of a reading) -> **here**. Pure.

The weights maximize the mean log-likelihood of drawing a right item, where an item is drawn with a probability
proportional to the exponential of its score (Z. Cao et al., "Learning to Rank: From Pairwise Approach to Listwise
Approach", ICML 2007).
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

Array = npt.NDArray[np.float64]
# Of a likelihood that rounds to 0.
LEAST = 1e-12


def listwise_fit(
    lists: Sequence[tuple[Array, Array]], start: Array, penalty: Array, *, least: float | None = None
) -> Array:
    """Return the weights, shape (terms,).

    Args:
        lists: terms, shape (items, terms), and which items are right, shape (items,), 1 or 0; each has a right one.
        start: where the search begins, shape (terms,).
        penalty: on the square of each weight, shape (terms,).
        least: lower bound of every weight; None sets none.
    """

    def loss(weights: Array) -> tuple[float, Array]:
        total, slope = 0.0, np.zeros_like(weights)
        for terms, right in lists:
            odds = terms @ weights
            drawn = np.exp(odds - odds.max())
            drawn /= drawn.sum()
            hits = drawn * right
            likelihood = hits.sum() + LEAST
            total -= np.log(likelihood)
            slope -= (hits / likelihood - drawn) @ terms
        return float(total / len(lists) + penalty @ weights**2), slope / len(lists) + 2 * penalty * weights

    found: Array = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(least, None)] * len(start)).x
    return found
