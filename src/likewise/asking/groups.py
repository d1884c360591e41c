"""Groups of rows that were said to be alike, and which of these stand for classes.

With more than two classes "different" settles little by itself. What helps is one group for every
class, and rows that are asked about beside each of them in turn, the likeliest first.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from likewise._types import FloatArray

__all__ = ["Groups", "group_rows"]

IntArray = NDArray[np.intp]


@dataclass(frozen=True)
class Groups:
    """Rows that were asked about, by what was said of them.

    Attributes
    ----------
    of_row : integer array of shape (n_rows,)
        Group of every row; -1 for rows that nothing was said about.
    apart : set of tuples
        Groups that were said to differ, the lower number first.
    leaders : list of ints
        Groups that stand for classes: each differs from all others, large ones first.
    """

    of_row: IntArray
    apart: frozenset[tuple[int, int]]
    leaders: list[int]

    def beside(self, row: int, posteriors: FloatArray) -> list[IntArray]:
        """Return groups that a row may belong to as far as was said, the likeliest first.

        Parameters
        ----------
        row : int
        posteriors : array of shape (n_rows, n_classes)

        Returns
        -------
        list of integer arrays
            The rows of each.
        """
        own = int(self.of_row[row])
        if own in self.leaders:
            return []
        open_ = [lead for lead in self.leaders if _ordered(own, lead) not in self.apart]
        members = [np.flatnonzero(self.of_row == lead) for lead in open_]
        likely = [float((posteriors[rows] @ posteriors[row]).mean()) for rows in members]
        return [members[place] for place in np.argsort(likely)[::-1]]

    def classes(self) -> tuple[IntArray, IntArray]:
        """Return the rows of the groups that stand for classes, and the number of each one's."""
        rows = np.flatnonzero(np.isin(self.of_row, self.leaders))
        place = {lead: number for number, lead in enumerate(self.leaders)}
        return rows, np.array([place[int(group)] for group in self.of_row[rows]], dtype=np.intp)

    def begun(self) -> IntArray:
        """Return rows that were said to differ from some classes, but to be of none."""
        asked = np.flatnonzero(self.of_row >= 0)
        return asked[~np.isin(self.of_row[asked], self.leaders)]


def group_rows(n_rows: int, same: IntArray, different: IntArray, n_classes: int) -> Groups:
    """Group rows by what was said.

    Parameters
    ----------
    n_rows : int
    same, different : integer arrays of shape (n, 2)
    n_classes : int

    Returns
    -------
    Groups
    """
    ones = np.ones(len(same))
    graph = sp.coo_array((ones, (same[:, 0], same[:, 1])), shape=(n_rows, n_rows))
    labels = connected_components(graph, directed=False)[1]
    asked = np.unique(np.concatenate([same.ravel(), different.ravel()]))
    of_row = np.full(n_rows, -1, dtype=np.intp)
    names, of_row[asked] = np.unique(labels[asked], return_inverse=True)
    apart = frozenset(_ordered(int(a), int(b)) for a, b in of_row[different] if a != b)
    sizes = np.bincount(of_row[asked], minlength=names.size)
    leaders: list[int] = []
    for group in np.argsort(-sizes, kind="stable"):
        if len(leaders) < n_classes and all(_ordered(int(group), one) in apart for one in leaders):
            leaders.append(int(group))
    if len(leaders) == n_classes:
        of_row = _left_over(of_row, apart, leaders)
    return Groups(of_row, apart, leaders)


def _left_over(of_row: IntArray, apart: frozenset[tuple[int, int]], leaders: list[int]) -> IntArray:
    """Put a group that differs from all classes but one into that one."""
    group_of = np.arange(of_row.max(initial=-1) + 1)
    for group in set(group_of.tolist()).difference(leaders):
        open_ = [lead for lead in leaders if _ordered(group, lead) not in apart]
        if len(open_) == 1:
            group_of[group] = open_[0]
    return np.where(of_row >= 0, group_of[of_row], -1)


def _ordered(one: int, other: int) -> tuple[int, int]:
    return (one, other) if one < other else (other, one)
