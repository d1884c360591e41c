"""The double-hinge loss in few passes over many rows: rounded kinks first, then the rows near them.

The even part ``max(1, |z|) / 2`` bends at ``|z| = 1`` only. With many rows its mean is nearly
smooth all the same, and rows within a distance `width` of the kinks tell its curvature. So the
kinks are rounded to that width, which shrinks as Newton's steps do. The derivative of the rounded
function lies in [-1/2, 1/2], which makes it a dual point of the exact problem: the duality gap is
that of the double hinge itself.

Near the minimizer most rows stay on their side of the kinks, where their loss is linear. So in the
end the few rows near a kink are fetched, all others are summed up, and what is left is a problem of
the same form in memory. A linear piece is never above the loss, so the bound of that problem holds
for all rows.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from likewise._types import FloatArray
from likewise.engines.arrays import namespace_of, to_numpy
from likewise.engines.base import Block, Engine, Sums
from likewise.engines.kernels import decide, weighted_gram, weighted_sum
from likewise.engines.memory import MemoryEngine
from likewise.su.solvers.base import Solution, conjugate_penalty
from likewise.su.solvers.interior_point import factorised, minimise_double_hinge

_FIRST_WIDTH = 0.3
"""As a share of the mean size of decision values, or of one if that is less."""
_SHARPEST = 1e-9
_SHRINKAGE = 8.0
"""Largest factor between successive widths."""
_SHARPENING = 0.03
"""Share of the gap that the rounding may have: with more of it, steep problems lost their way."""
_FEW_STEPS = 6
"""Newton steps between two tries to finish."""
_NEAR_ENTRIES = 1 << 22
"""Numbers in the rows near a kink that are fetched: 32 MiB."""
_SAFETY = 0.8
"""Share of that room that is planned with, since distances are known from a sample only."""
_FIRST_TARGET, _NEXT_TARGET = 1e-4, 1e-2
"""Gap at which the rows near a kink are fetched first, and the factor to the next try."""


def minimise_smoothed_hinge(
    engine: Engine,
    linear: FloatArray,
    penalty: FloatArray,
    *,
    sample: FloatArray,
    start: FloatArray,
    tol: float = 1e-9,
    max_iter: int = 200,
) -> Solution:
    """Minimize ``mean_U max(1, |z|) / 2 - linear.w + sum(penalty * w**2) / 2`` from near by.

    Parameters
    ----------
    engine : Engine
        Its unlabeled rows enter; one iteration is one pass over them.
    linear, penalty : arrays of shape (n_features + 1,)
        The last entry belongs to the intercept, whose penalty may be zero.
    sample : array of shape (n_sampled, n_features)
        Some of those rows.
    start : array of shape (n_features + 1,)
        Weights near the minimizer, such as that of the sample.
    tol : float
        Relative duality gap at which to stop.
    max_iter : int

    Returns
    -------
    Solution
    """
    search = _Search(engine, linear, penalty, sample, start, max_iter)
    target = _FIRST_TARGET
    while not search.is_over(tol):
        search.descend(max(tol, target))
        if not search.is_over(tol):
            search.finish(tol)
        target *= _NEXT_TARGET
    return search.solution(tol)


class _Search:
    """The best weights so far, the best lower bound, and the passes that are left."""

    def __init__(
        self,
        engine: Engine,
        linear: FloatArray,
        penalty: FloatArray,
        sample: FloatArray,
        start: FloatArray,
        max_iter: int,
    ) -> None:
        self._engine = engine
        self._n = engine.count("unlabeled")
        self._linear = linear
        self._penalty = penalty
        self._sample = sample
        self._left = self._max_iter = max_iter
        # Among large decision values a kink of fixed width would be too sharp for Newton steps.
        self._width = _FIRST_WIDTH * max(1.0, float(np.abs(decide(sample, start)).mean()))
        self._length = 1.0
        self._bound = -np.inf
        self._here = self._best = self._expand(start, self._width)

    def is_over(self, tol: float) -> bool:
        return self._left <= 0 or self._gap <= tol

    def solution(self, tol: float) -> Solution:
        n_iter = self._max_iter - self._left
        best = self._best
        return Solution(best.weights, best.objective, self._gap, n_iter, self._gap <= tol)

    def descend(self, target: float) -> None:
        """Take a few Newton steps on the rounded function, or fewer if the gap is at the target."""
        enough = self._left - _FEW_STEPS
        while self._left > enough and not self.is_over(target):
            step = self._length * self._here.newton_step(self._penalty)
            next_width = self._here.next_width(self._width, max(target, _SHARPENING * self._gap))
            trial = self._consider(self._here.weights + step, next_width)
            if self._here.is_worse(trial, step):
                self._length *= 0.25
            else:
                self._here, self._width, self._length = trial, next_width, 1.0

    def finish(self, tol: float) -> None:
        """Solve for the rows near a kink as long as that brings all rows forward."""
        before = np.inf
        while not self.is_over(tol) and self._gap < 0.5 * before:
            before = self._gap
            weights, bound = self._solve_near(self._best, tol)
            self._bound = max(self._bound, bound)
            self._consider(weights, self._width)
        if self._here is not self._best:
            self._here, self._length = self._best, 1.0

    @property
    def _gap(self) -> float:
        objective = self._best.objective
        return (objective - self._bound) / max(1.0, abs(objective))

    def _consider(self, weights: FloatArray, width: float) -> "_Expansion":
        """Expand at some weights, and keep them if they are the best so far."""
        found = self._expand(weights, width)
        if found.objective < self._best.objective:
            self._best = found
        return found

    def _expand(self, weights: FloatArray, width: float) -> "_Expansion":
        """Read all rows once."""
        self._left -= 1
        n, linear, penalty = self._n, self._linear, self._penalty
        sums = self._engine.map_reduce(
            "unlabeled", partial(_sum_block, weights, self._width, width)
        )
        even, before, rounded, cost, pulled, hessian = (total / n for total in sums)
        rest = 0.5 * float(penalty @ weights**2) - float(linear @ weights)
        bound = 0.5 - float(cost) - conjugate_penalty(linear - pulled, penalty, weights)
        self._bound = max(self._bound, bound)
        return _Expansion(
            weights=weights,
            objective=float(even) + rest,
            blunt=float(even + cost - 0.5 - pulled @ weights),
            before=float(before) + rest,
            value=float(rounded) + rest,
            gradient=pulled - linear + penalty * weights,
            hessian=hessian,
        )

    def _solve_near(self, here: "_Expansion", tol: float) -> tuple[FloatArray, float]:
        """Fetch the rows near a kink and minimize as if the others stayed on their sides.

        Returns the weights and a lower bound on the minimum over all rows.
        """
        self._left -= 1
        reach = self._reach(here.weights)
        pieces, inside, far = self._engine.map_reduce(
            "unlabeled", partial(_split_block, here.weights, reach)
        )
        near = np.concatenate(pieces)
        if not len(near):
            return here.weights, -np.inf
        share = len(near) / self._n
        linear = (self._linear - far / self._n) / share
        exact = minimise_double_hinge(
            MemoryEngine.of_unlabeled(near), linear, self._penalty / share, tol=0.1 * tol / share
        )
        least = exact.objective - exact.gap * max(1.0, abs(exact.objective))
        return exact.weights, share * least + 0.5 * float(inside) / self._n

    def _reach(self, weights: FloatArray) -> float:
        """Return the distance from a kink within which as many rows lie as there is room for."""
        room = _NEAR_ENTRIES / self._engine.n_features / self._n
        if room >= 1.0:
            return np.inf
        distances = np.abs(np.abs(decide(self._sample, weights)) - 1.0)
        return float(np.quantile(distances, _SAFETY * room))


@dataclass(frozen=True)
class _Expansion:
    """What one pass at some weights tells; means are over rows.

    Value, gradient and Hessian are those of the rounded function; the objective is exact.
    """

    weights: FloatArray
    objective: float
    blunt: float
    """The part of the gap that is due to the rounding."""
    before: float
    """The value at the width that was used before."""
    value: float
    gradient: FloatArray
    hessian: FloatArray

    def newton_step(self, penalty: FloatArray) -> FloatArray:
        return factorised(self.hessian + np.diag(penalty))(-self.gradient)

    def next_width(self, width: float, tol: float) -> float:
        """Sharpen as the gap allows: what rounding adds to it falls with the squared width."""
        wanted = 0.25 * tol / max(self.blunt, 1e-300)
        return max(width * float(np.clip(np.sqrt(wanted), 1.0 / _SHRINKAGE, 1.0)), _SHARPEST)

    def is_worse(self, trial: "_Expansion", step: FloatArray) -> bool:
        """Tell whether the rounded function did not fall as a step promised (Armijo's rule)."""
        promised = float(self.gradient @ step)
        slack = 1e-13 * max(1.0, abs(self.value))
        return trial.before > self.value + 1e-4 * promised + slack


def _sum_block(weights: FloatArray, width_before: float, width: float, block: Block) -> Sums:
    (rows,) = block.tables
    z = decide(rows, weights)
    size = abs(z)
    low, span = _bend(width)
    share = _clip((size - low) / span, 0.0, 1.0)
    in_bend = (share > 0) & (share < 1)
    return (
        0.5 * _total(_clip(size, 1.0, None)),
        _total(_rounded(size, width_before)),
        _total(_rounded(size, width)),
        0.5 * _total(share),
        weighted_sum(rows, 0.5 * share * _sign(z)),
        weighted_gram(rows, _indicator(in_bend, z) * (0.5 / span)),
    )


def _split_block(weights: FloatArray, reach: float, block: Block) -> Sums:
    """Return the rows near a kink, the number of others between the kinks, and the others' pull."""
    (rows,) = block.tables
    z = decide(rows, weights)
    size = abs(z)
    is_near = abs(size - 1.0) <= reach
    is_outside = (size > 1.0) & ~is_near
    is_inside = (size <= 1.0) & ~is_near
    pull = weighted_sum(rows, 0.5 * _sign(z) * is_outside)
    return [to_numpy(rows[is_near])], is_inside.sum(), pull


def _bend(width: float) -> tuple[float, float]:
    """Return where the rounded kink begins, and how long it is."""
    low = max(0.0, 1.0 - width)
    return low, 1.0 + width - low


def _rounded(size: Any, width: float) -> Any:
    """Return the rounded even part for ``|z| = size``; its slope rises from 0 to 1/2 evenly."""
    low, span = _bend(width)
    share = _clip((size - low) / span, 0.0, 1.0)
    beyond = _clip(size - low - span, 0.0, None)
    return 0.5 + 0.25 * span * share**2 + 0.5 * beyond


def _indicator(is_true: Any, values: Any) -> Any:
    """Return ones and zeros in the precision of `values`."""
    return namespace_of(values).ones_like(values) * is_true


def _total(values: Any) -> Any:
    """Return the sum in double precision: the gap is a small difference of such sums."""
    xp = namespace_of(values)
    return xp.sum(values, dtype=xp.float64)


def _sign(z: Any) -> Any:
    return namespace_of(z).sign(z)


def _clip(values: Any, low: float, high: float | None) -> Any:
    return namespace_of(values).clip(values, low, high)
