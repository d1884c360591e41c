"""Cross-validation of the SU risk by sums over folds.

Sums of folds are added and subtracted, so that all folds and penalties cost about one pass.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from likewise._types import FloatArray
from likewise.engines.base import Block, Engine, Kernel, Part, Sums
from likewise.engines.kernels import (
    column_sums,
    column_sums_in_turn,
    count_positive,
    count_positive_in_turn,
    gram,
    grams_in_turn,
)
from likewise.engines.rows import Positions, RowSets, as_slice, take_rows
from likewise.su.objective import Means, Summary
from likewise.su.risk import zero_one_risk_of_shares
from likewise.su.solvers import ridge_weights

_COUNTED_ROWS = 1 << 24
"""So many rows tell a share of decisions to about 0.0001, less than what pairs leave uncertain."""

__all__ = [
    "DealtFolds",
    "FoldSums",
    "Folds",
    "GivenFolds",
    "WithoutFold",
    "fold_risks",
    "squared_weights",
    "sum_folds",
    "zero_one_risks",
]


class Folds(Protocol):
    """A partition of the unlabeled rows, and one of the similar pairs, into as many folds."""

    @property
    def count(self) -> int:
        """Number of folds."""

    def split(self, part: Part, at: slice) -> list[Positions]:
        """Return, for each fold, which of the consecutive rows (or pairs) `at` it holds."""

    def grams(self, block: Block) -> Any:
        """Return the gram of each fold's unlabeled rows of a block, shape (count, p, p)."""

    def member_sums(self, block: Block) -> Any:
        """Return the column sums of each fold's pair members of a block, shape (count, p)."""

    def stride(self, n_rows: int) -> int:
        """Return how far apart a fold's rows (or pairs) are that risks are counted on."""

    def count_positive(
        self, part: Part, block: Block, weights: Sequence[FloatArray], stride: int
    ) -> tuple[Any, NDArray[np.intp]]:
        """Return how many rows of each fold its own models decide for +1, and how many there are.

        Shapes (count, k) and (count,); of each fold, every `stride`-th row (or pair) is counted.
        """


@dataclass(frozen=True)
class DealtFolds:
    """Folds dealt in turn: row (or pair) i is in fold ``i % count``, so nothing is stored."""

    count: int

    def split(self, part: Part, at: slice) -> list[Positions]:
        """Return, for each fold, which of the consecutive rows (or pairs) `at` it holds."""
        size = at.stop - at.start
        firsts = [(fold - at.start) % self.count for fold in range(self.count)]
        return [slice(min(first, size), size, self.count) for first in firsts]

    def grams(self, block: Block) -> Any:
        """Return the gram of each fold's unlabeled rows of a block, shape (count, p, p)."""
        return grams_in_turn(block.tables[0], self.count, block.start)

    def member_sums(self, block: Block) -> Any:
        """Return the column sums of each fold's pair members of a block, shape (count, p)."""
        return sum(column_sums_in_turn(rows, self.count, block.start) for rows in block.tables)

    def stride(self, n_rows: int) -> int:
        """Return one, or more than that where there are very many rows."""
        return max(1, -(-n_rows // _COUNTED_ROWS))

    def count_positive(
        self, part: Part, block: Block, weights: Sequence[FloatArray], stride: int
    ) -> tuple[Any, NDArray[np.intp]]:
        """Return how many rows of each fold its own models decide for +1, and how many there are.

        Shapes (count, k) and (count,); of each fold, every `stride`-th row (or pair) is counted.
        """
        start, period = block.start, stride * self.count
        counts = sum(count_positive_in_turn(r, weights, start, period) for r in block.tables)
        size = block.tables[0].shape[0]
        firsts = [(fold - start) % period for fold in range(self.count)]
        sizes = [len(range(first, size, period)) for first in firsts]
        return counts, len(block.tables) * np.array(sizes)


@dataclass(frozen=True)
class GivenFolds:
    """The fold number of every unlabeled row and of every similar pair."""

    unlabeled: NDArray[np.intp]
    similar: NDArray[np.intp]
    count: int

    @classmethod
    def of_rows(cls, fold_of_row: NDArray[np.intp], rows: RowSets, count: int) -> "GivenFolds":
        """Build from the fold of every row; the members of a pair must be in one fold."""
        left, right = fold_of_row[rows.left], fold_of_row[rows.right]
        if np.any(left != right):
            raise ValueError(
                "The cross-validation splitter tears pairs apart; use likewise.PairKFold."
            )
        return cls(fold_of_row[rows.unlabeled], left, count)

    def split(self, part: Part, at: slice) -> list[Positions]:
        """Return, for each fold, which of the consecutive rows (or pairs) `at` it holds."""
        here = (self.unlabeled if part == "unlabeled" else self.similar)[at]
        return [as_slice(np.flatnonzero(here == fold)) for fold in range(self.count)]

    def grams(self, block: Block) -> Any:
        """Return the gram of each fold's unlabeled rows of a block, shape (count, p, p)."""
        return np.stack([gram(rows) for (rows,) in self._rows("unlabeled", block)])

    def member_sums(self, block: Block) -> Any:
        """Return the column sums of each fold's pair members of a block, shape (count, p)."""
        return np.stack([sum(map(column_sums, rows)) for rows in self._rows("similar", block)])

    def stride(self, n_rows: int) -> int:
        """Return one: all rows are counted on."""
        return 1

    def count_positive(
        self, part: Part, block: Block, weights: Sequence[FloatArray], stride: int
    ) -> tuple[Any, NDArray[np.intp]]:
        """Return how many rows of each fold its own models decide for +1, and how many there are.

        Shapes (count, k) and (count,).
        """
        own = zip(self._rows(part, block), weights, strict=True)
        counts, sizes = zip(*(_count_positive(rows, w) for rows, w in own), strict=True)
        return np.stack(counts), np.array(sizes)

    def _rows(self, part: Part, block: Block) -> Iterator[list[Any]]:
        for positions in self.split(part, block.rows):
            yield [take_rows(table, positions) for table in block.tables]


@dataclass(frozen=True)
class FoldSums:
    """Sums over the rows of every fold: all that the squared loss needs, from one pass.

    Attributes
    ----------
    grams : array of shape (n_folds, p, p)
        Sums of ``x x'`` over unlabeled rows x with a one behind their features.
    similar : array of shape (n_folds, p)
        Sums of x over the members of similar pairs.
    """

    grams: FloatArray
    similar: FloatArray

    def without(self, fold: int | None) -> Summary:
        """Return mean outer product and mean rows over all folds but one (or over all)."""
        gram_sum, similar_sum = self.grams.sum(axis=0), self.similar.sum(axis=0)
        if fold is not None:
            gram_sum -= self.grams[fold]
            similar_sum -= self.similar[fold]
        mean_gram = gram_sum / gram_sum[-1, -1]
        return Summary(mean_gram, Means(similar_sum / similar_sum[-1], mean_gram[-1]))


def sum_folds(engine: Engine, folds: Folds) -> FoldSums:
    """Collect the sums of every fold in one pass."""
    (grams,), (similar,) = engine.map_reduce_both(
        lambda block: (folds.grams(block),),
        lambda block: (folds.member_sums(block),),
        frugal=True,
    )
    return FoldSums(grams, similar)


def squared_weights(
    sums: FoldSums, *, prior: float, alphas: Sequence[float], regularize_intercept: bool
) -> list[FloatArray]:
    """Fit the squared loss without each fold in turn, by adding and subtracting sums.

    What the training rows of a fold sum to is the total less the fold.

    Returns
    -------
    list of arrays of shape (p, n_alphas), one for each fold
    """
    weights = []
    for fold in range(len(sums.grams)):
        summary = sums.without(fold)
        linear = summary.means.linear_term(prior)
        weights.append(
            ridge_weights(summary.gram, linear, alphas, regularize_intercept=regularize_intercept)
        )
    return weights


def fold_risks(
    engine: Engine, folds: Folds, weights: Sequence[FloatArray], prior: float
) -> FloatArray:
    """Return the zero-one SU risks of each fold's models on its own rows, in one pass.

    Parameters
    ----------
    engine : Engine
    folds : Folds
    weights : sequence of arrays of shape (p, n_models), one for each fold
    prior : float

    Returns
    -------
    array of shape (n_folds, n_models)
    """
    counted = engine.map_reduce_both(
        _counting(engine, "unlabeled", weights, folds),
        _counting(engine, "similar", weights, folds),
        frugal=True,
    )
    unlabeled, similar = (counts / sizes[:, None] for counts, sizes in counted)
    return zero_one_risk_of_shares(similar, unlabeled, prior)


def _counting(engine: Engine, part: Part, weights: Sequence[FloatArray], folds: Folds) -> Kernel:
    """Return the kernel that counts decisions for +1 and rows, by fold."""
    stride = folds.stride(engine.count(part))
    return lambda block: folds.count_positive(part, block, weights, stride)


class WithoutFold(Engine):
    """The rows and pairs of an engine that are not in one of folds dealt in turn.

    Parameters
    ----------
    engine : Engine
    n_folds, fold : int
    """

    def __init__(self, engine: Engine, n_folds: int, fold: int) -> None:
        self._engine = engine
        self._n_folds = n_folds
        self._fold = fold

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self._engine.n_features

    def count(self, part: Part) -> int:
        """Return the number of unlabeled rows, or of similar pairs, outside the fold."""
        return _kept_before(self._engine.count(part), self._n_folds, self._fold)

    def _sum_over(self, part: Part, kernel: Kernel) -> Sums:
        n_folds, fold = self._n_folds, self._fold

        def outside(block: Block) -> Sums:
            kept = np.arange(block.rows.start, block.rows.stop) % n_folds != fold
            tables = tuple(table[kept] for table in block.tables)
            return kernel(Block(tables, _kept_before(block.start, n_folds, fold)))

        return self._engine._sum_over(part, outside)


def _kept_before(position: int, n_folds: int, fold: int) -> int:
    """Return how many of the first `position` rows are outside the fold."""
    return position - (position - fold + n_folds - 1) // n_folds


def zero_one_risks(engine: Engine, weights: FloatArray, prior: float) -> FloatArray:
    """Return the zero-one SU risk of each column of weights, shape (n_features + 1, k), on rows."""

    def kernel(block: Block) -> Sums:
        return _count_positive(block.tables, weights)

    unlabeled, similar = (counts / size for counts, size in engine.map_reduce_both(kernel, kernel))
    return zero_one_risk_of_shares(similar, unlabeled, prior)


def _count_positive(tables: Sequence[Any], weights: FloatArray) -> tuple[Any, int]:
    """Return how many rows each column of weights decides for +1, and how many there are."""
    counts = sum(count_positive(rows, weights) for rows in tables)
    return counts, sum(rows.shape[0] for rows in tables)
