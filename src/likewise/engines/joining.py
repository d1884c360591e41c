"""Pairs given by ids: where the rows that they name stand in a table."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.io.arrow import import_pyarrow


def id_columns(pairs: Any, name: str) -> tuple[Any, Any]:
    """Return the left and the right ids of pairs as pyarrow arrays.

    Parameters
    ----------
    pairs : pyarrow table or pandas data frame with columns left and right, or (n, 2) array
    name : str
        What the pairs are, for the messages.
    """
    pa = import_pyarrow()
    if hasattr(pairs, "column_names"):
        left, right = (pairs.column(name).combine_chunks() for name in ("left", "right"))
        return left, right
    if hasattr(pairs, "columns"):
        left, right = (pa.array(pairs[name]) for name in ("left", "right"))
        return left, right
    array = np.asarray(pairs)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(
            f"`{name}` must be two sources (A, B), a source with columns left_* and right_*, or "
            f"ids in columns left and right or of shape (n, 2); got shape {array.shape}."
        )
    left, right = (pa.array(column) for column in array.T)
    return left, right


def pair_positions(named: Any, ids: Any, id_column: str) -> NDArray[np.intp]:
    """Return the row of each named id, given the ids of all rows, as a hash join does.

    Parameters
    ----------
    named, ids : pyarrow arrays of one type
    id_column : str
        For the messages.
    """
    pa = import_pyarrow()
    if len(pa.compute.unique(ids)) < len(ids):
        counts = pa.compute.value_counts(ids)
        twice = counts.filter(pa.compute.greater(counts.field("counts"), 1))[0]["values"]
        raise ValueError(f"Column {id_column!r} holds the id {twice} more than once.")
    positions = pa.compute.index_in(named, value_set=ids)
    if positions.null_count:
        first = int(pa.compute.index(positions.is_null(), True).as_py())
        raise ValueError(
            f"Pair {first} names {named[first]}, but there is no such id in column {id_column!r} "
            f"({positions.null_count} ids of {len(named)} are missing)."
        )
    return np.asarray(positions.to_numpy(), dtype=np.intp)


def check_not_selves(left: NDArray[Any], right: NDArray[Any]) -> None:
    """Raise if a pair joins a row with itself."""
    selves = np.flatnonzero(np.asarray(left) == np.asarray(right))
    if selves.size:
        raise ValueError(
            f"Pair {int(selves[0])} joins {left[selves[0]]} with itself; a pair needs two "
            "different rows."
        )
