"""Threshold and calibration curves without labels, from class probabilities that statements give.

Every row counts for both classes, each with the probability that it is of it. That is unbiased
where these probabilities are calibrated given the score that the rows are ranked by.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise._types import FloatArray

__all__ = [
    "CalibrationCurve",
    "ThresholdCurve",
    "areas",
    "calibration_curve",
    "threshold_curve",
]

_N_BINS = 10
_MOST_THRESHOLDS = 400
"""Points that a curve has at most."""


@dataclass(frozen=True, eq=False)
class ThresholdCurve:
    """Rates at other thresholds of the score for class +1.

    Attributes
    ----------
    thresholds : array of shape (n,)
        Decreasing; rows with a score above it are called +1. Scores are log-odds where the
        classifier has probabilities, else its decision values.
    true_positive_rate, false_positive_rate : arrays of shape (n,)
        The ROC curve. The first is the recall of class +1.
    precision : array of shape (n,)
        Of the rows called +1, the share that is. One where none is called so.
    share : array of shape (n,)
        Share of rows called +1.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.report.curves import threshold_curve
    >>> curve = threshold_curve(np.array([2.0, 1.0, 0.0]), np.ones(3), np.array([1.0, 0.5, 0.0]))
    >>> curve.true_positive_rate
    array([0.        , 0.66666667, 1.        , 1.        ])
    """

    thresholds: FloatArray
    true_positive_rate: FloatArray
    false_positive_rate: FloatArray
    precision: FloatArray
    share: FloatArray

    def to_dict(self) -> dict[str, list[float]]:
        """Return the columns; the first threshold is above all scores."""
        return {name: [float(v) for v in getattr(self, name)] for name in self.__dataclass_fields__}

    def at_share(self, share: float) -> dict[str, float]:
        """Return threshold and rates at which about this share of rows is predicted +1.

        Parameters
        ----------
        share : float
            For instance the share that somebody has the time to look at.
        """
        place = int(np.argmin(np.abs(self.share - share)))
        return {name: float(getattr(self, name)[place]) for name in self.__dataclass_fields__}


@dataclass(frozen=True, eq=False)
class CalibrationCurve:
    """How well the probabilities of a classifier agree with the statements.

    Attributes
    ----------
    predicted : array of shape (n_bins,)
        Mean probability that the classifier gives to class +1, or to the class that it predicts
        where there are more than two, in bins of equally many rows.
    observed : array of shape (n_bins,)
        Share of rows that are of that class, by the statements.
    weights : array of shape (n_bins,)
        Share of rows in each bin.
    error : float
        Expected calibration error: the mean distance of the two.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.report.curves import calibration_curve
    >>> given, found = np.array([[0.1, 0.9]]), np.array([[0.2, 0.8]])
    >>> round(calibration_curve(given, np.ones(1), found, np.array([1])).error, 3)
    0.1
    """

    predicted: FloatArray
    observed: FloatArray
    weights: FloatArray
    error: float

    def to_dict(self) -> dict[str, Any]:
        """Return the curve, ready for JSON."""
        arrays = ("predicted", "observed", "weights")
        return {**{name: getattr(self, name).tolist() for name in arrays}, "error": self.error}


def _steps(
    scores: FloatArray, weights: FloatArray, positive: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return falling scores, each once, with the weight of both classes down to it."""
    order = np.argsort(-scores, kind="stable")
    last = np.append(np.flatnonzero(np.diff(scores[order])), scores.size - 1)
    hits = np.cumsum((weights * positive)[order])[last]
    misses = np.cumsum((weights * (1.0 - positive))[order])[last]
    return scores[order][last], hits, misses


def areas(scores: FloatArray, weights: FloatArray, positive: FloatArray) -> FloatArray:
    """Return the area under the ROC curve and the average precision.

    Parameters
    ----------
    scores : array of shape (n_rows,)
    weights : array of shape (n_rows,)
    positive : array of shape (n_rows,)
        Probability of class +1.

    Returns
    -------
    array of shape (2,)

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.report.curves import areas
    >>> areas(np.array([3.0, 2.0, 1.0]), np.ones(3), np.array([1.0, 0.0, 1.0]))
    array([0.5       , 0.83333333])
    """
    _, hits, misses = _steps(scores, weights, positive)
    hits, misses = np.append(0.0, hits), np.append(0.0, misses)
    both = max(hits[-1], 1e-300) * max(misses[-1], 1e-300)
    roc = float(np.sum(np.diff(misses) * (hits[1:] + hits[:-1]) / 2) / both)
    precision = hits[1:] / np.maximum(hits[1:] + misses[1:], 1e-300)
    average = float(np.sum(np.diff(hits) * precision) / max(hits[-1], 1e-300))
    return np.array([roc, average])


def threshold_curve(
    scores: FloatArray, weights: FloatArray, positive: FloatArray
) -> ThresholdCurve:
    """Return the rates at all thresholds; parameters as in `areas`.

    Parameters
    ----------
    scores, weights, positive : arrays of shape (n_rows,)

    Returns
    -------
    ThresholdCurve
    """
    found, hits, misses = _steps(scores, weights, positive)
    total = max(hits[-1] + misses[-1], 1e-300)
    places = np.unique(np.linspace(0, found.size - 1, _MOST_THRESHOLDS).astype(np.intp))
    # A row is called +1 where its score is above the threshold: half way to the next lower one.
    below = np.append((found[1:] + found[:-1]) / 2, found[-1] - 1.0)
    hits, misses = np.append(0.0, hits[places]), np.append(0.0, misses[places])
    called = hits + misses
    return ThresholdCurve(
        np.append(found[0] + 1.0, below[places]),
        hits / max(hits[-1], 1e-300),
        misses / max(misses[-1], 1e-300),
        np.divide(hits, called, out=np.ones_like(hits), where=called > 0),
        called / total,
    )


def calibration_curve(
    given: FloatArray, weights: FloatArray, probabilities: FloatArray, predicted: NDArray[np.intp]
) -> CalibrationCurve:
    """Compare probabilities of a classifier with those that statements give.

    Parameters
    ----------
    given : array of shape (n_rows, n_classes)
        Of the classifier.
    weights : array of shape (n_rows,)
    probabilities : array of shape (n_rows, n_classes)
        By the statements.
    predicted : integer array of shape (n_rows,)

    Returns
    -------
    CalibrationCurve
    """
    column = predicted if given.shape[1] > 2 else np.ones_like(predicted)
    rows = np.arange(predicted.size)
    said, found = given[rows, column], probabilities[rows, column]
    order = np.argsort(said, kind="stable")
    filled = np.cumsum(weights[order]) / weights.sum()
    bins = np.empty(predicted.size, dtype=np.intp)
    bins[order] = np.minimum((filled * _N_BINS - 1e-9).astype(np.intp), _N_BINS - 1)
    sums = [np.bincount(bins, weights * one, _N_BINS) for one in (said, found, np.ones_like(said))]
    is_used = sums[2] > 0
    mean_said, mean_found = (one[is_used] / sums[2][is_used] for one in sums[:2])
    shares = sums[2][is_used] / weights.sum()
    error = float(shares @ np.abs(mean_said - mean_found))
    return CalibrationCurve(mean_said, mean_found, shares, error)
