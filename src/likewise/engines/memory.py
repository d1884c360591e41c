"""The in-memory engine: numpy arrays and scipy sparse rows, read block by block."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.engines import base
from likewise.engines.base import Block, Engine, Kernel, Part, Sums, add_sums
from likewise.engines.rows import (
    Positions,
    RowSets,
    count_positions,
    is_sparse,
    kish_scaled,
    take_rows,
)


class MemoryEngine(Engine):
    """Rows of one array in memory; positions that are slices are read without a copy.

    Parameters
    ----------
    X : numpy array or scipy CSR matrix of shape (n_rows, n_features)
    rows : RowSets
        Where the unlabeled rows and the members of the pairs stand in `X`.
    weights : array of shape (n_rows,), optional
        How much unlabeled rows count; a pair counts as much as the product for its members. Of
        every part they are brought to the scale of `likewise.statements.weights`.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.engines import MemoryEngine
    >>> engine = MemoryEngine.of_unlabeled(np.zeros((5, 2)))
    >>> engine.count("unlabeled"), engine.n_features
    (5, 2)
    """

    def __init__(self, X: Any, rows: RowSets, weights: NDArray[np.float64] | None = None) -> None:
        self._X = X
        self._positions: dict[Part, tuple[Positions, ...]] = {
            "unlabeled": (rows.unlabeled,),
            "similar": (rows.left, rows.right),
            "dissimilar": (rows.dissimilar_left, rows.dissimilar_right),
        }
        self._weights: dict[Part, NDArray[np.float64]] = {}
        if weights is not None:
            for part, sides in self._positions.items():
                self._weights[part] = kish_scaled(np.prod([weights[at] for at in sides], axis=0))
        n_entries = X.nnz if is_sparse(X) else X.size
        entries_per_row = max(1, n_entries // X.shape[0])
        self._block_size = max(1, base.BLOCK_ENTRIES // entries_per_row)

    @classmethod
    def of_unlabeled(cls, rows: Any, weights: NDArray[np.float64] | None = None) -> "MemoryEngine":
        """Return the engine of unlabeled rows without pairs."""
        none = slice(0, 0, 1)
        return cls(rows, RowSets(slice(0, rows.shape[0], 1), none, none, none, none), weights)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self._X.shape[1])

    def count(self, part: Part) -> int:
        """Return the number of unlabeled rows, or of pairs of a kind."""
        return count_positions(self._positions[part][0])

    def weights(self, part: Part) -> NDArray[np.float64] | None:
        """Return how much each row (or pair) of a part counts; None if all count one."""
        return self._weights.get(part)

    def total(self, part: Part) -> float:
        """Return how much the rows (or pairs) of a part count together."""
        weights = self.weights(part)
        return super().total(part) if weights is None else float(weights.sum())

    def _sum_over(self, part: Part, kernel: Kernel) -> Sums:
        return add_sums(map(kernel, self._blocks(part)))

    def every(self, part: Part, stride: int) -> tuple[Any, ...]:
        """Return every `stride`-th row (or pair) of a part; this is not a pass."""
        whole = self.count(part)
        return tuple(
            take_rows(self._X, _part_of(positions, 0, whole, stride))
            for positions in self._positions[part]
        )

    def _blocks(self, part: Part) -> Iterator[Block]:
        for start in range(0, self.count(part), self._block_size):
            tables = (
                take_rows(self._X, _part_of(positions, start, self._block_size, 1))
                for positions in self._positions[part]
            )
            weights = self.weights(part)
            # Single precision is for storage: sums in it would be too rough for a certificate.
            yield Block(
                tuple(table.astype(np.float64, copy=False) for table in tables),
                start,
                None if weights is None else weights[start : start + self._block_size],
            )


def _part_of(positions: Positions, start: int, size: int, stride: int) -> Positions:
    wanted = slice(start, start + size, stride)
    if not isinstance(positions, slice):
        return positions[wanted]
    chosen = range(positions.start, positions.stop, positions.step)[wanted]
    return slice(chosen.start, chosen.stop, chosen.step)
