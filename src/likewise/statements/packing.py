"""A table and statements about its rows become ``(X, y)``, and back."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from likewise.engines.rows import Table, is_sparse, take_rows
from likewise.engines.source import is_source, pack_source
from likewise.statements.answers import are_answers, split_answers
from likewise.statements.labels import TableLabels, WeakLabels, read_labels, row_sets_of
from likewise.statements.named import name_statements, row_pairs
from likewise.statements.statements import Statements

__all__ = ["WeakSample", "labels_of", "pack", "unpack"]


@dataclass(frozen=True)
class WeakSample:
    """The tables behind weak labels; row ``i`` of the left is paired with row ``i`` of the right.

    Attributes
    ----------
    left, right : tables of n_similar rows
        Members of the similar pairs; a group is a chain of pairs.
    dissimilar_left, dissimilar_right : tables of n_dissimilar rows
        Members of the dissimilar pairs.
    unlabeled : table of n_unlabeled rows
        Rows that stand for all rows: of one table all of them, beside fresh pairs the others.
    statements : Statements
        The statements by row numbers.

    Examples
    --------
    >>> import numpy as np, likewise as lw
    >>> sample = lw.unpack(*lw.pack(np.arange(8.0).reshape(4, 2), similar=[(0, 3)]))
    >>> sample.left, sample.right
    (array([[0., 1.]]), array([[6., 7.]]))
    """

    left: Table
    right: Table
    dissimilar_left: Table
    dissimilar_right: Table
    unlabeled: Table
    statements: Statements


def pack(unlabeled: Table, similar: Any = None, dissimilar: Any = None) -> tuple[Table, Any]:
    """Put a table and statements about its rows into the form that estimators take.

    Parameters
    ----------
    unlabeled : table of shape (n_rows, n_features)
        Numpy array, scipy sparse matrix, or pandas or polars data frame. Parquet files, Dask
        collections and torch tensors stay where they are: `X` is a `PairSource` then, `y` is None.
    similar : statements, optional
        Rows known to be of one class: pairs as an integer array or data frame of shape (n, 2), or
        a list of pairs and larger groups. Rows are named by their numbers, or by the labels of a
        pandas index other than 0, 1, 2, ... Fresh pairs, whose members are rows of their own, are
        two tables ``(A, B)`` or an array of shape (n, 2, n_features); beside such, rows of the
        table that pairs name are copied and count as fresh too. A data frame with the columns
        left, right and relation (same, different, unsure), such as `Asker.answers`, holds both
        kinds; then there is no `dissimilar`.
    dissimilar : pairs, optional
        Pairs known to be of different classes, in any of the same forms; no groups.

    Returns
    -------
    X : table
        The table itself: no row is copied. With fresh pairs, their left and right members stand
        behind the unlabeled rows; column names stay.
    y : integer array of shape (len(X),), or scipy CSR matrix of shape (len(X), n_statements)
        A vector where every row is in at most one statement: ``0`` for rows in none, ``+k`` on the
        rows of similar statement k, ``-k`` on the two rows of dissimilar pair k. Else a matrix with
        a column per statement, similar ones first, +1 (alike) or -1 (different) at their rows.

    Examples
    --------
    >>> import numpy as np, likewise as lw
    >>> table = np.arange(10.0).reshape(5, 2)
    >>> X, y = lw.pack(table, similar=[(0, 1)], dissimilar=[(2, 3)])
    >>> y
    array([ 1,  1, -1, -1,  0])
    >>> X, y = lw.pack(table, similar=[(0, 1), (1, 2)], dissimilar=[(2, 3)])
    >>> y.toarray()
    array([[ 1,  0,  0],
           [ 1,  1,  0],
           [ 0,  1, -1],
           [ 0,  0, -1],
           [ 0,  0,  0]], dtype=int8)
    """
    if is_source(unlabeled):
        return pack_source(unlabeled, similar, dissimilar), None
    table = _as_table(unlabeled, "unlabeled")
    if are_answers(similar):
        if not _is_nothing(dissimilar):
            raise ValueError("`similar` has a column relation: pass all pairs in it, or none.")
        similar, dissimilar = split_answers(similar)
    similar, dissimilar = (
        list(pairs) if isinstance(pairs, Iterator) else pairs for pairs in (similar, dissimilar)
    )
    given = [pairs for pairs in (similar, dissimilar) if not _is_nothing(pairs)]
    if not given:
        raise ValueError(
            "There are no pairs: pass at least one pair as `similar` (or `dissimilar`)."
        )
    if any(map(_are_rows, given)):
        return _pack_fresh(table, similar, dissimilar)
    return table, labels_of(name_statements(table, similar, dissimilar))


def _pack_fresh(table: Table, similar: Any, dissimilar: Any) -> tuple[Table, NDArray[np.int64]]:
    same = _pair_tables(similar, table, "similar")
    different = _pair_tables(dissimilar, table, "dissimilar")
    same_codes = np.arange(1, _n_rows(same[0]) + 1)
    different_codes = -np.arange(1, _n_rows(different[0]) + 1)
    zeros = np.zeros(_n_rows(table), dtype=np.int64)
    y = np.concatenate([zeros, same_codes, same_codes, different_codes, different_codes])
    return _stack([table, *same, *different]), y


def labels_of(statements: Statements) -> WeakLabels:
    """Return statements about one table as a vector where that is possible, else as a matrix.

    Parameters
    ----------
    statements : Statements
    """
    of_member = np.repeat(np.arange(statements.count), statements.sizes)
    signs = np.where(statements.is_similar, 1, -1)
    if np.unique(statements.members).size == statements.members.size:
        codes = np.where(
            statements.is_similar,
            np.cumsum(statements.is_similar),
            0 - np.cumsum(~statements.is_similar),
        )
        y = np.zeros(statements.n_rows, dtype=np.int64)
        y[statements.members] = codes[of_member]
        return TableLabels.of(y)
    entries = (signs[of_member].astype(np.int8), (statements.members, of_member))
    return sp.csr_matrix(entries, shape=(statements.n_rows, statements.count))


def unpack(X: Table, y: WeakLabels) -> WeakSample:
    """Split a packed table back into pairs and unlabeled rows; the inverse of `pack`.

    Parameters
    ----------
    X : table of shape (n_rows, n_features)
    y : integer array of shape (n_rows,), or scipy CSR matrix of shape (n_rows, n_statements)
        Weak labels.

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
    if np.shape(y)[:1] != (_n_rows(X),):
        raise ValueError(f"X has {_n_rows(X)} rows but y has shape {np.shape(y)}.")
    statements = read_labels(y)
    rows = row_sets_of(statements)
    return WeakSample(
        left=take_rows(X, rows.left),
        right=take_rows(X, rows.right),
        dissimilar_left=take_rows(X, rows.dissimilar_left),
        dissimilar_right=take_rows(X, rows.dissimilar_right),
        unlabeled=take_rows(X, rows.unlabeled),
        statements=statements,
    )


def _as_table(table: Table, name: str) -> Table:
    if is_sparse(table):
        return table.tocsr()
    if hasattr(table, "columns"):
        return table
    if hasattr(table, "iloc"):  # a series of texts, say
        return table
    array = np.asarray(table)
    is_text = array.ndim == 1 and array.dtype.kind in "OUS"
    if array.ndim < 2 and not is_text:
        raise ValueError(
            f"`{name}` must be a table (rows x features), but it has shape {array.shape}."
        )
    return array


def _is_nothing(pairs: Any) -> bool:
    return pairs is None or (hasattr(pairs, "__len__") and not is_sparse(pairs) and len(pairs) == 0)


def _are_rows(pairs: Any) -> bool:
    """Tell whether pairs are rows of their own rather than names of rows."""
    if isinstance(pairs, tuple) and len(pairs) == 2:
        return all(len(getattr(part, "shape", np.shape(part))) == 2 for part in pairs)
    return len(getattr(pairs, "shape", ())) == 3 or (
        isinstance(pairs, Sequence) and np.ndim(pairs[0]) == 2 and not hasattr(pairs[0], "columns")
    )


def _pair_tables(pairs: Any, unlabeled: Table, name: str) -> tuple[Table, Table]:
    """Bring rows in either form into two aligned tables of the kind of `unlabeled`."""
    if _is_nothing(pairs):
        return take_rows(unlabeled, slice(0, 0)), take_rows(unlabeled, slice(0, 0))
    if not _are_rows(pairs):
        named = row_pairs(pairs, unlabeled, name)
        return take_rows(unlabeled, named[:, 0]), take_rows(unlabeled, named[:, 1])
    if isinstance(pairs, list) and hasattr(pairs[0], "shape"):
        raise ValueError(f"`{name}` is a list of tables; pass two tables as a tuple (A, B).")
    if not isinstance(pairs, tuple):
        array = np.asarray(pairs)
        if array.ndim != 3 or array.shape[1] != 2:
            raise ValueError(
                f"`{name}` must be two tables (A, B), an array of shape (n, 2, n_features), or "
                f"rows of the table by number; got shape {array.shape}."
            )
        pairs = (array[:, 0], array[:, 1])
    left, right = (_as_table(table, name) for table in pairs)
    if left.shape[0] != right.shape[0]:
        raise ValueError(f"`{name}` has {left.shape[0]} left rows but {right.shape[0]} right rows.")
    for table in (left, right):
        _check_same_columns(table, unlabeled, name)
    return left, right


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
