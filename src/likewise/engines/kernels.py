"""Sums over one block of rows, with a column of ones behind the features for the intercept.

Each function takes rows of shape (m, d), dense or sparse, and a parameter vector of length d + 1
whose last entry is the intercept. They are the only code that multiplies rows.
"""

from typing import Any

import numpy as np

from likewise.losses import FloatArray
from likewise.pairs import is_sparse


def decide(rows: Any, weights: FloatArray) -> FloatArray:
    """Return decision values, (m,) or (m, k), for weights of shape (d + 1,) or (d + 1, k)."""
    return np.asarray(rows @ weights[:-1] + weights[-1])


def weighted_sum(rows: Any, values: FloatArray) -> FloatArray:
    """Return ``[rows, 1]' values``, shape (d + 1,)."""
    return np.append(rows.T @ values, values.sum())


def column_sums(rows: Any) -> FloatArray:
    """Return ``[rows, 1]' 1``, shape (d + 1,)."""
    return weighted_sum(rows, np.ones(rows.shape[0]))


def gram(rows: Any) -> FloatArray:
    """Return ``[rows, 1]' [rows, 1]``, shape (d + 1, d + 1)."""
    return _bordered(rows.T @ rows, column_sums(rows))


def weighted_gram(rows: Any, values: FloatArray) -> FloatArray:
    """Return ``[rows, 1]' diag(values) [rows, 1]`` for values >= 0, shape (d + 1, d + 1)."""
    if is_sparse(rows):
        product = rows.T @ rows.multiply(values[:, None]).tocsr()
    else:
        # Scaling by the root lets BLAS use the symmetric product, at half the work.
        scaled = rows * np.sqrt(values)[:, None]
        product = scaled.T @ scaled
    return _bordered(product, weighted_sum(rows, values))


def _bordered(product: Any, border: FloatArray) -> FloatArray:
    d = border.size - 1
    full = np.empty((d + 1, d + 1))
    full[:d, :d] = product.toarray() if is_sparse(product) else product
    full[:, d] = full[d, :] = border
    return full
