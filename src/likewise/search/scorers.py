"""The pair likelihood of class scores as a metric and as a scorer for scikit-learn's searches."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from likewise.beliefs.base import log_probabilities
from likewise.beliefs.table import TableLikelihood
from likewise.search.settings import Settings, default_pairing
from likewise.statements.labels import statements_for

__all__ = ["pair_log_likelihood", "pair_log_likelihood_scorer"]


def pair_log_likelihood(y: ArrayLike, scores: ArrayLike) -> float:
    """Return how well class scores explain the statements of weak labels, in nats per statement.

    Parameters
    ----------
    y : weak labels, as `likewise.pack` makes them
        With at least one statement.
    scores : array of shape (n_rows,) or (n_rows, n_classes)
        Log-odds of one of two classes, or one score per class, of the same rows, from a model that
        did not learn from them. Which class is which does not matter.

    Returns
    -------
    float
        Above zero if the scores know something of the classes; see `likewise.beliefs.fresh`.

    Examples
    --------
    >>> import likewise as lw
    >>> lw.pair_log_likelihood([1, 1, 2, 2, 0, 0], [5.0, 5.0, -5.0, -5.0, 5.0, -5.0]) > 0.5
    True
    """
    statements = statements_for(y, np.shape(y)[0], "The pair likelihood")
    values = np.asarray(scores, dtype=np.float64)
    if values.shape[:1] != np.shape(y)[:1] or values.ndim > 2:
        raise ValueError(f"scores have shape {values.shape} but y has {np.shape(y)[0]} labels.")
    log_p = log_probabilities(values)
    settings = Settings(n_classes=log_p.shape[1], pairing=default_pairing(statements))
    likelihood = settings.likelihood(statements)
    value = likelihood.evaluate(log_p).value
    if isinstance(likelihood, TableLikelihood):
        value -= likelihood.constant()[1].value
    return value / statements.count


def pair_log_likelihood_scorer(estimator: Any, X: Any, y: ArrayLike) -> float:
    """Score a fitted classifier on weak labels by the pair likelihood of its decision function.

    Pass it as ``scoring=`` to scikit-learn's searches, with ``cv=PairKFold(...)``. Decision values
    must be log-odds, as those of `PairClassifier` and of logistic models are.

    Parameters
    ----------
    estimator : fitted classifier or pipeline
    X : table of shape (n_rows, n_features)
    y : integer array of shape (n_rows,)
        Weak labels.

    Returns
    -------
    float

    Examples
    --------
    >>> import likewise as lw
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = lw.datasets.make_gaussians(4000, random_state=0)
    >>> sample = lw.datasets.sample_su(X, y, 200, 200, prior=0.7, random_state=0)
    >>> clf = lw.PairClassifier(features="linear", alphas=[0.1], random_state=0)
    >>> scores = cross_val_score(
    ...     clf, *sample.pack(), cv=lw.PairKFold(3), scoring=lw.pair_log_likelihood_scorer
    ... )
    >>> scores.shape
    (3,)
    """
    return pair_log_likelihood(y, estimator.decision_function(X))
