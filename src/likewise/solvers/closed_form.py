"""The squared loss in closed form: one eigendecomposition serves every alpha and linear term.

With the even part ``(z^2 + 1) / 4`` the minimiser solves ``(G + 2 alpha I) w = 2 c``, where G is
the mean outer product of the rows. The solver sees G and c; it knows nothing of rows.
"""

import numpy as np
from scipy.linalg import eigh

from likewise.losses import FloatArray
from likewise.solvers.base import Solution


class RidgePath:
    """Minimisers of ``(w'Gw + 1) / 4 - c.w + (alpha / 2) |w|^2`` for any alpha and c.

    Parameters
    ----------
    gram : array of shape (p, p)
        Mean of ``x x'`` over rows x with a one behind their features.
    regularize_intercept : bool
        Whether alpha penalises the last weight too.
    """

    def __init__(self, gram: FloatArray, *, regularize_intercept: bool = True) -> None:
        self._gram = gram
        self._regularize_intercept = regularize_intercept
        if regularize_intercept:
            spread = gram
        else:
            # A free intercept is eliminated, which leaves the features' covariance.
            mean = gram[:-1, -1]
            spread = gram[:-1, :-1] - np.outer(mean, mean)
        values, self._vectors = eigh(spread)
        self._values = np.maximum(values, 0.0)

    def solve(self, linear: FloatArray, alpha: float) -> FloatArray:
        """Return the minimiser, shape (p,), for the linear term c and one alpha."""
        if self._regularize_intercept:
            return self._ridge(2.0 * linear, alpha)
        mean = self._gram[:-1, -1]
        weights = self._ridge(2.0 * (linear[:-1] - linear[-1] * mean), alpha)
        return np.append(weights, 2.0 * linear[-1] - mean @ weights)

    def solution(self, linear: FloatArray, alpha: float) -> Solution:
        """Return the minimiser with its objective and gap."""
        weights = self.solve(linear, alpha)
        penalty = np.full(weights.size, alpha)
        if not self._regularize_intercept:
            penalty[-1] = 0.0
        image = self._gram @ weights
        objective = 0.25 * (weights @ image + 1.0) - linear @ weights + 0.5 * penalty @ weights**2
        gradient = 0.5 * image - linear + penalty * weights
        # Half the gradient times the step to the exact minimiser, in the penalty's norm.
        free = penalty == 0.0
        gap = 0.5 * np.sum(gradient[~free] ** 2 / penalty[~free]) + np.sum(gradient[free] ** 2)
        gap /= max(1.0, abs(objective))
        return Solution(weights, float(objective), float(gap), n_iter=1, converged=True)

    def _ridge(self, right_hand_side: FloatArray, alpha: float) -> FloatArray:
        coordinates = self._vectors.T @ right_hand_side
        return np.asarray(self._vectors @ (coordinates / (self._values + 2.0 * alpha)))
