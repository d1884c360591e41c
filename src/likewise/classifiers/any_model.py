"""What `PairClassifier` does with a classifier that the user brings: rows in, and a first guess."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from likewise.engines.rows import as_table, is_sparse
from likewise.scores.encoding import as_numbers, is_finite_table

__all__ = ["as_untouched", "starting_numbers"]


def as_untouched(clf: Any, X: Any, *, reset: bool = True) -> Any:
    """Return rows as another classifier takes them: columns are counted, values left alone.

    Parameters
    ----------
    clf : PairClassifier
    X : table of shape (n_rows, n_columns), or sequence of length n_rows
    reset : bool
        Whether columns are remembered rather than compared with those of `fit`.
    """
    X = as_table(X)
    if len(X.shape) == 1 and not hasattr(X, "iloc") and X.dtype.kind not in "OUS":
        raise ValueError(
            "Expected a table of rows and columns, got a 1D array. Reshape your data with "
            "X.reshape(-1, 1) if it has a single feature."
        )
    if X.shape[0] == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={X.shape}).")
    if len(X.shape) == 2:  # texts for a pipeline have no columns
        validate_data(clf, X, reset=reset, skip_check_array=True)
    return X


def starting_numbers(X: Any, estimator: Any) -> Any:
    """Return rows as finite numbers for scores of our own, or None if there is no way.

    Where rows are no table, what the first steps of a pipeline make of them.

    Parameters
    ----------
    X : table, or sequence of rows
    estimator : classifier
    """
    if len(X.shape) == 2:
        is_ready = is_finite_table(X)
        if is_ready and is_sparse(X):
            return X
        return np.asarray(X, dtype=np.float64) if is_ready else as_numbers(X)
    if not hasattr(estimator, "steps"):
        return None
    found = clone(estimator[:-1]).fit_transform(X)
    return found.tocsr() if is_sparse(found) else as_numbers(found)
