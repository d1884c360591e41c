"""Tables with gaps and categories as numbers.

For our own scores, which need finite numbers, and for gradient boosting, which takes gaps but no
text.
"""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import check_is_fitted

from likewise._types import FloatArray
from likewise.engines.rows import is_sparse
from likewise.statements.known import is_missing

__all__ = ["CategoryNumbers", "as_numbers", "gradient_boosting", "is_finite_table"]

_MOST_CATEGORIES = 200
"""Of a column; rarer ones are gaps."""
_MOST_DUMMIES = 20
"""Categories of a column that get a column of their own among finite numbers."""


def is_finite_table(X: Any) -> bool:
    """Tell whether a table holds finite numbers alone.

    Parameters
    ----------
    X : table of shape (n_rows, n_columns)
    """
    if is_sparse(X):
        return bool(np.isfinite(X.data).all())
    if np.ndim(X) != 2:
        return False
    return all(values.dtype != object and np.isfinite(values).all() for values in _columns(X))


def gradient_boosting(random_state: Any = None) -> Pipeline:
    """Return gradient boosting, not fitted, for tables with gaps and text.

    Text becomes numbers before the trees see it: those that scikit-learn's trees would make of it
    themselves cannot be saved without code.

    Parameters
    ----------
    random_state : int, RandomState instance or None
    """
    from sklearn.ensemble import HistGradientBoostingClassifier  # slow to load, and rarely needed

    return make_pipeline(
        CategoryNumbers(), HistGradientBoostingClassifier(random_state=random_state)
    )


class CategoryNumbers(TransformerMixin, BaseEstimator):
    """Numbers as they are, with NaN for gaps, and categories as numbers.

    A column of few categories becomes a column of zeros and ones for each, one of many a number for
    each, the most frequent first. Categories that `fit` did not see are gaps.

    Attributes
    ----------
    categories_ : list of lists
        Of every column, by frequency; empty for numbers.
    n_features_in_ : int
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Read the categories.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
        y : ignored

        Returns
        -------
        self
        """
        columns = list(_columns(X))
        self.n_features_in_ = len(columns)
        self.categories_ = [
            _by_frequency(values) if values.dtype == object else [] for values in columns
        ]
        return self

    def transform(self, X: Any) -> FloatArray:
        """Return the table as numbers.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Returns
        -------
        array of shape (n_rows, n_numbers)
        """
        check_is_fitted(self)
        columns = list(_columns(X, self.categories_))
        parts: list[FloatArray] = []
        for values, known in zip(columns, self.categories_, strict=True):
            codes = _codes(values, known) if known else values
            is_dummies = 2 < len(known) <= _MOST_DUMMIES
            parts.extend(_dummies(codes, len(known)) if is_dummies else [codes])
        return np.column_stack(parts)


def as_numbers(X: Any) -> FloatArray:
    """Return a table as finite numbers.

    Gaps in numbers become the median, beside a column that says where they are; categories become
    columns of zeros and ones.

    Parameters
    ----------
    X : table of shape (n_rows, n_columns)

    Returns
    -------
    array of shape (n_rows, n_numbers)
    """
    parts: list[FloatArray] = []
    for j, values in enumerate(_columns(X)):
        if values.dtype == object:
            names = _by_frequency(values)[:_MOST_DUMMIES]
            parts.extend(
                np.nan_to_num(part) for part in _dummies(_codes(values, names), len(names))
            )
            continue
        if np.isinf(values).any():
            raise ValueError(f"Column {j} of X holds infinite values; correct them.")
        gaps = np.isnan(values)
        if gaps.all():
            continue
        parts.append(np.where(gaps, np.median(values[~gaps]), values))
        if gaps.any():
            parts.append(gaps.astype(float))
    if not parts:
        raise ValueError("X holds no value at all.")
    return np.column_stack(parts)


def _columns(X: Any, known: list[list[Any]] | None = None) -> Iterator[NDArray[Any]]:
    """Yield every column: of floats with NaN for gaps, or of objects with None for gaps.

    Parameters
    ----------
    X : table of shape (n_rows, n_columns)
    known : list of lists, optional
        Categories of columns that are not numbers, whatever they look like; empty for numbers.
    """
    if is_sparse(X):
        X = X.toarray()
    if hasattr(X, "iloc"):
        columns = [X.iloc[:, j] for j in range(X.shape[1])]
    elif hasattr(X, "columns"):
        columns = [X[name] for name in X.columns]
    else:
        X = np.asarray(X)
        if X.ndim != 2:
            raise ValueError(f"X must be a table of rows and columns; its shape is {X.shape}.")
        columns = list(X.T)
    if known is not None and len(columns) != len(known):
        raise ValueError(f"X has {len(columns)} columns, but {len(known)} were fitted.")
    for j, column in enumerate(columns):
        is_text = None if known is None else bool(known[j])
        yield _values(column, is_text)


def _values(column: Any, is_text: bool | None) -> NDArray[Any]:
    values = column.to_numpy() if hasattr(column, "to_numpy") else column
    kind = np.asarray(values).dtype.kind
    if is_text is None:
        is_text = kind not in "biuf" and not _holds_numbers(values)
    if kind in "biuf" and not is_text:
        return np.asarray(values, dtype=np.float64)
    listed = [None if is_missing(value) else value for value in np.asarray(values).tolist()]
    if is_text:
        found = np.empty(len(listed), dtype=object)
        found[:] = listed
        return found
    try:
        return np.array([np.nan if value is None else value for value in listed], dtype=np.float64)
    except (TypeError, ValueError):
        wrong = next(value for value in listed if not isinstance(value, int | float | None))
        raise ValueError(f"A column of numbers holds {wrong!r}.") from None


def _holds_numbers(values: Any) -> bool:
    """Tell whether a column of objects holds numbers and gaps alone, and at least one number."""
    found = [value for value in np.asarray(values).tolist() if not is_missing(value)]
    return bool(found) and all(isinstance(value, bool | int | float) for value in found)


def _by_frequency(values: NDArray[Any]) -> list[Any]:
    counts: dict[Any, int] = {}
    for value in values:
        if value is not None:
            counts[value] = counts.get(value, 0) + 1
    return sorted(counts, key=lambda value: (-counts[value], str(value)))[:_MOST_CATEGORIES]


def _codes(values: NDArray[Any], known: list[Any]) -> FloatArray:
    numbers = {value: float(number) for number, value in enumerate(known)}
    return np.array([np.nan if v is None else numbers.get(v, np.nan) for v in values])


def _dummies(codes: FloatArray, count: int) -> list[FloatArray]:
    gaps = np.isnan(codes)
    return [np.where(gaps, np.nan, codes == number) for number in range(count)]
