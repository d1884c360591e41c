"""From what was learned to what users ask for: probabilities, shares and error rates."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri
from scipy.stats import chi2

from likewise._types import FloatArray
from likewise._verbose import step
from likewise.beliefs.base import Beliefs
from likewise.beliefs.table import TableLikelihood
from likewise.search.calibration import calibrate, calibrate_classes
from likewise.search.learn import Learned
from likewise.search.rows import MemoryRows, SourceRows
from likewise.search.streamed import TableScores

__all__ = ["Calibrated", "calibrated", "error_rate_interval", "scores_of_all"]


@dataclass(frozen=True)
class Calibrated:
    """Scale and offsets of the scores, and what they tell of the classes.

    Attributes
    ----------
    scale : float
        Negative where the scores of two classes had them exchanged.
    offsets : array of shape (m,)
        Calibrated scores are ``scale * scores + offsets``.
    shares : array of shape (n_classes,)
        Of two classes the second is the larger, unless they are named.
    intervals : array of shape (n_classes, 2)
        Of the shares.
    """

    scale: float
    offsets: FloatArray
    shares: FloatArray
    intervals: FloatArray


def calibrated(learned: Learned, level: float) -> Calibrated:
    """Calibrate what was learned.

    Parameters
    ----------
    learned : Learned
    level : float
        Of the intervals.

    Returns
    -------
    Calibrated
    """
    calibrate_any = _calibrate_two if learned.likelihood.n_classes == 2 else _calibrate_more
    found = calibrate_any(learned, level)
    step("probabilities calibrated")
    return found


def _calibrate_two(learned: Learned, level: float) -> Calibrated:
    likelihood = learned.likelihood
    found = calibrate(learned.candidate.scores[:, 0], likelihood)
    nothing = (0.0, 1.0) if learned.likelihood.is_named else (0.5, 1.0)
    low, high = found.interval(level) if learned.has_signal else nothing
    return Calibrated(
        found.scale,
        np.array([found.offset]),
        np.array([1.0 - found.share, found.share]),
        np.array([[1.0 - high, 1.0 - low], [low, high]]),
    )


def _calibrate_more(learned: Learned, level: float) -> Calibrated:
    scores = learned.candidate.scores
    found = calibrate_classes(scores, learned.likelihood)
    reach = float(ndtri((1.0 + level) / 2.0)) * found.deviations
    # Of a class that no row is in, so many could have gone unseen. Members of pairs do not count:
    # a rare class is far rarer among them.
    unseen = -np.log1p(-level) / scores[learned.likelihood.population].shape[0]
    highest = np.maximum(found.shares + reach, unseen)
    intervals = np.column_stack([found.shares - reach, highest]).clip(0.0, 1.0)
    return Calibrated(found.scale, found.offsets, found.shares, intervals)


def scores_of_all(
    learned: Learned, source: SourceRows, scores: FloatArray, weights: FloatArray
) -> FloatArray:
    """Return scores of all rows of a table: cross-fitted where there are such.

    Parameters
    ----------
    learned : Learned
    source : SourceRows
        The table, whether or not all of its rows were learned from.
    scores : array of shape (n_some, m)
        Calibrated, cross-fitted scores of the rows that it was judged on.
    weights : array of shape (n_features + 1, m)
        Calibrated weights.

    Returns
    -------
    array of shape (n_rows, m)
    """
    if not learned.some.is_whole:
        assert source.table is not None  # noqa: S101 - statements are about a table
        return TableScores(source.table, learned.features).decide(weights)
    if not isinstance(source, MemoryRows):
        return scores
    kept = source.whole.statements.counted
    if kept is None:
        return scores
    of_all = learned.features.design(source.whole.rows).decide(weights)
    of_all[kept] = scores
    return of_all


def error_rate_interval(
    likelihood: TableLikelihood, log_p: FloatArray, beliefs: Beliefs, level: float
) -> tuple[float, float]:
    """Return the error rates that a likelihood-ratio test does not reject.

    Parameters
    ----------
    likelihood : TableLikelihood
        With a learned error rate.
    log_p : array of shape (n_rows, n_classes)
    beliefs : Beliefs
        Of the best error rate.
    level : float

    Returns
    -------
    low, high : float
    """
    limit = float(chi2.ppf(level, df=1)) / 2.0
    best = beliefs.error_rate

    def excess(rate: float) -> float:
        value = likelihood.with_error_rate(rate).evaluate(log_p, beliefs).value
        return beliefs.value - value - limit

    lowest, highest = 1e-6, 0.5 - 1e-6
    low = 0.0 if excess(lowest) < 0 else brentq(excess, lowest, best, xtol=1e-4)
    high = 0.5 if excess(highest) < 0 else brentq(excess, best, highest, xtol=1e-4)
    return float(low), float(high)
