"""What every solver returns: a minimiser with a certificate."""

from dataclasses import dataclass

import numpy as np

from likewise._types import FloatArray


@dataclass(frozen=True)
class Solution:
    """A minimiser of an objective, with the proof of how good it is.

    Attributes
    ----------
    weights : array of shape (n_features + 1,)
        The intercept is the last entry.
    objective : float
    gap : float
        Duality gap: `objective` exceeds the minimum by at most ``gap * max(1, |objective|)``.
    n_iter : int
    converged : bool
        Whether the gap reached the tolerance.
    """

    weights: FloatArray
    objective: float
    gap: float
    n_iter: int
    converged: bool


def penalty_diagonal(n_features: int, alpha: float, regularize_intercept: bool) -> FloatArray:
    """Return the ridge penalty of each weight, shape (n_features + 1,)."""
    penalty = np.full(n_features + 1, alpha)
    if not regularize_intercept:
        penalty[-1] = 0.0
    return penalty
