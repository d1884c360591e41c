"""What every solver returns: a minimizer with a certificate."""

from dataclasses import dataclass

import numpy as np

from likewise._types import FloatArray


@dataclass(frozen=True)
class Solution:
    """A minimizer of an objective, with the proof of how good it is.

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


def conjugate_penalty(pull: FloatArray, penalty: FloatArray, weights: FloatArray) -> float:
    """Return the largest ``pull.w - sum(penalty * w**2) / 2``.

    For a free weight it is infinite unless the pull is zero; what little is left of the pull is
    charged at three times the weight found.
    """
    held = penalty > 0
    quadratic = 0.5 * np.sum(pull[held] ** 2 / penalty[held])
    free = np.sum(np.abs(pull[~held]) * (1.0 + 3.0 * np.abs(weights[~held])))
    return float(quadratic + free)
