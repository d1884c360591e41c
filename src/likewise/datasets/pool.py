"""A labeled pool that samplers draw from without replacement.

This module must not know what the rows are drawn for.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.engines.rows import Table

__all__ = ["as_pool", "draw_rows", "one_per_row"]


def as_pool(X: Any) -> Table:
    """Return `X` as a table whose rows can be taken by number."""
    if hasattr(X, "tocsr"):
        # Not every sparse format can be indexed by rows.
        return X.tocsr()
    table = X if hasattr(X, "shape") else np.asarray(X)
    if len(table.shape) != 2:
        raise ValueError(f"X must have rows and columns, but its shape is {table.shape}.")
    return table


def one_per_row(y: ArrayLike, n_rows: int) -> NDArray[Any]:
    """Return the classes of the pool as an array, or say that there is not one for every row."""
    labels = np.asarray(y)
    if labels.shape != (n_rows,):
        raise ValueError(
            f"y must hold one class for each of the {n_rows} rows of X, "
            f"but its shape is {labels.shape}."
        )
    return labels


def draw_rows(
    rng: np.random.Generator,
    classes: NDArray[np.integer[Any]],
    wanted: NDArray[np.integer[Any]],
    names: Mapping[int, str],
) -> NDArray[np.intp]:
    """Give every entry of `wanted` a pool row of that class, using no row twice.

    Parameters
    ----------
    rng : numpy.random.Generator
    classes : integer array of shape (n_pool,)
    wanted : integer array of shape (n_draws,)
    names : mapping from class to str
        All classes and how messages call them.

    Returns
    -------
    integer array of shape (n_draws,)
        Row numbers of the pool.
    """
    available = {label: np.flatnonzero(classes == label) for label in names}
    places = {label: np.flatnonzero(wanted == label) for label in names}
    shortages = [
        f"class {name}: needs {places[label].size} rows, the pool has {available[label].size}"
        for label, name in names.items()
        if places[label].size > available[label].size
    ]
    if shortages:
        raise ValueError("; ".join(shortages) + "; ask for fewer pairs/rows or another prior.")
    rows = np.empty(wanted.size, dtype=np.intp)
    for label, at in places.items():
        rows[at] = rng.choice(available[label], size=at.size, replace=False)
    return rows
