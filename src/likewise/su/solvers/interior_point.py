"""A structured primal-dual interior point for the double-hinge loss.

The even part of the double hinge is ``max(1, |z|) / 2``, so the reduced SU objective is the
quadratic program

    min  mean(t) - c.w + sum(penalty * w**2) / 2
    s.t. t >= 1/2,  t >= z/2,  t >= -z/2,   z = [X, 1] w,

with one slack t per row. (The program printed in the paper, with two slacks per row of which one
has a negative cost, is unbounded.) Where rows have weights, sums over rows are weighted. The three
constraints of a row are eliminated by hand, which leaves one system of the size of w per step; an
iteration reads the rows four times, and time and memory are linear in them.

The dual variable of a row is ``a`` in [-1/2, 1/2], its conjugate cost ``|a| - 1/2``. Every such a
bounds the minimum from below, which gives the duality gap.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from likewise._types import FloatArray
from likewise.engines.base import Block, Engine
from likewise.engines.kernels import decide, gram, weighted_gram, weighted_sum
from likewise.su.solvers.base import Solution, conjugate_penalty

# A row's three constraints, t - _SLOPE * z - _LEVEL >= 0, stand in the order of the docstring.
_SLOPE: FloatArray = np.array([[0.0], [0.5], [-0.5]])
_LEVEL: FloatArray = np.array([[0.5], [0.0], [0.0]])
_BACK_OFF = 0.995
"""Share of the way to the boundary that a step goes."""
_ROUNDING = 1e-9
"""Gap below zero that is let pass."""
_DIGITS = 4.0 * np.finfo(np.float64).eps
"""Rounding of a difference of two sums, as a share of their sizes."""
_NEARLY, _PATIENCE = 1e-6, 5
"""Below this gap, so many iterations without progress mean that the digits are spent."""


def minimise_double_hinge(
    engine: Engine,
    linear: FloatArray,
    penalty: FloatArray,
    *,
    tol: float = 1e-9,
    max_iter: int = 200,
) -> Solution:
    """Minimize ``mean_U max(1, |z|) / 2 - linear.w + sum(penalty * w**2) / 2``.

    Parameters
    ----------
    engine : Engine
        Its unlabeled rows enter.
    linear, penalty : arrays of shape (n_features + 1,)
        The last entry belongs to the intercept, whose penalty may be zero.
    tol : float
        Relative duality gap at which to stop.
    max_iter : int

    Returns
    -------
    Solution
    """
    try:
        path = _CentralPath(engine, linear, penalty)
    except LinAlgError:  # rows of such a scale that there is not even a start
        return Solution(np.zeros_like(linear), np.inf, np.inf, n_iter=1, converged=False)
    best = Solution(path.weights, np.inf, np.inf, n_iter=1, converged=False)
    for iteration in range(max_iter + 1):
        here = path.look()
        # Rounding can spoil a point that was all but optimal, so the best one counts.
        if here.gap < best.gap:
            done = here.gap <= tol
            best = Solution(path.weights, here.objective, here.gap, max(1, iteration), done)
        spent = best.gap < _NEARLY and iteration - best.n_iter > _PATIENCE
        if best.converged or spent or iteration == max_iter:
            break
        try:
            path.advance(here)
        except LinAlgError:
            break
    return replace(best, n_iter=max(1, iteration))


@dataclass(frozen=True)
class _View:
    """What one pass at an interior point tells; means are over rows."""

    objective: float
    gap: float
    residual: FloatArray
    """Violation of the dual equation of the weights."""
    curvature: FloatArray
    """The matrix of the Newton system without the penalty."""
    affine_pull: FloatArray
    """How the rows pull at the weights in the predictor step."""
    mu: float
    """Mean product of distance and multiplier: zero at the optimum."""


class _CentralPath:
    """An interior point (weights, decisions z, distances s, multipliers u) and its Newton steps.

    A distance says how far inside its constraint a row is. It is carried along instead of being
    taken from z and t, whose difference would drown in rounding near the end. Arrays over rows live
    here; every pass works on them block by block, next to the rows.
    """

    def __init__(self, engine: Engine, linear: FloatArray, penalty: FloatArray) -> None:
        self._engine = engine
        self._linear = linear
        self._penalty = penalty
        n, self._total = engine.count("unlabeled"), engine.total("unlabeled")
        self.weights, self._z = self._start()
        t = _even(self._z) + max(1.0, float(np.abs(self._z).mean()))
        self._s: FloatArray = t - _SLOPE * self._z - _LEVEL
        self._u: FloatArray = np.full((3, n), 1.0 / 3.0)
        self._cross: FloatArray = np.empty((3, n))
        self._dz: FloatArray = np.zeros(n)
        self._ds: FloatArray = np.zeros((3, n))
        self._du: FloatArray = np.zeros((3, n))
        self._lengths = 0.0, 0.0

    def look(self) -> _View:
        """Take the step that was prepared, and collect all sums at the new point."""
        n, penalty, weights = self._total, self._penalty, self.weights
        primal, dual_length = self._lengths

        def kernel(block: Block) -> tuple[Any, ...]:
            at, rows = block.rows, block.tables[0]
            z = self._z[at] = self._z[at] + primal * self._dz[at]
            s = self._s[:, at] = self._s[:, at] + primal * self._ds[:, at]
            u = self._u[:, at] = self._u[:, at] + dual_length * self._du[:, at]
            row = _RowSystem(s, u)
            dual, counts = 0.5 * (u[1] - u[2]), _counts(block)
            return (
                (_even(z) * counts).sum(),
                (np.abs(dual) * counts).sum(),
                (s * u * counts).sum(),
                weighted_sum(rows, dual * counts),
                weighted_gram(rows, row.curvature() * counts),
                weighted_sum(rows, (row.tilt / row.total - dual) * counts),
            )

        even, cost, product, pulled, curvature, affine = self._engine.map_reduce(
            "unlabeled", kernel
        )
        pull = self._linear - pulled / n
        objective = even / n - self._linear @ weights + 0.5 * penalty @ weights**2
        known = np.where(np.abs(pull) > self._rounding, pull, 0.0)
        bound = 0.5 - cost / n - conjugate_penalty(known, penalty, weights)
        bound -= np.abs(pull - known) @ np.abs(weights)
        return _View(
            objective=float(objective),
            gap=_told(float((objective - bound) / max(1.0, abs(objective)))),
            residual=penalty * weights - pull,
            curvature=curvature / n,
            affine_pull=affine / n,
            mu=float(product / (3 * n)),
        )

    def advance(self, here: _View) -> None:
        """Prepare one predictor-corrector step (Mehrotra)."""
        factored = factorised(here.curvature + np.diag(self._penalty))

        def solve(pull: FloatArray) -> FloatArray:
            return factored(-here.residual - pull)

        ahead = self._mu_after_predictor(solve(here.affine_pull), here.mu)
        center = here.mu * (ahead / here.mu) ** 3
        step = solve(self._corrector_pull(center))
        primal, dual = (min(1.0, _BACK_OFF * limit) for limit in self._set_step(step, center))
        # Two lengths save iterations, but far apart they unbalance the point.
        shorter = min(primal, dual)
        self._lengths = min(primal, 2.0 * shorter), min(dual, 2.0 * shorter)
        self.weights = self.weights + self._lengths[0] * step

    def _start(self) -> tuple[FloatArray, FloatArray]:
        """Start at the best multiple of the ridge solution: small penalties need large weights."""
        penalty, n = self._penalty, self._engine.count("unlabeled")
        (total,) = self._engine.map_reduce("unlabeled", lambda b: (gram(b.tables[0], b.weights),))
        # A free intercept gets a trace of penalty, so that this system is regular.
        ridge = np.maximum(penalty, 1e-12 * penalty.max())
        squares = np.diag(total) / self._total
        # What is below this in a column is rounding: the bound is that of a problem whose linear
        # term has other last digits. In a column of 1e100 a pull of zero is not met more closely.
        self._rounding = _DIGITS * (np.abs(self._linear) + 0.5 * np.sqrt(squares))
        system = 0.5 * total / self._total + np.diag(ridge)
        direction = factorised(system)(self._linear)
        decisions: FloatArray = np.empty(n)

        def kernel(block: Block) -> tuple[int]:
            decisions[block.rows] = decide(block.tables[0], direction)
            return (0,)

        self._engine.map_reduce("unlabeled", kernel)
        slope, bend = self._linear @ direction, penalty @ direction**2
        scales = np.append(0.0, np.logspace(-2, 9, 23))
        values = [_even(s * decisions).mean() - s * slope + 0.5 * s * s * bend for s in scales]
        scale = scales[int(np.argmin(values))]
        return scale * direction, scale * decisions

    def _row_system(self, at: slice) -> "_RowSystem":
        return _RowSystem(self._s[:, at], self._u[:, at])

    def _mu_after_predictor(self, step: FloatArray, mu: float) -> float:
        """Return the mean product that the predictor would reach; keep its second-order part."""
        limits = [(1.0, 1.0)]

        def kernel(block: Block) -> tuple[float, float]:
            at = block.rows
            row = self._row_system(at)
            ds, du = row.step(decide(block.tables[0], step), -row.u)
            cross = self._cross[:, at] = ds * du
            limits.append(row.limits(ds, du))
            counts = _counts(block)
            return (row.u * ds * counts).sum(), (cross * counts).sum()

        sums = self._engine.map_reduce("unlabeled", kernel)
        primal_change, cross = (float(total) / (3 * self._total) for total in sums)
        primal, dual = np.min(limits, axis=0)
        # The predictor aims at products of zero, so its two first-order changes add up to -mu.
        dual_change = -mu - primal_change
        return float(mu + primal * primal_change + dual * dual_change + primal * dual * cross)

    def _corrector_pull(self, center: float) -> FloatArray:
        def kernel(block: Block) -> tuple[FloatArray]:
            row = self._row_system(block.rows)
            pulled = row.pull(row.wanted(center, self._cross[:, block.rows]))
            return (weighted_sum(block.tables[0], pulled * _counts(block)),)

        (total,) = self._engine.map_reduce("unlabeled", kernel)
        return np.asarray(total / self._total)

    def _set_step(self, step: FloatArray, center: float) -> tuple[float, float]:
        """Store the step of every row; return how far distances and multipliers can go."""
        limits = []

        def kernel(block: Block) -> tuple[int]:
            at = block.rows
            row = self._row_system(at)
            wanted = row.wanted(center, self._cross[:, at])
            dz = self._dz[at] = decide(block.tables[0], step)
            ds, du = self._ds[:, at], self._du[:, at] = row.step(dz, wanted)
            limits.append(row.limits(ds, du))
            return (0,)

        self._engine.map_reduce("unlabeled", kernel)
        primal, dual = np.min(limits, axis=0)
        return float(primal), float(dual)


class _RowSystem:
    """The part of the Newton system that belongs to single rows, for a block of them."""

    def __init__(self, s: FloatArray, u: FloatArray) -> None:
        self.s = s
        self.u = u
        self.ratio = u / s
        self.total = self.ratio.sum(axis=0)
        self.tilt = 0.5 * (self.ratio[1] - self.ratio[2])

    def curvature(self) -> FloatArray:
        """Return ``sum(slope^2 ratio) - tilt^2 / total``, written without a difference."""
        flat, up, down = self.ratio
        return np.asarray(0.25 * (flat * (up + down) + 4.0 * up * down) / self.total)

    def wanted(self, center: float, cross: FloatArray) -> FloatArray:
        """Return the change of multipliers that centers the products, distances held."""
        return np.asarray((center - cross) / self.s - self.u)

    def pull(self, wanted: FloatArray) -> FloatArray:
        """Return how the dual variable changes if the decision values stay."""
        carried = self.tilt * self._shift(wanted) / self.total
        return np.asarray(0.5 * (wanted[1] - wanted[2]) - carried)

    def step(self, dz: FloatArray, wanted: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the changes of distances and multipliers."""
        dt = (self._shift(wanted) + self.tilt * dz) / self.total
        ds = dt - _SLOPE * dz
        return ds, wanted - self.ratio * ds

    def limits(self, ds: FloatArray, du: FloatArray) -> tuple[float, float]:
        """Return the largest lengths that keep distances and multipliers nonnegative."""
        return _limit(self.s, ds), _limit(self.u, du)

    def _shift(self, wanted: FloatArray) -> FloatArray:
        # The multipliers of a row sum to one; what rounding took away is put back.
        return np.asarray(wanted.sum(axis=0) - (1.0 - self.u.sum(axis=0)))


def _counts(block: Block) -> Any:
    """Return how much rows count: what is summed over rows is multiplied by it."""
    return 1.0 if block.weights is None else block.weights


def _told(gap: float) -> float:
    """Return a gap; one far below zero is rounding, and as much of it may be in the objective."""
    return gap if gap > -_ROUNDING else abs(gap)


def _limit(values: FloatArray, step: FloatArray) -> float:
    fastest = float(np.max(-step / values))
    return 1.0 / fastest if fastest > 0 else np.inf


def factorised(matrix: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Return the solver of a positive definite system that may be singular to working precision.

    The matrix is scaled to a unit diagonal first, since multipliers span many orders of magnitude
    near the end. A trace on the diagonal then costs digits of the step, not of the certificate.
    """
    scale = 1.0 / np.sqrt(np.diag(matrix))
    scaled = scale[:, None] * matrix * scale
    if not np.isfinite(scaled).all():
        raise LinAlgError("The rows are too large for the Newton system.")
    for trace in (0.0, 1e-14, 1e-12, 1e-10):
        try:
            factor = cho_factor(scaled + trace * np.eye(scale.size))
        except LinAlgError:
            continue
        return lambda vector: _solved(factor, scale, vector)
    raise LinAlgError("The Newton system is singular.")


def _solved(factor: Any, scale: FloatArray, vector: FloatArray) -> FloatArray:
    wanted = scale * vector
    if not np.isfinite(wanted).all():
        raise LinAlgError("The rows are too large for a Newton step.")
    return np.asarray(scale * cho_solve(factor, wanted, check_finite=False))


def _even(z: FloatArray) -> FloatArray:
    return np.asarray(0.5 * np.maximum(1.0, np.abs(z)))
