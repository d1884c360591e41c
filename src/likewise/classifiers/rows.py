"""What the estimators fit on: a table in memory with weak labels, or rows behind a `PairSource`.

Here input is checked and cut into folds; nothing is learned.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import has_fit_parameter, validate_data

from likewise.engines import Engine, MemoryEngine, PairSource, Part, open_engine
from likewise.engines.base import PAIR_PARTS
from likewise.engines.finite import ADVICE, name_value, raise_not_finite
from likewise.engines.rows import Positions, RowSets, as_slice, is_sparse, row_numbers
from likewise.engines.source import refuse_labels, stated_rows
from likewise.statements.folds import PairKFold
from likewise.statements.labels import WeakLabels, row_sets_of, statements_for
from likewise.statements.named import name_statements
from likewise.statements.packing import pack
from likewise.statements.statements import Statements
from likewise.statements.weights import refuse_weights, weigh
from likewise.su.folds import DealtFolds, Folds, GivenFolds, WithoutFold
from likewise.su.objective import Means, Summary, summarise
from likewise.su.rewrites import Rewrite

__all__ = ["WeakRows", "read_rows", "read_source", "read_stated_source"]

_LARGEST_MEAN = 1e140
"""Beyond it, products of two features overflow."""
_PART_OF_SET: tuple[Part, ...] = ("unlabeled", "similar", "similar", "dissimilar", "dissimilar")
"""The part that each entry of `RowSets` belongs to."""
_PRIOR_ROWS = 20_000
"""So many rows and so many pairs of a source are enough to estimate the class prior from."""


class WeakRows(ABC):
    """Unlabeled rows and pairs, checked and ready to be summed.

    Attributes
    ----------
    engine : Engine
    """

    engine: Engine

    def check_finite(self, means: Means) -> None:
        """Raise if a NaN or an infinity reached the sums; looking for it costs a pass only then."""
        found = (means.unlabeled, means.similar, means.dissimilar)
        if all(np.all(np.abs(mean) < _LARGEST_MEAN) for mean in found if mean is not None):
            return
        self._raise_not_finite()
        raise ValueError("Input X contains values too large to be squared; scale the features.")

    def summarise(self, rewrite: Rewrite) -> Summary:
        """Return the means that a rewrite needs, all of them finite."""
        with np.errstate(over="ignore", invalid="ignore"):
            summary = summarise(self.engine, rewrite)
        self.check_finite(summary.means)
        return summary

    @abstractmethod
    def _raise_not_finite(self) -> None:
        """Raise an error that says where a value is not finite, if one is."""

    @abstractmethod
    def for_prior(self) -> tuple[Any, Any]:
        """Return a packed table and weak labels to estimate the class prior from."""

    def fit_prior(self, estimator: Any) -> Any:
        """Fit a prior estimator to these rows, with their weights if they have any."""
        weights = self._sample_weight
        if weights is None:
            return estimator.fit(*self.for_prior())
        if not has_fit_parameter(estimator, "sample_weight"):
            raise ValueError(f"{type(estimator).__name__} takes no sample_weight; pass prior=...")
        return estimator.fit(*self.for_prior(), sample_weight=weights)

    @property
    def _sample_weight(self) -> Any:
        """Weights of these rows; None if all count one."""
        return None

    @abstractmethod
    def folds(self, cv: Any, rewrite: Rewrite) -> Folds | None:
        """Return the partition that a K-fold splitter makes, or None for any other splits.

        Each fold holds rows of all kinds that a rewrite needs.
        """

    @abstractmethod
    def without(self, folds: Folds, fold: int) -> Engine:
        """Return the engine of all rows but those of one fold."""

    @abstractmethod
    def splits(self, cv: Any, rewrite: Rewrite) -> Iterator[tuple[Engine, Engine]]:
        """Yield the engines of training and test rows for each split of any splitter."""


class _TableRows(WeakRows):
    """A table in memory with weak labels."""

    def __init__(self, X: Any, y: Any, statements: Statements) -> None:
        self.X = X
        self.y = y
        self.statements = statements
        self.weights = _of_members(statements)
        self.rows = row_sets_of(statements)
        if statements.is_fresh:
            self.rows = _by_first_rows(self.rows)
        self.engine = MemoryEngine(X, self.rows, self.weights)

    def for_prior(self) -> tuple[Any, Any]:
        """Return all rows."""
        return self.X, self.y

    @property
    def _sample_weight(self) -> Any:
        return self.statements.weights

    def folds(self, cv: Any, rewrite: Rewrite) -> Folds | None:
        """Return the partition that a K-fold splitter makes, or None for any other splits.

        None too where it splits a statement about one table: there is no partition then.
        """
        if not isinstance(cv, PairKFold):
            return None
        if self.statements.is_fresh and not cv.shuffle:
            dealt = _dealt(cv, self.engine, rewrite)
            if self.weights is None:
                return dealt
        folds = GivenFolds.of_rows(cv.deal(self.statements), self.rows, cv.n_splits)
        if folds is not None:
            for part in rewrite.parts:
                fewest = np.bincount(folds.of_part[part], minlength=cv.n_splits).min()
                _check_some(int(fewest), part, "A fold")
        return folds

    def without(self, folds: Folds, fold: int) -> Engine:
        """Return the engine of all rows but those of one fold."""
        kept = (
            _all_but(positions, part, folds, fold)
            for positions, part in zip(self.rows, _PART_OF_SET, strict=True)
        )
        return MemoryEngine(self.X, RowSets(*kept), self.weights)

    def splits(self, cv: Any, rewrite: Rewrite) -> Iterator[tuple[Engine, Engine]]:
        """Yield the engines of training and test rows for each split of any splitter."""
        for train, test in cv.split(self.X, self.y) if hasattr(cv, "split") else cv:
            yield (
                self._among(train, rewrite, "A training split"),
                self._among(test, rewrite, "A validation split"),
            )

    def _among(self, chosen: Any, rewrite: Rewrite, which: str) -> MemoryEngine:
        """Return the engine of some rows, with the statements that are about these alone."""
        mask = np.zeros(self.X.shape[0], dtype=bool)
        mask[chosen] = True
        if self.statements.is_fresh:
            rows = self.rows.among(mask)
        else:
            rows = row_sets_of(self.statements.without(~mask))
            rows = rows._replace(unlabeled=as_slice(np.flatnonzero(mask)))
        engine = MemoryEngine(self.X, rows, self.weights)
        for part in ("unlabeled", *rewrite.parts):
            _check_some(engine.count(part), part, which)
        return engine

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
        return pack(unlabeled, **{part: self._spaced(part) for part in self.engine.pair_parts})

    def folds(self, cv: Any, rewrite: Rewrite) -> Folds | None:
        """Return folds dealt in turn, for which nothing needs to be kept in memory."""
        if not isinstance(cv, PairKFold) or cv.shuffle:
            return None
        return _dealt(cv, self.engine, rewrite)

    def without(self, folds: Folds, fold: int) -> Engine:
        """Return the engine of all rows but those of one fold."""
        return WithoutFold(self.engine, folds.count, fold)

    def splits(self, cv: Any, rewrite: Rewrite) -> Iterator[tuple[Engine, Engine]]:
        """Refuse: any other splits would need a list of all rows in memory."""
        raise ValueError(
            "Rows that are not in memory are dealt to folds in turn: pass cv as a number or as "
            f"PairKFold(n) without shuffling; got {cv!r}."
        )

    def _spaced(self, part: Part) -> tuple[Any, ...]:
        return self.engine.every(part, -(-self.engine.count(part) // _PRIOR_ROWS))

    def _raise_not_finite(self) -> None:
        raise_not_finite(self.engine)


def read_rows(estimator: Any, X: Any, y: WeakLabels | None, sample_weight: Any = None) -> WeakRows:
    """Check what was passed to ``fit``; finiteness is seen in the sums later."""
    if isinstance(X, PairSource):
        refuse_labels(y)
        refuse_weights(sample_weight)
        return _SourceRows(read_source(estimator, X, PAIR_PARTS))
    # Row by row in memory, as sums are taken: else they would be rounded another way.
    X = validate_data(
        estimator,
        X,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        order="C",
        ensure_all_finite=False,
    )
    name = type(estimator).__name__
    statements = weigh(statements_for(y, X.shape[0], name), sample_weight, name)
    kept = statements.counted
    if kept is not None:
        X, y, statements = X[kept], np.asarray(y)[kept], statements.among(kept)
    return _TableRows(X, y, statements)


def read_source(
    estimator: Any, source: PairSource, pair_parts: Sequence[Part] = ("similar",)
) -> Engine:
    """Open a source and keep the number and names of its columns as fitted attributes.

    Parameters
    ----------
    estimator : estimator
    source : PairSource
    pair_parts : sequence of "similar" and "dissimilar"
        The kinds of pairs that the estimator learns from; others are an error.

    Returns
    -------
    Engine
    """
    engine = open_engine(source)
    _check_parts(estimator, engine, pair_parts)
    estimator.n_features_in_ = engine.n_features
    if engine.feature_names is not None:
        estimator.feature_names_in_ = np.array(engine.feature_names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return engine


def read_stated_source(estimator: Any, source: PairSource) -> tuple[Engine, Statements | None]:
    """Open a source whose pairs name its rows, or that has fresh similar pairs.

    Parameters
    ----------
    estimator : estimator
    source : PairSource

    Returns
    -------
    engine : Engine
    statements : Statements or None
        About the unlabeled rows; None for fresh pairs.
    """
    engine = read_source(estimator, source, PAIR_PARTS)
    named: Any = stated_rows(source, engine)
    if named is None:
        _check_parts(estimator, engine, ("similar",))
        _check_stated(estimator, engine.count("similar"))
        return engine, None
    table = np.empty((engine.count("unlabeled"), 0))
    statements = name_statements(table, named.get("similar"), named.get("dissimilar"))
    _check_stated(estimator, statements.count)
    return engine, statements


def _check_parts(estimator: Any, engine: Engine, pair_parts: Sequence[Part]) -> None:
    for part in engine.pair_parts:
        if part not in pair_parts:
            raise ValueError(
                f"{type(estimator).__name__} does not learn from {part} pairs of a PairSource "
                "that are rows of their own: leave them out, or name rows by ids."
            )


def _check_stated(estimator: Any, count: int) -> None:
    if not count:
        raise ValueError(
            f"{type(estimator).__name__} needs at least one pair, but the source holds none."
        )


def _check_some(count: int, part: Part, which: str) -> None:
    """Raise if a fold or a split holds nothing of a part."""
    if count == 0:
        what = "unlabeled row" if part == "unlabeled" else f"{part} pair"
        raise ValueError(
            f"{which} needs at least one {what}, but it holds none: use fewer folds, or choose "
            "the kinds of pairs with rewrite=..."
        )


def _of_members(statements: Statements) -> Any:
    """Return weights of rows such that a pair weighs their product; see `MemoryEngine`."""
    if statements.weights is None or not statements.is_fresh:
        return statements.weights
    return np.where(statements.stated, np.sqrt(statements.weights), statements.weights)


def _by_first_rows(rows: RowSets) -> RowSets:
    """Return fresh pairs in the order of their first rows, in which `PairKFold` deals them out."""
    ordered: list[Positions] = []
    for left, right in ((rows.left, rows.right), (rows.dissimilar_left, rows.dissimilar_right)):
        sides: tuple[Positions, ...] = (left, right)
        if not all(isinstance(side, slice) for side in sides):  # of increasing rows
            numbers = [row_numbers(side) for side in sides]
            order = np.argsort(np.minimum(*numbers), kind="stable")
            sides = tuple(as_slice(side[order]) for side in numbers)
        ordered.extend(sides)
    return RowSets(rows.unlabeled, *ordered)


def _dealt(cv: PairKFold, engine: Engine, rewrite: Rewrite) -> DealtFolds:
    counts = {"unlabeled rows": engine.count("unlabeled")}
    counts.update({f"{part} pairs": engine.count(part) for part in rewrite.parts})
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
