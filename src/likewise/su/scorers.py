"""The SU risk of decisions as a metric and as a scorer for scikit-learn's searches."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from likewise.engines.rows import count_positions
from likewise.statements.labels import locate
from likewise.su.losses import Loss
from likewise.su.risk import RiskEstimate, su_risk_of_decisions

__all__ = ["su_risk", "su_risk_scorer"]


def su_risk(
    y: ArrayLike, decision: ArrayLike, *, prior: float, loss: str | Loss = "zero_one"
) -> RiskEstimate:
    """Estimate the classification risk of decision values from weak labels.

    Parameters
    ----------
    y : integer array of shape (n_rows,)
        Weak labels with at least one similar pair and one unlabeled row.
    decision : array of shape (n_rows,)
        Decision values (or predicted classes) of the same rows, from a classifier that did not
        learn from them.
    prior : float
        Share of class +1.
    loss : str or loss object, default "zero_one"
        With the default, the estimate is the expected error rate.

    Returns
    -------
    RiskEstimate
        Unbiased, so it may be negative on small samples.

    Examples
    --------
    >>> import likewise as lw
    >>> print(lw.su_risk([1, 1, 2, 2, 0, 0, 0], [3, 2, 1, 2, -1, 1, 2], prior=0.9))
    -0.3167 (standard error 0.4167)
    """
    rows = locate(y)
    decision = np.ravel(np.asarray(decision, dtype=np.float64))
    if decision.size != np.size(y):
        raise ValueError(f"decision has {decision.size} values but y has {np.size(y)}.")
    for name, positions in (("similar pair", rows.left), ("unlabeled row", rows.unlabeled)):
        if not count_positions(positions):
            raise ValueError(f"The SU risk needs at least one {name}; y has none.")
    return su_risk_of_decisions(
        decision[rows.left], decision[rows.right], decision[rows.unlabeled], prior=prior, loss=loss
    )


def su_risk_scorer(estimator: Any, X: Any, y: ArrayLike, *, prior: float | None = None) -> float:
    """Score a fitted classifier on weak labels: minus its zero-one SU risk, so larger is better.

    Pass it as ``scoring=`` to scikit-learn's searches, with ``cv=PairKFold(...)``.

    Parameters
    ----------
    estimator : fitted classifier or pipeline
    X : table of shape (n_rows, n_features)
    y : integer array of shape (n_rows,)
        Weak labels.
    prior : float, optional
        Share of class +1; by default the estimator's own ``prior_``. When candidates differ in
        their priors, fix one with ``functools.partial(su_risk_scorer, prior=...)``.

    Returns
    -------
    float
    """
    if prior is None:
        prior = _prior_of(estimator)
    decide_or_predict = getattr(estimator, "decision_function", None) or estimator.predict
    return -su_risk(y, decide_or_predict(X), prior=prior).value


def _prior_of(estimator: Any) -> float:
    """Return ``prior_`` of a classifier, or of the one inside a search or pipeline."""
    inner = getattr(estimator, "best_estimator_", estimator)
    inner = inner[-1] if hasattr(inner, "steps") else inner
    if hasattr(inner, "prior_"):
        return float(inner.prior_)
    raise ValueError(
        f"{type(inner).__name__} has no prior_; score it with "
        "functools.partial(su_risk_scorer, prior=...)."
    )
