"""Weak labels in and out: tables of rows and pairs become ``(X, y)`` and back.

A weak label is one integer per row: ``0`` for an unlabeled row, ``+k`` for a row of similar pair
``k``, ``-k`` for a row of dissimilar pair ``k``. Each code other than zero stands on exactly two
rows, the first being the *left* member. This module knows nothing of losses, priors or models.
"""

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from likewise.engines.rows import (
    RowSets,
    Table,
    as_slice,
    count_positions,
    is_sparse,
    take_rows,
)
from likewise.engines.source import is_source, pack_source

__all__ = [
    "WeakSample",
    "check_parts",
    "locate",
    "locate_pairs",
    "locate_su",
    "pack",
    "unpack",
]


@dataclass(frozen=True)
class WeakSample:
    """The tables behind weak labels; row ``i`` of a left table is paired with row ``i`` right.

    Attributes
    ----------
    left, right : tables of n_similar rows
        Members of the similar pairs.
    dissimilar_left, dissimilar_right : tables of n_dissimilar rows
        Members of the dissimilar pairs.
    unlabeled : table of n_unlabeled rows
    """

    left: Table
    right: Table
    dissimilar_left: Table
    dissimilar_right: Table
    unlabeled: Table


def pack(unlabeled: Table, similar: Any = None, dissimilar: Any = None) -> tuple[Table, Any]:
    """Stack unlabeled rows and pairs into one table with one integer label per row.

    Parameters
    ----------
    unlabeled : table of shape (n_unlabeled, n_features)
        Numpy array, scipy sparse matrix, or pandas or polars data frame. Parquet files, Dask
        collections and torch tensors stay where they are: `X` is a `PairSource` then, `y` is None.
    similar : pairs, optional
        Pairs known to be of one class: two tables ``(A, B)`` whose rows belong together, an array
        of shape (n, 2, n_features), or an integer array of shape (n, 2) with row numbers of
        `unlabeled`. With row numbers, the rows stay among the unlabeled ones too.
    dissimilar : pairs, optional
        Pairs known to be of different classes, in any of the same forms.

    Returns
    -------
    X : table of shape (n_unlabeled + 2 * n_pairs, n_features)
        Unlabeled rows, then left and right members of the similar, then of the dissimilar pairs;
        the same kind of table as `unlabeled`, column names included.
    y : int64 array of shape (len(X),)
        ``0`` for unlabeled rows, ``+k`` on the two rows of similar pair k, ``-k`` on those of
        dissimilar pair k.

    Examples
    --------
    >>> import numpy as np, likewise as lw
    >>> X, y = lw.pack(np.arange(8.0).reshape(4, 2), similar=[(0, 1)], dissimilar=[(2, 3)])
    >>> y
    array([ 0,  0,  0,  0,  1,  1, -1, -1])
    """
    if is_source(unlabeled):
        return pack_source(unlabeled, similar, dissimilar), None
    unlabeled = _as_table(unlabeled, "unlabeled")
    same = _pair_tables(similar, unlabeled, "similar")
    different = _pair_tables(dissimilar, unlabeled, "dissimilar")
    n_same, n_different = _n_rows(same[0]), _n_rows(different[0])
    if n_same + n_different == 0:
        raise ValueError(
            "There are no pairs: pass at least one pair as `similar` (or `dissimilar`)."
        )
    same_codes = np.arange(1, n_same + 1)
    different_codes = -np.arange(1, n_different + 1)
    y = np.concatenate(
        [
            np.zeros(_n_rows(unlabeled), dtype=np.int64),
            same_codes,
            same_codes,
            different_codes,
            different_codes,
        ]
    )
    return _stack([unlabeled, *same, *different]), y


def unpack(X: Table, y: ArrayLike) -> WeakSample:
    """Split a packed table back into pairs and unlabeled rows; the inverse of `pack`.

    Parameters
    ----------
    X : table of shape (n_rows, n_features)
    y : integer array of shape (n_rows,)
        Weak labels. A pair with only one of its rows present is an error.

    Returns
    -------
    WeakSample
        Tables of the same kind as `X`. Numpy tables are views where the layout allows it.

    Examples
    --------
    >>> import numpy as np, likewise as lw
    >>> sample = lw.unpack(np.array([[0.0], [1.0], [2.0], [3.0]]), [7, 0, 0, 7])
    >>> sample.left, sample.right
    (array([[0.]]), array([[3.]]))
    """
    X = _as_table(X, "X")
    labels = np.asarray(y)
    if labels.shape[:1] != (_n_rows(X),):
        raise ValueError(f"X has {_n_rows(X)} rows but y has shape {labels.shape}.")
    rows = locate(labels)
    return WeakSample(
        left=take_rows(X, rows.left),
        right=take_rows(X, rows.right),
        dissimilar_left=take_rows(X, rows.dissimilar_left),
        dissimilar_right=take_rows(X, rows.dissimilar_right),
        unlabeled=take_rows(X, rows.unlabeled),
    )


def locate(y: ArrayLike) -> RowSets:
    """Validate weak labels and say where each kind of row stands.

    Parameters
    ----------
    y : integer array of shape (n_rows,)

    Returns
    -------
    RowSets
        Left and right positions are aligned: entry i of both belongs to one pair.
    """
    labels = _as_integer_labels(y)
    left, right = _match_members(labels, np.flatnonzero(labels > 0))
    other_left, other_right = _match_members(labels, np.flatnonzero(labels < 0))
    unlabeled = np.flatnonzero(labels == 0)
    return RowSets(*map(as_slice, (unlabeled, left, right, other_left, other_right)))


def locate_su(y: ArrayLike | None, n_rows: int, name: str) -> RowSets:
    """Locate the rows of weak labels for a learner of similar pairs and unlabeled rows only.

    Parameters
    ----------
    y : integer array of shape (n_rows,)
    n_rows : int
        Number of rows that the labels belong to.
    name : str
        Who asks, for the messages.

    Returns
    -------
    RowSets
    """
    rows = _located(y, n_rows, name)
    check_parts(rows, name)
    return rows


def locate_pairs(y: ArrayLike | None, n_rows: int, name: str) -> RowSets:
    """Locate the rows of weak labels for a learner of pairs of both kinds and unlabeled rows.

    Parameters
    ----------
    y, n_rows, name
        As in `locate_su`.

    Returns
    -------
    RowSets
    """
    rows = _located(y, n_rows, name)
    if not rows.n_pairs:
        raise ValueError(f"{name} needs at least one pair, but y holds none.")
    _check_unlabeled(rows, name)
    return rows


def _located(y: ArrayLike | None, n_rows: int, name: str) -> RowSets:
    if y is None:
        raise ValueError(
            f"{name} requires y to be passed, but the target y is None: pass the weak labels that "
            "likewise.pack returns."
        )
    if np.shape(y)[:1] != (n_rows,):
        raise ValueError(f"X has {n_rows} rows but y has shape {np.shape(y)}.")
    return locate(y)


def check_parts(rows: RowSets, name: str) -> None:
    """Raise unless there are similar pairs and unlabeled rows, and no dissimilar pairs."""
    if count_positions(rows.dissimilar_left):
        raise ValueError(
            f"{name} learns from similar pairs only, but y holds "
            f"{count_positions(rows.dissimilar_left)} dissimilar ones: leave them out of "
            "likewise.pack."
        )
    if not count_positions(rows.left):
        raise ValueError(f"{name} needs at least one similar pair, but y holds none.")
    _check_unlabeled(rows, name)


def _check_unlabeled(rows: RowSets, name: str) -> None:
    if not count_positions(rows.unlabeled):
        raise ValueError(f"{name} needs unlabeled rows (y = 0) beside the pairs, but y holds none.")


def _as_integer_labels(y: ArrayLike) -> NDArray[np.int64]:
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"y must be one integer per row, but it has shape {labels.shape}.")
    if labels.dtype.kind == "O":
        labels = _numbers_of(labels)
    if labels.dtype.kind in "iu":
        return labels.astype(np.int64, copy=False)
    if labels.dtype.kind == "f" and bool(np.all(np.isfinite(labels) & (labels == np.rint(labels)))):
        return labels.astype(np.int64)
    raise ValueError(
        f"y must hold whole numbers (0 unlabeled, +k similar pair k, -k dissimilar pair k), but "
        f"its dtype is {labels.dtype} with other values in it; build it with likewise.pack."
    )


def _numbers_of(labels: NDArray[Any]) -> NDArray[Any]:
    """Return objects that are numbers, all of them, as an array of numbers."""
    if all(isinstance(label, (int, float, np.number)) for label in labels):
        return np.array(labels.tolist())
    return labels


def _match_members(
    labels: NDArray[np.int64], positions: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Match the two rows of every pair among `positions`."""
    codes = labels[positions]
    half = codes.size // 2
    if codes.size == 2 * half and np.array_equal(codes[:half], codes[half:]):
        first = np.abs(codes[:half])
        if bool(np.all(np.diff(first) > 0)):  # the layout that `pack` makes: nothing to sort
            return positions[:half], positions[half:]
    order = np.argsort(np.abs(codes), kind="stable")
    ordered = codes[order]
    left, right = ordered[0::2], ordered[1::2]
    if left.size != right.size or np.any(left != right) or np.any(np.diff(left) == 0):
        _raise_torn(labels, ordered)
    return positions[order[0::2]], positions[order[1::2]]


def _raise_torn(labels: NDArray[np.int64], codes: NDArray[np.int64]) -> NoReturn:
    values, counts = np.unique(codes, return_counts=True)
    if labels.size > 2 and set(np.unique(labels).tolist()) <= {-1, 0, 1}:
        raise ValueError(
            "y looks like class labels: likewise learns from weak labels (0 unlabeled, +k on the "
            "two rows of similar pair k); build them with likewise.pack."
        )
    torn = int(values[np.argmax(counts != 2)])
    count = int(counts[np.argmax(counts != 2)])
    if count == 1:
        raise ValueError(
            f"Pair {torn} is torn: only one of its two rows is here; split weak labels with "
            "likewise.PairKFold, which never tears a pair apart."
        )
    raise ValueError(f"Pair {torn} stands on {count} rows of y; a pair has exactly two rows.")


def _as_table(table: Table, name: str) -> Table:
    if is_sparse(table):
        return table.tocsr()
    if hasattr(table, "columns"):
        return table
    array = np.asarray(table)
    if array.ndim != 2:
        raise ValueError(
            f"`{name}` must be a table (rows x features), but it has shape {array.shape}."
        )
    return array


def _pair_tables(pairs: Any, unlabeled: Table, name: str) -> tuple[Table, Table]:
    """Bring pairs in any accepted form into two aligned tables of the kind of `unlabeled`."""
    if pairs is None or (_is_sequence(pairs) and len(pairs) == 0):
        return take_rows(unlabeled, slice(0, 0)), take_rows(unlabeled, slice(0, 0))
    if _is_two_tables(pairs):
        left, right = (_as_table(table, name) for table in pairs)
        if left.shape[0] != right.shape[0]:
            raise ValueError(
                f"`{name}` has {left.shape[0]} left rows but {right.shape[0]} right rows."
            )
        for table in (left, right):
            _check_same_columns(table, unlabeled, name)
        return left, right
    if _is_ambiguous(pairs):
        raise ValueError(
            f"`{name}` holds arrays that are not two tables (A, B); pass those as a tuple, and "
            "row numbers as one array of shape (n, 2), for instance np.column_stack([left, right])."
        )
    array = np.asarray(pairs)
    if array.ndim == 3 and array.shape[1] == 2:
        return _pair_tables((array[:, 0], array[:, 1]), unlabeled, name)
    if array.ndim == 2 and array.shape[1] == 2 and array.dtype.kind in "iu":
        _check_row_numbers(array, _n_rows(unlabeled), name)
        left, right = (take_rows(unlabeled, column.astype(np.intp)) for column in array.T)
        return left, right
    raise ValueError(
        f"`{name}` must be two tables (A, B), an array of shape (n, 2, n_features), or an integer "
        f"array of shape (n, 2) with row numbers of `unlabeled`; got shape {array.shape} and "
        f"dtype {array.dtype}."
    )


def _is_ambiguous(pairs: Any) -> bool:
    """Tell columns of row numbers, or tables in a list, from couples of row numbers."""
    shapes = [len(getattr(part, "shape", ())) for part in pairs] if _is_sequence(pairs) else []
    return any(shapes) if isinstance(pairs, tuple) else max(shapes, default=0) > 1


def _is_sequence(pairs: Any) -> bool:
    return isinstance(pairs, (tuple, list))


def _is_two_tables(pairs: Any) -> bool:
    return (
        isinstance(pairs, tuple)
        and len(pairs) == 2
        and all(len(getattr(part, "shape", np.shape(part))) == 2 for part in pairs)
    )


def _check_same_columns(table: Table, unlabeled: Table, name: str) -> None:
    if _kind(table) != _kind(unlabeled):
        raise ValueError(
            f"`{name}` holds {_kind(table)} tables but `unlabeled` is a {_kind(unlabeled)} table; "
            "pass tables of one kind."
        )
    if table.shape[1] != unlabeled.shape[1]:
        raise ValueError(
            f"`{name}` has {table.shape[1]} columns but `unlabeled` has {unlabeled.shape[1]}."
        )
    if hasattr(table, "columns") and list(table.columns) != list(unlabeled.columns):
        raise ValueError(
            f"`{name}` has columns {list(table.columns)} but `unlabeled` has columns "
            f"{list(unlabeled.columns)}; give both the same columns in the same order."
        )


def _check_row_numbers(pairs: NDArray[Any], n_rows: int, name: str) -> None:
    outside = np.flatnonzero(((pairs < 0) | (pairs >= n_rows)).any(axis=1))
    if outside.size:
        raise ValueError(
            f"`{name}` pair {int(outside[0])} names rows {pairs[outside[0]].tolist()}, but "
            f"`unlabeled` has rows 0 to {n_rows - 1}."
        )
    selves = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if selves.size:
        raise ValueError(
            f"`{name}` pair {int(selves[0])} joins row {int(pairs[selves[0], 0])} with itself; a "
            "pair needs two different rows."
        )


def _kind(table: Table) -> str:
    if is_sparse(table):
        return "sparse"
    return type(table).__module__.split(".")[0]


def _n_rows(table: Table) -> int:
    return int(table.shape[0])


def _stack(tables: list[Table]) -> Table:
    tables = [tables[0], *(table for table in tables[1:] if _n_rows(table))]
    kind = _kind(tables[0])
    if kind == "sparse":
        return sp.vstack(tables, format="csr")
    if kind == "pandas":
        import pandas as pd

        return pd.concat(tables, ignore_index=True)
    if kind == "polars":
        import polars as pl

        return pl.concat(tables, how="vertical_relaxed")
    return np.concatenate(tables)
