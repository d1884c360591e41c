"""Rows that are in several pairs: which they are, and how to hold them out.

Statements from held-out pairs take these to be independent of what was learned from. A row in
several pairs breaks that: a model that has seen it in one knows its class in the others, and would
look far better than it is on new rows. So rows are held out rather than pairs: pairs that hang
together by common rows, in a chain, go to one fold; where a chain is too long for that its rows are
dealt out, and a pair whose members are in two folds is held out with either.

Rows are known again by their values. In tables of few categories rows of different people are
often equal: that is no reuse, and unlabeled rows tell how often it happens.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from likewise.engines.rows import RowSets, count_positions, is_sparse, row_numbers

__all__ = ["Reuse", "find_reuse"]

_BLOCK = 1 << 14
"""Rows whose fingerprints are taken at a time."""
_MARGIN, _FACTOR = 10, 4
"""Equal members of pairs are reuse if there are more than so many beyond, and so many times, what
unlabeled rows let expect."""
_LONGEST = 0.1
"""Share of all pairs that are held out as one chain at most."""


@dataclass(frozen=True)
class Reuse:
    """Which members of pairs are the same row.

    Attributes
    ----------
    members : integer array of shape (2, n_pairs)
        The number of the row of each left and right member, similar pairs first.
    """

    members: NDArray[np.intp]

    @property
    def freshness(self) -> float:
        """Share of the members that are rows of their own: what a pair is worth at least."""
        return float(np.unique(self.members).size / self.members.size)

    def deal(self, n_folds: int, random_state: np.random.RandomState) -> NDArray[np.intp]:
        """Return a fold for every member, shape (2, n_pairs); a row is in one fold only."""
        n_rows, n_pairs = int(self.members.max()) + 1, self.members.shape[1]
        chains = self._chains(n_rows)
        sizes = np.bincount(chains[self.members[0]])
        is_long = sizes > max(1.0, _LONGEST * n_pairs)
        short = random_state.permutation(np.flatnonzero(~is_long))
        load = np.zeros(n_folds, dtype=np.intp)
        folds = np.zeros(sizes.size, dtype=np.intp)
        for chain in short[np.argsort(-sizes[short], kind="stable")]:
            folds[chain] = np.argmin(load)
            load[folds[chain]] += sizes[chain]
        of_rows = folds[chains]
        single = np.flatnonzero(is_long[chains])
        of_rows[single] = random_state.permutation(single.size) % n_folds
        return np.asarray(of_rows[self.members])

    def _chains(self, n_rows: int) -> NDArray[np.intp]:
        links = (np.ones(self.members.shape[1]), tuple(self.members))
        graph = sp.coo_array(links, shape=(n_rows, n_rows))
        return np.asarray(connected_components(graph, directed=False)[1], dtype=np.intp)


def find_reuse(X: Any, rows: RowSets) -> Reuse | None:
    """Tell whether rows are in several pairs.

    Parameters
    ----------
    X : float array or scipy CSR matrix of shape (n_rows, n_features)
    rows : RowSets
        Where pairs and unlabeled rows stand in `X`.

    Returns
    -------
    Reuse or None
        None if members of different pairs are equal no more often than unlabeled rows are.

    Examples
    --------
    >>> import numpy as np, likewise as lw
    >>> from likewise.search.reuse import find_reuse
    >>> from likewise.statements.labels import locate
    >>> U = np.random.default_rng(0).normal(size=(60, 2))
    >>> X, y = lw.pack(U, similar=[(0, k) for k in range(1, 40)])
    >>> round(find_reuse(X, locate(y)).freshness, 2)  # 40 rows in 78 places
    0.51
    """
    left, right = (
        np.concatenate([row_numbers(positions) for positions in sides])
        for sides in ((rows.left, rows.dissimilar_left), (rows.right, rows.dissimilar_right))
    )
    if left.size < 2 or count_positions(rows.unlabeled) < 2:
        return None
    prints = _fingerprints(X)
    numbers = np.unique(prints[np.concatenate([left, right])], return_inverse=True)[1]
    members = np.reshape(numbers, (2, left.size))
    return Reuse(members) if _is_reuse(members, prints[rows.unlabeled]) else None


def _is_reuse(members: NDArray[np.intp], unlabeled: NDArray[np.uint64]) -> bool:
    """Tell whether members of different pairs are equal more often than chance makes rows."""
    within = int(np.sum(members[0] == members[1]))
    seen = _n_equal(np.bincount(members.ravel())) - within
    by_chance = 1 + _n_equal(np.unique(unlabeled, return_counts=True)[1])
    n, m = members.size, unlabeled.size
    expected = by_chance * (n * (n - 1)) / (m * (m - 1))
    return seen > _MARGIN + _FACTOR * expected


def _n_equal(counts: NDArray[np.intp]) -> int:
    """Return how many couples of equal rows there are, given how often each row occurs."""
    return int(np.sum(counts * (counts - 1)) // 2)


def _fingerprints(X: Any) -> NDArray[np.uint64]:
    """Return a number for every row; equal rows have equal ones, others hardly ever."""
    n_rows, n_columns = X.shape
    random = np.random.default_rng(0)
    factors = random.integers(2**64 - 1, size=n_columns, dtype=np.uint64) | np.uint64(1)
    if is_sparse(X):
        terms = _scrambled(X.data) * factors[X.indices]
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)])
        return np.asarray(sums[X.indptr[1:]] - sums[X.indptr[:-1]])
    found = np.empty(n_rows, dtype=np.uint64)
    for start in range(0, n_rows, _BLOCK):
        block = slice(start, start + _BLOCK)
        found[block] = (_scrambled(X[block]) * factors).sum(axis=1, dtype=np.uint64)
    return found


def _scrambled(values: Any) -> NDArray[np.uint64]:
    """Spread the bits of floats; zero stays zero, so that sparse rows are like dense ones."""
    bits = (np.ascontiguousarray(values, dtype=np.float64) + 0.0).view(np.uint64)  # no -0.0
    bits = bits ^ (bits >> np.uint64(32))
    bits = bits * np.uint64(0x9E3779B97F4A7C15)
    return np.asarray(bits ^ (bits >> np.uint64(29)))
