"""Rows as a linear score sees them: centered and scaled columns and a one, without a copy.

Standardizing the weights instead of the rows costs nothing and keeps sparse rows sparse.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.sparsefuncs import mean_variance_axis

from likewise._types import FloatArray
from likewise.engines.arrays import like
from likewise.engines.rows import is_sparse, take_rows

__all__ = ["Design", "column_moments"]


@dataclass(frozen=True)
class Design:
    """A table of rows with a center and a scale for every column.

    Attributes
    ----------
    rows : array or scipy CSR matrix of shape (n_rows, n_features)
    mean, scale : arrays of shape (n_features,)
    """

    rows: Any
    mean: FloatArray
    scale: FloatArray

    @property
    def n_features(self) -> int:
        """Number of columns, the one for the intercept not counted."""
        return int(self.rows.shape[1])

    def decide(self, weights: FloatArray) -> FloatArray:
        """Return scores, (n_rows, m), for weights of shape (n_features + 1, m)."""
        slopes = weights[:-1] / self.scale[:, None]
        return np.asarray(self.rows @ slopes + (weights[-1] - self.mean @ slopes))

    def pull(self, values: FloatArray) -> FloatArray:
        """Return ``[x, 1]' values`` over the standardized rows, shape (n_features + 1, m)."""
        total = values.sum(axis=0)
        slopes = (self.rows.T @ values - np.outer(self.mean, total)) / self.scale[:, None]
        return np.vstack([slopes, total])

    def take(self, positions: Any) -> "Design":
        """Return some of the rows under the same center and scale."""
        return Design(take_rows(self.rows, positions), self.mean, self.scale)

    def dense(self) -> FloatArray:
        """Return the standardized rows."""
        return np.asarray(
            self.standardise(self.rows.toarray() if is_sparse(self.rows) else self.rows)
        )

    def standardise(self, rows: Any) -> Any:
        """Center and scale other dense rows, of any library of arrays."""
        return (rows - like(rows, self.mean)) / like(rows, self.scale)


def column_moments(rows: Any) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation of every column.

    That of a constant column is its size, or one if that is larger: rounding of a column of 1e120
    would else be taken for a signal.

    Parameters
    ----------
    rows : array or scipy CSR matrix of shape (n_rows, n_features)
    """
    if is_sparse(rows):
        mean, variance = mean_variance_axis(rows, axis=0)
        mean, deviation = mean.astype(np.float64), np.sqrt(variance.astype(np.float64))
    else:
        mean, deviation = rows.mean(axis=0, dtype=np.float64), rows.std(axis=0, dtype=np.float64)
    size = np.abs(mean)
    return mean, np.where(deviation > 1e-9 * np.maximum(size, 1e-300), deviation, size.clip(1.0))
