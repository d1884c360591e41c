"""Rows to learn from, in memory: all there are, or evenly spaced ones of them.

Spacing is the same whether rows are in memory or behind an engine, so that the same rows are
chosen from either.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise.engines.base import Engine
from likewise.learner.design import in_order
from likewise.likelihood import Counts
from likewise.pairs import RowSets, take_rows

__all__ = ["Table"]


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
        of_rows, of_pairs, _ = _strides(counts, size)
        (alone,) = engine.every("unlabeled", of_rows)
        left, right = engine.every("similar", of_pairs)
        rows = np.concatenate([alone, left, right]).astype(np.float64, copy=False)
        return cls(rows, Counts(alone.shape[0], left.shape[0]))

    def thinned(self, size: int) -> "Table":
        """Return about `size` of the unlabeled rows and of the pairs of each kind."""
        strides = _strides(self.counts, size)
        if max(strides) == 1:
            return self
        counts = self.counts
        kinds = (
            (counts.alone,),
            (counts.left, counts.right),
            (counts.dissimilar_left, counts.dissimilar_right),
        )
        kept = [
            np.arange(part.start, part.stop)[::stride]
            for parts, stride in zip(kinds, strides, strict=True)
            for part in parts
        ]
        rows = take_rows(self.rows, np.concatenate(kept))
        return Table(rows, Counts(kept[0].size, kept[1].size, kept[3].size))


def _strides(counts: Counts, size: int) -> tuple[int, ...]:
    """Return how far apart kept rows are; nothing is left out unless there is twice as much."""
    if max(counts) <= 2 * size:
        return (1,) * len(counts)
    return tuple(max(1, -(-count // size)) for count in counts)
