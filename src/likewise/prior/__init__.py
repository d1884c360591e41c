"""Class-prior estimators: the share of the majority class, from pairs and unlabeled rows."""

from typing import Any

from numpy.typing import ArrayLike

from likewise.prior.base import PriorEstimate
from likewise.prior.kernel_mean import KernelMeanPrior
from likewise.prior.pair_likelihood import PairLikelihoodPrior
from likewise.prior.pair_moments import PairMomentPrior

__all__ = [
    "KernelMeanPrior",
    "PairLikelihoodPrior",
    "PairMomentPrior",
    "PriorEstimate",
    "estimate_prior",
]


def estimate_prior(
    X: Any,
    y: ArrayLike,
    *,
    method: str = "pair_likelihood",
    n_classes: int = 2,
    pairing: str = "auto",
    error_rate: float | str = 0.0,
    level: float = 0.95,
    verbose: bool | int = 0,
    random_state: Any = None,
    sample_weight: Any = None,
) -> PriorEstimate:
    """Estimate the share of the majority class, or of every class, from statements about rows.

    Parameters
    ----------
    X : table of shape (n_rows, n_features)
    y : integer array of shape (n_rows,), or CSR matrix of shape (n_rows, n_statements)
        Weak labels as `likewise.pack` makes them.
    method : {"pair_likelihood", "pair_moments", "km1", "km2"}, default "pair_likelihood"
        "pair_moments" assumes less of the classes' shapes and is less accurate; "km1" and "km2"
        are the paper's: they are not consistent and have no interval.
    n_classes : int, default 2
    pairing : {"auto", "asked", "random", "free"}, default "auto"
        How statements came about, as in `likewise.PairClassifier`; "auto" does not test for free
        pair shares.
    error_rate : float or "auto", default 0.0
        Probability that a statement about one table is wrong. This, `n_classes` and `pairing` are
        for the method "pair_likelihood".
    level : float, default 0.95
        Level of the interval.
    verbose : bool or int, default 0
        Whether to print a line on every step; not for the methods "km1" and "km2".
    random_state : int, RandomState instance or None
    sample_weight : array of shape (n_rows,), optional
        How many rows of the population each row stands for, as in `likewise.PairClassifier`; not
        for the methods "km1" and "km2".

    Returns
    -------
    PriorEstimate
        Of more than two classes its value is an array, the largest share first.

    Examples
    --------
    >>> import likewise as lw
    >>> X, y = lw.datasets.make_gaussians(6000, separation=3, random_state=0)
    >>> sample = lw.datasets.sample_su(X, y, 500, 500, prior=0.8, random_state=0)
    >>> estimate = lw.estimate_prior(*sample.pack(), random_state=0)
    >>> estimate.interval[0] < 0.8 < estimate.interval[1]
    True
    """
    estimators: dict[str, Any] = {
        "pair_likelihood": PairLikelihoodPrior(
            n_classes,
            pairing=pairing,
            error_rate=error_rate,
            level=level,
            verbose=verbose,
            random_state=random_state,
        ),
        "pair_moments": PairMomentPrior(level=level, verbose=verbose, random_state=random_state),
        "km1": KernelMeanPrior("km1"),
        "km2": KernelMeanPrior("km2"),
    }
    if method not in estimators:
        raise ValueError(f"There is no method {method!r}; choose one of {', '.join(estimators)}.")
    usual = {"n_classes": 2, "pairing": "auto", "error_rate": 0.0}
    given = {"n_classes": n_classes, "pairing": pairing, "error_rate": error_rate}
    for name, value in given.items():
        if method != "pair_likelihood" and value != usual[name]:
            raise ValueError(
                f"{name} is for method='pair_likelihood'; leave it out with method={method!r}."
            )
    if sample_weight is not None and method in ("km1", "km2"):
        raise ValueError(
            "sample_weight is for the methods 'pair_likelihood' and 'pair_moments'; leave it out "
            f"with method={method!r}."
        )
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    estimate: PriorEstimate = estimators[method].fit(X, y, **weights).estimate_
    return estimate
