"""Nearest point of a simplex in a kernel's metric, with a certificate.

Solves ``min (u - v)' K (u - v)`` over ``v >= 0, sum v = 1`` for a positive semidefinite K, stored
whole or as a factor. This module must not know of kernels, samples or class priors.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, sqrt
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

FloatArray = NDArray[np.float64]
Indices = NDArray[np.intp]

__all__ = ["DenseGram", "FactoredGram", "Gram", "Projection", "project_on_simplex"]

_FIRST_RIDGE = 1e-2
"""Weight of the pull towards the last point at the beginning, in units of K's largest diagonal
entry. It makes the linear systems well conditioned, so that few exchanges settle the support."""
_LAST_RIDGE = 1e-9
_COOLING = 0.1
"""The ridge falls by this factor whenever the support has nearly settled ..."""
_CAREFUL_COOLING = 0.3
"""... and by this one once a ridge has proved too small."""
_NEARLY = 0.15
"""The support has nearly settled when no more points than this share of it are on the wrong side;
the share is halved each time that a ridge proves too small."""
_PATIENCE = 3
"""Exchanges in a row that may fail to lower the number of points on the wrong side."""
_MAX_ITERATIONS = 300
_RANK_TOLERANCE = 1e-10
"""Largest diagonal entry that a factor of K may leave out, in the same units. The factor only
serves to solve systems whose ridge is much larger; gradients and certificates come from K."""
_RIDGE_TO_FACTOR = 1e3


class Gram(Protocol):
    """A positive semidefinite matrix K of inner products."""

    @property
    def size(self) -> int:
        """Number of points."""

    def diagonal(self) -> FloatArray:
        """Return the diagonal of K."""

    def times(self, weights: FloatArray) -> FloatArray:
        """Return ``K weights``."""

    def solve(self, points: Indices, ridge: float, right: FloatArray) -> FloatArray | None:
        """Return ``(K_SS + ridge I)^-1 right`` for the block of some points.

        None where that is singular to rounding.
        """


class DenseGram:
    """K as an array of shape (n, n)."""

    def __init__(self, matrix: FloatArray) -> None:
        self._matrix = matrix

    @property
    def size(self) -> int:
        """Number of points."""
        return int(self._matrix.shape[0])

    def diagonal(self) -> FloatArray:
        """Return the diagonal of K."""
        return np.diagonal(self._matrix)

    def times(self, weights: FloatArray) -> FloatArray:
        """Return ``K weights``."""
        used = np.flatnonzero(weights)
        if 3 * used.size < weights.size:
            return np.asarray(weights[used] @ self._matrix[used])
        return np.asarray(self._matrix @ weights)

    def solve(self, points: Indices, ridge: float, right: FloatArray) -> FloatArray | None:
        """Return ``(K_SS + ridge I)^-1 right`` for the block of some points."""
        low_rank = self._factored if ridge >= _RIDGE_TO_FACTOR * self._rank_tolerance else None
        if low_rank is not None and points.size > 2 * low_rank.rank:
            return low_rank.solve(points, ridge, right)
        block = self._matrix.take(points, axis=0).take(points, axis=1)  # faster than by np.ix_
        return _solve_with_ridge(block, ridge, right)

    @cached_property
    def _rank_tolerance(self) -> float:
        return _RANK_TOLERANCE * float(self.diagonal().max())

    @cached_property
    def _factored(self) -> "FactoredGram | None":
        """K as its pivoted Cholesky factor, where that has few columns."""
        some = self._matrix[::4, ::4]
        # If every fourth point alone has nearly full rank, so has K enough of it: a cheap test.
        if lapack.dpstrf(some, tol=self._rank_tolerance, lower=1)[2] > 0.9 * some.shape[0]:
            return None
        lower, pivots, rank, _ = lapack.dpstrf(self._matrix, tol=self._rank_tolerance, lower=1)
        factor = np.empty((self.size, rank))
        factor[pivots - 1] = np.tril(lower[:, :rank])
        residual = self.diagonal() - np.einsum("ij,ij->i", factor, factor)
        return FactoredGram(factor, np.maximum(residual, 0.0))


class FactoredGram:
    """K as ``factor @ factor.T + diag(residual)``, for many points and few columns.

    Parameters
    ----------
    factor : array of shape (n, rank)
    residual : array of shape (n,)
        Not negative.
    """

    def __init__(self, factor: FloatArray, residual: FloatArray) -> None:
        self._factor = factor
        self._residual = residual

    @property
    def rank(self) -> int:
        """Number of columns of the factor."""
        return int(self._factor.shape[1])

    @property
    def size(self) -> int:
        """Number of points."""
        return int(self._factor.shape[0])

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

    def solve(self, points: Indices, ridge: float, right: FloatArray) -> FloatArray | None:
        """Return ``(K_SS + ridge I)^-1 right`` for the block of some points."""
        factor, residual = self._factor[points], self._residual[points]
        if points.size > self.rank:
            return _solve_by_woodbury(factor, residual + ridge, right)
        matrix = factor @ factor.T
        matrix.flat[:: points.size + 1] += residual
        return _solve_with_ridge(matrix, ridge, right)


def _solve_with_ridge(matrix: FloatArray, ridge: float, right: FloatArray) -> FloatArray | None:
    """Return ``(matrix + ridge I)^-1 right``; the matrix is overwritten."""
    matrix.flat[:: matrix.shape[0] + 1] += ridge
    factor, info = lapack.dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
    return None if info else np.asarray(lapack.dpotrs(factor, right, lower=1)[0])


def _solve_by_woodbury(
    factor: FloatArray, shift: FloatArray, right: FloatArray
) -> FloatArray | None:
    """Return ``(factor factor' + diag(shift))^-1 right``.

    Small shifts cost digits, which one step of refinement gives back.
    """
    root = np.sqrt(shift)[:, None]
    scaled = factor / root
    inner, info = lapack.dpotrf((scaled.T @ scaled + np.eye(factor.shape[1])).T, lower=1, clean=0)
    if info:
        return None

    def apply(right: FloatArray) -> FloatArray:
        half = right / root
        return np.asarray(
            (half - scaled @ lapack.dpotrs(inner, scaled.T @ half, lower=1)[0]) / root
        )

    solution = apply(right)
    return solution + apply(right - factor @ (factor.T @ solution) - shift[:, None] * solution)


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
    n_iter : int
        Linear systems solved.
    """

    weights: FloatArray
    squared_distance: float
    gap: float
    gradient: FloatArray
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
    start: FloatArray | None = None,
) -> Projection:
    """Find the point of the simplex that is nearest to `target` in the metric of K.

    Block principal pivoting: solve for the points that are free to carry weight as if signs did
    not matter, then exchange all points on the wrong side at once, those of negative weight and
    those outside along which the distance falls. That settles in a few exchanges where K is well
    conditioned and cycles where it is not, so each system has a ridge that pulls towards the last
    point found (a proximal-point step, whose limit is the exact solution). The ridge falls as the
    support settles, and rises again should the exchanges cycle.

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
    start : array of shape (n,), optional
        Weights of the solution of a neighboring problem.

    Returns
    -------
    Projection
        The best point found; rounding may keep it from reaching `tol`.

    Examples
    --------
    >>> import numpy as np
    >>> u = np.array([0.8, 0.6, -0.4])
    >>> project_on_simplex(DenseGram(np.eye(3)), u, u, tol=1e-12).weights.round(6)
    array([0.6, 0.4, 0. ])
    """
    center = _on_simplex(target) if start is None else start
    free = center > 0.0
    unit = float(gram.diagonal().max())
    ridge, cooling, nearly = _FIRST_RIDGE, _COOLING, _NEARLY
    best: Projection | None = None
    fewest, failures = inf, 0
    for n_iter in range(1, _MAX_ITERATIONS + 1):
        trial = _solve_on(free, gram, image, center, ridge * unit)
        n_wrong = inf if trial is None else trial.n_wrong
        if trial is not None and n_wrong <= nearly * np.count_nonzero(free):
            now = trial.certified(gram, target, image, n_iter)
            if best is None or now.distance_error < best.distance_error:
                best = now
            if best.distance_error <= tol:
                return best
            if ridge > _LAST_RIDGE or n_wrong == 0:
                center, ridge = now.weights, max(cooling * ridge, _LAST_RIDGE)
                free, fewest, failures = trial.exchanged, inf, 0
                continue
        failures = 0 if n_wrong < fewest else failures + 1
        if trial is None or failures == _PATIENCE:
            free, ridge, fewest, failures = center > 0.0, ridge / _COOLING, inf, 0
            cooling, nearly = _CAREFUL_COOLING, nearly / 2.0
        else:
            free, fewest = trial.exchanged, min(n_wrong, fewest)
    if best is None:
        best = _certified(gram, target, image, center, n_iter)
    return replace(best, n_iter=n_iter)


@dataclass(frozen=True)
class _Trial:
    """The solution on some free points, signs ignored, and what it says of all points."""

    weights: FloatArray
    gradient: FloatArray
    exchanged: NDArray[np.bool_]
    """The free points after all on the wrong side have changed it."""
    n_wrong: int

    def certified(
        self, gram: Gram, target: FloatArray, image: FloatArray, n_iter: int
    ) -> Projection:
        """Return the point of the simplex that clipping makes of it."""
        if self.weights.min() < 0.0:
            return _certified(gram, target, image, _on_simplex(self.weights), n_iter)
        return _with_certificate(target, self.weights, self.gradient, n_iter)


def _solve_on(
    free: NDArray[np.bool_], gram: Gram, image: FloatArray, center: FloatArray, ridge: float
) -> _Trial | None:
    """Minimize ``v' K v - 2 v' image + ridge |v - center|^2`` over the free points, of sum one."""
    points = np.flatnonzero(free)
    right = np.column_stack([image[points] + ridge * center[points], np.ones(points.size)])
    solved = gram.solve(points, ridge, right)
    if solved is None:
        return None
    level = (1.0 - solved[:, 0].sum()) / solved[:, 1].sum()
    weights = np.zeros(gram.size)
    weights[points] = solved[:, 0] + level * solved[:, 1]
    gradient = gram.times(weights) - image
    wanted = ~free & (gradient + ridge * (weights - center) < level)
    wrong = (weights < 0.0) | wanted
    return _Trial(weights, gradient, free ^ wrong, int(np.count_nonzero(wrong)))


def _on_simplex(weights: FloatArray) -> FloatArray:
    positive = np.maximum(weights, 0.0)
    return np.asarray(positive / positive.sum())


def _certified(
    gram: Gram, target: FloatArray, image: FloatArray, weights: FloatArray, n_iter: int
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
        n_iter=n_iter,
    )
