"""Rows named by number or by index label: what users write becomes `Statements`."""

from collections.abc import Iterable, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.engines.rows import Table
from likewise.statements.statements import Statements

__all__ = ["name_statements", "row_pairs"]

IntArray = NDArray[np.intp]


def name_statements(table: Table, similar: Any, dissimilar: Any) -> Statements:
    """Read statements that name rows of a table.

    Parameters
    ----------
    table : table of shape (n_rows, n_features)
    similar : pairs and groups, or None
    dissimilar : pairs, or None

    Returns
    -------
    Statements
        Similar ones first, numbered in the order they were passed.
    """
    alike, sizes = _read(similar, table, "similar")
    different, of_pairs = _read(dissimilar, table, "dissimilar")
    if np.any(of_pairs != 2):
        raise ValueError(
            f"`dissimilar` statement {int(np.argmax(of_pairs != 2))} is about more than two rows; "
            "say of two rows at a time that they differ."
        )
    n_similar, n_dissimilar = sizes.size, of_pairs.size
    return Statements(
        int(table.shape[0]),
        np.concatenate([alike, different]),
        np.concatenate([[0], np.cumsum(np.concatenate([sizes, of_pairs]))]),
        np.arange(n_similar + n_dissimilar) < n_similar,
        np.arange(n_similar + n_dissimilar),
    )


def row_pairs(pairs: Any, table: Table, name: str) -> IntArray:
    """Return pairs, without groups, as row numbers of shape (n_pairs, 2)."""
    members, sizes = _read(pairs, table, name)
    if np.any(sizes != 2):
        raise ValueError(f"`{name}` holds groups beside fresh pairs; pass pairs alone.")
    return members.reshape(-1, 2)


def _read(statements: Any, table: Table, name: str) -> tuple[IntArray, IntArray]:
    """Return the rows of all statements, one after the other, and how many each is about."""
    if statements is None or len(statements) == 0:
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)
    _check_form(statements, name)
    named, sizes = _flat(statements, name)
    members = _numbers(named, sizes, table, name)
    _check_repeated(members, sizes, named, name)
    return members, sizes


def _check_form(statements: Any, name: str) -> None:
    """Refuse columns of row numbers, which look like two statements."""
    if isinstance(statements, tuple) and any(hasattr(part, "shape") for part in statements):
        raise ValueError(
            f"`{name}` holds arrays that are not two tables (A, B); pass those as a tuple, and "
            "row numbers as one array of shape (n, 2), for instance np.column_stack([left, right])."
        )


def _flat(statements: Any, name: str) -> tuple[NDArray[Any], IntArray]:
    """Return the names of all rows in one array, and how many each statement has."""
    if hasattr(statements, "columns") or hasattr(statements, "shape"):
        array = np.asarray(statements)
        if array.ndim != 2 or array.shape[1] < 2 or array.dtype.kind == "f":
            raise ValueError(
                f"`{name}` must be two tables (A, B), an array of shape (n, 2, n_features), or "
                "statements about rows: pairs of shape (n, 2), or a list of pairs and groups; got "
                f"shape {array.shape} and dtype {array.dtype}."
            )
        return array.ravel(), np.full(array.shape[0], array.shape[1], dtype=np.intp)
    sizes = np.array([_size(statement, k, name) for k, statement in enumerate(statements)])
    return _array(member for statement in statements for member in statement), sizes


def _size(statement: Any, number: int, name: str) -> int:
    is_several = isinstance(statement, (Sequence, Set)) or np.ndim(statement) == 1
    if isinstance(statement, str) or not is_several:
        raise ValueError(
            f"`{name}` statement {number} is {statement!r}; a statement is a pair or a group of "
            "rows, such as (3, 17)."
        )
    if len(statement) < 2:
        raise ValueError(
            f"`{name}` statement {number} is about {len(statement)} row; a statement needs at "
            "least two."
        )
    return len(statement)


def _array(names: Iterable[Any]) -> NDArray[Any]:
    """Return names as an array in which numbers stay numbers beside text."""
    listed = list(names)
    found = np.array(listed)
    if found.ndim == 1 and (
        found.dtype.kind not in "US" or all(isinstance(n, str) for n in listed)
    ):
        return found
    mixed = np.empty(len(listed), dtype=object)
    mixed[:] = listed
    return mixed


def _numbers(named: NDArray[Any], sizes: IntArray, table: Table, name: str) -> IntArray:
    """Return the numbers of named rows."""
    if _has_labels(table):
        return _positions(named, sizes, table.index, name)
    if named.dtype.kind == "O" and all(isinstance(one, (int, np.integer)) for one in named):
        named = np.array(named.tolist())  # as pandas gives columns of integers that may be missing
    if named.dtype.kind not in "iu":
        raise ValueError(
            f"`{name}` must name rows by whole numbers, or by the labels of a pandas index; got "
            f"dtype {named.dtype}."
        )
    n_rows = int(table.shape[0])
    outside = np.flatnonzero((named < 0) | (named >= n_rows))
    if outside.size:
        number, members = _statement_at(int(outside[0]), named, sizes)
        raise ValueError(
            f"`{name}` pair {number} names rows {members}, but `unlabeled` has rows 0 to "
            f"{n_rows - 1}."
        )
    return named.astype(np.intp)


def _has_labels(table: Table) -> bool:
    """Tell whether rows have labels of their own: a pandas index other than 0, 1, 2, ..."""
    index: Any = getattr(table, "index", None)
    if not hasattr(index, "get_indexer"):
        return False
    values = index.to_numpy()
    is_plain = values.dtype.kind in "iu" and np.array_equal(values, np.arange(values.size))
    return not is_plain


def _positions(named: NDArray[Any], sizes: IntArray, index: Any, name: str) -> IntArray:
    if not index.is_unique:
        twice = index[index.duplicated()].tolist()[0]
        raise ValueError(
            f"The index of the table holds {twice!r} more than once, so `{name}` does not say "
            "which row is meant; pass a table with unique labels, or reset its index."
        )
    positions = index.get_indexer(named)
    unknown = np.flatnonzero(positions < 0)
    if unknown.size:
        number, members = _statement_at(int(unknown[0]), named, sizes)
        raise ValueError(
            f"`{name}` pair {number} names rows {members}, but the table's index has no "
            f"{named[unknown].tolist()[0]!r}."
        )
    return np.asarray(positions, dtype=np.intp)


def _check_repeated(members: IntArray, sizes: IntArray, named: NDArray[Any], name: str) -> None:
    if np.all(sizes == 2) and not np.any(members[::2] == members[1::2]):
        return
    of_member = np.repeat(np.arange(sizes.size), sizes)
    order = np.lexsort((members, of_member))
    rows, statements = members[order], of_member[order]
    twice = np.flatnonzero((np.diff(rows) == 0) & (np.diff(statements) == 0))
    if twice.size:
        from likewise.io.wording import shown

        where = order[twice[0]]
        raise ValueError(
            f"`{name}` pair {int(of_member[where])} joins row {shown(named[where])} with itself; a "
            "pair needs two different rows."
        )


def _statement_at(position: int, named: NDArray[Any], sizes: IntArray) -> tuple[int, list[Any]]:
    ends = np.cumsum(sizes)
    number = int(np.searchsorted(ends, position, side="right"))
    return number, named[ends[number] - sizes[number] : ends[number]].tolist()
