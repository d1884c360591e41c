"""Rows to learn from: all there are, or so many of them that a search stays quick.

Rows are chosen evenly spaced, whether they are in memory or behind an engine, so that the same rows
are chosen from either.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.beliefs.expansion import Counts
from likewise.beliefs.fresh import in_order
from likewise.engines.base import Engine
from likewise.engines.finite import raise_not_finite
from likewise.engines.memory import MemoryEngine
from likewise.engines.rows import is_sparse, row_numbers, take_rows
from likewise.statements.labels import row_sets_of
from likewise.statements.statements import Statements
from likewise.statements.weights import weighted

__all__ = [
    "EngineRows",
    "MemoryRows",
    "Some",
    "SourceRows",
    "counts_of",
    "effective_pairs",
    "is_large",
    "spacing",
    "thin",
]

IntArray = NDArray[np.intp]


@dataclass(frozen=True)
class Some:
    """Rows in memory and the statements about them.

    Attributes
    ----------
    rows : array or scipy CSR matrix of shape (n_rows, n_features)
    statements : Statements
    numbers : integer array of shape (n_rows,), or None
        Which rows of the source these are, where that is known.
    is_whole : bool
        Whether this is all there is.
    """

    rows: Any
    statements: Statements
    numbers: IntArray | None
    is_whole: bool = False

    def thinned(self, size: int, *, keeps_rows: bool) -> "Some":
        """Return about `size` of the rows and of the statements; see `SourceRows.sample`."""
        if not self.is_large(size):
            return self
        numbers, statements = thin(self.statements, size, keeps_rows=keeps_rows)
        own = numbers if self.numbers is None else self.numbers[numbers]
        return Some(take_rows(self.rows, numbers), statements, own)

    def among(self, chosen: NDArray[np.bool_]) -> "Some":
        """Return the rows that a mask keeps, and the statements about them."""
        kept = np.flatnonzero(chosen)
        own = kept if self.numbers is None else self.numbers[kept]
        return Some(take_rows(self.rows, kept), self.statements.among(chosen), own)

    def split(self, strides: Sequence[int]) -> tuple["Some", "Some"]:
        """Return fresh pairs and rows at multiples of a stride, one per kind, and all others."""
        chosen = _spaced(self.statements, strides)
        return self.among(chosen), self.among(~chosen)

    def is_large(self, size: int) -> bool:
        """Tell whether there is so much that some is left out."""
        return is_large(self.statements, size)


class SourceRows(ABC):
    """Where the rows of a sample are.

    Attributes
    ----------
    n_pairs : float
        Effective number of pairs: for one table half the rows that statements are about.
    """

    n_pairs: float

    @property
    def n_passes(self) -> int | None:
        """How often an engine has read the rows; None for a table in memory."""
        return None

    @abstractmethod
    def sample(self, size: int, *, keeps_rows: bool) -> Some:
        """Return about `size` rows and statements of each kind in memory, all if there are few.

        Parameters
        ----------
        size : int
        keeps_rows : bool
            Whether rows of one table stay one table. Where statements were found rather than asked,
            a sample of them does not stand for all rows: then members become fresh pairs beside
            rows that do.
        """

    @property
    def counted(self) -> "SourceRows":
        """The rows to learn from: without fresh pairs and unlabeled rows that weigh nothing."""
        return self

    @property
    @abstractmethod
    def engine(self) -> Engine | None:
        """What passes over fresh pairs go over; None if they cannot."""

    @property
    def statements(self) -> Statements | None:
        """All statements, by row numbers of a table; None for pairs that an engine reads."""
        return None

    @property
    def table(self) -> Engine | None:
        """What passes over all rows of that table go over, as unlabeled ones."""
        return None


class MemoryRows(SourceRows):
    """A table in memory.

    Parameters
    ----------
    X : array or scipy CSR matrix of shape (n_rows, n_features)
    statements : Statements
    """

    def __init__(self, X: Any, statements: Statements) -> None:
        self.whole = Some(X, statements, None, is_whole=True)
        self.n_pairs = effective_pairs(statements)

    def sample(self, size: int, *, keeps_rows: bool) -> Some:
        """Return about `size` rows and statements; see `SourceRows`."""
        return self.whole.thinned(size, keeps_rows=keeps_rows)

    @property
    def counted(self) -> "MemoryRows":
        """The rows that weigh something; of a table, all that statements may be about."""
        kept = self.whole.statements.counted
        if kept is None:
            return self
        some = self.whole.among(kept)
        return MemoryRows(some.rows, some.statements)

    @property
    def engine(self) -> Engine | None:
        """An engine over dense rows with fresh similar pairs alone."""
        statements = self.whole.statements
        if is_sparse(self.whole.rows) or not statements.is_fresh or statements.n_dissimilar:
            return None
        if statements.weights is not None:  # passes count every row once
            return None
        return MemoryEngine(self.whole.rows, row_sets_of(statements))

    @property
    def statements(self) -> Statements | None:
        """The statements."""
        return self.whole.statements

    @property
    def table(self) -> Engine | None:
        """An engine over the table."""
        return MemoryEngine.of_unlabeled(self.whole.rows)


class EngineRows(SourceRows):
    """Fresh pairs and unlabeled rows that an engine reads.

    Parameters
    ----------
    engine : Engine
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.counts = Counts(engine.count("unlabeled"), engine.count("similar"))
        self.n_pairs = float(self.counts.pairs)

    def sample(self, size: int, *, keeps_rows: bool) -> Some:
        """Return about `size` rows and pairs; see `SourceRows`."""
        of_rows, of_pairs, _ = spacing(self.counts, size)
        (alone,) = self._engine.every("unlabeled", of_rows)
        left, right = self._engine.every("similar", of_pairs)
        rows = np.concatenate([alone, left, right]).astype(np.float64, copy=False)
        if not np.isfinite(rows).all():
            raise_not_finite(self._engine)
        counts = Counts(alone.shape[0], left.shape[0])
        return Some(rows, in_order(counts), None, is_whole=counts == self.counts)

    @property
    def engine(self) -> Engine | None:
        """The engine."""
        return self._engine

    @property
    def n_passes(self) -> int | None:
        """How often the engine has read the rows."""
        return self._engine.n_passes


def effective_pairs(statements: Statements) -> float:
    """Return so many separate pairs: for one table, half the rows that statements are about.

    Parameters
    ----------
    statements : Statements
    """
    if statements.is_fresh and statements.weights is not None:
        return float(statements.weights[statements.links.left].sum())
    if statements.is_fresh:
        return float(statements.count)
    return max(0.5 * float(statements.stated.sum()), 1.0)


def is_large(statements: Statements, size: int) -> bool:
    """Tell whether there is so much that some is left out: twice as much as is kept.

    Parameters
    ----------
    statements : Statements
    size : int
        As in `SourceRows.sample`.
    """
    if statements.is_fresh:
        return max(counts_of(statements)) > 2 * size
    return statements.n_rows > 2 * size


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


def thin(statements: Statements, size: int, *, keeps_rows: bool) -> tuple[IntArray, Statements]:
    """Return the numbers of some rows, and the statements about them.

    Parameters
    ----------
    statements : Statements
    size : int
    keeps_rows : bool
        As in `SourceRows.sample`.

    Returns
    -------
    rows : integer array
        Row numbers; a row may stand in several places where members become fresh pairs.
    statements : Statements
    """
    if statements.is_fresh:
        return _thin_fresh(statements, size)
    chosen = _every(statements.is_similar, size)
    stride = max(1, -(-statements.n_rows // size))
    if keeps_rows:
        keep = np.zeros(statements.n_rows, dtype=bool)
        keep[::stride] = True
        some = statements.choose(chosen)
        keep[some.members] = True
        return np.flatnonzero(keep), statements.among(keep)
    links = statements.choose(chosen).links
    order = np.argsort(~links.is_similar, kind="stable")
    n_similar = int(links.is_similar.sum())
    sides = [side[order] for side in (links.left, links.right)]
    alone = np.arange(0, statements.n_rows, stride)
    rows = np.concatenate([alone, *(s[:n_similar] for s in sides), *(s[n_similar:] for s in sides)])
    found = in_order(Counts(alone.size, n_similar, order.size - n_similar))
    if statements.weights is None:
        return rows, found
    weights = statements.weights[rows]
    both = weights[found.members[::2]] * weights[found.members[1::2]]
    weights[found.members] = np.repeat(both, 2)
    return rows, weighted(found, weights)


def _thin_fresh(statements: Statements, size: int) -> tuple[IntArray, Statements]:
    keep = _spaced(statements, spacing(counts_of(statements), size))
    return np.flatnonzero(keep), statements.among(keep)


def _spaced(statements: Statements, strides: Sequence[int]) -> NDArray[np.bool_]:
    """Choose fresh pairs and unlabeled rows at multiples of a stride, one for each kind."""
    rows = row_sets_of(statements)
    chosen = np.zeros(statements.n_rows, dtype=bool)
    kinds = (
        (rows.unlabeled,),
        (rows.left, rows.right),
        (rows.dissimilar_left, rows.dissimilar_right),
    )
    for parts, stride in zip(kinds, strides, strict=True):
        for part in parts:
            chosen[row_numbers(part)[::stride]] = True
    return chosen


def counts_of(statements: Statements) -> Counts:
    """Count unlabeled rows and fresh pairs.

    Parameters
    ----------
    statements : Statements
    """
    n_alone = statements.n_rows - 2 * statements.count
    return Counts(n_alone, statements.n_similar, statements.n_dissimilar)


def _every(is_similar: NDArray[np.bool_], size: int) -> NDArray[np.bool_]:
    """Choose about `size` statements, evenly spaced; similar and dissimilar ones in proportion."""
    chosen = np.zeros(is_similar.size, dtype=bool)
    stride = max(1, -(-is_similar.size // size))
    for kind in (True, False):
        chosen[np.flatnonzero(is_similar == kind)[::stride]] = True
    return chosen
