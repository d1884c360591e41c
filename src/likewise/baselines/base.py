"""What the baselines share: input, standardized rows, which cluster is +1, how a fit is reported.

A baseline sees a `Sample` of standardized rows with statements about them and splits rows in two;
it must not know of weak labels, of column scales, or of the names of the classes.
"""

import warnings
from abc import ABCMeta, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from likewise._sklearn import _fit_context
from likewise._types import FloatArray
from likewise.classifiers.scoring import ScoresTrueClasses
from likewise.engines.rows import is_sparse, row_numbers
from likewise.statements.labels import WeakLabels, row_sets_of, statements_for
from likewise.statements.statements import Links, Statements

IntArray = NDArray[np.intp]

__all__ = ["Baseline", "FloatArray", "IntArray", "Outcome", "Sample"]

_SMALLEST_DEVIATION = 1e-9
_COLLAPSED_SHARE = 0.98


@dataclass(frozen=True, eq=False)
class Sample:
    """Standardized rows, each of them once, and what was said about them.

    Attributes
    ----------
    rows : array of shape (n_rows, n_features)
        Of one table as they stand there. Of fresh pairs: left members of the similar pairs, right
        members, those of the dissimilar pairs likewise, then unlabeled rows.
    statements : Statements
        By the numbers of these rows.
    """

    rows: FloatArray
    statements: Statements

    @property
    def links(self) -> Links:
        """All statements as couples of rows; a group is a chain."""
        return self.statements.links

    @property
    def left(self) -> FloatArray:
        """Left members of the similar couples, shape (n_similar_links, n_features)."""
        return self.rows[self.links.left[self.links.is_similar]]

    @property
    def right(self) -> FloatArray:
        """Right members of the similar couples, shape (n_similar_links, n_features)."""
        return self.rows[self.links.right[self.links.is_similar]]

    @property
    def differences(self) -> FloatArray:
        """Left minus right members of all couples, shape (n_links, n_features)."""
        return self.rows[self.links.left] - self.rows[self.links.right]

    @property
    def is_unlabeled(self) -> NDArray[np.bool_]:
        """Which rows stand for all rows, (n_rows,): of one table every one."""
        if self.statements.is_fresh:
            return ~self.statements.stated
        return np.ones(len(self.rows), dtype=bool)

    @property
    def unlabeled(self) -> FloatArray:
        """The rows that stand for all rows."""
        return self.rows[self.is_unlabeled]

    def among(self, chosen: NDArray[np.bool_]) -> "Sample":
        """Return some of the rows, with the statements among them.

        Parameters
        ----------
        chosen : boolean array of shape (n_rows,)
        """
        return Sample(self.rows[chosen], self.statements.among(chosen))


@dataclass(frozen=True)
class Outcome:
    """How a fit ended.

    Attributes
    ----------
    objective : float
        Value of what the method optimizes.
    n_iter : int
    converged : bool
        Whether the method's own criterion was met, rather than the limit of iterations.
    """

    objective: float
    n_iter: int
    converged: bool


class Baseline(ScoresTrueClasses, ClassifierMixin, BaseEstimator, metaclass=ABCMeta):
    """A baseline that splits rows in two clusters; the larger one on unlabeled rows is class +1.

    A subclass gives `_fit`, which learns from a `Sample`, `_in_second`, which splits standardized
    rows, and `_learns_from`, the statements that it has a use for: others are not in its sample,
    and `n_ignored_` counts them.

    Attributes
    ----------
    classes_ : array ``[-1, 1]``
    objective_ : float
        Value of what the method optimizes.
    n_iter_ : int
    converged_ : bool
    share_ : float
        Share of the unlabeled rows in the larger cluster, that is, in class +1.
    collapsed_ : bool
        Whether `share_` is above 0.98: then the accuracy is that of a constant answer.
    n_ignored_ : int
        Number of statements in `y` that the method has no use for.
    positive_cluster_ : {0, 1}
        Which of the method's own two clusters is class +1.
    mean_, scale_ : arrays of shape (n_features,)
        Mean and deviation of all training rows; 1 for a column that does not vary.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        When `X` had string column names.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}
    _learns_from: ClassVar[Literal["no pairs", "similar pairs", "all pairs"]] = "similar pairs"

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: WeakLabels) -> Self:
        """Learn from weak labels.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Numpy array, scipy sparse matrix, or pandas or polars data frame of numbers. Sparse
            rows are made dense: standardized rows have no zeros to leave out.
        y : integer array of shape (n_rows,), or scipy CSR matrix of shape (n_rows, n_statements)
            Weak labels as `likewise.pack` makes them, of fresh pairs or of one table.

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
        check_is_fitted(self)
        self._check_scoring()
        in_second = self._in_second(self._standardised(X))
        is_positive = in_second == bool(self.positive_cluster_)
        return np.asarray(self.classes_[is_positive.astype(np.intp)])

    @abstractmethod
    def _fit(self, sample: Sample) -> Outcome:
        """Learn two clusters, keep what `_in_second` needs, and say how it ended."""

    @abstractmethod
    def _in_second(self, rows: FloatArray) -> NDArray[np.bool_]:
        """Tell which standardized rows belong to the second of the two clusters."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags

    def _read(self, X: Any, y: WeakLabels) -> Sample:
        """Check the input, keep the scale of the columns, and return the standardized sample."""
        X = _dense(validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C"))
        statements = statements_for(y, X.shape[0], type(self).__name__)
        alone = np.flatnonzero(~statements.stated)
        self._check_statements(statements, alone.size)
        self.mean_, self.scale_ = _mean_and_scale(X)
        used = self._used(statements)
        order = _order(used, alone)
        position = np.zeros(len(X), dtype=np.intp)
        position[order] = np.arange(order.size)
        return Sample(
            (X[order] - self.mean_) / self.scale_,
            replace(used, n_rows=order.size, members=position[used.members]),
        )

    def _check_statements(self, statements: Statements, n_alone: int) -> None:
        name = type(self).__name__
        if self._learns_from == "similar pairs" and not statements.n_similar:
            raise ValueError(
                f"{name} learns from similar pairs only, but all pairs in y are dissimilar; pass "
                "at least one similar pair."
            )
        if statements.is_fresh and n_alone < 2:
            raise ValueError(
                f"{name} makes two clusters of the unlabeled rows (y = 0), but y holds only one."
            )

    def _used(self, statements: Statements) -> Statements:
        """Return the statements that the method has a use for, and count the others."""
        if self._learns_from == "similar pairs":
            self.n_ignored_ = statements.n_dissimilar
            return statements.choose(statements.is_similar)
        self.n_ignored_ = statements.count if self._learns_from == "no pairs" else 0
        return statements

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


def _order(statements: Statements, alone: IntArray) -> IntArray:
    """Return which rows a sample holds and in which order; `alone` are those in no statement."""
    if not statements.is_fresh:
        return np.arange(statements.n_rows)
    sets = row_sets_of(statements)
    members = (sets.left, sets.right, sets.dissimilar_left, sets.dissimilar_right)
    return np.concatenate([*map(row_numbers, members), alone])


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
