"""How accurate a classifier is on rows that were drawn at random.

Questions about open rows are chosen by the answers before them, so that these rows are harder than
others, by how much nobody knows. But rows are also asked about in a random order. Those at its
beginning that were asked about without a gap are a random sample of the table, whatever else their
answers were asked for: the classifier's accuracy is its share of right predictions among them. They
are predicted by clones that did not see their features.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from scipy.stats import beta

from likewise._types import FloatArray
from likewise.asking.progress import Point
from likewise.beliefs.errors import ERROR_RATES
from likewise.beliefs.table import TableLikelihood
from likewise.classifiers import PairClassifier
from likewise.report.predictions import cross_fitted, order_like, read_classes

__all__ = ["Audit", "accuracy_of"]

IntArray = NDArray[np.intp]

_N_FOLDS = 5
_SMALLEST = 1e-12
"""Probability of a class below which all count the same."""
_RATES = (ERROR_RATES[0], 0.02, 0.05, 0.1, 0.15, 0.2)
"""Error rates of answers that are weighed against each other."""
_GRID = (np.arange(1000) + 0.5) / 1000
"""Accuracies at which the posterior is computed."""


class _Predictions(NamedTuple):
    """Class numbers of all rows, by the classifier after some answers."""

    n_answers: int
    codes: IntArray

    def named_like(self, codes: IntArray, n_classes: int) -> "_Predictions":
        """Call classes what later predictions call them."""
        return self._replace(codes=order_like(codes, self.codes, n_classes)[self.codes])


class Audit:
    """Tells how accurate a classifier is, and was after fewer answers, by all rows audited so far.

    Parameters
    ----------
    level : float in (0, 1)
        Level of the intervals.

    Attributes
    ----------
    points : list of Point
        After every fit. All are of the same rows, so that they differ by what was learned.
    """

    def __init__(self, level: float = 0.95) -> None:
        if not 0.0 < level < 1.0:
            raise ValueError(f"level must lie strictly between 0 and 1; got {level!r}.")
        self._level = level
        self.points: list[Point] = []
        self._all: list[_Predictions] = []

    def add(
        self,
        n_answers: int,
        classifier: PairClassifier,
        X: Any,
        y: Any,
        likelihood: TableLikelihood,
        rows: IntArray,
    ) -> None:
        """Take in a classifier that was fitted to all answers.

        Parameters
        ----------
        n_answers : int
        classifier : fitted PairClassifier
        X : table of shape (n_rows, n_features)
        y : weak labels of all answers
        likelihood : TableLikelihood
            Of all answers.
        rows : integer array of shape (n_audited,)
            Rows that were drawn at random and are answered.
        """
        if not rows.size:
            return
        codes = _held_out(classifier, X, y, likelihood, rows)
        if codes is None:
            return
        posteriors = _posteriors(rows, likelihood, _log_p(classifier, X))
        named = [one.named_like(codes, likelihood.n_classes) for one in self._all]
        self._all = [*named, _Predictions(n_answers, codes)]
        self.points = [
            Point(one.n_answers, *accuracy_of(one.codes[rows], posteriors, self._level))
            for one in self._all
        ]


def _held_out(
    classifier: PairClassifier, X: Any, y: Any, likelihood: TableLikelihood, rows: IntArray
) -> IntArray | None:
    """Predict all rows, those to be audited by clones that were fitted without their features.

    None if all answers are about the rows of one fold.
    """
    folds = np.full(likelihood.n_rows, -1, dtype=np.intp)
    n_folds = min(_N_FOLDS, rows.size)
    folds[rows] = np.arange(rows.size) % n_folds
    parts = [likelihood.hold_out(folds == k) for k in range(n_folds)]
    if any(part.likelihood.statements.count == 0 for part in parts):
        return None
    own = read_classes(classifier, X).codes
    return cross_fitted(classifier, X, y, parts, own, likelihood.n_classes).held_out


def _log_p(classifier: PairClassifier, X: Any) -> FloatArray:
    """Return log-probabilities of all rows, by models that did not see them where there are any."""
    log_p = np.log(np.maximum(classifier.predict_proba(X), _SMALLEST))
    held_out = classifier.pair_information_.log_p
    if held_out.shape == log_p.shape:
        order = order_like(log_p.argmax(axis=1), held_out.argmax(axis=1), log_p.shape[1])
        log_p[:, order] = held_out
    return np.asarray(log_p)


def _posteriors(
    rows: IntArray, likelihood: TableLikelihood, log_p: FloatArray
) -> list[tuple[float, FloatArray]]:
    """Return for several error rates how likely all answers are, and the classes of some rows.

    Class probabilities by the classifier tell what the other rows are.
    """
    others = log_p.copy()
    others[rows] = -np.log(likelihood.n_classes)
    found = (likelihood.with_error_rate(rate).evaluate(others) for rate in _RATES)
    return [(one.value, one.posteriors[rows]) for one in found]


def accuracy_of(
    codes: IntArray, posteriors: Sequence[tuple[float, FloatArray]], level: float = 0.95
) -> tuple[float, float, float]:
    """Return the accuracy of predictions, and its interval.

    They are the posterior mean and quantiles, for the prior of Jeffreys. Where answers may be
    wrong, a row counts for what the answers about it tell at every error rate, and an error rate
    for how likely it makes all answers.

    Parameters
    ----------
    codes : integer array of shape (n_audited,)
        Class number that is predicted for every row.
    posteriors : sequence of (log-likelihood, array of shape (n_audited, n_classes))
        Of all answers, and class probabilities of the rows by answers alone, for every error rate.
    level : float in (0, 1)
        Level of the interval.
    """
    found = logsumexp([value + _curve(codes, said) for value, said in posteriors], axis=0)
    weights = np.exp(found - found.max()) * np.diff(
        beta(0.5, 0.5).cdf(np.linspace(0.0, 1.0, _GRID.size + 1))
    )
    weights /= weights.sum()
    tail = (1.0 - level) / 2.0
    low, high = np.interp([tail, 1.0 - tail], weights.cumsum() - 0.5 * weights, _GRID)
    return float(weights @ _GRID), float(low), float(high)


def _curve(codes: IntArray, said: FloatArray) -> FloatArray:
    """Return the log-likelihood of every accuracy."""
    right = np.take_along_axis(said, codes[:, None], axis=1)[:, 0]
    wrong = (said.sum(axis=1) - right) / (said.shape[1] - 1)
    return np.asarray(np.log(np.outer(_GRID, right) + np.outer(1.0 - _GRID, wrong)).sum(axis=1))
