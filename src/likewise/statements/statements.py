"""Statements about the rows of a sample, by index: who is alike, who differs.

This module knows nothing of features, classes or models.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

__all__ = ["Links", "Statements"]

IntArray = NDArray[np.intp]


class Links(NamedTuple):
    """Statements as couples of rows; a group of g rows is a chain of g - 1 links.

    Attributes
    ----------
    left, right : integer arrays of shape (n_links,)
        Rows.
    is_similar : boolean array of shape (n_links,)
    statement : integer array of shape (n_links,)
        Position of the statement that each link is of.
    """

    left: IntArray
    right: IntArray
    is_similar: NDArray[np.bool_]
    statement: IntArray


@dataclass(frozen=True, eq=False)
class Statements:
    """What was said about the rows of one sample.

    Attributes
    ----------
    n_rows : int
    members : integer array of shape (n_members,)
        Rows that statements are about, one statement after the other.
    starts : integer array of shape (n_statements + 1,)
        Where the members of each statement begin; the last entry is where they end.
    is_similar : boolean array of shape (n_statements,)
    numbers : integer array of shape (n_statements,)
        Number of each statement as it was passed, similar ones first.
    is_fresh : bool
        Whether members are rows of their own, drawn as pairs beside the unlabeled rows; else all
        rows are one table that statements were made about.
    weights : array of shape (n_rows,), or None
        How much each row counts, as `likewise.statements.weights` scales it; None if all count one.
    """

    n_rows: int
    members: IntArray
    starts: IntArray
    is_similar: NDArray[np.bool_]
    numbers: IntArray
    is_fresh: bool = False
    weights: NDArray[np.float64] | None = None

    @property
    def count(self) -> int:
        """Number of statements."""
        return int(self.is_similar.size)

    @property
    def n_similar(self) -> int:
        """Number of statements that rows are alike."""
        return int(np.count_nonzero(self.is_similar))

    @property
    def n_dissimilar(self) -> int:
        """Number of statements that two rows differ."""
        return self.count - self.n_similar

    @cached_property
    def sizes(self) -> IntArray:
        """Number of rows that each statement is about."""
        return np.diff(self.starts)

    @cached_property
    def links(self) -> Links:
        """All statements as couples of rows; views where all are pairs."""
        if np.all(self.sizes == 2):
            pairs = np.arange(self.count)
            return Links(self.members[::2], self.members[1::2], self.is_similar, pairs)
        of_member = np.repeat(np.arange(self.count), self.sizes)
        is_first = np.zeros(self.members.size, dtype=bool)
        is_first[self.starts[:-1]] = True
        right = np.flatnonzero(~is_first)
        statement = of_member[right]
        return Links(
            self.members[right - 1], self.members[right], self.is_similar[statement], statement
        )

    @cached_property
    def counted(self) -> NDArray[np.bool_] | None:
        """Fresh rows that weigh something, where others weigh nothing and are left out; else None.

        Of a table, rows of weight zero stay: statements may be about them.
        """
        if self.weights is None or not self.is_fresh or np.all(self.weights > 0):
            return None
        return self.weights > 0

    @cached_property
    def stated(self) -> NDArray[np.bool_]:
        """Which rows are in a statement, (n_rows,)."""
        found = np.zeros(self.n_rows, dtype=bool)
        found[self.members] = True
        return found

    @cached_property
    def components(self) -> IntArray:
        """Component of every row, (n_rows,): rows hang together by chains of statements."""
        links = self.links
        graph = sp.coo_array(
            (np.ones(links.left.size, dtype=np.int8), (links.left, links.right)),
            shape=(self.n_rows, self.n_rows),
        )
        return np.asarray(connected_components(graph, directed=False)[1], dtype=np.intp)

    def among(self, chosen: NDArray[np.bool_]) -> "Statements":
        """Return the statements about some of the rows, which are numbered anew.

        A statement of which fewer than two rows are left says nothing and is dropped.

        Parameters
        ----------
        chosen : boolean array of shape (n_rows,)
        """
        weights = None if self.weights is None else self.weights[chosen]
        return self._kept(chosen, np.cumsum(chosen) - 1, int(chosen.sum()), weights)

    def without(self, rows: NDArray[np.bool_]) -> "Statements":
        """Return the statements that do not touch some rows; all rows stay.

        A group goes on without its members among these rows.

        Parameters
        ----------
        rows : boolean array of shape (n_rows,)
        """
        return self._kept(~rows, np.arange(self.n_rows), self.n_rows, self.weights)

    def _kept(
        self,
        chosen: NDArray[np.bool_],
        renumbered: IntArray,
        n_rows: int,
        weights: NDArray[np.float64] | None,
    ) -> "Statements":
        kept = chosen[self.members]
        of_member = np.repeat(np.arange(self.count), self.sizes)
        left = np.bincount(of_member[kept], minlength=self.count)
        goes_on = left >= 2
        kept &= goes_on[of_member]
        return Statements(
            n_rows,
            renumbered[self.members[kept]],
            np.concatenate([[0], np.cumsum(left[goes_on])]),
            self.is_similar[goes_on],
            self.numbers[goes_on],
            self.is_fresh,
            weights,
        )

    def choose(self, chosen: NDArray[np.bool_]) -> "Statements":
        """Return some of the statements about the same rows.

        Parameters
        ----------
        chosen : boolean array of shape (n_statements,)
        """
        return Statements(
            self.n_rows,
            self.members[np.repeat(chosen, self.sizes)],
            np.concatenate([[0], np.cumsum(self.sizes[chosen])]),
            self.is_similar[chosen],
            self.numbers[chosen],
            self.is_fresh,
            self.weights,
        )
