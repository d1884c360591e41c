"""Rows of a table in memory: which they are, and how they are taken without a copy.

Nothing here knows what rows are for.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from likewise._types import FloatArray

__all__ = [
    "Positions",
    "RowSets",
    "Table",
    "as_slice",
    "as_table",
    "count_positions",
    "is_sparse",
    "kish_scaled",
    "row_numbers",
    "take_rows",
]

Table = Any
"""A numpy array, a scipy sparse matrix or array, or a pandas or polars data frame."""

Positions = slice | NDArray[np.intp]
"""Which rows of a table: a slice where that is possible, so that taking them copies nothing."""


class RowSets(NamedTuple):
    """Where each kind of row stands in a packed table."""

    unlabeled: Positions
    left: Positions
    right: Positions
    dissimilar_left: Positions
    dissimilar_right: Positions

    @property
    def n_pairs(self) -> int:
        """Number of pairs, similar and dissimilar."""
        return count_positions(self.left) + count_positions(self.dissimilar_left)

    def among(self, chosen: NDArray[np.bool_]) -> "RowSets":
        """Return the positions that a mask over all rows keeps; a split pair is an error."""
        kept = [chosen[positions] for positions in self]
        if not (np.array_equal(kept[1], kept[2]) and np.array_equal(kept[3], kept[4])):
            raise ValueError(
                "The chosen rows split a pair: only one of its two rows is among them; use "
                "likewise.PairKFold, which keeps pairs together."
            )
        return RowSets(
            *(
                as_slice(row_numbers(positions)[keep])
                for positions, keep in zip(self, kept, strict=True)
            )
        )


def as_slice(positions: NDArray[np.intp]) -> Positions:
    """Return evenly spaced increasing positions as a slice, any others as they are."""
    if positions.size == 0:
        return slice(0, 0, 1)
    first, last = int(positions[0]), int(positions[-1])
    step = int(positions[1]) - first if positions.size > 1 else 1
    if step < 1 or last - first != step * (positions.size - 1):
        return positions
    return slice(first, last + 1, step) if bool(np.all(np.diff(positions) == step)) else positions


def count_positions(positions: Positions) -> int:
    """Return how many rows the positions name."""
    if isinstance(positions, slice):
        return len(range(positions.start, positions.stop, positions.step))
    return int(positions.size)


def row_numbers(positions: Positions) -> NDArray[np.intp]:
    """Return positions as an array of row numbers."""
    if isinstance(positions, slice):
        return np.arange(positions.start, positions.stop, positions.step)
    return positions


def is_sparse(table: Table) -> bool:
    """Tell whether a table is a scipy sparse matrix or array."""
    return bool(sp.issparse(table))


def as_table(X: Any) -> Table:
    """Return a table whose rows can be taken; data frames keep their kind and names."""
    if is_sparse(X):
        return X.tocsr()
    if hasattr(X, "shape"):
        return X
    array = np.atleast_1d(np.asarray(X))
    # Beside text, numpy would turn numbers into text too.
    return np.atleast_1d(np.asarray(X, dtype=object)) if array.dtype.kind in "US" else array


def take_rows(table: Table, positions: Positions) -> Table:
    """Return the rows at `positions`, as the same kind of table."""
    if hasattr(table, "iloc"):
        return table.iloc[positions]
    return table[positions]


def kish_scaled(weights: FloatArray) -> FloatArray:
    """Return weights whose sum is the effective number of rows (Kish, 1965); zeros stay zeros.

    Parameters
    ----------
    weights : array of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.engines.rows import kish_scaled
    >>> kish_scaled(np.array([30.0, 10.0])).round(3).tolist()
    [1.2, 0.4]
    """
    largest = weights.max(initial=0.0)
    if not largest:
        return weights
    weights = weights / largest  # so that squares neither overflow nor vanish
    return np.asarray(weights * (weights.sum() / float(weights @ weights)))
