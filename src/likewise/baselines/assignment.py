"""Rows in two clusters at the least cost, where to break a statement costs a penalty.

This module knows what rows save by changing sides, and nothing of features, centers or metrics.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from likewise._types import FloatArray
from likewise.statements.statements import Links, Statements

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.intp]

__all__ = ["LinkedRows"]

_LEAST_GAIN = 1e-12
"""Gain of a move, relative to the largest cost, that is more than rounding."""


@dataclass(frozen=True, eq=False)
class LinkedRows:
    """Rows, which of them are linked, and the two sides that links put them on.

    Attributes
    ----------
    links : Links
    components : integer array of shape (n_rows,)
        Rows that hang together by links of either kind.
    sides : boolean array of shape (n_rows,)
        A side of every row such that no link of its component is broken; all on the first side
        where there is none.
    contradicted : boolean array of shape (n_rows,)
        Rows of components whose links cannot all be kept.
    """

    links: Links
    components: IntArray
    sides: BoolArray
    contradicted: BoolArray

    @classmethod
    def of(cls, statements: Statements) -> Self:
        """Find the sides that statements put their rows on.

        Every row has two copies, one for each side; a link joins copies that can be true together.
        Where both copies of a row hang together, links contradict each other.
        """
        links, n_rows = statements.links, statements.n_rows
        across = np.where(links.is_similar, 0, n_rows)
        left = np.concatenate([links.left, links.left + n_rows])
        right = np.concatenate([links.right + across, links.right + n_rows - across])
        graph = sp.coo_array(
            (np.ones(left.size, dtype=np.int8), (left, right)), shape=(2 * n_rows, 2 * n_rows)
        )
        copies = connected_components(graph, directed=False)[1]
        here, there = copies[:n_rows], copies[n_rows:]
        components = statements.components
        _, firsts = np.unique(components, return_index=True)
        return cls(links, components, np.asarray(here != here[firsts][components]), here == there)

    def broken(self, in_second: BoolArray) -> BoolArray:
        """Tell which links an assignment breaks, shape (n_links,)."""
        together = in_second[self.links.left] == in_second[self.links.right]
        return np.asarray(together != self.links.is_similar)

    def assign(
        self,
        advantages: FloatArray,
        penalties: FloatArray | float,
        before: BoolArray | None = None,
    ) -> BoolArray:
        """Assign rows to two clusters at a low cost.

        Of every component the best of several assignments is taken: that which breaks no link, that
        of each row for itself, and the one before, each improved by moving single rows while that
        lowers the cost (iterated conditional modes). For a single link this is the least cost.

        Parameters
        ----------
        advantages : array of shape (n_rows,)
            What each row would save by moving from the first to the second cluster.
        penalties : float or array of shape (n_links,)
            What it costs to break a link. If it is infinite, no link is broken.
        before : boolean array of shape (n_rows,), optional
            An assignment that the result shall not cost more than.

        Returns
        -------
        boolean array of shape (n_rows,)
            Which rows are in the second cluster; of equal costs, that which breaks no link.
        """
        kept = self._unbroken(advantages)
        penalties = np.broadcast_to(np.asarray(penalties, dtype=np.float64), self.links.left.shape)
        if np.isinf(penalties).any():
            return kept
        starts = [kept, advantages > 0] if before is None else [kept, advantages > 0, before]
        ends = np.array([self._improved(start, advantages, penalties) for start in starts])
        costs = [self._costs(end, advantages, penalties) for end in ends]
        best = np.argmin(costs, axis=0)[self.components]
        return np.asarray(ends[best, np.arange(best.size)])

    def _unbroken(self, advantages: FloatArray) -> BoolArray:
        """Return the better of the two ways to keep all links of each component."""
        gains = np.bincount(self.components, np.where(self.sides, -advantages, advantages))
        return np.asarray(self.sides != (gains > 0)[self.components])

    def _costs(
        self, in_second: BoolArray, advantages: FloatArray, penalties: FloatArray
    ) -> FloatArray:
        """Return what an assignment costs in every component."""
        saved = np.bincount(self.components, np.where(in_second, advantages, 0.0))
        paid = np.where(self.broken(in_second), penalties, 0.0)
        of_link = self.components[self.links.left]
        return np.asarray(np.bincount(of_link, paid, minlength=saved.size) - saved)

    def _improved(
        self, in_second: BoolArray, advantages: FloatArray, penalties: FloatArray
    ) -> BoolArray:
        """Move single rows while that lowers the cost; of linked rows, the one that gains more."""
        left, right = self.links.left, self.links.right
        signed = np.where(self.links.is_similar, penalties, -penalties)
        largest = max(np.abs(advantages).max(), penalties.max(initial=0.0))
        while True:
            side = np.where(in_second, 1.0, -1.0)
            pull = advantages + np.bincount(left, signed * side[right], minlength=side.size)
            pull += np.bincount(right, signed * side[left], minlength=side.size)
            gain = -side * pull
            moves = gain > _LEAST_GAIN * largest
            if not moves.any():
                return in_second
            both = moves[left] & moves[right]
            ahead = (gain[left] > gain[right]) | ((gain[left] == gain[right]) & (left < right))
            waits = np.where(ahead, right, left)[both]
            moves[waits] = False
            in_second = in_second != moves
