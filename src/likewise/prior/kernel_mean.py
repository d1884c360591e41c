"""Class prior by mixture proportion estimation: KM1 and KM2 as the paper's Algorithm 1 uses them.

The estimate is not consistent for the class prior (docs/km-is-not-consistent.md); it is here
because the paper's experiments need it. Nothing here knows of classifiers.
"""

from math import sqrt
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from likewise._sklearn import Interval, StrOptions, _fit_context
from likewise._types import FloatArray
from likewise.engines.rows import is_sparse
from likewise.prior.base import PriorEstimate
from likewise.prior.embedding import TwoSamples
from likewise.prior.mixture_proportion import (
    KernelMeanResult,
    Progress,
    Variant,
    kernel_mean_embedding,
    proportion_of,
)
from likewise.statements.labels import WeakLabels, row_sets_of, statements_for
from likewise.statements.statements import Statements

__all__ = ["KernelMeanPrior", "KernelMeanResult", "kernel_mean_embedding"]

_LARGEST_DENSE_BYTES = 2**30


class KernelMeanPrior(BaseEstimator):
    r"""Share of the majority class by KM1 or KM2 (the paper's Algorithm 1).

    Takes the unlabeled rows as a mixture of the members of the pairs and something else, estimates
    the share :math:`\kappa` of the former by kernel mean embedding (`kernel_mean_embedding`), reads
    it as :math:`\pi_s = \pi^2 + (1 - \pi)^2`, and returns
    :math:`\pi = (1 + \sqrt{2 \kappa - 1}) / 2`.

    Of one table, all rows are the mixture, and a row counts as a member as often as similar
    statements are about it. Dissimilar statements are not used.

    .. warning:: Not consistent. What is left of the mixture, :math:`(p_+ + p_-) / 2`, contains the
       distribution of the pairs, so the estimated share tends to a larger number than
       :math:`\pi_s`: for separable classes to :math:`\pi_s / \max(\pi, 1 - \pi)`, which makes 0.905
       of a prior of 0.7. On small samples the search often ends at its left end, which
       ``diagnostics["at_floor"]`` says. See docs/km-is-not-consistent.md.

    Parameters
    ----------
    variant : {"km2", "km1"}, default "km2"
        Which threshold for the slope of the distance curve; the paper's experiments use KM2. Both
        cost the same work, and ``estimates_`` holds both.
    lambda_left : float, default 2.0
        Left end of the search; 2 is the paper's heuristic, since :math:`\pi_s \ge 1/2`.
    lambda_right : float, default 8.0
        Right end of the search: no prior above 0.933 can come out. Raise it for a larger one.
    tol : float, default 0.04
        Length of the final search interval.
    standardize : bool, default True
        Whether to scale each feature by its standard deviation over all rows, pairs and unlabeled
        ones; features that do not vary are left as they are. Neither paper says how features were
        scaled; False is the published procedure on the features as given.
    progress : callable, optional
        Called as ``progress(done, total)`` after each step.

    Attributes
    ----------
    estimate_ : PriorEstimate
        The prior by `variant`, without an interval: the method has none. ``diagnostics`` says
        whether the search ended at an end (``at_floor``, ``at_ceiling``; ``flat`` if by a hair) or
        the share was below 1/2 (``clipped``): then the value is that of the limit, not of the data.
    estimates_ : dict
        The estimates of both variants by name.
    prior_ : float
        Value of `estimate_`.
    kappa_ : float
        Estimated share of the pairs' distribution in the unlabeled one, read as :math:`\pi_s`.
    result_ : KernelMeanResult
    n_iter_ : int
        Iterations of the solver over all quadratic programs.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        When `X` had string column names.

    Examples
    --------
    >>> import likewise as lw
    >>> from likewise.prior.kernel_mean import KernelMeanPrior
    >>> X, y = lw.datasets.make_gaussians(4000, random_state=0)
    >>> sample = lw.datasets.sample_su(X, y, 100, 100, prior=0.7, random_state=0)
    >>> estimator = KernelMeanPrior().fit(*sample.pack())
    >>> 0.5 <= estimator.prior_ <= 1.0
    True
    >>> sorted(estimator.estimates_)
    ['km1', 'km2']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "variant": [StrOptions({"km1", "km2"})],
        "lambda_left": [Interval(Real, 1.0, None, closed="left")],
        "lambda_right": [Interval(Real, 1.0, None, closed="neither")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "standardize": ["boolean"],
        "progress": [callable, None],
    }

    def __init__(
        self,
        variant: Variant = "km2",
        *,
        lambda_left: float = 2.0,
        lambda_right: float = 8.0,
        tol: float = 0.04,
        standardize: bool = True,
        progress: Progress | None = None,
    ) -> None:
        self.variant = variant
        self.lambda_left = lambda_left
        self.lambda_right = lambda_right
        self.tol = tol
        self.standardize = standardize
        self.progress = progress

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: WeakLabels) -> Self:
        """Estimate the prior from weak labels.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Numpy array, scipy sparse matrix, or pandas or polars data frame of numbers. A sparse
            one is made dense.
        y : integer array of shape (n_rows,), or scipy CSR matrix of shape (n_rows, n_statements)
            Weak labels as `likewise.pack` makes them, of fresh pairs or of one table; which row is
            paired with which is not used.

        Returns
        -------
        self
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C")
        statements = self._checked(y, X.shape[0])
        X = _dense(X)
        if self.standardize:
            X = _standardized(X)
        self.result_ = proportion_of(
            _samples(X, statements),
            lambda_left=float(self.lambda_left),
            lambda_right=float(self.lambda_right),
            tol=float(self.tol),
            progress=self.progress,
        )
        self.estimates_ = {
            "km1": _as_prior(self.result_, "km1"),
            "km2": _as_prior(self.result_, "km2"),
        }
        self.estimate_ = self.estimates_[self.variant]
        self.prior_ = self.estimate_.value
        self.kappa_ = self.result_.km1 if self.variant == "km1" else self.result_.km2
        self.n_iter_ = self.result_.n_iter
        return self

    def _checked(self, y: WeakLabels, n_rows: int) -> Statements:
        """Return the statements, of which some must be similar ones."""
        name = type(self).__name__
        statements = statements_for(y, n_rows, name)
        if not statements.n_similar:
            raise ValueError(
                f"{name} compares members of similar pairs with all rows, but all pairs in y are "
                "dissimilar; pass at least one similar pair."
            )
        return statements

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def _samples(X: FloatArray, statements: Statements) -> TwoSamples:
    """Return all rows as the mixture and the members of similar statements as the component."""
    similar = statements.choose(statements.is_similar)
    if statements.is_fresh:
        rows = row_sets_of(similar)
        members = np.concatenate([X[rows.left], X[rows.right]])
        return TwoSamples.stacked(X[~statements.stated], members)
    counts = np.bincount(similar.members, minlength=len(X)).astype(np.float64)
    return TwoSamples(X, np.ones(len(X)), counts)


def _dense(X: Any) -> FloatArray:
    if not is_sparse(X):
        return np.asarray(X)
    size = 8 * X.shape[0] * X.shape[1]
    if size > _LARGEST_DENSE_BYTES:
        raise ValueError(
            f"A sparse X of shape {X.shape} would take {size / 2**30:.1f} GiB as a dense table, "
            "which the kernel needs: take fewer rows, or fewer columns, for instance with "
            "sklearn.decomposition.TruncatedSVD."
        )
    return np.asarray(X.toarray())


def _standardized(X: FloatArray) -> FloatArray:
    with np.errstate(over="ignore", invalid="ignore"):
        center, scale = X.mean(axis=0), X.std(axis=0)
    if not np.all(np.isfinite(scale)):
        raise ValueError("Input X contains values too large to be squared; scale the features.")
    constant = scale <= 1e-9 * np.maximum(np.abs(center), 1.0)
    return np.asarray((X - center) / np.where(constant, 1.0, scale))


def _as_prior(result: KernelMeanResult, variant: Variant) -> PriorEstimate:
    kappa = result.km1 if variant == "km1" else result.km2
    excess = 2.0 * kappa - 1.0
    return PriorEstimate(
        value=(1.0 + sqrt(max(excess, 0.0))) / 2.0,
        interval=None,
        level=None,
        method=variant,
        diagnostics={
            "kappa": kappa,
            "at_floor": result.at_floor(variant),
            "at_ceiling": result.at_ceiling(variant),
            "flat": result.is_flat(variant),
            "clipped": excess < 0.0,
            "notes": _notes(result, variant, kappa),
            "consistent": False,
            "threshold": result.threshold1 if variant == "km1" else result.threshold2,
            "shared_threshold": result.shared_threshold and variant == "km1",
            "sample_distance": result.sample_distance,
            "kernel": result.kernel,
            "kernel_width": result.kernel_width,
            "kernel_error": result.kernel_error,
            "rank": result.rank,
            "distance_error": result.distance_error,
        },
    )


def _notes(result: KernelMeanResult, variant: Variant, kappa: float) -> list[str]:
    """Say in words what makes the estimate less than it seems."""
    notes = ["not consistent: tends to overestimate the majority class as samples grow"]
    if result.at_floor(variant):
        notes.append("the search ended at lambda_left: the value is that end, not an estimate")
    if result.at_ceiling(variant):
        notes.append("the search ended at lambda_right: the value is that end, not an estimate")
    if result.is_flat(variant):
        notes.append("the distance curve is so flat that it might as well have been the other end")
    if kappa < 0.5:
        notes.append("the estimated share is below 1/2, which no prior has: 0.5 is a limit")
    return notes
