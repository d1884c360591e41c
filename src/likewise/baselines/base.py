"""What the rivals share: input, standardised rows, which cluster is +1, and how a fit is reported.

A rival sees a `Sample` of standardised rows and splits rows in two; it must not know of weak
labels, of column scales, or of the names of the classes.
"""

import warnings
from abc import ABCMeta, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from likewise.engines.rows import is_sparse
from likewise.statements.labels import locate_su

FloatArray = NDArray[np.float64]

__all__ = ["Baseline", "FloatArray", "Outcome", "Sample"]

_SMALLEST_DEVIATION = 1e-9
_COLLAPSED_SHARE = 0.98


@dataclass(frozen=True, eq=False)
class Sample:
    """Standardised rows of a weak sample; row ``i`` of `left` and of `right` are pair ``i``.

    Attributes
    ----------
    left, right : arrays of shape (n_pairs, n_features)
    unlabeled : array of shape (n_unlabeled, n_features)
    """

    left: FloatArray
    right: FloatArray
    unlabeled: FloatArray

    @property
    def everything(self) -> FloatArray:
        """All rows: left members, then right members, then unlabeled rows."""
        return np.vstack([self.left, self.right, self.unlabeled])

    @property
    def differences(self) -> FloatArray:
        """Left minus right members, shape (n_pairs, n_features)."""
        return self.left - self.right


@dataclass(frozen=True)
class Outcome:
    """How a fit ended.

    Attributes
    ----------
    objective : float
        Value of what the method optimises.
    n_iter : int
    converged : bool
        Whether the method's own criterion was met, rather than the limit of iterations.
    """

    objective: float
    n_iter: int
    converged: bool


class Baseline(ClassifierMixin, BaseEstimator, metaclass=ABCMeta):
    """A rival that splits rows in two clusters; the larger one on the unlabeled rows is class +1.

    A subclass gives `_fit`, which learns from a `Sample`, and `_in_second`, which splits
    standardised rows.

    Attributes
    ----------
    classes_ : array ``[-1, 1]``
    objective_ : float
        Value of what the method optimises.
    n_iter_ : int
    converged_ : bool
    share_ : float
        Share of the unlabeled rows in the larger cluster, that is, in class +1.
    collapsed_ : bool
        Whether `share_` is above 0.98: then the accuracy is that of a constant answer.
    positive_cluster_ : {0, 1}
        Which of the method's own two clusters is class +1.
    mean_, scale_ : arrays of shape (n_features,)
        Mean and deviation of all training rows; 1 for a column that does not vary.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        When `X` had string column names.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learn from weak labels.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Numpy array, scipy sparse matrix, or pandas or polars data frame of numbers. Sparse
            rows are made dense: standardised rows have no zeros to leave out.
        y : integer array of shape (n_rows,)
            Weak labels as `likewise.pack` makes them.

        Returns
        -------
        self
        """
        sample = self._read(X, y)
        outcome = self._fit(sample)
        self.objective_ = outcome.objective
        self.n_iter_ = outcome.n_iter
        self.converged_ = outcome.converged
        self._orient(self._in_second(sample.unlabeled))
        if not outcome.converged:
            warnings.warn(
                f"{type(self).__name__} stopped after {outcome.n_iter} iterations, before it "
                "converged; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of every row, -1 or +1.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows,)
        """
        in_second = self._in_second(self._standardised(X))
        is_positive = in_second == bool(self.positive_cluster_)
        return np.asarray(self.classes_[is_positive.astype(np.intp)])

    def score(self, X: Any, y: ArrayLike, sample_weight: Any = None) -> float:
        """Return the accuracy against true class labels.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
        y : array of shape (n_rows,)
            True classes, -1 or +1.
        sample_weight : array of shape (n_rows,), optional

        Returns
        -------
        float
        """
        check_is_fitted(self)
        if not np.isin(np.asarray(y), self.classes_).all():
            raise ValueError(
                "score compares with true classes, but y holds other values; for weak labels use "
                "likewise.su_risk_scorer, for instance as scoring=likewise.su_risk_scorer."
            )
        return float(super().score(X, y, sample_weight))

    @abstractmethod
    def _fit(self, sample: Sample) -> Outcome:
        """Learn two clusters, keep what `_in_second` needs, and say how it ended."""

    @abstractmethod
    def _in_second(self, rows: FloatArray) -> NDArray[np.bool_]:
        """Tell which standardised rows belong to the second of the two clusters."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags

    def _read(self, X: Any, y: ArrayLike) -> Sample:
        """Check the input, keep the scale of the columns, and return the standardised sample."""
        X = _dense(validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C"))
        rows = locate_su(y, X.shape[0], type(self).__name__)
        left, right, unlabeled = X[rows.left], X[rows.right], X[rows.unlabeled]
        if len(unlabeled) < 2:
            raise ValueError(
                f"{type(self).__name__} makes two clusters of the unlabeled rows (y = 0), but y "
                "holds only one."
            )
        self.mean_, self.scale_ = _mean_and_scale(X)
        return Sample(*((part - self.mean_) / self.scale_ for part in (left, right, unlabeled)))

    def _standardised(self, X: Any) -> FloatArray:
        """Check rows to predict and put them on the scale of the training rows."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return np.asarray((_dense(X) - self.mean_) / self.scale_)

    def _orient(self, in_second: NDArray[np.bool_]) -> None:
        """Name the classes after the sizes of the two clusters of the unlabeled rows."""
        second = float(np.mean(in_second))
        self.classes_ = np.array([-1, 1])
        self.positive_cluster_ = int(second >= 0.5)
        self.share_ = max(second, 1.0 - second)
        self.collapsed_ = self.share_ > _COLLAPSED_SHARE


def _dense(X: Any) -> FloatArray:
    return np.asarray(X.toarray() if is_sparse(X) else X)


def _mean_and_scale(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and deviation of every column, with a deviation of 1 where it does not vary."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean, deviation = X.mean(axis=0), X.std(axis=0)
    if not np.all(np.isfinite(deviation)):
        raise ValueError("Input X contains values too large to be squared; scale the features.")
    # Mean and deviation of equal large values are off by rounding, hence the look at the values.
    constant = X.max(axis=0) == X.min(axis=0)
    if constant.all():
        raise ValueError("Every column of X is constant: nothing tells two clusters apart.")
    still = constant | (deviation < _SMALLEST_DEVIATION)
    return np.where(constant, X[0], mean), np.where(still, 1.0, deviation)
