"""Weak labels: the form in which statements travel through scikit-learn.

Where every row is in at most one statement, `y` is one integer per row: ``0`` for a row that
nothing was said about, ``+k`` for the rows of similar statement ``k`` (a pair, or a group of more
rows), ``-k`` for the two rows of dissimilar statement ``k``. Where rows are in several statements,
`y` is a scipy CSR matrix, rows x statements, with entries +1 (alike) or -1 (different). Both can be
sliced by rows. This module knows nothing of losses, priors or models.
"""

from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from likewise.engines.rows import RowSets, as_slice, count_positions, is_sparse
from likewise.statements.statements import Statements

__all__ = [
    "TableLabels",
    "WeakLabels",
    "labels_for",
    "locate",
    "locate_pairs",
    "locate_su",
    "read_labels",
    "row_sets_of",
    "statements_for",
]

WeakLabels = Any
"""An integer vector, or a scipy CSR matrix, as `likewise.pack` makes them."""


class TableLabels(np.ndarray):
    """Integer weak labels that remember that their rows are one table.

    The same integers without this type stand for fresh pairs: rows that were drawn as pairs, beside
    unlabeled rows. Slices and copies keep the type; ``np.asarray`` forgets it.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.statements.labels import TableLabels
    >>> type(TableLabels.of([1, 1, 0])[:2]).__name__
    'TableLabels'
    """

    @classmethod
    def of(cls, codes: ArrayLike) -> "TableLabels":
        """Return integer codes as the labels of one table."""
        return np.asarray(codes, dtype=np.int64).view(cls)

    def __repr__(self) -> str:
        return repr(np.asarray(self))


def read_labels(y: WeakLabels) -> Statements:
    """Return the statements that weak labels hold.

    In a slice of one table, a statement with fewer than two of its rows says nothing and is
    dropped. A fresh pair without one of its rows is an error: the other row is neither a pair nor
    an unlabeled row.

    Parameters
    ----------
    y : integer array of shape (n_rows,), or scipy sparse matrix of shape (n_rows, n_statements)

    Returns
    -------
    Statements
    """
    if is_sparse(y):
        return _read_matrix(y)
    labels = _as_integer_labels(y)
    codes, members, sizes = _members_by_code(labels)
    is_fresh = not isinstance(y, TableLabels) and _may_be_fresh(labels, codes, sizes)
    if is_fresh:
        _check_fresh(labels, codes, sizes)
    found = Statements(
        labels.size,
        members,
        np.concatenate([[0], np.cumsum(sizes)]),
        codes > 0,
        np.arange(codes.size),
        is_fresh,
    )
    if is_fresh:
        return found
    too_many = codes[(codes < 0) & (sizes > 2)]
    if too_many.size and _looks_like_classes(labels):
        _raise_classes()
    _check_pairs_differ(too_many)
    return found.choose(sizes >= 2)


def _members_by_code(
    labels: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.intp], NDArray[np.intp]]:
    """Return the codes, similar ones first, the rows of each in turn, and how many these are."""
    rows = np.flatnonzero(labels)
    codes = labels[rows]
    order = np.lexsort((np.abs(codes), codes < 0))  # stable: rows of a code stay in order
    codes, rows = codes[order], rows[order]
    firsts = np.flatnonzero(np.diff(codes, prepend=0) != 0)
    return codes[firsts], rows, np.diff(np.append(firsts, codes.size))


def _may_be_fresh(
    labels: NDArray[np.int64], codes: NDArray[np.int64], sizes: NDArray[np.intp]
) -> bool:
    """Tell whether plain integers can be fresh pairs, as they have always been read.

    Without unlabeled rows, or with groups, they are about one table.
    """
    is_group = (codes > 0) & (sizes > 2)
    return bool(np.any(labels == 0)) and (not is_group.any() or _looks_like_classes(labels))


def _looks_like_classes(labels: NDArray[np.int64]) -> bool:
    return labels.size > 2 and set(np.unique(labels).tolist()) <= {-1, 0, 1}


def _read_matrix(y: Any) -> Statements:
    columns = sp.csc_matrix(y)
    columns.sum_duplicates()
    columns.eliminate_zeros()
    signs = np.asarray(columns.data)
    if not np.isin(signs, (-1, 1)).all():
        raise ValueError(
            "A matrix of statements holds +1 (alike) or -1 (different) at the rows of each "
            "statement; build it with likewise.pack."
        )
    starts, sizes = columns.indptr.astype(np.intp), np.diff(columns.indptr)
    of_entry = np.repeat(np.arange(sizes.size), sizes)
    sums = np.bincount(of_entry, weights=signs, minlength=sizes.size)
    mixed = np.flatnonzero(np.abs(sums) != sizes)
    if mixed.size:
        raise ValueError(
            f"Statement {int(mixed[0])} has entries +1 and -1: rows of a statement are either all "
            "alike, or two that differ."
        )
    _check_pairs_differ(np.flatnonzero((sums < 0) & (sizes > 2)))
    found = Statements(
        int(columns.shape[0]),
        columns.indices.astype(np.intp),
        starts,
        sums > 0,
        np.arange(sizes.size),
    )
    return found.choose(sizes >= 2)


def _check_pairs_differ(too_many: NDArray[Any]) -> None:
    if too_many.size:
        raise ValueError(
            f"Dissimilar statement {abs(int(too_many[0]))} is about more than two rows; say of two "
            "rows at a time that they differ."
        )


def locate(y: WeakLabels) -> RowSets:
    """Validate weak labels and say where each kind of row stands.

    Parameters
    ----------
    y : integer array of shape (n_rows,), or scipy CSR matrix of shape (n_rows, n_statements)

    Returns
    -------
    RowSets
        Left and right positions are aligned: entry i of both belongs to one pair. Of one table, all
        rows are the unlabeled ones.
    """
    return row_sets_of(read_labels(y))


def row_sets_of(statements: Statements) -> RowSets:
    """Say where each kind of row stands.

    Parameters
    ----------
    statements : Statements

    Returns
    -------
    RowSets
    """
    links = statements.links
    same, different = links.is_similar, ~links.is_similar
    alone = np.arange(statements.n_rows)
    if statements.is_fresh:
        alone = np.flatnonzero(~statements.stated)
    sides = (links.left[same], links.right[same], links.left[different], links.right[different])
    return RowSets(*map(as_slice, (alone, *sides)))


def locate_su(y: WeakLabels | None, n_rows: int, name: str) -> RowSets:
    """Locate the rows of weak labels for a learner of similar pairs and unlabeled rows only.

    Parameters
    ----------
    y : weak labels
    n_rows : int
        Number of rows that the labels belong to.
    name : str
        Who asks, for the messages.

    Returns
    -------
    RowSets
    """
    rows = row_sets_of(labels_for(y, n_rows, name))
    _check_similar_only(rows, name)
    return rows


def locate_pairs(y: WeakLabels | None, n_rows: int, name: str) -> RowSets:
    """Locate the rows of weak labels for a learner of pairs of both kinds and unlabeled rows.

    Parameters
    ----------
    y, n_rows, name
        As in `locate_su`.

    Returns
    -------
    RowSets
    """
    return row_sets_of(statements_for(y, n_rows, name))


def statements_for(y: WeakLabels | None, n_rows: int, name: str) -> Statements:
    """Read weak labels for a learner that needs at least one statement.

    Parameters
    ----------
    y, n_rows, name
        As in `locate_su`.

    Returns
    -------
    Statements
    """
    statements = labels_for(y, n_rows, name)
    if not statements.count:
        raise ValueError(f"{name} needs at least one pair, but y holds none.")
    _check_unlabeled(row_sets_of(statements), name)
    return statements


def labels_for(y: WeakLabels | None, n_rows: int, name: str) -> Statements:
    """Read weak labels of so many rows.

    Parameters
    ----------
    y, n_rows, name
        As in `locate_su`.

    Returns
    -------
    Statements
    """
    if y is None:
        raise ValueError(
            f"{name} requires y to be passed, but the target y is None: pass the weak labels that "
            "likewise.pack returns."
        )
    if np.shape(y)[:1] != (n_rows,):
        raise ValueError(f"X has {n_rows} rows but y has shape {np.shape(y)}.")
    return read_labels(y)


def _check_similar_only(rows: RowSets, name: str) -> None:
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


def _check_fresh(
    labels: NDArray[np.int64], codes: NDArray[np.int64], sizes: NDArray[np.intp]
) -> None:
    bad = np.flatnonzero(sizes != 2)
    if bad.size:
        _raise_split(labels, int(codes[bad[0]]), int(sizes[bad[0]]))


def _raise_split(labels: NDArray[np.int64], code: int, count: int) -> NoReturn:
    if _looks_like_classes(labels):
        _raise_classes()
    if count == 1:
        raise ValueError(
            f"Pair {code} is split: only one of its two rows is here; split weak labels with "
            "likewise.PairKFold, which keeps pairs together."
        )
    raise ValueError(f"Pair {code} stands on {count} rows of y; a pair has exactly two rows.")


def _raise_classes() -> NoReturn:
    raise ValueError(
        "y looks like class labels: likewise learns from weak labels (0 unlabeled, +k on the "
        "two rows of similar pair k); build them with likewise.pack."
    )
