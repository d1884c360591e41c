"""What the estimators fit on: a table in memory with weak labels, or rows behind a `PairSource`.

Here input is checked and cut into folds; nothing is learned.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import validate_data

from likewise.engines import Engine, MemoryEngine, PairSource, Part, open_engine
from likewise.engines.finite import ADVICE, name_value, raise_not_finite
from likewise.engines.rows import Positions, RowSets, as_slice, is_sparse, row_numbers
from likewise.engines.source import refuse_labels
from likewise.statements.folds import PairKFold
from likewise.statements.labels import check_parts, locate_su
from likewise.statements.packing import pack
from likewise.su.folds import DealtFolds, Folds, GivenFolds, WithoutFold
from likewise.su.objective import Means

__all__ = ["WeakRows", "read_rows", "read_source"]

_LARGEST_MEAN = 1e140
"""Beyond it, products of two features overflow."""
_PRIOR_ROWS = 20_000
"""So many rows and so many pairs of a source are enough to estimate the class prior from."""


class WeakRows(ABC):
    """Unlabeled rows and similar pairs, checked and ready to be summed.

    Attributes
    ----------
    engine : Engine
    """

    engine: Engine

    def check_finite(self, means: Means) -> None:
        """Raise if a NaN or an infinity reached the sums; looking for it costs a pass only then."""
        if all(np.all(np.abs(mean) < _LARGEST_MEAN) for mean in (means.similar, means.unlabeled)):
            return
        self._raise_not_finite()
        raise ValueError("Input X contains values too large to be squared; scale the features.")

    @abstractmethod
    def _raise_not_finite(self) -> None:
        """Raise an error that says where a value is not finite, if one is."""

    @abstractmethod
    def for_prior(self) -> tuple[Any, Any]:
        """Return a packed table and weak labels to estimate the class prior from."""

    @abstractmethod
    def folds(self, cv: Any) -> Folds | None:
        """Return the partition that a K-fold splitter makes, or None for any other splits."""

    @abstractmethod
    def without(self, folds: Folds, fold: int) -> Engine:
        """Return the engine of all rows but those of one fold."""

    @abstractmethod
    def splits(self, cv: Any) -> Iterator[tuple[Engine, Engine]]:
        """Yield the engines of training and test rows for each split of any splitter."""


class _TableRows(WeakRows):
    """A table in memory with weak labels."""

    def __init__(self, X: Any, y: Any, rows: RowSets) -> None:
        self.X = X
        self.y = y
        self.rows = rows
        self.engine = MemoryEngine(X, rows)

    def for_prior(self) -> tuple[Any, Any]:
        """Return all rows."""
        return self.X, self.y

    def folds(self, cv: Any) -> Folds | None:
        """Return the partition that a K-fold splitter makes, or None for any other splits."""
        if not isinstance(cv, PairKFold):
            return None
        if cv.shuffle:
            return GivenFolds.of_rows(cv.assign(self.y), self.rows, cv.n_splits)
        return _dealt(cv, self.engine)

    def without(self, folds: Folds, fold: int) -> Engine:
        """Return the engine of all rows but those of one fold."""
        rows = self.rows._replace(
            unlabeled=_all_but(self.rows.unlabeled, "unlabeled", folds, fold),
            left=_all_but(self.rows.left, "similar", folds, fold),
            right=_all_but(self.rows.right, "similar", folds, fold),
        )
        return MemoryEngine(self.X, rows)

    def splits(self, cv: Any) -> Iterator[tuple[Engine, Engine]]:
        """Yield the engines of training and test rows for each split of any splitter."""
        for split in cv.split(self.X, self.y) if hasattr(cv, "split") else cv:
            train, test = (self._among(chosen) for chosen in split)
            check_parts(train, "A training split")
            check_parts(test, "A validation split")
            yield MemoryEngine(self.X, train), MemoryEngine(self.X, test)

    def _among(self, chosen: Any) -> RowSets:
        mask = np.zeros(self.X.shape[0], dtype=bool)
        mask[chosen] = True
        return self.rows.among(mask)

    def _raise_not_finite(self) -> None:
        X = self.X
        values = X.data if is_sparse(X) else X
        bad = np.flatnonzero(~np.isfinite(values).ravel())
        if not bad.size:
            return
        first = int(bad[0])
        if is_sparse(X):
            row, column = int(np.searchsorted(X.indptr, first, side="right")) - 1, X.indices[first]
        else:
            row, column = divmod(first, X.shape[1])
        raise ValueError(
            f"Input X contains {name_value(values.ravel()[first])}: {bad.size} of its values are "
            f"not finite, the first at row {row}, column {column}; {ADVICE}"
        )


class _SourceRows(WeakRows):
    """Rows that an engine reads from where they are."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def for_prior(self) -> tuple[Any, Any]:
        """Return evenly spaced rows and pairs, which is a pass."""
        (unlabeled,) = self._spaced("unlabeled")
        left, right = self._spaced("similar")
        return pack(unlabeled, similar=(left, right))

    def folds(self, cv: Any) -> Folds | None:
        """Return folds dealt in turn, for which nothing needs to be kept in memory."""
        if not isinstance(cv, PairKFold) or cv.shuffle:
            return None
        return _dealt(cv, self.engine)

    def without(self, folds: Folds, fold: int) -> Engine:
        """Return the engine of all rows but those of one fold."""
        return WithoutFold(self.engine, folds.count, fold)

    def splits(self, cv: Any) -> Iterator[tuple[Engine, Engine]]:
        """Refuse: any other splits would need a list of all rows in memory."""
        raise ValueError(
            "Rows that are not in memory are dealt to folds in turn: pass cv as a number or as "
            f"PairKFold(n) without shuffling; got {cv!r}."
        )

    def _spaced(self, part: Part) -> tuple[Any, ...]:
        return self.engine.every(part, -(-self.engine.count(part) // _PRIOR_ROWS))

    def _raise_not_finite(self) -> None:
        raise_not_finite(self.engine)


def read_rows(estimator: Any, X: Any, y: ArrayLike | None) -> WeakRows:
    """Check what was passed to ``fit``; finiteness is seen in the sums later."""
    if isinstance(X, PairSource):
        refuse_labels(y)
        return _SourceRows(read_source(estimator, X))
    X = validate_data(
        estimator, X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False
    )
    return _TableRows(X, y, locate_su(y, X.shape[0], type(estimator).__name__))


def read_source(estimator: Any, source: PairSource) -> Engine:
    """Open a source and keep the number and names of its columns as fitted attributes."""
    engine = open_engine(source)
    estimator.n_features_in_ = engine.n_features
    if engine.feature_names is not None:
        estimator.feature_names_in_ = np.array(engine.feature_names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return engine


def _dealt(cv: PairKFold, engine: Engine) -> DealtFolds:
    counts = {"unlabeled rows": engine.count("unlabeled"), "similar pairs": engine.count("similar")}
    for name, count in counts.items():
        if count < cv.n_splits:
            raise ValueError(
                f"n_splits={cv.n_splits} folds need at least {cv.n_splits} {name}, but there are "
                f"only {count}."
            )
    return DealtFolds(cv.n_splits)


def _all_but(positions: Positions, part: Part, folds: Folds, fold: int) -> Positions:
    numbers = row_numbers(positions)
    kept = np.ones(numbers.size, dtype=bool)
    kept[folds.split(part, slice(0, numbers.size))[fold]] = False
    return as_slice(numbers[kept])
