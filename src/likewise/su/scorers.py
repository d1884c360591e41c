"""The SU risk of decisions as a metric and as a scorer for scikit-learn's searches."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from likewise.engines.rows import count_positions
from likewise.statements.labels import WeakLabels, locate
from likewise.su.losses import Loss
from likewise.su.rewrites import Rewrite
from likewise.su.risk import RiskEstimate, su_risk_of_decisions

__all__ = ["su_risk", "su_risk_scorer"]


def su_risk(
    y: WeakLabels,
    decision: ArrayLike,
    *,
    prior: float,
    loss: str | Loss = "zero_one",
    rewrite: str | Rewrite = "auto",
) -> RiskEstimate:
    """Estimate the classification risk of decision values from weak labels.

    Parameters
    ----------
    y : integer array of shape (n_rows,), or scipy CSR matrix of shape (n_rows, n_statements)
        Weak labels with at least one pair and one unlabeled row. Of one table, all rows are the
        unlabeled ones.
    decision : array of shape (n_rows,)
        Decision values (or predicted classes) of the same rows, from a classifier that did not
        learn from them.
    prior : float
        Share of class +1.
    loss : str or loss object, default "zero_one"
        With the default, the estimate is the expected error rate.
    rewrite : {"auto", "su", "du", "sd", "sdu"} or Rewrite, default "auto"
        Which kinds of rows the estimate is made of: similar pairs (S), dissimilar ones (D) and
        unlabeled rows (U). "auto" takes all pairs, with the weights of least variance.

    Returns
    -------
    RiskEstimate
        Unbiased, so it may be negative on small samples. Its standard error treats rows
        of different kinds as independent; those of one table are not quite, since the members
        of pairs are among all rows.

    Examples
    --------
    >>> import likewise as lw
    >>> print(lw.su_risk([1, 1, 2, 2, 0, 0, 0], [3, 2, 1, 2, -1, 1, 2], prior=0.9))
    -0.3167 (standard error 0.4167)
    """
    rows = locate(y)
    decision = np.ravel(np.asarray(decision, dtype=np.float64))
    if decision.size != np.shape(y)[0]:
        raise ValueError(f"decision has {decision.size} values but y has {np.shape(y)[0]}.")
    for name, count in (("pair", rows.n_pairs), ("unlabeled row", count_positions(rows.unlabeled))):
        if not count:
            raise ValueError(f"The SU risk needs at least one {name}; y has none.")
    return su_risk_of_decisions(
        decision[rows.left],
        decision[rows.right],
        decision[rows.unlabeled],
        prior=prior,
        loss=loss,
        dissimilar=(decision[rows.dissimilar_left], decision[rows.dissimilar_right]),
        rewrite=rewrite,
    )


def su_risk_scorer(estimator: Any, X: Any, y: WeakLabels, *, prior: float | None = None) -> float:
    """Score a fitted classifier on weak labels: minus its zero-one SU risk, so larger is better.

    Pass it as ``scoring=`` to scikit-learn's searches, with ``cv=PairKFold(...)``.

    Parameters
    ----------
    estimator : fitted classifier or pipeline
    X : table of shape (n_rows, n_features)
    y : integer array of shape (n_rows,), or scipy CSR matrix of shape (n_rows, n_statements)
        Weak labels.
    prior : float, optional
        Share of class +1; by default the estimator's own ``prior_``. When candidates differ in
        their priors, fix one with ``functools.partial(su_risk_scorer, prior=...)``.

    Returns
    -------
    float

    Notes
    -----
    `SUClassifier` and `SUClassifierCV` are scored with the weights of similar and dissimilar pairs
    that they learned with, other classifiers with those of least variance.

    Examples
    --------
    >>> import likewise as lw
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = lw.datasets.make_gaussians(2000, separation=3, random_state=0)
    >>> X, y = lw.datasets.sample_su(X, y, 200, 200, prior=0.7, random_state=0).pack()
    >>> clf = lw.SUClassifier(prior=0.7, alpha=0.1)
    >>> scores = cross_val_score(clf, X, y, cv=lw.PairKFold(3), scoring=lw.su_risk_scorer)
    >>> scores.shape
    (3,)
    """
    inner = _innermost(estimator)
    if prior is None and not hasattr(inner, "prior_"):
        raise ValueError(
            f"{type(inner).__name__} has no prior_; score it with "
            "functools.partial(su_risk_scorer, prior=...)."
        )
    rewrite = Rewrite.at(inner.su_share_) if hasattr(inner, "su_share_") else "auto"
    decide_or_predict = getattr(estimator, "decision_function", None) or estimator.predict
    return -su_risk(
        y,
        decide_or_predict(X),
        prior=float(inner.prior_) if prior is None else prior,
        rewrite=rewrite,
    ).value


def _innermost(estimator: Any) -> Any:
    """Return a classifier, or the one inside a search or pipeline."""
    inner = getattr(estimator, "best_estimator_", estimator)
    return inner[-1] if hasattr(inner, "steps") else inner
