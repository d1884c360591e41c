"""Calibration: from cross-fitted scores to class probabilities and to the shares of the classes.

Shrinkage makes scores too timid and pulls the shares together. A scale and an offset undo it:
``eta = sigmoid(scale * score + offset)`` is fitted by the same pair likelihood, without a penalty,
to scores of rows that the models did not see. For two classes, how well every share of the larger
one explains the pairs is kept: that is where intervals come from, and with weak pairs, where many
shares fit equally well, the calibration is their average, not the luckiest of them.

Log-odds need not be straight in the score, and a share that rests on a straight line is told too
surely. So the posterior of the share allows the two ends of the score slopes of their own, as beta
calibration does (Kull, Silva Filho and Flach, 2017)::

    eta = sigmoid(scale * (score + bend * sqrt(1 + score^2)) + offset)

for scores around zero, with a normal prior of the bend around zero. Predictions keep the straight
line.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit, ndtr

from likewise._types import FloatArray
from likewise.beliefs.base import Beliefs, Likelihood, log_probabilities

__all__ = [
    "Calibration",
    "ClassCalibration",
    "Temper",
    "calibrate",
    "calibrate_classes",
    "narrowest",
    "of_majority",
    "tempered",
]

_FLAT = 1e-4
"""Standard deviation of scores that counts as none: where nothing speaks for any, a climb ends
with scores that vary by less, at random, and a scale of thousands would make something of them."""
_N_SHARES = 30
_LOWEST, _HIGHEST = 0.2, 0.995
"""Mean probabilities that are tried; below one half the scores had the classes exchanged."""
_SCALES = (-3.5, 3.0)
"""Logarithms of the smallest and largest scale, for scores of unit deviation."""
_BEND = 0.5
"""Standard deviation of the bend's prior: one slope may well be three times the other."""
_MOST_BEND = 0.9
"""Log-odds rise with the score for any bend below one."""
_FINE = 4000
"""Grid points of the posterior of the share."""


@dataclass(frozen=True)
class Calibration:
    """How to turn the scores of two classes into log-odds, and how sure that is.

    Attributes
    ----------
    scale, offset : float
        Log-odds of the majority class are ``scale * score + offset``; the scale is negative where
        the scores had the classes the wrong way round, and zero where they are all alike.
    shares : array of shape (n_shares,)
        Shares of the class that scores are high for, evenly spaced over [0, 1].
    weights : array of shape (n_shares,)
        Posterior weight of each share under a flat prior.
    log_likelihood : float
        Its largest value, in nats.
    is_named : bool
        Whether that class has a name; otherwise it is called the majority class.
    """

    scale: float
    offset: float
    shares: FloatArray
    weights: FloatArray
    log_likelihood: float
    is_named: bool = False

    @property
    def share(self) -> float:
        """Posterior mean of the majority class's share; of the second class's, if it has a name."""
        shares = self.shares
        return float(self.weights @ (shares if self.is_named else np.maximum(shares, 1.0 - shares)))

    def interval(self, level: float) -> tuple[float, float]:
        """Return the narrowest interval that holds `level` of the posterior weight.

        It is that of the class that scores are high for, and may reach below one half.
        """
        return narrowest(self.shares, self.weights, level)


def calibrate(scores: FloatArray, likelihood: Likelihood) -> Calibration:
    """Calibrate the cross-fitted scores of two classes.

    Parameters
    ----------
    scores : array of shape (n_rows,)
        High for the majority class.
    likelihood : Likelihood
        Of the statements about these rows.

    Returns
    -------
    Calibration
    """
    spread = float(scores[likelihood.population].std())
    is_flat = spread < _FLAT
    unit = np.zeros_like(scores) if is_flat else scores / spread
    is_named = likelihood.is_named
    lowest = 1.0 - _HIGHEST if is_named else _LOWEST
    points, logs, weights = _refined(_Ridge(unit, likelihood), lowest)
    shares, posterior = _posterior(points, weights)
    # Where shares of the classes among pairs are free, the share is known by the straight line
    # alone: any other prior would do with another bend.
    if not (is_flat or likelihood.has_free_shares):
        bent, _, weights_of_bent = _refined(_Ridge(unit, likelihood, _BEND), lowest)
        shares, posterior = _posterior(bent, weights_of_bent)
    # Scores that were high for the minority class after all are turned round.
    upright = is_named or float(posterior @ shares) >= 0.5
    sign = 1.0 if upright else -1.0
    scale = 0.0 if is_flat else float(weights @ [point.scale for point in points]) / spread
    return Calibration(
        scale=sign * scale,
        offset=sign * float(weights @ [point.offset for point in points]),
        shares=shares,
        weights=posterior if upright else posterior[::-1],
        log_likelihood=float(logs.max()),
        is_named=is_named,
    )


def _refined(ridge: "_Ridge", lowest: float) -> tuple[list["_Point"], FloatArray, FloatArray]:
    """Evaluate calibrations on a grid that is closer where the weight is."""
    low, high, size = lowest, _HIGHEST, _N_SHARES
    while True:
        grid = np.linspace(low, high, size)
        points = [ridge.best(target) for target in grid]
        logs = np.array([point.value for point in points])
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        heavy = np.flatnonzero(weights > 1e-3)
        step = grid[1] - grid[0]
        if heavy.size >= _N_SHARES // 4 or step < 1e-6 or size > _N_SHARES:
            return points, logs, weights
        if heavy[-1] - heavy[0] > size // 2:  # two peaks far apart: a closer look at all
            size = 4 * _N_SHARES
        low = max(lowest, grid[heavy[0]] - step)
        high = min(_HIGHEST, grid[heavy[-1]] + step)


def narrowest(values: FloatArray, weights: FloatArray, level: float) -> tuple[float, float]:
    """Return the narrowest interval of a grid that holds `level` of the weight.

    Parameters
    ----------
    values, weights : arrays of shape (n_values,)
        Increasing values and their weights, which sum to one.
    level : float

    Returns
    -------
    low, high : float
        Each value stands for a cell that reaches half way to its neighbors.
    """
    middles = (values[1:] + values[:-1]) / 2
    ends = 2 * values[0] - middles[0], 2 * values[-1] - middles[-1]
    edges = np.concatenate([ends[:1], middles, ends[1:]])
    total = np.concatenate([[0.0], np.cumsum(weights)])
    lows = np.linspace(0.0, max(0.0, 1.0 - level), 201)
    starts = np.interp(lows, total, edges)
    stops = np.interp(np.minimum(lows + level, 1.0), total, edges)
    best = int(np.argmin(stops - starts))
    # Twelve digits, so that an end of the range is met exactly.
    return round(float(starts[best]), 12), round(float(stops[best]), 12)


def of_majority(low: float, high: float) -> tuple[float, float]:
    """Return the interval of the majority class's share, given that of either class.

    Where it reaches below one half, either class may be the majority class. The narrowest interval
    of a posterior folded at one half would hold the share less often than it says: the weight that
    is folded over makes it look surer that the classes are about equally large.

    Parameters
    ----------
    low, high : float
    """
    low, high = (low, high) if low + high >= 1.0 else (1.0 - high, 1.0 - low)
    return max(low, 0.5), high


@dataclass(frozen=True)
class _Point:
    """The best calibration among those that share a mean probability over unlabeled rows."""

    value: float
    scale: float
    offset: float
    share: float
    deviation: float
    """Standard deviation of the share, the calibration taken as given."""


def _posterior(points: list[_Point], weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mix the points' normal distributions of the share."""
    edges = np.linspace(0.0, 1.0, _FINE + 1)
    mass = np.zeros(_FINE)
    for point, weight in zip(points, weights, strict=True):
        deviation = max(point.deviation, 1e-6)
        mass += weight * np.diff(ndtr((edges - point.share) / deviation))
    return (edges[1:] + edges[:-1]) / 2, mass / mass.sum()


class _Ridge:
    """The best calibration for every mean probability of the majority class.

    Parameters
    ----------
    scores : array of shape (n_rows,)
        Of unit deviation.
    likelihood : Likelihood
    bend : float, default 0.0
        Standard deviation of the bend's prior; zero for a straight line.
    """

    def __init__(self, scores: FloatArray, likelihood: Likelihood, bend: float = 0.0) -> None:
        of_bend = np.sqrt(1.0 + (scores - scores[likelihood.population].mean()) ** 2)
        self._scores = scores
        self._of_bend = of_bend - of_bend[likelihood.population].mean()
        self._precision = bend**-2.0 if bend else 0.0
        self._bounds = (_SCALES, (-_MOST_BEND, _MOST_BEND) if bend else (0.0, 0.0))
        self._weights = likelihood.population_weights
        self._likelihood = likelihood
        self._near: Beliefs | None = None
        self._start = np.zeros(2)

    def best(self, target: float) -> _Point:
        """Return the best calibration with a mean probability of `target`."""
        # The likelihood is flat where scales are small: a climb that began there would end there.
        start = np.array([max(self._start[0], 0.0), self._start[1]])
        found = self._climb(target, start, self._near)
        if self._likelihood.has_free_shares:
            # An optimum without classes holds those that come near it: begin anew too.
            found = min(found, self._climb(target, np.zeros(2), None), key=lambda one: one[0].fun)
        result, self._near = found
        self._start = result.x  # the next target's optimum is near
        scaled, offset = self._scaled(result.x, target)
        log_p = log_probabilities(scaled + offset)
        beliefs = self._likelihood.evaluate(log_p, self._near)
        variance = self._likelihood.share_covariance(log_p, beliefs)[1, 1]
        return _Point(
            value=beliefs.value - 0.5 * self._precision * float(result.x[1]) ** 2,
            scale=float(np.exp(result.x[0])),
            offset=offset,
            share=self._likelihood.share_of_population(target, beliefs),
            deviation=float(np.sqrt(max(variance, 0.0))),  # one NaN would spoil the posterior
        )

    def _climb(
        self, target: float, start: FloatArray, near: Beliefs | None
    ) -> tuple[Any, Beliefs | None]:
        self._near = near
        found = minimize(
            self._objective,
            start,
            args=(target,),
            jac=True,
            method="L-BFGS-B",
            bounds=self._bounds,
            options={"ftol": 1e-8},
        )
        return found, self._near

    def _scaled(self, vector: FloatArray, target: float) -> tuple[FloatArray, float]:
        """Return scores on their scale, and the offset for a mean probability of `target`."""
        scaled = np.exp(vector[0]) * (self._scores + vector[1] * self._of_bend)
        of_population = scaled[self._likelihood.population]
        return scaled, _offset_for(of_population, target, self._weights)

    def _objective(self, vector: FloatArray, target: float) -> tuple[float, FloatArray]:
        scaled, offset = self._scaled(vector, target)
        found = self._likelihood.evaluate(log_probabilities(scaled + offset), self._near)
        self._near = found
        slopes = found.gradient[:, 1]
        columns = np.column_stack([scaled, np.exp(vector[0]) * self._of_bend])
        # The offset follows, so that the mean probability stays what it is.
        eta = expit(scaled[self._likelihood.population] + offset)
        curvature = eta * (1.0 - eta) * (1.0 if self._weights is None else self._weights)
        total = float(curvature.sum())
        drift = curvature @ columns[self._likelihood.population] / total if total > 0 else 0.0
        slope = slopes @ columns - drift * slopes.sum()
        away = np.array([0.0, self._precision * vector[1]])
        value = found.value - 0.5 * float(away[1] * vector[1])
        size = self._likelihood.size
        return -value / size, (away - slope) / size


def _offset_for(scaled: FloatArray, target: float, weights: FloatArray | None = None) -> float:
    """Return the offset for a mean probability of `target`."""
    share = 1.0 / scaled.size if weights is None else weights
    low, high = logit(target) - scaled.max(), logit(target) - scaled.min()
    offset = float(np.clip(logit(target) - scaled.mean(), low, high))
    for _ in range(100):
        eta = expit(scaled + offset)
        excess = float(np.sum(eta * share)) - target
        if abs(excess) < 1e-10 or high - low < 1e-12:
            break
        low, high = (low, offset) if excess > 0 else (offset, high)
        slope = float(np.sum(eta * (1.0 - eta) * share))
        step = offset - excess / slope if slope > 0 else np.inf
        offset = step if low < step < high else (low + high) / 2.0
    return offset


@dataclass(frozen=True)
class ClassCalibration:
    """How to turn the scores of more than two classes into calibrated ones.

    Attributes
    ----------
    scale : float
    offsets : array of shape (n_classes,)
        Calibrated scores are ``scale * scores + offsets``.
    shares, deviations : arrays of shape (n_classes,)
        Shares of the classes and their standard errors.
    """

    scale: float
    offsets: FloatArray
    shares: FloatArray
    deviations: FloatArray


def calibrate_classes(scores: FloatArray, likelihood: Likelihood) -> ClassCalibration:
    """Calibrate the cross-fitted scores of more than two classes.

    Parameters
    ----------
    scores : array of shape (n_rows, n_classes)
    likelihood : Likelihood
        Of the statements about these rows.

    Returns
    -------
    ClassCalibration
    """
    temper = Temper(scores, likelihood)
    apply, objective = temper.apply, temper.objective
    of_rows = likelihood.population_weights

    def shares(vector: FloatArray) -> FloatArray:
        log_p, found = apply(vector)
        mean = np.average(np.exp(log_p[likelihood.population]), axis=0, weights=of_rows)
        return np.array(
            [likelihood.share_of_population(float(mean[k]), found, k) for k in range(mean.size)]
        )

    best = temper.best(np.zeros(scores.shape[1]), tol=1e-10)
    step = 1e-4
    nudges = step * np.eye(best.size)
    curvature = np.array(
        [(objective(best + e)[1] - objective(best - e)[1]) / (2 * step) for e in nudges]
    )
    drifts = np.array([(shares(best + e) - shares(best - e)) / (2 * step) for e in nudges])
    log_p, found = apply(best)
    information = likelihood.size * (curvature + curvature.T) / 2
    covariance = drifts.T @ np.linalg.pinv(information, hermitian=True) @ drifts
    covariance = covariance + likelihood.share_covariance(log_p, found)
    return ClassCalibration(
        scale=float(np.exp(best[0])),
        offsets=np.append(0.0, best[1:]),
        shares=shares(best),
        deviations=np.sqrt(np.maximum(np.diag(covariance), 0.0)),
    )


class Temper:
    """Scale and offsets of class scores that explain statements best, as one vector.

    Parameters
    ----------
    scores : array of shape (n_rows, n_classes)
    likelihood : Likelihood
    near : Beliefs, optional
        Of nearby scores.
    """

    def __init__(
        self, scores: FloatArray, likelihood: Likelihood, near: Beliefs | None = None
    ) -> None:
        self._scores = scores
        self._likelihood = likelihood
        self._near = near

    def apply(self, vector: FloatArray) -> tuple[FloatArray, Beliefs]:
        """Return log-probabilities, and what the statements imply by them."""
        log_p = tempered(self._scores, vector)
        self._near = self._likelihood.evaluate(log_p, self._near)
        return log_p, self._near

    def objective(self, vector: FloatArray) -> tuple[float, FloatArray]:
        """Return the negative log-likelihood in nats per pair, and its gradient."""
        found, size = self.apply(vector)[1], self._likelihood.size
        slope = np.exp(vector[0]) * float(np.sum(found.gradient * self._scores))
        gradient = np.append(slope, found.gradient[:, 1:].sum(axis=0))
        # A weak prior on scale and offsets (deviation 2): without it, what the statements leave
        # open would look as if it were known.
        value = found.value - float(vector @ vector) / 8
        return -value / size, -(gradient - vector / 4) / size

    def best(self, start: FloatArray, tol: float) -> FloatArray:
        """Return the best vector, from a start on."""
        found = minimize(self.objective, start, jac=True, method="L-BFGS-B", options={"ftol": tol})
        return np.asarray(found.x)


def tempered(scores: FloatArray, vector: FloatArray) -> FloatArray:
    """Return log-probabilities of class scores under a scale and offsets.

    Parameters
    ----------
    scores : array of shape (n_rows, n_classes)
    vector : array of shape (n_classes,)
        Logarithm of the scale, and the offsets of all classes but the first.
    """
    return log_probabilities(np.exp(vector[0]) * scores + np.append(0.0, vector[1:]))
