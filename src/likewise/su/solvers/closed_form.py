"""The squared loss in closed form.

With the even part ``(z^2 + 1) / 4`` the minimizer solves ``(G + 2 alpha I) w = 2 c``, where G is
the mean outer product of the rows. One eigendecomposition serves every alpha and linear term
(`RidgePath`); for a few of them, solving for each is quicker (`ridge_weights`). The solver sees G
and c; it knows nothing of rows.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import eigh, lstsq

from likewise._types import FloatArray
from likewise.su.solvers.base import Solution, penalty_diagonal

_ENOUGH = 1e-12
"""Relative gap beyond which a system is solved once more, scaled."""
_FEW_ALPHAS = 8
"""So many systems are solved one by one in less time than an eigendecomposition takes."""


def ridge_weights(
    gram: FloatArray,
    linear: FloatArray,
    alphas: Sequence[float],
    *,
    regularize_intercept: bool = True,
) -> FloatArray:
    """Return the minimizers of `RidgePath` for one linear term and every alpha, (p, n_alphas).

    Parameters
    ----------
    gram : array of shape (p, p)
    linear : array of shape (p,)
    alphas : sequence of floats
    regularize_intercept : bool, default True
    """
    if len(alphas) <= _FEW_ALPHAS:
        weights = _solve_each(gram, linear, alphas, regularize_intercept)
        if weights is not None:
            return weights
    path = RidgePath(gram, regularize_intercept=regularize_intercept)
    return np.column_stack([path.solve(linear, alpha) for alpha in alphas])


def minimise_squared(
    gram: FloatArray,
    linear: FloatArray,
    alpha: float,
    *,
    regularize_intercept: bool = True,
    tol: float = 1e-9,
) -> Solution:
    """Return the minimizer of `RidgePath` for one alpha, with its objective and gap.

    Parameters
    ----------
    gram : array of shape (p, p)
    linear : array of shape (p,)
    alpha : float
    regularize_intercept : bool, default True
    tol : float
        For the gap.
    """
    solved = _solve_each(gram, linear, [alpha], regularize_intercept)
    if solved is None:
        path = RidgePath(gram, regularize_intercept=regularize_intercept)
        return path.solution(linear, alpha, tol=tol)
    weights, penalty = solved[:, 0], penalty_diagonal(linear.size - 1, alpha, regularize_intercept)
    objective, gap = map(float, _assess(gram, weights, penalty, linear))
    return Solution(weights, objective, gap, n_iter=1, converged=gap <= tol)


def _solve_each(
    gram: FloatArray, linear: FloatArray, alphas: Sequence[float], regularize_intercept: bool
) -> FloatArray | None:
    """Solve one system for each alpha; None if that is not exact enough."""
    d = linear.size - 1
    penalties = np.array([penalty_diagonal(d, alpha, regularize_intercept) for alpha in alphas])
    systems = gram + 2.0 * penalties[:, :, None] * np.eye(d + 1)
    try:
        solved: Any = np.linalg.solve(systems, 2.0 * linear[:, None])
    except np.linalg.LinAlgError:
        return None
    weights: FloatArray = solved[:, :, 0]
    gaps = _assess(gram, weights, penalties, linear)[1]
    return weights.T if np.all(gaps <= _ENOUGH) else None


class RidgePath:
    """Minimizers of ``(w'Gw + 1) / 4 - c.w + (alpha / 2) |w|^2`` for any alpha and c.

    Parameters
    ----------
    gram : array of shape (p, p)
        Mean of ``x x'`` over rows x with a one behind their features.
    regularize_intercept : bool
        Whether alpha penalizes the last weight too.
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
        """Return the minimizer, shape (p,), for the linear term c and one alpha."""
        if self._regularize_intercept:
            weights = self._ridge(2.0 * linear, alpha)
        else:
            mean = self._gram[:-1, -1]
            weights = self._ridge(2.0 * (linear[:-1] - linear[-1] * mean), alpha)
            weights = np.append(weights, 2.0 * linear[-1] - mean @ weights)
        if self._assess(weights, linear, alpha)[1] <= _ENOUGH:
            return weights
        # Columns of very different scale drown the small eigenvalues, so they are scaled first.
        other = self._solve_scaled(linear, alpha)
        return min(weights, other, key=lambda w: self._assess(w, linear, alpha)[1])

    def solution(self, linear: FloatArray, alpha: float, *, tol: float = 1e-9) -> Solution:
        """Return the minimizer with its objective and gap; `tol` is for the gap."""
        weights = self.solve(linear, alpha)
        objective, gap = self._assess(weights, linear, alpha)
        return Solution(weights, objective, gap, n_iter=1, converged=gap <= tol)

    def _assess(self, weights: FloatArray, linear: FloatArray, alpha: float) -> tuple[float, float]:
        """Return the objective and the relative duality gap."""
        penalty = penalty_diagonal(weights.size - 1, alpha, self._regularize_intercept)
        objective, gap = _assess(self._gram, weights, penalty, linear)
        return float(objective), float(gap)

    def _solve_scaled(self, linear: FloatArray, alpha: float) -> FloatArray:
        """Solve for one alpha after scaling the system to a unit diagonal."""
        penalty = penalty_diagonal(linear.size - 1, alpha, self._regularize_intercept)
        system = self._gram + 2.0 * np.diag(penalty)
        scale = 1.0 / np.sqrt(np.diag(system))
        scaled = scale[:, None] * system * scale
        return np.asarray(scale * lstsq(scaled, 2.0 * scale * linear)[0])

    def _ridge(self, right_hand_side: FloatArray, alpha: float) -> FloatArray:
        coordinates = self._vectors.T @ right_hand_side
        return np.asarray(self._vectors @ (coordinates / (self._values + 2.0 * alpha)))


def _assess(
    gram: FloatArray, weights: FloatArray, penalty: FloatArray, linear: FloatArray
) -> tuple[Any, Any]:
    """Return the objective at weights of shape (..., p) and its relative duality gap.

    The gap is infinite where weights are so far off that a product overflows.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        image = weights @ gram
        objective = 0.25 * (np.sum(weights * image, axis=-1) + 1.0) - weights @ linear
        objective += 0.5 * np.sum(penalty * weights**2, axis=-1)
        gradient = 0.5 * image - linear + penalty * weights
        # Half the gradient times the step to the exact minimizer, in the penalty's norm.
        gap = np.sum(gradient**2 / np.where(penalty > 0.0, 2.0 * penalty, 1.0), axis=-1)
        gap = gap / np.maximum(1.0, np.abs(objective))
    return objective, np.where(np.isfinite(gap), gap, np.inf)
