"""Sums over one block of rows, with a column of ones behind the features for the intercept.

Each function takes rows of shape (m, d), dense or sparse, in memory or on a device, and parameters
of length d + 1 whose last entry is the intercept. Values of single rows stay where the rows are,
sums come back as numpy arrays. These functions are the only code that multiplies rows.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.engines.arrays import like, namespace_of, to_numpy
from likewise.losses import FloatArray
from likewise.pairs import is_sparse


def decide(rows: Any, weights: FloatArray) -> Any:
    """Return decision values, (m,) or (m, k), for weights of shape (d + 1,) or (d + 1, k)."""
    weights = like(rows, weights)
    return rows @ weights[:-1] + weights[-1]


def count_positive(rows: Any, weights: FloatArray) -> NDArray[np.intp]:
    """Return how many rows each column of weights decides for class +1, shape (k,)."""
    positive = to_numpy((decide(rows, weights) > 0).sum(axis=0))
    return positive.astype(np.intp)


def weighted_sum(rows: Any, values: Any) -> FloatArray:
    """Return ``[rows, 1]' values``, shape (d + 1,)."""
    return np.append(to_numpy(rows.T @ values), to_numpy(values.sum()))


def column_sums(rows: Any) -> FloatArray:
    """Return ``[rows, 1]' 1``, shape (d + 1,)."""
    if is_sparse(rows):
        return weighted_sum(rows, np.ones(rows.shape[0]))
    return weighted_sum(rows, namespace_of(rows).ones_like(rows[:, 0]))


def gram(rows: Any) -> FloatArray:
    """Return ``[rows, 1]' [rows, 1]``, shape (d + 1, d + 1)."""
    rows = _strided_once(rows)
    return _bordered(rows.T @ rows, column_sums(rows))


def weighted_gram(rows: Any, values: Any) -> FloatArray:
    """Return ``[rows, 1]' diag(values) [rows, 1]`` for values >= 0, shape (d + 1, d + 1)."""
    if is_sparse(rows):
        product = rows.T @ rows.multiply(values[:, None]).tocsr()
    else:
        # Scaling by the root lets BLAS use the symmetric product, at half the work.
        scaled = rows * namespace_of(values).sqrt(values)[:, None]
        product = scaled.T @ scaled
    return _bordered(product, weighted_sum(rows, values))


def _strided_once(rows: Any) -> Any:
    """Return rows that BLAS can read in place: numpy would copy others once for each factor."""
    if isinstance(rows, np.ndarray) and rows.itemsize not in rows.strides:
        return rows.copy(order="F" if rows.strides[0] < rows.strides[1] else "C")
    return rows


def _bordered(product: Any, border: FloatArray) -> FloatArray:
    d = border.size - 1
    full = np.empty((d + 1, d + 1))
    full[:d, :d] = product.toarray() if is_sparse(product) else to_numpy(product)
    full[:, d] = full[d, :] = border
    return full
