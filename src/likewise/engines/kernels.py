"""Sums over one block of rows, with a column of ones behind the features for the intercept.

Each function takes rows of shape (m, d), dense or sparse, in memory or on a device, and parameters
of length d + 1 whose last entry is the intercept. Whatever comes back, values of single rows and
sums alike, is where the rows are and of their library; an engine brings the sums of all blocks to
memory. These functions (and `tensors`, which they call) are the only code that multiplies rows.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from likewise._types import FloatArray
from likewise.engines import tensors
from likewise.engines.arrays import is_tensor, like, namespace_of
from likewise.engines.rows import is_sparse


def decide(rows: Any, weights: FloatArray) -> Any:
    """Return decision values, (m,) or (m, k), for weights of shape (d + 1,) or (d + 1, k)."""
    if is_tensor(rows):
        return tensors.decide(rows, like(rows, weights))
    return rows @ weights[:-1] + weights[-1]


def count_positive(rows: Any, weights: FloatArray, counts: FloatArray | None = None) -> Any:
    """Return how many rows each column of weights decides for class +1, shape (k,).

    Rows may count more or less than once.
    """
    positive = decide(rows, weights) > 0
    return positive.sum(axis=0) if counts is None else counts @ positive


def weighted_sum(rows: Any, values: Any) -> Any:
    """Return ``[rows, 1]' values``, shape (d + 1,)."""
    xp = namespace_of(values)
    total = xp.sum(values, dtype=xp.float64)  # in single precision, millions of ones add up short
    return xp.concat([rows.T @ values, xp.reshape(total, (1,))])


def column_sums(rows: Any, counts: FloatArray | None = None) -> Any:
    """Return ``[rows, 1]' 1``, shape (d + 1,); rows may count more or less than once."""
    if counts is not None:
        return weighted_sum(rows, counts)
    if is_tensor(rows):
        return column_sums_in_turn(rows, 1, 0)[0]
    return weighted_sum(rows, np.ones(rows.shape[0]))


def squared_sums(left: Any, right: Any) -> Any:
    """Return the square of ``left + right`` entry by entry, a table of shape (m, d)."""
    total = left + right
    return total.multiply(total).tocsr() if is_sparse(total) else total * total


def square_sums(rows: Any, counts: FloatArray | None = None) -> Any:
    """Return the diagonal of `gram`, shape (d + 1,), of rows that are no tensors."""
    with np.errstate(over="ignore", invalid="ignore"):  # who asks looks at the result
        squares = rows.multiply(rows).tocsr() if is_sparse(rows) else rows * rows
        return column_sums(squares, counts)


def gram(rows: Any, counts: FloatArray | None = None) -> Any:
    """Return ``[rows, 1]' [rows, 1]``, shape (d + 1, d + 1); rows may count more than once."""
    if counts is not None:
        return weighted_gram(rows, counts)
    rows = _strided_once(rows)
    return _bordered(_product(rows), column_sums(rows))


def weighted_gram(rows: Any, values: Any) -> Any:
    """Return ``[rows, 1]' diag(values) [rows, 1]`` for values >= 0, shape (d + 1, d + 1)."""
    if is_tensor(rows):
        product = tensors.weighted_product(rows, values)
    elif is_sparse(rows):
        product = rows.T @ rows.multiply(values[:, None]).tocsr()
    else:
        # Scaling by the root lets BLAS use the symmetric product, at half the work.
        scaled = rows * np.sqrt(values)[:, None]
        product = scaled.T @ scaled
    return _bordered(product, weighted_sum(rows, values))


def grams_in_turn(rows: Any, n_turns: int, start: int) -> Any:
    """Return the grams of every `n_turns`-th row, shape (n_turns, d + 1, d + 1).

    The first row has turn ``start % n_turns``.
    """
    slices = _slices_in_turn(n_turns, start, n_turns)
    if not is_tensor(rows):
        return np.stack([gram(rows[at]) for at in slices])
    products = namespace_of(rows).stack([_product(rows[at]) for at in slices])
    return _bordered(products, column_sums_in_turn(rows, n_turns, start))


def column_sums_in_turn(rows: Any, n_turns: int, start: int) -> Any:
    """Return the column sums of every `n_turns`-th row, shape (n_turns, d + 1).

    The first row has turn ``start % n_turns``.
    """
    slices = _slices_in_turn(n_turns, start, n_turns)
    if not is_tensor(rows):
        return np.stack([column_sums(rows[at]) for at in slices])
    xp = namespace_of(rows)
    sums = xp.roll(tensors.column_sums_in_turn(rows, n_turns), start % n_turns, 0)
    counts = xp.roll(_turns_of(rows, n_turns), start % n_turns, 0)
    return xp.concat([sums, counts], axis=1)


def count_positive_in_turn(
    rows: Any, weights: Sequence[FloatArray], start: int, period: int
) -> Any:
    """Return how many rows are decided for class +1 by the weights of their turn, (n_turns, k).

    There are weights of shape (d + 1, k) for each turn. Row i has turn ``(start + i) % period``;
    where there are fewer weights than that, the row is passed over.
    """
    if not is_tensor(rows):
        own = zip(_slices_in_turn(len(weights), start, period), weights, strict=True)
        return np.stack([count_positive(rows[at], column) for at, column in own])
    head, stacked = -start % period, like(rows, np.stack(weights))
    counts = tensors.count_positive_in_turn(rows[head:], stacked, period)
    for row in range(min(head, rows.shape[0])):  # none where blocks begin with a turn
        turn = (start + row) % period
        if turn < len(weights):
            counts[turn] += count_positive(rows[row : row + 1], weights[turn])
    return counts


def _slices_in_turn(n_turns: int, start: int, period: int) -> list[slice]:
    """Return which rows have which turn, if row i has turn ``(start + i) % period``."""
    return [slice((turn - start) % period, None, period) for turn in range(n_turns)]


def _turns_of(rows: Any, n_turns: int) -> Any:
    """Return how many rows take each turn, (n_turns, 1), made where the rows are."""
    turns, more = divmod(rows.shape[0], n_turns)
    counts = rows.new_full((n_turns, 1), turns)
    counts[:more] += 1
    return counts


def _product(rows: Any) -> Any:
    if is_tensor(rows):
        return tensors.product(rows)
    with np.errstate(over="ignore", invalid="ignore"):  # who asks looks at the result
        return rows.T @ rows


def _strided_once(rows: Any) -> Any:
    """Return rows that BLAS can read in place: numpy would copy others once for each factor."""
    if isinstance(rows, np.ndarray) and rows.itemsize not in rows.strides:
        return rows.copy(order="F" if rows.strides[0] < rows.strides[1] else "C")
    return rows


def _bordered(product: Any, border: Any) -> Any:
    d = border.shape[-1] - 1
    shape = (*border.shape, d + 1)
    full = border.new_empty(shape) if is_tensor(border) else np.empty(shape)
    full[..., :d, :d] = product.toarray() if is_sparse(product) else product
    full[..., d] = full[..., d, :] = border
    return full
