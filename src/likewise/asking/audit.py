"""How accurate a classifier is on rows that were drawn at random.

Questions about open rows are chosen by the answers before them, so that these rows are harder than
others, by how much nobody knows. But rows are also asked about in a random order. Those at its
beginning that were asked about without a gap are a random sample of the table, whatever else their
answers were asked for: the classifier's accuracy is its share of right predictions among them. They
are predicted by clones that did not see their features.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from likewise._types import FloatArray
from likewise.asking.progress import Point
from likewise.beliefs.table import TableLikelihood
from likewise.classifiers import PairClassifier
from likewise.report.predictions import cross_fitted, order_like, read_classes

__all__ = ["Audit", "accuracy_of"]

IntArray = NDArray[np.intp]

_N_FOLDS = 5
_LEVEL = 0.95
_SMALLEST = 1e-12
"""Probability of a class below which all count the same."""
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

    Attributes
    ----------
    points : list of Point
        After every fit. All are of the same rows, so that they differ by what was learned.
    """

    def __init__(self) -> None:
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
        log_p = np.log(np.maximum(classifier.predict_proba(X), _SMALLEST))
        said = _said_of(rows, likelihood, log_p)
        named = [one.named_like(codes, likelihood.n_classes) for one in self._all]
        self._all = [*named, _Predictions(n_answers, codes)]
        self.points = [
            Point(one.n_answers, *accuracy_of(one.codes[rows], said)) for one in self._all
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


def _said_of(rows: IntArray, likelihood: TableLikelihood, log_p: FloatArray) -> FloatArray:
    """Return how likely the answers are for every class of some rows, up to a factor.

    Class probabilities by the classifier tell what the other rows are.
    """
    others = log_p.copy()
    others[rows] = -np.log(likelihood.n_classes)
    return likelihood.evaluate(others).posteriors[rows]


def accuracy_of(codes: IntArray, said: FloatArray) -> tuple[float, float, float]:
    """Return the accuracy of predictions, and its 95 % interval.

    Its posterior mean and quantiles, for the prior of Jeffreys. Where answers may be wrong, every
    row counts for what its own answers tell.

    Parameters
    ----------
    codes : integer array of shape (n_audited,)
        Class number that is predicted for every row.
    said : array of shape (n_audited, n_classes)
        How likely the answers about a row are for each of its classes.
    """
    right = np.take_along_axis(said, codes[:, None], axis=1)[:, 0]
    wrong = (said.sum(axis=1) - right) / (said.shape[1] - 1)
    with np.errstate(divide="ignore"):  # an answer that rules the prediction out
        log_likelihood = np.log(np.outer(_GRID, right) + np.outer(1.0 - _GRID, wrong)).sum(axis=1)
    weights = np.exp(log_likelihood - log_likelihood.max()) * np.diff(
        beta(0.5, 0.5).cdf(np.linspace(0.0, 1.0, _GRID.size + 1))
    )
    weights /= weights.sum()
    tail = (1.0 - _LEVEL) / 2.0
    low, high = np.interp([tail, 1.0 - tail], weights.cumsum() - 0.5 * weights, _GRID)
    return float(weights @ _GRID), float(low), float(high)
