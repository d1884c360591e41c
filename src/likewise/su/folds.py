"""Cross-validation of the SU risk by sums over folds.

Sums of folds are added and subtracted, so that all folds and penalties cost about one pass.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
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
from likewise.su.objective import Summary, pair_kernel
from likewise.su.rewrites import SU, Rewrite
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
    """A partition of the unlabeled rows, and of each kind of pairs, into as many folds."""

    @property
    def count(self) -> int:
        """Number of folds."""

    def split(self, part: Part, at: slice) -> list[Positions]:
        """Return, for each fold, which of the consecutive rows (or pairs) `at` it holds."""

    def grams(self, block: Block) -> Any:
        """Return the gram of each fold's unlabeled rows of a block, shape (count, p, p)."""

    def member_sums(self, part: Part, block: Block) -> Any:
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

    def member_sums(self, part: Part, block: Block) -> Any:
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
    """The fold number of every unlabeled row and of every pair."""

    of_part: Mapping[Part, NDArray[np.intp]]
    count: int

    @classmethod
    def of_rows(
        cls, fold_of_row: NDArray[np.intp], rows: RowSets, count: int
    ) -> "GivenFolds | None":
        """Build from the fold of every row; None if the members of a pair are in two folds."""
        left, right = fold_of_row[rows.left], fold_of_row[rows.right]
        first, second = fold_of_row[rows.dissimilar_left], fold_of_row[rows.dissimilar_right]
        if np.any(left != right) or np.any(first != second):
            return None
        of_part: dict[Part, NDArray[np.intp]] = {
            "unlabeled": fold_of_row[rows.unlabeled],
            "similar": left,
            "dissimilar": first,
        }
        return cls(of_part, count)

    def split(self, part: Part, at: slice) -> list[Positions]:
        """Return, for each fold, which of the consecutive rows (or pairs) `at` it holds."""
        here = self.of_part[part][at]
        return [as_slice(np.flatnonzero(here == fold)) for fold in range(self.count)]

    def grams(self, block: Block) -> Any:
        """Return the gram of each fold's unlabeled rows of a block, shape (count, p, p)."""
        return np.stack([gram(rows, c) for (rows,), c in self._rows("unlabeled", block)])

    def member_sums(self, part: Part, block: Block) -> Any:
        """Return the column sums of each fold's pair members of a block, shape (count, p)."""
        of_folds = self._rows(part, block)
        return np.stack([sum(column_sums(rows, c) for rows in tables) for tables, c in of_folds])

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
        counts, sizes = zip(*(_count_positive(*rows, w) for rows, w in own), strict=True)
        return np.stack(counts), np.array(sizes)

    def _rows(
        self, part: Part, block: Block
    ) -> Iterator[tuple[list[Any], NDArray[np.float64] | None]]:
        """Yield the rows of each fold, and how much they count."""
        for positions in self.split(part, block.rows):
            counts = None if block.weights is None else block.weights[positions]
            yield [take_rows(table, positions) for table in block.tables], counts


@dataclass(frozen=True)
class FoldSums:
    """Sums over the rows of every fold: all that the squared loss needs, from one pass.

    Attributes
    ----------
    grams : array of shape (n_folds, p, p)
        Sums of ``x x'`` over unlabeled rows x with a one behind their features.
    pairs : dict from part to arrays of shape (n_folds, p)
        Sums over pairs, as `likewise.su.objective.pair_kernel` collects them.
    """

    grams: FloatArray
    pairs: Mapping[Part, Sums]

    def without(self, fold: int | None) -> Summary:
        """Return mean outer product and mean rows over all folds but one (or over all)."""
        pairs = {
            part: tuple(_added_up(entry, fold) for entry in sums)
            for part, sums in self.pairs.items()
        }
        return Summary.of_sums(_added_up(self.grams, fold), pairs)


def _added_up(of_folds: FloatArray, without: int | None) -> FloatArray:
    total = np.asarray(of_folds.sum(axis=0))
    return total if without is None else total - of_folds[without]


def sum_folds(engine: Engine, folds: Folds, rewrite: Rewrite = SU) -> FoldSums:
    """Collect the sums of every fold that a rewrite needs, in one pass."""
    kernels: dict[Part, Kernel] = {"unlabeled": lambda block: (folds.grams(block),)}
    for part in rewrite.parts:
        kernels[part] = pair_kernel(partial(folds.member_sums, part), rewrite)
    pairs = engine.map_reduce_parts(kernels, frugal=not rewrite.needs_spreads)
    (grams,) = pairs.pop("unlabeled")
    return FoldSums(grams, pairs)


def squared_weights(
    summaries: Sequence[Summary],
    *,
    prior: float,
    alphas: Sequence[float],
    regularize_intercept: bool,
    rewrite: Rewrite = SU,
) -> list[FloatArray]:
    """Fit the squared loss without each fold in turn, from what `FoldSums.without` tells of each.

    Returns
    -------
    list of arrays of shape (p, n_alphas), one for each fold
    """
    weights = []
    for summary in summaries:
        linear = summary.linear_term(prior, rewrite)
        weights.append(
            ridge_weights(summary.gram, linear, alphas, regularize_intercept=regularize_intercept)
        )
    return weights


def fold_risks(
    engine: Engine,
    folds: Folds,
    weights: Sequence[FloatArray],
    prior: float,
    rewrites: Sequence[Rewrite],
) -> FloatArray:
    """Return the zero-one SU risks of each fold's models on its own rows, in one pass.

    Parameters
    ----------
    engine : Engine
    folds : Folds
    weights : sequence of arrays of shape (p, n_models), one for each fold
    prior : float
    rewrites : sequence of Rewrite, one for each fold
        With weights that do not depend on rows, and all of the same parts.

    Returns
    -------
    array of shape (n_folds, n_models)
    """
    parts: tuple[Part, ...] = ("unlabeled", *rewrites[0].parts)
    counted = engine.map_reduce_parts(
        {part: _counting(engine, part, weights, folds) for part in parts}, frugal=True
    )
    shares = {part: counts / sizes[:, None] for part, (counts, sizes) in counted.items()}
    return np.stack(
        [
            zero_one_risk_of_shares(
                {part: share[fold] for part, share in shares.items()}, rewrite.weights(prior)
            )
            for fold, rewrite in enumerate(rewrites)
        ]
    )


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
        """Return the number of unlabeled rows, or of pairs of a kind, outside the fold."""
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


def zero_one_risks(
    engine: Engine, weights: FloatArray, prior: float, rewrite: Rewrite = SU
) -> FloatArray:
    """Return the zero-one SU risk of each column of weights, shape (n_features + 1, k), on rows."""

    def kernel(block: Block) -> Sums:
        return _count_positive(block.tables, block.weights, weights)

    counted = engine.map_reduce_parts(dict.fromkeys(("unlabeled", *rewrite.parts), kernel))
    shares = {part: counts / size for part, (counts, size) in counted.items()}
    return zero_one_risk_of_shares(shares, rewrite.weights(prior))


def _count_positive(
    tables: Sequence[Any], of_rows: FloatArray | None, weights: FloatArray
) -> tuple[Any, Any]:
    """Return how many rows each column of weights decides for +1, and how many there are."""
    counts = sum(count_positive(rows, weights, of_rows) for rows in tables)
    size = tables[0].shape[0] if of_rows is None else of_rows.sum()
    return counts, len(tables) * size
