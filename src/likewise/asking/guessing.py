"""Quick guesses from answers: classes of all rows, and how many answers are wrong."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from likewise._types import FloatArray
from likewise.beliefs.errors import ERROR_RATES
from likewise.beliefs.table import TableLikelihood
from likewise.classifiers import PairClassifier
from likewise.statements.statements import Statements

__all__ = ["guess_classes", "is_better", "shown_error_rate"]

_CLEARLY = 2.0
"""Gain in log-likelihood by which answers show that some are wrong."""


def is_better(one: PairClassifier | None, other: PairClassifier) -> bool:
    """Tell whether held-out answers speak for one classifier against another.

    Parameters
    ----------
    one : PairClassifier or None
    other : PairClassifier
        Fitted to the same answers.
    """
    return one is not None and one.pair_information_.value > other.pair_information_.value


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
