"""The reduced SU objective over an engine: ``mean_U even(w.x) - c.w + (alpha / 2) |w|^2``.

Here the loss, the prior and the sums over rows meet, and the right solver is chosen. Rows stay
behind the engine; scikit-learn and weak labels are not known here.
"""

from dataclasses import dataclass

import numpy as np

from likewise.engines.base import Engine
from likewise.engines.kernels import column_sums, decide, weighted_gram, weighted_sum
from likewise.engines.kernels import gram as block_gram
from likewise.losses import FloatArray, MarginLoss, double_hinge, squared
from likewise.risk import linear_term
from likewise.solvers import (
    RidgePath,
    Solution,
    minimise_double_hinge,
    minimise_smooth,
    penalty_diagonal,
)


@dataclass(frozen=True)
class Means:
    """Mean rows, each of shape (n_features + 1,) with a one in the last place."""

    similar: FloatArray
    unlabeled: FloatArray

    def linear_term(self, prior: float) -> FloatArray:
        """Return c of the reduced objective."""
        return linear_term(self.similar, self.unlabeled, prior)


def mean_rows(engine: Engine) -> Means:
    """Average the members of the similar pairs and the unlabeled rows, in one pass."""
    left, right = engine.map_reduce("similar", lambda b: tuple(map(column_sums, b.tables)))
    (unlabeled,) = engine.map_reduce("unlabeled", lambda b: (column_sums(b.tables[0]),))
    return Means((left + right) / (2 * engine.count("similar")), unlabeled / unlabeled[-1])


def minimise_su_risk(
    engine: Engine,
    means: Means,
    loss: MarginLoss,
    *,
    prior: float,
    alpha: float,
    regularize_intercept: bool,
    tol: float,
    max_iter: int,
) -> Solution:
    """Minimise the regularised SU risk, by the solver that fits the loss.

    Parameters
    ----------
    engine : Engine
    means : Means
        What `mean_rows` returned for this engine.
    loss : MarginLoss
    prior, alpha : float
    regularize_intercept : bool
    tol : float
        Relative duality gap at which iterative solvers stop.
    max_iter : int

    Returns
    -------
    Solution
    """
    linear = means.linear_term(prior)
    if loss == squared:
        (gram,) = engine.map_reduce("unlabeled", lambda b: (block_gram(b.tables[0]),))
        path = RidgePath(
            gram / engine.count("unlabeled"), regularize_intercept=regularize_intercept
        )
        return path.solution(linear, alpha, tol=tol)
    penalty = penalty_diagonal(engine.n_features, alpha, regularize_intercept)
    if loss == double_hinge:
        return minimise_double_hinge(engine, linear, penalty, tol=tol, max_iter=max_iter)

    def evaluate(weights: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        return _expand(engine, loss, linear, weights)

    return minimise_smooth(evaluate, penalty, tol=tol, max_iter=max_iter)


def _expand(
    engine: Engine, loss: MarginLoss, linear: FloatArray, weights: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """Return value, gradient and Hessian of the unpenalised objective, in one pass."""
    value, gradient, hessian = engine.map_reduce(
        "unlabeled", lambda block: _even_sums(block.tables[0], loss, weights)
    )
    n = engine.count("unlabeled")
    return float(value / n - linear @ weights), gradient / n - linear, hessian / n


def _even_sums(
    rows: np.ndarray, loss: MarginLoss, weights: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    z = decide(rows, weights)
    return (
        float(loss.even(z).sum()),
        weighted_sum(rows, loss.even_derivative(z)),
        weighted_gram(rows, loss.even_curvature(z)),
    )
