"""Linear scores of two classes from rows that an engine holds, by few passes over them.

The penalized pair likelihood is minimized by Newton's method. `likewise.beliefs.fresh` profiles the
share of the majority class out, which would take passes of its own; here the share q and a
multiplier m are unknowns beside the weights. With ``eta = sigmoid(z)``, the sum ::

    sum_rows log(1 + m (eta - q)) + sum_members log(1 + exp(z))
        - sum_pairs [log(1 + exp(tau + z_a + z_b)) + log t_0]

is stationary in q and m at the profiled likelihood; ``t_0`` and ``tau`` follow from q and, for
freely formed pairs, from their share.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh
from scipy.special import expit, logit

from likewise._types import FloatArray
from likewise.engines.arrays import like, namespace_of
from likewise.engines.base import Block, Engine, Sums
from likewise.engines.finite import raise_not_finite

__all__ = [
    "Fit",
    "Standardise",
    "State",
    "Totals",
    "collect",
    "minimise_by_passes",
    "solve_downhill",
]

_MOST_PASSES = 15
_GAP = 1e-6
"""Decrease still to come, relative to the likelihood, that counts as converged."""
_TOL = 1e-10
"""The same where rounding allows it: steps go on to here, since each squares the error."""
_UNSETTLED = 0.3
"""Share of a step's promise that settling what is common may be worth; beyond it goes first."""
_LONGEST = np.array([0.1, 0.2, 1.0])
"""How far one step may move what is common: farther, its second derivatives say little."""
_SMALLEST_SHARE = 1e-6
_SMALLEST_VALUE = 1e-2
"""Nats per pair that decreases are compared with at least: without classes there are none."""

Standardise = Callable[[Any], Any]
"""From a block's rows to the features that scores are linear in, centered and scaled."""


@dataclass(frozen=True)
class State:
    """The unknowns of the search.

    Attributes
    ----------
    weights : array of shape (d + 1,)
        Of the standardized features; the intercept is the last.
    common : array of shape (2,) or (3,)
        The share q, the multiplier m and, for freely formed pairs, the log-odds of the second
        class among them.
    """

    weights: FloatArray
    common: FloatArray

    @classmethod
    def of(
        cls,
        weights: FloatArray,
        pair_shares: FloatArray | None,
        share: float,
        similar: int,
        unlabeled: int,
    ) -> "State":
        """Return the state that belongs to weights and a share of the second class."""
        share = float(np.clip(share, _SMALLEST_SHARE, 1 - _SMALLEST_SHARE))
        of_pairs = share**2 / (share**2 + (1.0 - share) ** 2)
        if pair_shares is not None:
            of_pairs = float(np.clip(pair_shares[1], _SMALLEST_SHARE, 1 - _SMALLEST_SHARE))
        preference = of_pairs / share - (1.0 - of_pairs) / (1.0 - share)
        multiplier = 2 * similar / (2 * similar + unlabeled) * preference
        free = [] if pair_shares is None else [logit(of_pairs)]
        return cls(weights[:, 0], np.array([share, multiplier, *free]))

    @property
    def tau(self) -> float:
        """What freely formed pairs add to the log-odds of their members together."""
        return 0.0 if self.common.size == 2 else float(self.common[2] - 2 * logit(self.common[0]))

    def moved(self, step: FloatArray, length: float = 1.0) -> "State":
        """Return the state after part of a step, within its bounds."""
        d = self.weights.size
        q, m, *free = self.common + length * step[d:]
        q = float(np.clip(q, _SMALLEST_SHARE, 1.0 - _SMALLEST_SHARE))
        m = float(np.clip(m, -0.999 / (1.0 - q), 0.999 / q))
        return State(self.weights + length * step[:d], np.array([q, m, *free]))


class Totals(NamedTuple):
    """Sums over rows and pairs at a state; those of some rows can be subtracted."""

    n_pairs: float
    hessian: FloatArray
    """In the weights, (d + 1, d + 1)."""
    of_rows: FloatArray
    """``[x, 1]'`` times the terms of `_row_terms`, (d + 1, 7)."""
    of_pairs: FloatArray
    """``[x_a + x_b, 2]'`` times the terms of `_pair_terms`, (d + 1, 3)."""


def collect(engine: Engine, standardise: Standardise, state: State) -> Totals:
    """Sum over the rows and pairs of an engine, in one pass.

    Parameters
    ----------
    engine : Engine
    standardise : callable
    state : State

    Returns
    -------
    Totals
    """
    # Kernels may travel: they take along what they need, not the rows.
    hessian, of_rows = engine.map_reduce(
        "unlabeled", lambda block: _unlabeled_sums(block, standardise, state)
    )
    of_similar = engine.map_reduce("similar", lambda block: _pair_sums(block, standardise, state))
    if not (np.isfinite(of_rows).all() and np.isfinite(of_similar[2]).all()):
        raise_not_finite(engine)
    return Totals(
        float(engine.count("similar")),
        hessian + of_similar[0],
        of_rows + of_similar[1],
        np.asarray(of_similar[2]),
    )


def _unlabeled_sums(block: Block, standardise: Standardise, state: State) -> Sums:
    with np.errstate(invalid="ignore", over="ignore"):  # sums are looked at afterwards
        rows = _with_ones(standardise(block.tables[0]))
        terms, curvature = _row_terms(rows @ like(rows, state.weights), state, is_member=False)
        return (rows * curvature[:, None]).T @ rows, rows.T @ terms


def _pair_sums(block: Block, standardise: Standardise, state: State) -> Sums:
    hessian, of_rows, scores = 0.0, 0.0, 0.0
    with np.errstate(invalid="ignore", over="ignore"):
        sides = [_with_ones(standardise(table)) for table in block.tables]
        for rows in sides:
            here = rows @ like(rows, state.weights)
            terms, curvature = _row_terms(here, state, is_member=True)
            hessian = hessian + (rows * curvature[:, None]).T @ rows
            of_rows, scores = of_rows + rows.T @ terms, scores + here
        both = sides[0] + sides[1]
        terms, curvature = _pair_terms(scores, state)
        return hessian - (both * curvature[:, None]).T @ both, of_rows, both.T @ terms


def _with_ones(rows: Any) -> Any:
    xp = namespace_of(rows)
    return xp.concatenate([rows, xp.ones_like(rows[:, :1])], 1)


def _row_terms(z: Any, state: State, *, is_member: bool) -> tuple[Any, Any]:
    """Return what a row adds, (n, 7), and the curvature in its score.

    With ``r = 1 + m (eta - q)``: the slope in z; the derivative of the slope in m; the value;
    ``1 / r``; the slope in m; and the squares of the last two.
    """
    xp = namespace_of(z)
    q, m = float(state.common[0]), float(state.common[1])
    fall, half = xp.exp(-abs(z)), xp.tanh(0.5 * z)
    eta_slope = fall / (1.0 + fall) ** 2
    inverse = 1.0 / (1.0 + m * (0.5 + 0.5 * half - q))
    excess = (0.5 + 0.5 * half - q) * inverse
    slope, value = m * eta_slope * inverse, -xp.log(inverse)
    curvature = -slope * half - slope**2
    if is_member:
        curvature = curvature + eta_slope
        value = value + xp.log1p(fall) + 0.5 * (z + abs(z))
    total = slope + 0.5 + 0.5 * half if is_member else slope
    by_multiplier = eta_slope * inverse**2
    columns = [total, by_multiplier, value, inverse, excess, inverse**2, excess**2]
    return xp.stack(columns, 1), curvature


def _pair_terms(scores: Any, state: State) -> tuple[Any, Any]:
    """Return what a pair adds, (n, 3), and the curvature in the sum of its scores.

    It adds the probability of the second class, its slope, and the value.
    """
    xp = namespace_of(scores)
    z = scores + state.tau
    fall = xp.exp(-abs(z))
    slope = fall / (1.0 + fall) ** 2
    value = xp.log1p(fall) + 0.5 * (z + abs(z))
    return xp.stack([0.5 + 0.5 * xp.tanh(0.5 * z), slope, value], 1), slope


@dataclass(frozen=True)
class _Step:
    """Newton's step and what it promises.

    Attributes
    ----------
    value : float
        The penalized likelihood, shares profiled out to second order, in nats per pair.
    step : array of shape (d + 1 + c,)
    promise : float
        Decrease that the quadratic model expects of the step.
    n_common : int
        How many of the step's last entries are common.
    """

    value: float
    step: FloatArray
    promise: float
    n_common: int

    @property
    def longest(self) -> float:
        """How much of the step to try first."""
        reach = np.abs(self.step[-self.n_common :]) / _LONGEST[: self.n_common]
        return 1.0 / max(1.0, float(reach.max()))

    def is_within(self, gap: float) -> bool:
        """Tell whether the decrease still to come is small, relative to the likelihood."""
        return self.promise <= gap * max(abs(self.value), _SMALLEST_VALUE)


def _newton(totals: Totals, state: State, alpha: float) -> _Step:
    """Return Newton's step, downhill in the weights and stationary in what is common."""
    n, d = totals.n_pairs, state.weights.size
    penalty = np.append(np.full(d - 1, alpha), 0.0)
    value, slope, curvature, cross = _common_terms(totals, state)
    inverse = np.linalg.pinv(curvature)
    gradient = (totals.of_rows[:, 0] - totals.of_pairs[:, 0]) / n + penalty * state.weights
    profiled = gradient - cross @ inverse @ slope
    hessian = totals.hessian / n + np.diag(penalty) - cross @ inverse @ cross.T
    of_weights = -solve_downhill(hessian, profiled)
    promise = -0.5 * float(profiled @ of_weights)
    unsettled = 0.5 * float(slope @ inverse @ slope)
    if abs(unsettled) > max(_UNSETTLED * promise, _TOL):
        of_weights = np.zeros(d)  # the profile is not seen clearly enough to go down it
        promise = abs(unsettled)
    of_common = -inverse @ (slope + cross.T @ of_weights)
    return _Step(
        value=float(value + 0.5 * penalty @ state.weights**2 - unsettled),
        step=np.concatenate([of_weights, of_common]),
        promise=promise,
        n_common=state.common.size,
    )


def _common_terms(totals: Totals, state: State) -> tuple[float, FloatArray, FloatArray, FloatArray]:
    """Return the value and, in what is common, slope, curvature and cross derivatives, per pair."""
    n, (q, m) = totals.n_pairs, state.common[:2]
    sums, by_multiplier = totals.of_rows[-1], totals.of_rows[:, 1]
    value = sums[2] - totals.of_pairs[-1, 2] / 2
    slope = np.array([-m * sums[3], sums[4]])
    curvature = -np.array([[m**2 * sums[5], sums[5]], [sums[5], sums[6]]])
    cross = np.column_stack([m**2 * by_multiplier, by_multiplier])
    if state.common.size == 2:
        square, change = q**2 + (1.0 - q) ** 2, 4.0 * q - 2.0
        value += n * np.log(square)
        slope[0] += n * change / square
        curvature[0, 0] += n * (4.0 / square - (change / square) ** 2)
        return value / n, slope / n, curvature / n, cross / n
    # Pair terms depend on q and on the pairs' log-odds through tau and log t_0.
    share = expit(state.common[2])
    eta, eta_slope = totals.of_pairs[-1, :2] / 2
    by_q = -2.0 / (q * (1.0 - q))
    value += n * (np.logaddexp(0.0, state.common[2]) + 2.0 * np.log1p(-q))
    slope[0] -= 2.0 * n / (1.0 - q) + eta * by_q
    slope = np.append(slope, n * share - eta)
    full = np.zeros((3, 3))
    full[:2, :2] = curvature
    full[0, 0] -= 2.0 * n / (1.0 - q) ** 2 + eta_slope * by_q**2
    full[0, 0] -= eta * 2.0 * (1.0 - 2.0 * q) / (q * (1.0 - q)) ** 2
    full[0, 2] = full[2, 0] = -eta_slope * by_q
    full[2, 2] = n * share * (1.0 - share) - eta_slope
    cross = np.column_stack([cross, -totals.of_pairs[:, 1]])
    cross[:, 0] -= totals.of_pairs[:, 1] * by_q
    return value / n, slope / n, full / n, cross / n


def solve_downhill(hessian: FloatArray, gradient: FloatArray) -> FloatArray:
    """Solve with the Hessian, or where it is not positive with its absolute value."""
    try:
        return np.asarray(cho_solve(cho_factor(hessian), gradient))
    except LinAlgError:
        values, vectors = eigh(hessian)
        values = np.maximum(np.abs(values), 1e-6 * np.abs(values).max())
        return np.asarray(vectors @ (vectors.T @ gradient / values))


@dataclass(frozen=True)
class Fit:
    """Where the search ended.

    Attributes
    ----------
    state : State
        The minimizer.
    last : State
        Where the last pass was taken: a step short of it.
    totals : Totals
        At `last`.
    alpha : float
    promise : float
        Decrease that the last step promised, in nats per pair.
    converged : bool
    """

    state: State
    last: State
    totals: Totals
    alpha: float
    promise: float
    converged: bool


def minimise_by_passes(engine: Engine, standardise: Standardise, alpha: float, start: State) -> Fit:
    """Minimize the penalized likelihood of the rows of an engine.

    Parameters
    ----------
    engine : Engine
    standardise : callable
    alpha : float
        Ridge penalty of all weights but the intercept.
    start : State
        Near the minimizer, as one that was found on a sample.

    Returns
    -------
    Fit
    """
    state, totals = start, collect(engine, standardise, start)
    here = _newton(totals, state, alpha)
    length = here.longest
    for _ in range(_MOST_PASSES - 1):
        if here.is_within(_TOL):
            break
        trial = state.moved(here.step, length)
        sums = collect(engine, standardise, trial)
        there = _newton(sums, trial, alpha)
        if here.is_within(_GAP) and there.promise > 0.25 * here.promise:
            break  # what is left is rounding
        is_settling = not np.any(here.step[: state.weights.size])
        if is_settling or there.value <= here.value - 1e-4 * length * here.promise:
            state, totals, here, length = trial, sums, there, there.longest
        else:
            length *= 0.25
    converged = here.is_within(_GAP)
    end = state.moved(here.step) if converged else state
    return Fit(end, state, totals, alpha, here.promise, converged)
