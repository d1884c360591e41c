"""Mini-batches of statements: both rows of each, and unlabeled rows beside them.

It knows row numbers; it knows no features and no nets.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Dataset, Sampler

from likewise.statements.labels import WeakLabels, read_labels
from likewise.statements.statements import Links, Statements

__all__ = [
    "PairBatch",
    "PairBatchSampler",
    "PairDataset",
    "SplitBatch",
    "population_of",
    "split_batch",
]

IntArray = NDArray[np.intp]

_UNLABELED, _RIGHT = 0, 2
"""Roles of rows in a batch; a left member has the sign of what was said: +1 alike, -1 different."""


@dataclass(frozen=True, eq=False)
class PairBatch:
    """Rows of one mini-batch, by number.

    Attributes
    ----------
    left, right : integer arrays of shape (n_pairs,)
        Entry i of both belongs to one statement.
    is_similar : boolean array of shape (n_pairs,)
    unlabeled : integer array of shape (n_unlabeled,)
    """

    left: IntArray
    right: IntArray
    is_similar: NDArray[np.bool_]
    unlabeled: IntArray

    @property
    def rows(self) -> IntArray:
        """All rows: left members, right members, unlabeled ones."""
        return np.concatenate([self.left, self.right, self.unlabeled])


class PairBatchSampler(Sampler[list[tuple[int, int]]]):
    """Batch sampler over statements: both rows of each in one batch, unlabeled rows beside them.

    Every statement is in exactly one batch of an epoch (of a group, every link of its chain), and
    batches differ by one statement at most. Unlabeled rows are drawn without replacement until all
    have been there. Of statements about one table all rows are unlabeled ones; of fresh pairs only
    those that are in no pair.

    Iterating gives lists of ``(row, role)``, for a `torch.utils.data.DataLoader` over a
    `PairDataset`; `batches` gives the same batches by row numbers.

    Parameters
    ----------
    y : weak labels, or Statements
        As `likewise.pack` makes them.
    batch_size : int, default 256
        Statements in a batch, at most.
    unlabeled_size : int, default 512
        Unlabeled rows in a batch; at most as many as there are.
    passes : int, default 1
        How often an epoch goes through all statements.
    population : integer array, optional
        The unlabeled rows, where they are others than `y` says.
    random_state : int or None, default None
        The same seed gives the same batches, epoch by epoch.

    Examples
    --------
    >>> import numpy as np, likewise as lw
    >>> from likewise.nets import PairBatchSampler
    >>> X, y = lw.pack(np.zeros((6, 1)), similar=[(0, 1)], dissimilar=[(2, 3)])
    >>> sampler = PairBatchSampler(y, batch_size=1, unlabeled_size=2, random_state=0)
    >>> [len(batch) for batch in sampler]
    [4, 4]
    """

    def __init__(
        self,
        y: WeakLabels | Statements,
        batch_size: int = 256,
        *,
        unlabeled_size: int = 512,
        passes: int = 1,
        population: IntArray | None = None,
        random_state: int | None = None,
    ) -> None:
        statements = y if isinstance(y, Statements) else read_labels(y)
        if not statements.count:
            raise ValueError("There are no statements to sample.")
        for name, size in (("batch_size", batch_size), ("passes", passes)):
            if size < 1:
                raise ValueError(f"{name} must be at least 1; got {size!r}.")
        self.links: Links = statements.links
        self.population = population_of(statements) if population is None else population
        self.batch_size = batch_size
        self.unlabeled_size = min(unlabeled_size, self.population.size)
        self.passes = passes
        self._draw = np.random.default_rng(random_state)
        self._waiting: IntArray = np.zeros(0, dtype=np.intp)

    def __len__(self) -> int:
        return self.passes * self._per_pass

    @property
    def _per_pass(self) -> int:
        return -(-self.links.left.size // self.batch_size)

    def __iter__(self) -> Iterator[list[tuple[int, int]]]:
        for batch in self.batches():
            roles = np.concatenate(
                [
                    np.where(batch.is_similar, 1, -1),
                    np.full(batch.right.size, _RIGHT),
                    np.full(batch.unlabeled.size, _UNLABELED),
                ]
            )
            yield list(zip(batch.rows.tolist(), roles.tolist(), strict=True))

    def batches(self) -> Iterator[PairBatch]:
        """Give the batches of the next epoch, by row numbers."""
        links = self.links
        for _ in range(self.passes):
            order = self._draw.permutation(links.left.size)
            for chosen in np.array_split(order, self._per_pass):
                yield PairBatch(
                    links.left[chosen],
                    links.right[chosen],
                    links.is_similar[chosen],
                    self._next_unlabeled(),
                )

    def _next_unlabeled(self) -> IntArray:
        """Return the next unlabeled rows; all are there before one comes again."""
        while self._waiting.size < self.unlabeled_size:
            more = self._draw.permutation(self.population)
            self._waiting = np.concatenate([self._waiting, more])
        taken, self._waiting = np.split(self._waiting, [self.unlabeled_size])
        return taken


def population_of(statements: Statements) -> IntArray:
    """Return the rows that stand for all rows there could be.

    Parameters
    ----------
    statements : Statements
    """
    if statements.is_fresh:
        return np.flatnonzero(~statements.stated)
    return np.arange(statements.n_rows)


class PairDataset(Dataset[Any]):
    """A dataset whose rows know their role in a batch of `PairBatchSampler`.

    Roles travel with the rows, through workers too, so that pairs and unlabeled rows cannot be
    mistaken for each other.

    Parameters
    ----------
    rows : sequence or Dataset
        ``rows[i]`` is one row.

    Examples
    --------
    >>> import numpy as np, torch, likewise as lw
    >>> from likewise.nets import PairBatchSampler, PairDataset, split_batch
    >>> X, y = lw.pack(np.zeros((6, 1)), similar=[(0, 1)], dissimilar=[(2, 3)])
    >>> loader = torch.utils.data.DataLoader(
    ...     PairDataset(X), batch_sampler=PairBatchSampler(y, 2, unlabeled_size=3, random_state=0)
    ... )
    >>> rows, roles = next(iter(loader))
    >>> split_batch(rows, roles).left.shape
    torch.Size([2, 1])
    """

    def __init__(self, rows: Any) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, item: tuple[int, int]) -> tuple[Any, int]:
        row, role = item
        return self.rows[row], role


class SplitBatch(NamedTuple):
    """What a net said of a batch, in the order in which `PairLoss` takes it."""

    left: Tensor
    right: Tensor
    is_similar: Tensor
    unlabeled: Tensor


def split_batch(values: Tensor, roles: Tensor) -> SplitBatch:
    """Split the rows of a batch, or the scores of a net, by their roles.

    Parameters
    ----------
    values : Tensor of shape (n_rows, ...)
    roles : integer Tensor of shape (n_rows,)
        As they come with the batch.

    Returns
    -------
    SplitBatch
        Ready for ``PairLoss(n_classes)(*split_batch(scores, roles))``.

    Examples
    --------
    >>> import numpy as np
    >>> import torch
    >>> from torch.utils.data import DataLoader
    >>> from likewise.nets import PairBatchSampler, PairDataset, PairLoss, split_batch
    >>> rows, y = np.zeros((6, 3), dtype=np.float32), np.array([1, 1, -2, -2, 0, 0])
    >>> sampler = PairBatchSampler(y, 2, unlabeled_size=2, random_state=0)
    >>> batch, roles = next(iter(DataLoader(PairDataset(rows), batch_sampler=sampler)))
    >>> parts = split_batch(torch.nn.Linear(3, 2)(batch), roles)
    >>> bool(PairLoss(2)(*parts) > 0)
    True
    """
    is_left = torch.abs(roles) == 1
    return SplitBatch(
        values[is_left], values[roles == _RIGHT], roles[is_left] == 1, values[roles == _UNLABELED]
    )
