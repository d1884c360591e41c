"""Exact sums over the classes of few unknowns that edges tie together in cycles.

Propagation is exact without cycles. Along short ones it is not, and where ties are about as strong
as what contradicts them it hardly settles. So groups of few unknowns with a cycle are summed over
assignment by assignment, all groups of one size at once. Nothing here knows what the unknowns are.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from likewise._types import FloatArray

__all__ = ["MOST_ASSIGNMENTS", "Cycles", "Summed"]

IntArray = NDArray[np.intp]

MOST_ASSIGNMENTS = 1024
"""A group of more assignments is propagated: ten unknowns of two classes, six of three."""
_AT_ONCE = 2**22
"""Numbers that are held at once."""
_TINY = 1e-300


@dataclass(frozen=True)
class Summed:
    """What the sums say.

    Attributes
    ----------
    value : float
        Logarithm of the sum over all assignments of the unknowns in such groups.
    beliefs : array of shape (n_unknowns, n_classes)
    alike : array of shape (n_edges, n_classes)
        Probability that both ends of an edge are of a class.
    """

    value: float
    beliefs: FloatArray
    alike: FloatArray


@dataclass(frozen=True, eq=False)
class Cycles:
    """Groups of few unknowns that edges tie together in cycles.

    Attributes
    ----------
    n_classes : int
    is_edge : boolean array of shape (n_all_edges,)
        Which edges are in such a group.
    unknowns : integer array of shape (n_unknowns,)
        Those in such groups, group by group, the smallest groups first.
    sizes : integer array of shape (n_groups,)
    ends : integer array of shape (2, n_edges)
        Places of the edges' ends among `unknowns`.
    """

    n_classes: int
    is_edge: NDArray[np.bool_]
    unknowns: IntArray
    sizes: IntArray
    ends: IntArray

    @classmethod
    def among(cls, left: IntArray, right: IntArray, count: int, n_classes: int) -> "Cycles":
        """Find the groups.

        Parameters
        ----------
        left, right : integer arrays of shape (n_all_edges,)
        count : int
            Number of all unknowns.
        n_classes : int
        """
        graph = sp.csr_array((np.ones(left.size, dtype=bool), (left, right)), shape=(count, count))
        group = connected_components(graph, directed=False)[1]
        sizes = np.bincount(group)
        n_edges = np.bincount(group[left], minlength=sizes.size)
        most = int(np.log(MOST_ASSIGNMENTS) / np.log(n_classes) + 1e-9)
        is_chosen = (n_edges >= sizes) & (sizes <= most)
        is_edge = is_chosen[group[left]]
        unknowns = np.flatnonzero(is_chosen[group])
        unknowns = unknowns[np.lexsort((group[unknowns], sizes[group[unknowns]]))]
        place = np.empty(count, dtype=np.intp)
        place[unknowns] = np.arange(unknowns.size)
        ends = place[np.sort(np.stack([left[is_edge], right[is_edge]]), axis=0)]
        return cls(n_classes, is_edge, unknowns, np.sort(sizes[is_chosen]), ends)

    def sum(self, fields: FloatArray, on: FloatArray, off: FloatArray) -> Summed:
        """Sum over all assignments.

        Parameters
        ----------
        fields : array of shape (n_unknowns, n_classes)
            Log-weights of the unknowns' classes.
        on : array of shape (n_edges, n_classes)
            Weights of edges whose ends are both of a class.
        off : array of shape (n_edges,)
            Weights of edges whose ends differ.

        Returns
        -------
        Summed
        """
        base = np.log(np.maximum(off, _TINY))
        gains = np.log(np.maximum(on, _TINY)) - base[:, None]
        value, beliefs, alike = float(base.sum()), np.empty_like(fields), np.empty_like(gains)
        for block in self._blocks:
            found = block.sum(fields[block.unknowns], gains[block.edges])
            value += found.value
            beliefs[block.unknowns], alike[block.edges] = found.beliefs, found.alike
        return Summed(value, beliefs, alike)

    @cached_property
    def _blocks(self) -> "list[_Block]":
        return list(self._cut())

    def _cut(self) -> "Iterator[_Block]":
        """Cut the groups into blocks of one size each."""
        starts = np.cumsum(self.sizes) - self.sizes
        group = np.searchsorted(starts, self.ends[0], side="right") - 1
        order = np.argsort(group, kind="stable")
        group, first = group[order], 0
        while first < self.sizes.size:
            size = int(self.sizes[first])
            last = int(np.searchsorted(self.sizes, size, side="right"))
            last = min(last, first + max(_AT_ONCE // self.n_classes**size, 1))
            edges = order[slice(*np.searchsorted(group, [first, last]))]
            start = int(starts[first])
            unknowns = slice(start, start + (last - first) * size)
            own = self.ends[:, edges] - start
            couple = _couple_numbers(size)[own[0] % size, own[1] % size]
            yield _Block(self.n_classes, size, unknowns, edges, own[0] // size, couple)
            first = last


@dataclass(frozen=True, eq=False)
class _Block:
    """Groups of one size.

    Attributes
    ----------
    n_classes, size : int
    unknowns : slice
    edges : integer array of shape (n_edges,)
        Numbers among the edges of all groups.
    group, couple : integer arrays of shape (n_edges,)
        Which group each edge is of, and which two unknowns of it.
    """

    n_classes: int
    size: int
    unknowns: slice
    edges: IntArray
    group: IntArray
    couple: IntArray

    def sum(self, fields: FloatArray, gains: FloatArray) -> Summed:
        """Sum over assignments; log-weights are linear in what an assignment makes true."""
        truths = _truths(self.n_classes, self.size)
        k, n_couples = self.n_classes, self.size * (self.size - 1) // 2
        n_groups = fields.shape[0] // self.size
        # Several edges may join the same two.
        places = (self.group * n_couples + self.couple)[:, None] * k + np.arange(k)
        ties = np.bincount(places.ravel(), gains.ravel(), n_groups * n_couples * k)
        parts = [fields.reshape(n_groups, -1), ties.reshape(n_groups, -1)]
        logs = np.concatenate(parts, axis=1) @ truths
        highest = logs.max(axis=1, keepdims=True)
        shares = np.exp(logs - highest, out=logs)
        total = shares.sum(axis=1, keepdims=True)
        shares /= total
        expected = shares @ truths.T
        beliefs, alike = np.split(expected, [self.size * k], axis=1)
        value = float((highest + np.log(total)).sum())
        return Summed(value, beliefs.reshape(-1, k), alike.reshape(-1)[places])


@lru_cache(maxsize=32)
def _truths(n_classes: int, size: int) -> FloatArray:
    """Return what every assignment makes true, 1 or 0.

    Returns
    -------
    array of shape (size n_classes + n_couples n_classes, n_classes ** size)
        Which class each unknown is of; which class both of two unknowns are of.
    """
    assignments = np.indices((n_classes,) * size).reshape(size, -1)
    of_one = assignments[:, None] == np.arange(n_classes)[:, None]
    left, right = np.triu_indices(size, 1)
    of_two = of_one[left] & of_one[right]
    both = np.concatenate([of_one, of_two]).reshape(-1, assignments.shape[1])
    return np.asarray(both, dtype=np.float64)


@lru_cache(maxsize=32)
def _couple_numbers(size: int) -> IntArray:
    """Return the number of every couple of unknowns of a group, (size, size)."""
    numbers = np.zeros((size, size), dtype=np.intp)
    left, right = np.triu_indices(size, 1)
    numbers[left, right] = numbers[right, left] = np.arange(left.size)
    return numbers
