"""The seam between objectives and rows: every engine offers the same ``map_reduce``.

Solvers and estimators ask for sums over blocks of rows and never touch rows themselves, so that
the same objective can run wherever rows live. Nothing here knows what is summed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Part = Literal["unlabeled", "similar"]
"""Which rows: the unlabeled ones, or the similar pairs."""

Sums = tuple[Any, ...]
"""What a kernel returns for one block: a tuple of arrays or numbers, added up entry by entry."""


@dataclass(frozen=True)
class Block:
    """Some consecutive rows of one part.

    Attributes
    ----------
    tables : tuple of 2-D arrays (numpy or scipy sparse), each of shape (size, n_features)
        ``(rows,)`` for unlabeled rows, ``(left, right)`` for similar pairs.
    start : int
        Position of the first row (or pair) among all rows (or pairs) of the part.
    """

    tables: tuple[Any, ...]
    start: int

    @property
    def rows(self) -> slice:
        """The block's positions within its part."""
        return slice(self.start, self.start + self.tables[0].shape[0])


Kernel = Callable[[Block], Sums]


class Engine(Protocol):
    """Holds the rows of a weakly labeled sample and sums kernels over blocks of them."""

    @property
    def n_features(self) -> int:
        """Number of columns."""

    def count(self, part: Part) -> int:
        """Return the number of unlabeled rows, or of similar pairs."""

    def map_reduce(self, part: Part, kernel: Kernel) -> Sums:
        """Return the entry-by-entry sum of ``kernel(block)`` over all blocks of `part`."""
