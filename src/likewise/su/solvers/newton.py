"""Damped Newton for smooth convex objectives given by value, gradient and Hessian.

The solver sees a function of the weights and a ridge penalty; it knows nothing of rows.

With a small penalty the SU risk is steep: the minimizer is of the order of 1 / penalty, and on
that scale a loss such as the logistic looks like a function with a kink, on which Newton's method
crawls. So when plain Newton steps fail, the solver follows the minimizer from a large penalty down
to the wanted one.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from likewise._types import FloatArray
from likewise.su.solvers.base import Solution, conjugate_penalty

Evaluate = Callable[[FloatArray], tuple[float, FloatArray, FloatArray]]
"""Weights of shape (p,) to value, gradient (p,) and Hessian (p, p) of the unpenalised part."""

_SHRINKAGE = 4.0
"""Factor between successive penalties; 4 needed the fewest passes on the paper's datasets."""
_PATH_TOL = 1e-7
"""Relative decrease below which a point counts as on the path; looser ones lose the path."""


@dataclass(frozen=True)
class _Point:
    """A function with its penalty, expanded to second order at some weights."""

    weights: FloatArray
    value: float
    gradient: FloatArray
    hessian: FloatArray

    def penalised(self, penalty: FloatArray) -> "_Point":
        return _Point(
            self.weights,
            self.value + 0.5 * float(penalty @ self.weights**2),
            self.gradient + penalty * self.weights,
            self.hessian + np.diag(penalty),
        )


_IsDone = Callable[[_Point, FloatArray], bool]


class _Budget:
    """Evaluates points while passes over the data are left."""

    def __init__(self, evaluate: Evaluate, max_iter: int) -> None:
        self._evaluate = evaluate
        self._max_iter = max_iter
        self.used = 0

    @property
    def spent(self) -> bool:
        return self.used >= self._max_iter

    def point(self, weights: FloatArray) -> _Point:
        self.used += 1
        return _Point(weights, *self._evaluate(weights))


def minimise_smooth(
    evaluate: Evaluate,
    penalty: FloatArray,
    *,
    start: FloatArray | None = None,
    tol: float = 1e-9,
    max_iter: int = 200,
) -> Solution:
    """Minimize ``evaluate(w) + sum(penalty * w**2) / 2``.

    Parameters
    ----------
    evaluate : callable
        The convex unpenalised part; one call is one pass over the data.
    penalty : array of shape (p,)
        Ridge penalty of each weight, zero for a free one.
    start : array of shape (p,), optional
        Weights near the minimizer, if any are known.
    tol : float
        Relative gap at which to stop.
    max_iter : int
        Largest number of passes.

    Returns
    -------
    Solution
        Its gap comes from the duality gap ``sum(gradient**2 / penalty) / 2`` over the penalized
        weights; what is left of the gradient of a free one is charged at three times the weight.
    """
    budget = _Budget(evaluate, max_iter)
    first = budget.point(np.zeros_like(penalty) if start is None else start)

    def is_optimal(here: _Point, step: FloatArray) -> bool:
        return _gap(here, penalty) <= tol

    point, done = _take_full_steps(first, penalty, budget, is_optimal)
    if not done:
        if start is not None and not budget.spent:
            # It was not near enough, and the path begins at zero.
            first = budget.point(np.zeros_like(penalty))
        point = _follow_path(first, penalty, budget)
        point = _descend(point, penalty, budget, is_optimal)
    here = point.penalised(penalty)
    gap = _gap(here, penalty)
    return Solution(here.weights, here.value, gap, budget.used, gap <= tol)


def _take_full_steps(
    point: _Point, penalty: FloatArray, budget: _Budget, is_done: _IsDone
) -> tuple[_Point, bool]:
    """Take Newton steps as long as each keeps what it promises; say whether that sufficed."""
    while True:
        here = point.penalised(penalty)
        step = _newton_step(here)
        if is_done(here, step):
            return point, True
        if budget.spent:
            return point, False
        trial = budget.point(here.weights + step)
        if not _is_enough(here, step, 1.0, trial.penalised(penalty).value):
            return point, False
        point = trial


def _follow_path(point: _Point, penalty: FloatArray, budget: _Budget) -> _Point:
    """Go from the minimizer under a large penalty to near the one under `penalty`."""
    scale = max(1.0, 0.1 * float(np.mean(np.diag(point.hessian))) / float(np.max(penalty)))
    while scale > 1.0 and not budget.spent:
        point = _descend(point, scale * penalty, budget, _is_on_path)
        next_scale = max(1.0, scale / _SHRINKAGE)
        point = budget.point(_predict(point, penalty, scale, next_scale))
        scale = next_scale
    return point


def _descend(point: _Point, penalty: FloatArray, budget: _Budget, is_done: _IsDone) -> _Point:
    """Take damped Newton steps until `is_done` or the budget is spent."""
    while True:
        here = point.penalised(penalty)
        step = _newton_step(here)
        if is_done(here, step) or budget.spent:
            return point
        length = 1.0
        while True:
            trial = budget.point(here.weights + length * step)
            value = trial.penalised(penalty).value
            if _is_enough(here, step, length, value):
                point = trial
                break
            if budget.spent:
                return point
            length *= _shrink(here.value, length * float(here.gradient @ step), value)


def _is_enough(here: _Point, step: FloatArray, length: float, value: float) -> bool:
    """Tell whether `value` is low enough after a step of that length (Armijo's rule)."""
    promised = length * float(here.gradient @ step)
    # Rounding can hide the last decrease, so that much increase is let through.
    return value <= here.value + 1e-4 * promised + 1e-14 * max(1.0, abs(here.value))


def _is_on_path(here: _Point, step: FloatArray) -> bool:
    return -float(here.gradient @ step) <= _PATH_TOL * abs(here.value)


def _predict(point: _Point, penalty: FloatArray, scale: float, next_scale: float) -> FloatArray:
    """Extrapolate the minimizer along its path to a smaller penalty.

    ``scale * weights`` is nearly constant along the path where the objective is steep, so that is
    what is extrapolated linearly: its derivative is ``w - scale * H^-1 (penalty * w)``.
    """
    weights = point.weights
    hessian = point.penalised(scale * penalty).hessian
    slope = weights - _solve(hessian, scale * penalty * weights)
    return (scale * weights + (next_scale - scale) * slope) / next_scale


def _newton_step(here: _Point) -> FloatArray:
    return -_solve(here.hessian, here.gradient)


def _shrink(value: float, slope: float, trial_value: float) -> float:
    """Return the factor that minimizes the parabola through the two values and the slope."""
    curvature = trial_value - value - slope
    best = -slope / (2.0 * curvature) if curvature > 0 else 0.5
    return float(np.clip(best, 0.1, 0.5))


def _solve(hessian: FloatArray, vector: FloatArray) -> FloatArray:
    try:
        return np.asarray(cho_solve(cho_factor(hessian), vector))
    except LinAlgError:
        # A direction without curvature or penalty: take the shortest of the equally good steps.
        return np.asarray(np.linalg.lstsq(hessian, vector, rcond=None)[0])


def _gap(here: _Point, penalty: FloatArray) -> float:
    """Return the relative Fenchel gap at the dual point that the loss derivatives give."""
    # There the gradient is what is left of the pull beside that of the penalty.
    return conjugate_penalty(here.gradient, penalty, here.weights) / max(1.0, abs(here.value))
