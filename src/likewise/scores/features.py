"""Feature maps that a score can be linear in, as scikit-learn transformers."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.kernel_approximation import Nystroem
from sklearn.utils import check_random_state

from likewise._types import FloatArray
from likewise.engines.rows import is_sparse
from likewise.scores.design import column_moments

__all__ = ["RadialFeatures", "check_magnitude", "column_scale"]

_LARGEST = 1e150
"""Its square is still a float, and so is that of its inverse."""
_LENGTH = 10.0
"""Length of a kernel feature vector: makes the same penalties fit both kinds of features."""
_MOST_LEARNING_ROWS = 20_000
"""Rows that center, scale and landmarks are taken from at most."""


def check_magnitude(X: Any) -> None:
    """Raise an error for values whose squares are too large or too small for a float.

    Parameters
    ----------
    X : array or scipy CSR matrix of shape (n_rows, n_features)
    """
    if is_sparse(X):
        largest = np.abs(X.data).max(initial=0.0)[None]
    else:
        largest = np.maximum(X.max(axis=0, initial=0.0), -X.min(axis=0, initial=0.0))
    if np.any(largest > _LARGEST):
        raise ValueError("Input X contains values too large to be squared; scale the features.")
    tiny = np.flatnonzero((largest > 0) & (largest < 1.0 / _LARGEST))
    if tiny.size:
        raise ValueError(
            f"The values of column {int(tiny[0])} of X are too small to be squared; scale the "
            "features."
        )


def column_scale(rows: Any) -> tuple[FloatArray, FloatArray]:
    """Return center and scale of every column: unit deviation, but rare dummies stay small.

    A dummy variable that is hardly ever one would be blown up to unit deviation; its scale is the
    geometric mean of its deviation and of half its range.

    Parameters
    ----------
    rows : array or scipy CSR matrix of shape (n_rows, n_features)

    Returns
    -------
    mean, scale : arrays of shape (n_features,)
    """
    mean, deviation = column_moments(rows)
    low, high = (_dense_row(rows.min(axis=0)), _dense_row(rows.max(axis=0)))
    # Of all columns in a range, two-valued ones at its ends alone have this deviation.
    largest = np.sqrt(np.maximum((high - mean) * (mean - low), 0.0))
    dummy = (deviation >= largest * (1.0 - 1e-6)) & (high > low)
    return mean, np.where(dummy, np.sqrt(deviation * (high - low) / 2.0), deviation)


def _dense_row(row: Any) -> FloatArray:
    return np.asarray(row.toarray() if is_sparse(row) else row, dtype=np.float64).ravel()


class RadialFeatures(TransformerMixin, BaseEstimator):
    """Radial (Gaussian-kernel) features of squashed columns, by the Nystroem method.

    Columns are centered, scaled and squashed by asinh, so that long tails do not make every row a
    stranger to the kernel.

    Parameters
    ----------
    width : float, default 0.5
        Width of the kernel, in units of the root mean square distance of two rows.
    principal : bool, default False
        Whether the kernel sees principal components only, those that vary more than columns of
        pure noise would: with many columns of which few combinations matter, noise hides them.
    n_components : int, default 200
    random_state : int, RandomState instance or None

    Attributes
    ----------
    mean_, scale_ : arrays of shape (n_features,)
    directions_ : array of shape (n_features, n_directions), or None
        The principal directions, if asked for.
    kernel_ : Nystroem

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.scores.features import RadialFeatures
    >>> rows = np.random.default_rng(0).normal(size=(50, 3))
    >>> RadialFeatures(n_components=20, random_state=0).fit_transform(rows).shape
    (50, 20)
    """

    def __init__(
        self,
        width: float = 0.5,
        *,
        principal: bool = False,
        n_components: int = 200,
        random_state: Any = None,
    ) -> None:
        self.width = width
        self.principal = principal
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose landmarks among the rows of `X`.

        Parameters
        ----------
        X : array or scipy CSR matrix of shape (n_rows, n_features)
        y : ignored

        Returns
        -------
        self
        """
        random_state = check_random_state(self.random_state)
        if X.shape[0] > _MOST_LEARNING_ROWS:
            X = X[np.sort(random_state.permutation(X.shape[0])[:_MOST_LEARNING_ROWS])]
        self.mean_, self.scale_ = column_scale(X)
        self.directions_: FloatArray | None = None
        if self.principal:
            self.directions_ = _principal_directions(self._squash(X))
        squashed = self._squash(X)
        spread = float(squashed.var(axis=0).sum())
        # Two rows are 2 * spread apart on average, squared.
        gamma = 1.0 / (4.0 * self.width**2 * max(spread, 1e-12))
        self.kernel_ = Nystroem(
            gamma=gamma,
            n_components=min(self.n_components, squashed.shape[0]),
            random_state=random_state,
        ).fit(squashed)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Return the features of rows, shape (n_rows, n_components)."""
        return np.asarray(_LENGTH * self.kernel_.transform(self._squash(X)))

    def _squash(self, X: Any) -> FloatArray:
        rows = X.toarray() if is_sparse(X) else np.asarray(X, dtype=np.float64)
        squashed = np.arcsinh((rows - self.mean_) / self.scale_)
        return squashed if self.directions_ is None else squashed @ self.directions_


def _principal_directions(rows: FloatArray) -> FloatArray:
    """Return the principal directions with more variance than noise has, at least one.

    Of independent columns with one variance, no direction has more than ``(1 + sqrt(d / n))^2``
    times it (the edge of Marchenko and Pastur).
    """
    n_rows, n_columns = rows.shape
    if n_columns <= n_rows:
        variances, directions = np.linalg.eigh(np.atleast_2d(np.cov(rows, rowvar=False)))
    else:  # the same from the rows, where a square matrix of columns would be the larger
        lengths, across = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[1:]
        variances, directions = lengths[::-1] ** 2 / max(n_rows - 1, 1), across[::-1].T
    edge = (1.0 + np.sqrt(n_columns / n_rows)) ** 2 * float(variances.sum()) / n_columns
    return np.asarray(directions[:, -max(1, int(np.sum(variances > edge))) :])
