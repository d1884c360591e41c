"""Quick guesses from answers: classes of all rows, and how many answers are wrong.

Questions are chosen by them: they are worked out anew after every answer, in milliseconds.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from likewise._types import FloatArray
from likewise.beliefs.errors import ERROR_RATES
from likewise.beliefs.table import TableLikelihood
from likewise.classifiers import PairClassifier
from likewise.engines.rows import is_sparse
from likewise.scores.features import RadialFeatures
from likewise.statements.statements import Statements

__all__ = ["TwoClassGuesser", "guess_classes", "is_better", "shown_error_rate"]

_WIDTH, _N_FEATURES, _LENGTH = 0.7, 150, 0.4
"""A smooth boundary is enough to tell which rows are open: a kernel as wide as the table."""
_ROUNDS = 2
"""Rounds of expectation maximisation per answer; they go on from the last answer's."""

_CLEARLY = 2.0
"""Gain in log-likelihood by which answers show that some are wrong."""


class TwoClassGuesser:
    """Guesses the classes of all rows, by logistic regression on linear and RBF features.

    Parameters
    ----------
    numbers : array or CSR matrix of shape (n_rows, n_features)
        Columns of unit scale.
    """

    def __init__(self, numbers: Any) -> None:
        n_rows, n_columns = numbers.shape
        radial = RadialFeatures(_WIDTH, n_components=min(_N_FEATURES, n_rows), random_state=0)
        features = _LENGTH * radial.fit_transform(numbers)
        if not is_sparse(numbers):
            features = np.hstack([features, np.asarray(numbers) / np.sqrt(n_columns)])
        self._features = features
        self._log_p: FloatArray = np.full((n_rows, 2), -np.log(2.0))

    def learn(self, likelihood: TableLikelihood) -> FloatArray:
        """Return class probabilities of all rows, by what was guessed before and the answers.

        Parameters
        ----------
        likelihood : TableLikelihood
            Of all answers; a row of known class names the classes.

        Returns
        -------
        array of shape (n_rows, 2)
        """
        asked = np.flatnonzero(likelihood.statements.stated)
        for _ in range(_ROUNDS):
            weights = likelihood.evaluate(self._log_p).posteriors[asked].T.ravel()
            counts = weights > 1e-3
            classes = np.repeat([0, 1], asked.size)[counts]
            if classes.size and classes[0] != classes[-1]:
                rows = np.tile(asked, 2)[counts]
                model = LogisticRegression(max_iter=200)
                model.fit(self._features[rows], classes, sample_weight=weights[counts])
                p = model.predict_proba(self._features)
                self._log_p = np.log(np.maximum(p, 1e-9))
        return likelihood.evaluate(self._log_p).posteriors


def is_better(one: PairClassifier | None, other: PairClassifier) -> bool:
    """Tell whether held-out answers speak for one classifier against another.

    Parameters
    ----------
    one : PairClassifier or None
    other : PairClassifier
        Fitted to the same answers.
    """
    if one is None or one.has_signal_ != other.has_signal_:
        return one is not None and one.has_signal_
    return one.pair_information_.value > other.pair_information_.value


def shown_error_rate(classifier: PairClassifier, statements: Statements, n_classes: int) -> float:
    """Return the share of answers that are wrong; zero unless they show clearly that some are.

    Parameters
    ----------
    classifier : PairClassifier
        Fitted to the answers.
    statements : Statements
        The answers.
    n_classes : int
    """
    log_p = classifier.pair_information_.log_p
    if log_p.shape[0] != statements.n_rows:  # judged on some of many rows
        return classifier.error_rate_
    likelihood = TableLikelihood(statements, n_classes, "asked", None)
    best = likelihood.evaluate(log_p)
    none = likelihood.with_error_rate(ERROR_RATES[0]).evaluate(log_p)
    return best.error_rate if best.value > none.value + _CLEARLY else 0.0


def guess_classes(
    numbers: Any, rows: NDArray[np.intp], classes: NDArray[np.intp], n_classes: int
) -> FloatArray:
    """Return log-probabilities of all rows by a linear model of some.

    Parameters
    ----------
    numbers : array or CSR matrix of shape (n_rows, n_features)
    rows, classes : integer arrays of shape (n_some,)
    n_classes : int
        Classes without a row among these are as likely as one more row would make them.

    Returns
    -------
    array of shape (n_rows, n_classes)
    """
    model = LogisticRegression(C=0.1, max_iter=200).fit(numbers[rows], classes)
    p = np.full((numbers.shape[0], n_classes), 1.0 / (rows.size + n_classes))
    p[:, model.classes_] += model.predict_proba(numbers)
    return np.asarray(np.log(p / p.sum(axis=1, keepdims=True)))
