"""Calibration: from cross-fitted scores to class chances and to the shares of the classes.

Shrinkage makes scores too timid and pulls the shares together. A scale and an offset undo it:
``eta = sigmoid(scale * score + offset)`` is fitted by the same pair likelihood, without a penalty,
to scores of rows that the models did not see. For two classes, how well every share of the larger
one explains the pairs is kept: that is where intervals come from, and with weak pairs, where many
shares fit equally well, the calibration is their average, not the luckiest of them.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit, ndtr

from likewise._types import FloatArray
from likewise.beliefs.fresh import Counts, Expansion, expand, log_probabilities, share_covariance
from likewise.search.table import Table

__all__ = [
    "CROSS_FITTED",
    "Calibration",
    "ClassCalibration",
    "calibrate",
    "calibrate_classes",
    "narrowest",
]

CROSS_FITTED = 0.8
"""Power of the likelihood of cross-fitted scores. The models of the folds share most of their
rows, so that the scores they got wrong they got wrong together; on simulated waveform samples the
plain likelihood's 90 % intervals held a prior of 0.7 in 92 % of draws, one of 0.85 in 84 %."""
_N_SHARES = 30
_LOWEST, _HIGHEST = 0.2, 0.995
"""Mean chances that are tried; below one half the scores had the classes the wrong way round."""
_SCALES = (-3.5, 3.0)
"""Logarithms of the smallest and largest scale, for scores of unit deviation."""
_FINE = 2000
"""Grid points of the posterior of the share."""
_MOST = 20_000
"""Pairs and rows that two classes are calibrated on at most, where there are twice as many: the
share is then known to 0.003."""


@dataclass(frozen=True)
class Calibration:
    """How to turn the scores of two classes into log-odds, and how sure that is.

    Attributes
    ----------
    scale, offset : float
        Log-odds of the larger class are ``scale * score + offset``; the scale is negative where
        the scores had the classes the wrong way round.
    shares : array of shape (n_shares,)
        Shares of the larger class, evenly spaced over [1/2, 1].
    weights : array of shape (n_shares,)
        Posterior weight of each share under a flat prior.
    pair_share : float or None
        Share of the larger class among freely formed similar pairs, where it is likeliest.
    log_likelihood : float
        Its largest value, in nats.
    """

    scale: float
    offset: float
    shares: FloatArray
    weights: FloatArray
    pair_share: float | None
    log_likelihood: float

    @property
    def share(self) -> float:
        """Posterior mean of the larger class's share."""
        return float(self.weights @ self.shares)

    def interval(self, level: float) -> tuple[float, float]:
        """Return the narrowest interval that holds `level` of the posterior weight."""
        return narrowest(self.shares, self.weights, level)


def calibrate(
    scores: FloatArray, counts: Counts, *, is_free: bool = False, power: float = 1.0
) -> Calibration:
    """Calibrate the cross-fitted scores of two classes.

    Parameters
    ----------
    scores : array of shape (n_rows,)
        Rows in the order of `Counts`, high scores for the larger class.
    counts : Counts
    is_free : bool
        Whether similar pairs have shares of their own.
    power : float
        What the likelihood is raised to before it weighs shares: below one for scores that are
        not of independent models, such as `CROSS_FITTED`.

    Returns
    -------
    Calibration
    """
    table = Table(scores[:, None], counts).thinned(_MOST)
    scores, counts = table.rows[:, 0], table.counts
    spread = float(scores[counts.alone].std())
    spread = spread if spread > 0 else 1.0
    ridge = _Ridge(scores / spread, counts, is_free)
    points, logs, weights = _refined(ridge, counts, power)
    best = points[int(np.argmax(logs))]
    shares, posterior = _posterior(points, weights, power)
    # Scores that were high for the smaller class after all are turned round.
    upright = float(weights @ [point.share for point in points]) >= 0.5
    sign = 1.0 if upright else -1.0
    return Calibration(
        scale=sign * float(weights @ [point.scale for point in points]) / spread,
        offset=sign * float(weights @ [point.offset for point in points]),
        shares=shares,
        weights=posterior,
        pair_share=best.pair_share if best.pair_share is None or upright else 1.0 - best.pair_share,
        log_likelihood=float(logs.max()),
    )


def _refined(
    ridge: "_Ridge", counts: Counts, power: float
) -> tuple[list["_Point"], FloatArray, FloatArray]:
    """Evaluate calibrations on a grid that is closer where the weight is."""
    low, high, size = _LOWEST, _HIGHEST, _N_SHARES
    while True:
        grid = np.linspace(low, high, size)
        points = [ridge.best(target) for target in grid]
        logs = -counts.pairs * np.array([point.value for point in points])
        weights = np.exp(power * (logs - logs.max()))
        weights /= weights.sum()
        heavy = np.flatnonzero(weights > 1e-3)
        step = grid[1] - grid[0]
        if heavy.size >= _N_SHARES // 4 or step < 1e-6 or size > _N_SHARES:
            return points, logs, weights
        if heavy[-1] - heavy[0] > size // 2:  # two hills far apart: a closer look at all
            size = 4 * _N_SHARES
        low = max(_LOWEST, grid[heavy[0]] - step)
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
        Each value stands for a cell that reaches half way to its neighbours.
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


@dataclass(frozen=True)
class _Point:
    """The best calibration among those that share a mean chance over unlabeled rows."""

    value: float
    scale: float
    offset: float
    share: float
    deviation: float
    """Standard deviation of the share, the calibration taken as given."""
    pair_share: float | None


def _posterior(
    points: list[_Point], weights: FloatArray, power: float
) -> tuple[FloatArray, FloatArray]:
    """Mix the points' normal distributions of the share, folded to [1/2, 1]."""
    edges = np.linspace(0.5, 1.0, _FINE + 1)
    mass = np.zeros(_FINE)
    for point, weight in zip(points, weights, strict=True):
        deviation = max(point.deviation / np.sqrt(power), 1e-6)
        mass += weight * np.diff(ndtr((edges - point.share) / deviation))
        mass += weight * np.diff(ndtr((edges - 1.0 + point.share) / deviation))
    return (edges[1:] + edges[:-1]) / 2, mass / mass.sum()


class _Ridge:
    """The best calibration for every mean chance of the larger class over unlabeled rows."""

    def __init__(self, scores: FloatArray, counts: Counts, is_free: bool) -> None:
        self._scores = scores
        self._counts = counts
        self._shares: FloatArray | None = None
        self._start = np.zeros(2 if is_free else 1)

    def best(self, target: float) -> _Point:
        """Return the best calibration with a mean chance of `target`."""
        bounds = [_SCALES, (-12.0, 12.0)][: self._start.size]
        found = minimize(
            self._objective,
            self._start,
            args=(target,),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"ftol": 1e-8},
        )
        self._start = found.x  # the next target's optimum is near
        scale = float(np.exp(found.x[0]))
        offset, _ = _offset_for(scale, self._scores[self._counts.alone], target)
        log_p, pair_shares = log_probabilities(scale * self._scores + offset), _shares(found.x)
        expansion = expand(log_p, self._counts, pair_shares, self._shares)
        spread = share_covariance(log_p, self._counts, expansion, pair_shares)[1, 1]
        return _Point(
            value=expansion.value,
            scale=scale,
            offset=offset,
            share=float(expansion.shares[1]),
            deviation=float(np.sqrt(spread)),
            pair_share=None if pair_shares is None else float(pair_shares[1]),
        )

    def _objective(self, vector: FloatArray, target: float) -> tuple[float, FloatArray]:
        scale = float(np.exp(vector[0]))
        offset, drift = _offset_for(scale, self._scores[self._counts.alone], target)
        log_p = log_probabilities(scale * self._scores + offset)
        found = expand(log_p, self._counts, _shares(vector), self._shares)
        self._shares = found.shares
        slopes = found.gradient[:, 1]
        slope = scale * float(slopes @ self._scores + drift * slopes.sum())
        return found.value, np.append(slope, found.pair_gradient[1:])[: vector.size]


def _shares(vector: FloatArray) -> FloatArray | None:
    """Return the pair shares in the second entry of a vector, if it has one."""
    if vector.size == 1:
        return None
    return np.array([expit(-vector[1]), expit(vector[1])])


def _offset_for(scale: float, scores: FloatArray, target: float) -> tuple[float, float]:
    """Return the offset at which chances have a mean of `target`, and its derivative in scale."""
    scaled = scale * scores
    low, high = logit(target) - scaled.max(), logit(target) - scaled.min()
    offset = float(np.clip(logit(target) - scaled.mean(), low, high))
    for _ in range(100):
        chances = expit(scaled + offset)
        excess = float(chances.mean()) - target
        if abs(excess) < 1e-10 or high - low < 1e-12:
            break
        low, high = (low, offset) if excess > 0 else (offset, high)
        slope = float(np.mean(chances * (1.0 - chances)))
        step = offset - excess / slope if slope > 0 else np.inf
        offset = step if low < step < high else (low + high) / 2.0
    curvature = chances * (1.0 - chances)
    total = float(curvature.sum())
    return offset, -float(curvature @ scores) / total if total > 0 else 0.0


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


def calibrate_classes(
    scores: FloatArray, counts: Counts, pair_shares: FloatArray | None = None
) -> ClassCalibration:
    """Calibrate the cross-fitted scores of more than two classes.

    Parameters
    ----------
    scores : array of shape (n_rows, n_classes)
    counts : Counts
    pair_shares : array of shape (n_classes,), optional
        Shares of the classes among freely formed pairs.

    Returns
    -------
    ClassCalibration
    """

    def apply(vector: FloatArray) -> tuple[FloatArray, Expansion]:
        log_p = log_probabilities(np.exp(vector[0]) * scores + np.append(0.0, vector[1:]))
        return log_p, expand(log_p, counts, pair_shares)

    def objective(vector: FloatArray) -> tuple[float, FloatArray]:
        found = apply(vector)[1]
        slope = np.exp(vector[0]) * float(np.sum(found.gradient * scores))
        return found.value, np.append(slope, found.gradient[:, 1:].sum(axis=0))

    start = np.zeros(scores.shape[1])
    best = minimize(objective, start, jac=True, method="L-BFGS-B", options={"ftol": 1e-10}).x
    step = 1e-4
    nudges = step * np.eye(best.size)
    curvature = np.array(
        [(objective(best + e)[1] - objective(best - e)[1]) / (2 * step) for e in nudges]
    )
    drifts = np.array(
        [(apply(best + e)[1].shares - apply(best - e)[1].shares) / (2 * step) for e in nudges]
    )
    log_p, found = apply(best)
    # A weak prior on scale and offsets (deviation 2): without it, what the pairs leave open would
    # look as if it were known.
    information = counts.pairs * (curvature + curvature.T) / 2 + np.eye(best.size) / 4
    covariance = drifts.T @ np.linalg.pinv(information, hermitian=True) @ drifts
    covariance = covariance + share_covariance(log_p, counts, found, pair_shares)
    return ClassCalibration(
        scale=float(np.exp(best[0])),
        offsets=np.append(0.0, best[1:]),
        shares=found.shares,
        deviations=np.sqrt(np.maximum(np.diag(covariance), 0.0)),
    )
