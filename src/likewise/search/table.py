"""Rows to learn from, in memory: all there are, or evenly spaced ones of them.

Spacing is the same whether rows are in memory or behind an engine, so that the same rows are
chosen from either.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.beliefs.fresh import Counts
from likewise.engines.base import Engine
from likewise.engines.rows import RowSets, take_rows
from likewise.scores.design import count_among, in_order

__all__ = ["Table", "spacing"]


@dataclass(frozen=True)
class Table:
    """Rows in the order of `Counts`.

    Attributes
    ----------
    rows : array or scipy CSR matrix of shape (counts.rows, n_features)
    counts : Counts
    """

    rows: Any
    counts: Counts

    @classmethod
    def of(cls, X: Any, rows: RowSets) -> "Table":
        """Return the rows that weak labels name; without a copy where they are in order."""
        return cls(*in_order(X, rows))

    @classmethod
    def of_engine(cls, engine: Engine, size: int) -> "Table":
        """Read about `size` unlabeled rows and pairs from an engine, all if there are few."""
        counts = Counts(engine.count("unlabeled"), engine.count("similar"))
        of_rows, of_pairs, _ = spacing(counts, size)
        (alone,) = engine.every("unlabeled", of_rows)
        left, right = engine.every("similar", of_pairs)
        rows = np.concatenate([alone, left, right]).astype(np.float64, copy=False)
        return cls(rows, Counts(alone.shape[0], left.shape[0]))

    def thinned(self, size: int) -> "Table":
        """Return about `size` of the unlabeled rows and of the pairs of each kind."""
        strides = spacing(self.counts, size)
        return self if max(strides) == 1 else self._among(self._spaced(strides))

    def split(self, strides: Sequence[int]) -> tuple["Table", "Table"]:
        """Return the rows at multiples of a stride, one for each kind, and all others."""
        chosen = self._spaced(strides)
        return self._among(chosen), self._among(~chosen)

    def _spaced(self, strides: Sequence[int]) -> NDArray[np.bool_]:
        chosen = np.zeros(self.counts.rows, dtype=bool)
        for parts, stride in zip(_kinds(self.counts), strides, strict=True):
            for part in parts:
                chosen[part.start : part.stop : stride] = True
        return chosen

    def _among(self, chosen: NDArray[np.bool_]) -> "Table":
        return Table(take_rows(self.rows, np.flatnonzero(chosen)), count_among(self.counts, chosen))


def spacing(counts: Counts, size: int) -> tuple[int, ...]:
    """Return how far apart kept rows are; nothing is left out unless there is twice as much.

    Parameters
    ----------
    counts : Counts
    size : int
        So many unlabeled rows and pairs of each kind to keep at most.

    Returns
    -------
    tuple of three ints
    """
    if max(counts) <= 2 * size:
        return (1,) * len(counts)
    return tuple(max(1, -(-count // size)) for count in counts)


def _kinds(counts: Counts) -> tuple[tuple[slice, ...], ...]:
    return (
        (counts.alone,),
        (counts.left, counts.right),
        (counts.dissimilar_left, counts.dissimilar_right),
    )
