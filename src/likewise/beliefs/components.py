"""Rows that statements without errors tie together: contracted to one unknown each.

"Alike" is transitive, so rows joined by it are of one class. With two classes "different" is
transitive too: a component then has two colourings, and a row is in the colour of its component or
in the other one. What is left are statements "different" between components, for three classes or
more.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order

from likewise._types import FloatArray
from likewise.statements.statements import Links, Statements

__all__ = ["Components", "ContradictionError", "contract"]

IntArray = NDArray[np.intp]


class ContradictionError(ValueError):
    """Statements that cannot all be right.

    Attributes
    ----------
    rows : tuple of ints
        Rows along a chain of statements that contradicts itself: the first and the last one are
        said to be alike and to differ.

    Examples
    --------
    >>> import likewise as lw
    >>> table = [[0.0], [1.0], [2.0], [3.0]]
    >>> X, y = lw.pack(table, similar=[(0, 1), (1, 2)], dissimilar=[(0, 2)])
    >>> try:
    ...     clf = lw.PairClassifier().fit(X, y)
    ... except lw.ContradictionError as error:
    ...     print(sorted(set(error.rows)))
    [0, 1, 2]
    """

    def __init__(
        self,
        rows: tuple[int, ...],
        sentence: str | None = None,
        names: tuple[str, ...] | None = None,
    ) -> None:
        self.rows = rows
        self._given = (rows, sentence, names)
        super().__init__(self._told(sentence, names or tuple(map(str, rows))))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._given  # by default from the message: processes hand errors over

    def named(self, name_of: Callable[[int], str]) -> "ContradictionError":
        """Return the same error with names for the rows."""
        return ContradictionError(self.rows, self._given[1], tuple(map(name_of, self.rows)))

    @staticmethod
    def _told(sentence: str | None, names: tuple[str, ...]) -> str:
        """Return the message, with names for the rows."""
        if sentence is not None:
            return sentence.format(*names)
        chain = " - ".join(names)
        if len(names) == 2:
            what = f"rows {names[0]} and {names[1]} are said to be alike, and to differ"
        else:
            what = f"the statements along rows {chain} cannot all be right"
        return (
            f"Statements contradict each other: {what}. Correct them, or pass error_rate='auto' "
            "if some statements may be wrong."
        )


@dataclass(frozen=True, eq=False)
class Components:
    """Rows contracted to components.

    Attributes
    ----------
    of_row : integer array of shape (n_rows,)
    is_flipped : boolean array of shape (n_rows,), or None
        Rows of two classes that are in the other class than their component; None if none are.
    count : int
    left, right : integer arrays of shape (n_edges,)
        Components that differ; none for two classes.
    """

    of_row: IntArray
    is_flipped: NDArray[np.bool_] | None
    count: int
    left: IntArray
    right: IntArray

    @cached_property
    def sizes(self) -> FloatArray:
        """Number of rows of every component."""
        return np.bincount(self.of_row, minlength=self.count).astype(np.float64)

    @cached_property
    def signs(self) -> FloatArray:
        """-1 for rows that are in the other class than their component, else 1."""
        flips = self.is_flipped
        return np.ones(self.of_row.size) if flips is None else np.where(flips, -1.0, 1.0)

    @cached_property
    def _adder(self) -> sp.csr_array:
        n_rows = self.of_row.size
        return sp.csr_array(
            (np.ones(n_rows), (self.of_row, np.arange(n_rows))), shape=(self.count, n_rows)
        )

    def add(self, of_rows: FloatArray) -> FloatArray:
        """Add up values of rows and classes, (n_rows, n_classes), over components."""
        return np.asarray(self._adder @ np.ascontiguousarray(self._turned(of_rows)))

    def add_up(self, of_rows: FloatArray) -> FloatArray:
        """Add up values of rows, (n_rows,), over components."""
        return np.asarray(np.bincount(self.of_row, of_rows, self.count), dtype=np.float64)

    def spread(self, of_components: FloatArray) -> FloatArray:
        """Give every row the values of its component, (n_rows, n_classes)."""
        return self._turned(of_components[self.of_row])

    def _turned(self, values: FloatArray) -> FloatArray:
        if self.is_flipped is None:
            return values
        return np.where(self.is_flipped[:, None], values[:, ::-1], values)


def contract(statements: Statements, n_classes: int) -> Components:
    """Contract the rows of statements that are all right.

    Parameters
    ----------
    statements : Statements
    n_classes : int

    Returns
    -------
    Components

    Raises
    ------
    ContradictionError
        If statements cannot all be right.
    """
    links, n_rows = statements.links, statements.n_rows
    same, none = links.is_similar, np.zeros(0, dtype=np.intp)
    if n_classes == 2:
        root, is_other = _tied(links.left, links.right, ~same, n_rows)
        _check_signed(links, is_other, n_rows)
        of_row, count = _numbered(root)
        flipped = is_other if is_other.any() else None
        return Components(of_row, flipped, count, none, none)
    left, right = links.left[same], links.right[same]
    root, _ = _tied(left, right, np.zeros(left.size, dtype=bool), n_rows)
    of_row, count = _numbered(root)
    apart = of_row[links.left[~same]], of_row[links.right[~same]]
    clash = np.flatnonzero(apart[0] == apart[1])
    if clash.size:
        ends = (int(side[~same][clash[0]]) for side in (links.left, links.right))
        raise ContradictionError(tuple(_path(_graph(left, right, n_rows), *ends)))
    return Components(of_row, None, count, *apart)


def _tied(
    left: IntArray, right: IntArray, differ: NDArray[np.bool_], n_rows: int
) -> tuple[IntArray, NDArray[np.bool_]]:
    """Return a root for the rows of every component, and which rows differ from their root.

    All links at once: roots hook onto smaller ones that a link joins them to, until no link joins
    two of them. Every round halves the number of roots in a component at least.
    """
    root = np.arange(n_rows)
    is_other = np.zeros(n_rows, dtype=bool)
    while left.size:
        from_left, from_right = root[left], root[right]
        joins = from_left != from_right
        left, right, differ = left[joins], right[joins], differ[joins]
        high = np.maximum(from_left[joins], from_right[joins])
        low = np.minimum(from_left[joins], from_right[joins])
        chosen = np.full(n_rows, -1, dtype=np.intp)
        chosen[high] = np.arange(high.size)  # of several links that join a root, the last one
        hooked = np.flatnonzero(chosen >= 0)
        link = chosen[hooked]
        root[hooked] = low[link]
        is_other[hooked] = differ[link] ^ is_other[left[link]] ^ is_other[right[link]]
        _shorten(root, is_other)
    return root, is_other


def _numbered(root: IntArray) -> tuple[IntArray, int]:
    """Return numbers of components, in the order of their roots, and how many there are."""
    is_root = root == np.arange(root.size)
    return (np.cumsum(is_root) - 1)[root], int(np.count_nonzero(is_root))


def _shorten(root: IntArray, is_other: NDArray[np.bool_]) -> None:
    """Let every row point to the root of its root, until there is nothing farther."""
    while True:
        farther = root[root]
        if np.array_equal(farther, root):
            return
        is_other ^= is_other[root]
        root[:] = farther


def _check_signed(links: Links, is_other: NDArray[np.bool_], n_rows: int) -> None:
    """Raise if two classes cannot be told apart by the links.

    The chain is looked for on two copies of the table: a row, and its opposite.
    """
    clash = (is_other[links.left] ^ is_other[links.right]) == links.is_similar
    if not clash.any():
        return
    other = np.where(links.is_similar, 0, n_rows)
    left = np.concatenate([links.left, links.left + n_rows])
    right = np.concatenate([links.right + other, links.right + n_rows - other])
    graph = _graph(left, right, 2 * n_rows)
    paths = [_path(graph, int(row), int(row) + n_rows) for row in links.left[clash][:10]]
    chain = tuple(node % n_rows for node in min(paths, key=len))
    # Back to its first row; of two rows there is no way round.
    raise ContradictionError(chain[:2] if len(chain) == 3 else chain)


def _graph(left: IntArray, right: IntArray, size: int) -> sp.csr_array:
    return sp.csr_array((np.ones(left.size, dtype=np.int8), (left, right)), shape=(size, size))


def _path(graph: sp.csr_array, start: int, stop: int) -> list[int]:
    before = breadth_first_order(graph, start, directed=False)[1]
    path = [stop]
    while path[-1] != start:
        path.append(int(before[path[-1]]))
    return path[::-1]
