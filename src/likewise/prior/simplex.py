"""Nearest point of a simplex in a kernel's metric, with a certificate.

Solves ``min (u - v)' K (u - v)`` over ``v >= 0, sum v = 1`` for a positive semidefinite K, stored
whole or as a factor. This module must not know of kernels, samples or class priors.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

FloatArray = NDArray[np.float64]
Indices = NDArray[np.intp]
Solve = Callable[[FloatArray], FloatArray]

__all__ = [
    "DenseGram",
    "FactoredGram",
    "Gram",
    "Projection",
    "project_by_interior_point",
    "project_on_simplex",
]

_FIRST_RIDGE = 1e-11
"""Damps Newton steps where K is singular; steps use the exact gradient, so the limit is exact."""
_RANK_TOLERANCE = 1e-12
"""Largest diagonal entry that a factor made for interior-point steps may leave out. Gradients and
certificates come from K itself; at 1e-10 the steps already stall before a gap of 1e-13."""
_MAX_INTERIOR_STEPS = 60
_MARGIN = 1.0
"""Points whose gradient is this little above the level, in units of the worst violation, join the
violating ones: they would violate next."""


class Block(Protocol):
    """The rows and columns of K that belong to some points."""

    def solve(self, right: FloatArray, ridge: float) -> FloatArray | None:
        """Return ``(K_SS + ridge I)^-1 right``, or None where that is singular to rounding."""

    def quadratic(self, step: FloatArray) -> float:
        """Return ``step' K_SS step``."""


class Gram(Protocol):
    """A positive semidefinite matrix K of inner products."""

    @property
    def size(self) -> int:
        """Number of points."""

    @property
    def patience(self) -> float:
        """Multiplications worth spending on the active set before the interior point takes over."""

    def diagonal(self) -> FloatArray:
        """Return the diagonal of K."""

    def times(self, weights: FloatArray) -> FloatArray:
        """Return ``K weights``."""

    def restrict(self, points: Indices) -> Block:
        """Return the block of some points."""

    def subset(self, points: Indices) -> "Gram":
        """Return the matrix of some points alone."""

    def shifted(self, shift: FloatArray) -> Solve | None:
        """Return the map ``right -> (K + diag(shift))^-1 right``, or None if it is singular."""


class DenseGram:
    """K as an array of shape (n, n)."""

    def __init__(self, matrix: FloatArray) -> None:
        self._matrix = matrix

    @property
    def size(self) -> int:
        """Number of points."""
        return int(self._matrix.shape[0])

    @property
    def patience(self) -> float:
        """Multiplications that the active set may take."""
        return max(0.12 * self.size**3, 1e7)

    def diagonal(self) -> FloatArray:
        """Return the diagonal of K."""
        return np.diagonal(self._matrix)

    def times(self, weights: FloatArray) -> FloatArray:
        """Return ``K weights``."""
        used = np.flatnonzero(weights)
        if 3 * used.size < weights.size:
            return np.asarray(weights[used] @ self._matrix[used])
        return np.asarray(self._matrix @ weights)

    def restrict(self, points: Indices) -> Block:
        """Return the block of some points."""
        return _DenseBlock(self._matrix[np.ix_(points, points)])

    def subset(self, points: Indices) -> "DenseGram":
        """Return the matrix of some points alone."""
        return DenseGram(self._matrix[np.ix_(points, points)])

    def shifted(self, shift: FloatArray) -> Solve | None:
        """Return the map ``right -> (K + diag(shift))^-1 right``."""
        if self._factor is not None:
            return _shifted_solve(self._factor, shift + _RANK_TOLERANCE)
        matrix = self._matrix.copy()
        matrix.flat[:: self.size + 1] += shift
        return _cholesky_solve(matrix)

    @cached_property
    def _factor(self) -> FloatArray | None:
        """The pivoted Cholesky factor of K where it has few columns, else None."""
        some = self._matrix[::4, ::4]
        # Every fourth point alone has full rank: so has K enough of it, at little cost.
        if lapack.dpstrf(some, tol=_RANK_TOLERANCE, lower=1)[2] == some.shape[0]:
            return None
        lower, pivots, rank, _ = lapack.dpstrf(self._matrix, tol=_RANK_TOLERANCE, lower=1)
        if 2 * rank > self.size:
            return None
        factor = np.empty((self.size, rank))
        factor[pivots - 1] = np.tril(lower)[:, :rank]
        return factor


class FactoredGram:
    """K as ``factor factor' + diag(residual)``, of shapes (n, r) and (n,)."""

    def __init__(self, factor: FloatArray, residual: FloatArray) -> None:
        self._factor = factor
        self._residual = residual

    @property
    def size(self) -> int:
        """Number of points."""
        return int(self._factor.shape[0])

    @property
    def patience(self) -> float:
        """Multiplications that the active set may take."""
        return 8.0 * self.size * float(self._factor.shape[1]) ** 2

    def diagonal(self) -> FloatArray:
        """Return the diagonal of K."""
        return np.asarray(np.einsum("ij,ij->i", self._factor, self._factor) + self._residual)

    def times(self, weights: FloatArray) -> FloatArray:
        """Return ``K weights``."""
        used = np.flatnonzero(weights)
        if 3 * used.size < weights.size:
            coordinates = weights[used] @ self._factor[used]
        else:
            coordinates = weights @ self._factor
        return np.asarray(self._factor @ coordinates + self._residual * weights)

    def restrict(self, points: Indices) -> Block:
        """Return the block of some points."""
        factor, residual = self._factor[points], self._residual[points]
        if points.size > factor.shape[1]:
            return _FactoredBlock(factor, residual)
        matrix = factor @ factor.T
        matrix.flat[:: points.size + 1] += residual
        return _DenseBlock(matrix)

    def subset(self, points: Indices) -> "FactoredGram":
        """Return the matrix of some points alone."""
        return FactoredGram(self._factor[points], self._residual[points])

    def shifted(self, shift: FloatArray) -> Solve | None:
        """Return the map ``right -> (K + diag(shift))^-1 right``."""
        return _shifted_solve(self._factor, shift + self._residual + _RANK_TOLERANCE)


class _DenseBlock:
    def __init__(self, matrix: FloatArray) -> None:
        self._matrix = matrix

    def solve(self, right: FloatArray, ridge: float) -> FloatArray | None:
        matrix = self._matrix.copy()
        matrix.flat[:: matrix.shape[0] + 1] += ridge
        solve = _cholesky_solve(matrix)
        return None if solve is None else solve(right)

    def quadratic(self, step: FloatArray) -> float:
        return float(step @ (self._matrix @ step))


class _FactoredBlock:
    def __init__(self, factor: FloatArray, residual: FloatArray) -> None:
        self._factor = factor
        self._residual = residual

    def solve(self, right: FloatArray, ridge: float) -> FloatArray | None:
        solve = _shifted_solve(self._factor, self._residual + ridge)
        return None if solve is None else solve(right)

    def quadratic(self, step: FloatArray) -> float:
        coordinates = step @ self._factor
        return float(coordinates @ coordinates + step @ (self._residual * step))


def _cholesky_solve(matrix: FloatArray) -> Solve | None:
    """Return a solver for a symmetric matrix, which is overwritten; None if it is not positive."""
    factor, info = lapack.dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
    if info:
        return None
    return lambda right: np.asarray(lapack.dpotrs(factor, right, lower=1)[0])


def _shifted_solve(factor: FloatArray, shift: FloatArray) -> Solve | None:
    """Return ``right -> (factor factor' + diag(shift))^-1 right`` by the Woodbury identity."""
    scaled = factor / np.sqrt(shift)[:, None]
    inner = scaled.T @ scaled
    inner.flat[:: inner.shape[0] + 1] += 1.0
    solve = _cholesky_solve(inner)
    if solve is None:
        return None

    def apply(right: FloatArray) -> FloatArray:
        root = np.sqrt(shift) if right.ndim == 1 else np.sqrt(shift)[:, None]
        half = right / root
        return np.asarray((half - scaled @ solve(scaled.T @ half)) / root)

    return apply


@dataclass(frozen=True)
class Projection:
    """A point of the simplex and how near to the nearest one it is.

    Attributes
    ----------
    weights : array of shape (n,)
    squared_distance : float
        ``(u - v)' K (u - v)`` at `weights`.
    gap : float
        Certificate: the least squared distance is above ``squared_distance - gap``.
    gradient : array of shape (n,)
        ``K (v - u)``, half the gradient.
    support : boolean array of shape (n,)
        Points that carry weight at the solution; a good start for a neighbouring problem.
    n_iter : int
    """

    weights: FloatArray
    squared_distance: float
    gap: float
    gradient: FloatArray
    support: NDArray[np.bool_]
    n_iter: int

    @property
    def distance(self) -> float:
        """An upper bound of the least distance."""
        return sqrt(self.squared_distance)

    @property
    def distance_error(self) -> float:
        """By how much `distance` can be too large."""
        return self.distance - sqrt(max(self.squared_distance - self.gap, 0.0))


def project_on_simplex(
    gram: Gram,
    target: FloatArray,
    image: FloatArray,
    *,
    tol: float,
    start: Projection | None = None,
) -> Projection:
    """Find the point of the simplex that is nearest to `target` in the metric of K.

    An active-set method goes first: Newton steps on the points that carry weight, projected on the
    simplex, take few and small factorisations where K is well conditioned or the start is near. If
    it does not end soon, a primal-dual interior-point method takes over, whose number of steps does
    not depend on the conditioning.

    Parameters
    ----------
    gram : Gram
        The matrix K.
    target : array of shape (n,)
        The vector u, of sum one; entries may be negative.
    image : array of shape (n,)
        ``K u``, which the caller often has at hand.
    tol : float
        Stop when the distance is known to this (absolute) accuracy.
    start : Projection, optional
        Solution of a neighbouring problem.

    Returns
    -------
    Projection

    Examples
    --------
    >>> import numpy as np
    >>> u = np.array([0.8, 0.6, -0.4])
    >>> project_on_simplex(DenseGram(np.eye(3)), u, u, tol=1e-12).weights.round(6)
    array([0.6, 0.4, 0. ])
    """
    weights = np.zeros(gram.size)
    if start is None:
        weights[np.argmax(image - gram.diagonal() / 2)] = 1.0
    else:
        weights[start.support] = start.weights[start.support]
        weights /= weights.sum()
    first = _active_set(gram, target, image, weights, tol)
    if first.distance_error <= tol:
        return first
    second = project_by_interior_point(gram, target, image, tol=tol, n_iter=first.n_iter)
    return min(first, second, key=lambda projection: projection.distance_error)


def _certified(
    gram: Gram,
    target: FloatArray,
    image: FloatArray,
    weights: FloatArray,
    n_iter: int,
) -> Projection:
    return _with_certificate(target, weights, gram.times(weights) - image, n_iter)


def _with_certificate(
    target: FloatArray, weights: FloatArray, gradient: FloatArray, n_iter: int
) -> Projection:
    return Projection(
        weights=weights,
        squared_distance=max(float(gradient @ (weights - target)), 0.0),
        gap=max(2.0 * float(gradient @ weights - gradient.min()), 0.0),
        gradient=gradient,
        support=weights > 0.0,
        n_iter=n_iter,
    )


def _active_set(
    gram: Gram, target: FloatArray, image: FloatArray, weights: FloatArray, tol: float
) -> Projection:
    """Run projected Newton steps on the support, while its factorisations are cheap enough."""
    spent, n_iter, batch, ridge = 0.0, 0, 16, _FIRST_RIDGE
    while True:
        now = _certified(gram, target, image, weights, n_iter)
        if now.distance_error <= tol or spent > gram.patience:
            return now
        free = _with_best_candidates(now, batch)
        weights, ridge, cost, many_cuts = _newton_step(gram, now, free, ridge)
        batch = max(4, batch // 2) if many_cuts else min(2 * batch, gram.size)
        spent += cost
        n_iter += 1


def _with_best_candidates(now: Projection, batch: int) -> NDArray[np.bool_]:
    """Return the support and the points outside it along which the distance falls most."""
    gain = now.gradient @ now.weights - now.gradient
    candidates = np.flatnonzero((gain > 0.0) & ~now.support)
    if candidates.size > batch:
        candidates = candidates[np.argpartition(-gain[candidates], batch)[:batch]]
    free = now.support.copy()
    free[candidates] = True
    return free


def _newton_step(
    gram: Gram, now: Projection, free: NDArray[np.bool_], ridge: float
) -> tuple[FloatArray, float, float, bool]:
    """Return new weights, the damping used, the cost, and whether the step had to be cut short."""
    cost, cut = 0.0, False
    while True:
        points = np.flatnonzero(free)
        block = gram.restrict(points)
        slope, old = now.gradient[points], now.weights[points]
        solved = block.solve(np.column_stack([-slope, np.ones(points.size)]), ridge)
        # The constant stands for what a step costs beyond its factorisation.
        cost += points.size**3 / 3.0 + 20.0 * gram.size * (1 + points.size / 10) + 1e5
        if solved is None:
            ridge *= 10.0
            continue
        step = solved[:, 0] - solved[:, 1] * (solved[:, 0].sum() / solved[:, 1].sum())
        new = old + step
        if new.min() >= 0.0:
            break
        clipped = np.maximum(new, 0.0)
        clipped /= clipped.sum()
        change = 2.0 * float(slope @ (clipped - old)) + block.quadratic(clipped - old)
        if change < 0.3 * float(slope @ step):
            new = clipped
            break
        cut = True
        stuck = (step < 0.0) & (old <= 0.0)
        if stuck.any():
            free[points[stuck]] = False
            continue
        falling = step < 0.0
        reach = np.where(falling, old / np.where(falling, -step, 1.0), np.inf)
        new = np.maximum(old + reach.min() * step, 0.0)
        new[reach <= reach.min() * (1 + 1e-9)] = 0.0
        break
    weights = np.zeros(gram.size)
    weights[points] = new / new.sum()
    return weights, ridge, cost, cut


def project_by_interior_point(
    gram: Gram, target: FloatArray, image: FloatArray, *, tol: float, n_iter: int = 0
) -> Projection:
    """Find the same point by the primal-dual interior-point method alone.

    The faster way where K is ill conditioned and most points carry weight.

    Parameters
    ----------
    gram, target, image, tol
        As in `project_on_simplex`.
    n_iter : int, default 0
        Iterations spent before, to be counted in the answer.

    Returns
    -------
    Projection
        The best point found; rounding may keep it from reaching `tol`.
    """
    points = np.flatnonzero(target > 0.0)
    best = _certified(gram, target, image, np.maximum(target, 0.0) / target[points].sum(), n_iter)
    while True:
        best, outside = _interior_on(points, gram, target, image, best, tol)
        if best.distance_error <= tol or outside.size == 0:
            return best
        points = np.union1d(points, outside)


def _interior_on(
    points: Indices,
    gram: Gram,
    target: FloatArray,
    image: FloatArray,
    best: Projection,
    tol: float,
) -> tuple[Projection, Indices]:
    """Let only some points carry weight; return the best found and which others should too.

    Points at which the target is negative seldom carry weight, and leaving them out makes the
    linear systems smaller. The certificate is that of all points.
    """
    part = gram.subset(points)
    state = _InteriorState.before(part, target[points], image[points])
    outside = np.setdiff1d(np.arange(gram.size), points)
    wanted = outside[:0]
    for _ in range(_MAX_INTERIOR_STEPS):
        following = state.step(part, image[points])
        if following is None:
            break
        state = following
        weights = np.zeros(gram.size)
        weights[points] = state.weights / state.weights.sum()
        now = _certified(gram, target, image, weights, best.n_iter + 1)
        if now.distance_error <= best.distance_error:
            support = np.zeros(gram.size, dtype=bool)
            support[points] = state.weights > state.slack
            best = replace(now, support=support)
        else:
            best = replace(best, n_iter=now.n_iter)
        level = float(now.gradient @ weights)
        margin = _MARGIN * (level - float(now.gradient.min()))
        violated = bool(np.any(now.gradient[outside] < level))
        wanted = outside[now.gradient[outside] < level + margin] if violated else outside[:0]
        own_gap = 2.0 * (level - float(now.gradient[points].min()))
        settled = wanted.size > 0 and own_gap < 0.3 * now.gap
        if best.distance_error <= tol or settled or not state.barrier > 1e-18:
            break
    return best, wanted


@dataclass(frozen=True)
class _InteriorState:
    """Weights v > 0, multipliers z > 0 of their signs, and the multiplier of their sum.

    At the solution ``K v - K u = level + z``, ``sum v = 1`` and ``v z = 0`` entry by entry.
    """

    weights: FloatArray
    slack: FloatArray
    level: float
    gradient: FloatArray

    @classmethod
    def before(cls, gram: Gram, target: FloatArray, image: FloatArray) -> "_InteriorState":
        """Start near the positive part of the target, inside the simplex."""
        weights = np.maximum(target, 0.0)
        weights = 0.9 * weights / weights.sum() + 0.1 / gram.size
        gradient = gram.times(weights) - image
        level = float(gradient.min()) - float(np.ptp(gradient)) - 1e-12
        return cls(weights, gradient - level, level, gradient)

    @property
    def barrier(self) -> float:
        """Mean of ``v z``."""
        return float(self.weights @ self.slack) / self.weights.size

    def step(self, gram: Gram, image: FloatArray) -> "_InteriorState | None":
        """Return the next state, or None where the linear system is singular to rounding."""
        solve = gram.shifted(self.slack / self.weights)
        if solve is None:
            return None
        plain, ones_solved = solve(
            np.column_stack([self.level - self.gradient, np.ones(self.weights.size)])
        ).T
        move, _, slack_move = self._direction(plain, ones_solved, 0.0)
        reach = min(_reach(self.weights, move), _reach(self.slack, slack_move))
        ahead = (self.weights + reach * move) @ (self.slack + reach * slack_move)
        ratio = max(float(ahead) / self.weights.size, 0.0) / self.barrier
        aim = ratio**3 * self.barrier - move * slack_move
        plain = solve(aim / self.weights + self.level - self.gradient)
        move, lift, slack_move = self._direction(plain, ones_solved, aim)
        reach = 0.995 * min(_reach(self.weights, move), _reach(self.slack, slack_move))
        weights = self.weights + reach * move
        return _InteriorState(
            weights,
            self.slack + reach * slack_move,
            self.level + reach * lift,
            gram.times(weights) - image,
        )

    def _direction(
        self, plain: FloatArray, ones_solved: FloatArray, aim: FloatArray | float
    ) -> tuple[FloatArray, float, FloatArray]:
        """Return the moves of v, level and z that the linearised conditions with ``v z = aim`` ask.

        `plain` is what they ask of v when its sum is left free.
        """
        lift = float((1.0 - self.weights.sum() - plain.sum()) / ones_solved.sum())
        move = plain + lift * ones_solved
        return move, lift, (aim - self.slack * move) / self.weights - self.slack


def _reach(values: FloatArray, move: FloatArray) -> float:
    """Return the longest step, at most one, that keeps positive values from falling below zero."""
    falling = move < 0.0
    if not falling.any():
        return 1.0
    return min(1.0, float((-values[falling] / move[falling]).min()))
