"""The seam between objectives and rows: every engine offers the same ``map_reduce``.

Solvers and estimators ask for sums over blocks of rows and never touch rows themselves, so that
the same objective can run wherever rows live. Nothing here knows what is summed.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from likewise.engines.arrays import to_numpy

Part = Literal["unlabeled", "similar", "dissimilar"]
"""Which rows: the unlabeled ones, or pairs of either kind."""

PAIR_PARTS: tuple[Part, ...] = ("similar", "dissimilar")

Sums = tuple[Any, ...]
"""What a kernel returns for one block: arrays or numbers, which are added up entry by entry, or
lists, which adding up chains in the order of the rows."""

BLOCK_ENTRIES = 1 << 19
"""Stored entries per block: 4 MiB of float64, so that a block's temporaries stay in cache."""


@dataclass(frozen=True)
class Block:
    """Some consecutive rows of one part.

    Attributes
    ----------
    tables : tuple of 2-D arrays (numpy, scipy sparse or torch), each of shape (size, n_features)
        ``(rows,)`` for unlabeled rows, ``(left, right)`` for pairs.
    start : int
        Position of the first row (or pair) among all rows (or pairs) of the part.
    weights : array of shape (size,), or None
        How much each row (or pair) counts; None if all count one.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.engines import Block
    >>> Block((np.zeros((5, 2)),), start=10).rows
    slice(10, 15, None)
    """

    tables: tuple[Any, ...]
    start: int
    weights: NDArray[np.float64] | None = None

    @property
    def rows(self) -> slice:
        """The block's positions within its part."""
        return slice(self.start, self.start + self.tables[0].shape[0])


Kernel = Callable[[Block], Sums]
ValuedKernel = Callable[[Block, Any], Sums]
"""Takes a block, and what was passed for each of its rows."""
OnRows = Callable[[Part, int, int], None]
"""Called with a part, how many of its rows have been summed, and how many there are."""


class Engine(ABC):
    """Holds the rows of a weakly labeled sample and sums kernels over blocks of them.

    Attributes
    ----------
    n_passes : int
        How often the unlabeled rows have been read; the pairs are read at most as often.
    on_rows : callable, optional
        Told how far a pass has come, where the engine knows it.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.engines import MemoryEngine
    >>> engine = MemoryEngine.of_unlabeled(np.ones((5, 2)))
    >>> (total,) = engine.map_reduce("unlabeled", lambda block: (block.tables[0].sum(),))
    >>> float(total)
    10.0
    """

    n_passes: int = 0
    on_rows: OnRows | None = None

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of columns."""

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns, where they have any."""
        return None

    @abstractmethod
    def count(self, part: Part) -> int:
        """Return the number of unlabeled rows, or of pairs of a kind."""

    def total(self, part: Part) -> float:
        """Return how much the rows (or pairs) of a part count together."""
        return float(self.count(part))

    @property
    def pair_parts(self) -> tuple[Part, ...]:
        """The kinds of pairs that there are."""
        return tuple(part for part in PAIR_PARTS if self.count(part))

    def statements(self) -> dict[Part, NDArray[np.intp]] | None:
        """Return the pairs of each kind as row numbers, (n_pairs, 2), if they name unlabeled rows.

        Then all rows are one table that the pairs are statements about; for this, no features are
        read. None where pairs are rows of their own.
        """
        return None

    def map_reduce(self, part: Part, kernel: Kernel) -> Sums:
        """Return the entry-by-entry sum of ``kernel(block)`` over all blocks of `part`.

        An engine may call the kernel from several threads or on other machines, so a kernel must
        only return values, unless its engine is a `MemoryEngine`.
        """
        self._begin(part)
        return self._sum_over(part, kernel)

    def map_reduce_with(self, values: NDArray[Any], kernel: ValuedKernel) -> Sums:
        """Return the sum of ``kernel(block, values of its rows)`` over all unlabeled rows.

        Parameters
        ----------
        values : array of shape (n_unlabeled, ...)
        kernel : callable
            As in `map_reduce`; where rows are on other machines, only their own values travel.
        """
        self._begin("unlabeled")
        return self._sum_over_with(values, kernel)

    def map_reduce_parts(
        self, kernels: Mapping[Part, Kernel], *, frugal: bool = False
    ) -> dict[Part, Sums]:
        """Return what `map_reduce` returns for each part; together they may take less time.

        Kernels are frugal if they copy no rows: then an engine may hand them larger blocks.
        """
        for part in kernels:
            self._begin(part)
        return self._sum_over_parts(kernels, frugal=frugal)

    def map_reduce_both(
        self, of_unlabeled: Kernel, of_similar: Kernel, *, frugal: bool = False
    ) -> tuple[Sums, Sums]:
        """Return what `map_reduce_parts` returns for unlabeled rows and similar pairs."""
        sums = self.map_reduce_parts(
            {"unlabeled": of_unlabeled, "similar": of_similar}, frugal=frugal
        )
        return sums["unlabeled"], sums["similar"]

    def _tell(self, part: Part, done: int) -> None:
        """Tell whoever wants to know how many rows of a part have been summed."""
        if self.on_rows is not None:
            self.on_rows(part, done, self.count(part))

    def _begin(self, part: Part) -> None:
        if not self.count(part):
            raise ValueError(f"There are no {part} rows to sum over.")
        if part == "unlabeled":
            self.n_passes += 1

    @abstractmethod
    def _sum_over(self, part: Part, kernel: Kernel) -> Sums:
        """Sum a kernel over a part that has rows."""

    def _sum_over_with(self, values: NDArray[Any], kernel: ValuedKernel) -> Sums:
        """Sum a kernel over the unlabeled rows, with values in memory."""
        return self._sum_over("unlabeled", lambda block: kernel(block, values[block.rows]))

    def _sum_over_parts(self, kernels: Mapping[Part, Kernel], *, frugal: bool) -> dict[Part, Sums]:
        """Sum a kernel over each of some parts."""
        return {part: self._sum_over(part, kernel) for part, kernel in kernels.items()}

    def every(self, part: Part, stride: int) -> tuple[Any, ...]:
        """Return every `stride`-th row (or pair) of a part as arrays in memory, by one pass."""

        def kernel(block: Block) -> Sums:
            first = -block.start % stride
            return tuple([to_numpy(table[first::stride]).copy()] for table in block.tables)

        return tuple(np.concatenate(pieces) for pieces in self.map_reduce(part, kernel))


def add_sums(sums: Iterable[Sums]) -> Sums:
    """Add up what a kernel returned for one block after the other."""
    total: Sums | None = None
    for here in sums:
        total = here if total is None else tuple(a + b for a, b in zip(total, here, strict=True))
    if total is None:
        raise ValueError("There are no blocks to add up.")
    return total


def cut(tables: tuple[Any, ...], start: int) -> Iterator[Block]:
    """Cut dense rows into blocks of double precision; `start` is the position of the first one."""
    n_rows, n_features = tables[0].shape
    size = max(1, BLOCK_ENTRIES // max(1, n_features))
    for first in range(0, n_rows, size):
        # Single precision is for storage: sums in it would be too rough for a certificate.
        rows = (table[first : first + size].astype(np.float64, copy=False) for table in tables)
        yield Block(tuple(rows), start + first)
