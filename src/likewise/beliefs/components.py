"""Rows that statements without errors tie together: contracted to one unknown each.

"Alike" is transitive, so rows joined by it are of one class. With two classes "different" is
transitive too: a component then has two colourings, and a row is in the colour of its component or
in the other one. What is left are statements "different" between components, for three classes or
more.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order, connected_components

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
    """

    def __init__(self, rows: tuple[int, ...], text: str | None = None) -> None:
        self.rows = rows
        super().__init__(text or self.told(tuple(map(str, rows))))

    def named(self, name_of: Callable[[int], str]) -> "ContradictionError":
        """Return the same error with names for the rows."""
        return ContradictionError(self.rows, self.told(tuple(map(name_of, self.rows))))

    def told(self, names: tuple[str, ...]) -> str:
        """Return the message, with names for the rows."""
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
    def n_majority(self) -> FloatArray:
        """Rows of every component in its own class (the others are in the other of two)."""
        if self.is_flipped is None:
            return self.sizes
        own = np.bincount(self.of_row[~self.is_flipped], minlength=self.count)
        return own.astype(np.float64)

    @cached_property
    def _adder(self) -> sp.csr_array:
        n_rows = self.of_row.size
        return sp.csr_array(
            (np.ones(n_rows), (self.of_row, np.arange(n_rows))), shape=(self.count, n_rows)
        )

    def add(self, of_rows: FloatArray) -> FloatArray:
        """Add up values of rows and classes, (n_rows, n_classes), over components."""
        return np.asarray(self._adder @ np.ascontiguousarray(self._turned(of_rows)))

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
    links = statements.links
    if n_classes == 2:
        return _contract_signed(links, statements.n_rows)
    same, different = links.is_similar, ~links.is_similar
    n_rows = statements.n_rows
    graph = _graph(links.left[same], links.right[same], n_rows)
    count, of_row = connected_components(graph, directed=False)
    of_row = of_row.astype(np.intp)
    left, right = of_row[links.left[different]], of_row[links.right[different]]
    clash = np.flatnonzero(left == right)
    if clash.size:
        ends = (int(side[different][clash[0]]) for side in (links.left, links.right))
        raise ContradictionError(tuple(_path(graph, *ends)))
    return Components(of_row, None, int(count), left, right)


def _contract_signed(links: Links, n_rows: int) -> Components:
    """Contract rows of two classes, on two copies of the table: a row, and its opposite."""
    other = np.where(links.is_similar, 0, n_rows)
    left = np.concatenate([links.left, links.left + n_rows])
    right = np.concatenate([links.right + other, links.right + n_rows - other])
    graph = _graph(left, right, 2 * n_rows)
    labels = connected_components(graph, directed=False)[1]
    here, opposite = labels[:n_rows], labels[n_rows:]
    clash = np.flatnonzero(here == opposite)
    if clash.size:
        row = _on_a_cycle(graph, clash, n_rows)
        raise ContradictionError(tuple(node % n_rows for node in row))
    names, of_row = np.unique(np.minimum(here, opposite), return_inverse=True)
    is_flipped = here > opposite
    none = np.zeros(0, dtype=np.intp)
    flipped = is_flipped if is_flipped.any() else None
    return Components(of_row.astype(np.intp), flipped, names.size, none, none)


def _on_a_cycle(graph: sp.csr_array, rows: IntArray, n_rows: int) -> list[int]:
    """Return the shortest of a few paths from a row to its own opposite."""
    paths = [_path(graph, int(row), int(row) + n_rows) for row in rows[:10]]
    return min(paths, key=len)


def _graph(left: IntArray, right: IntArray, size: int) -> sp.csr_array:
    return sp.csr_array((np.ones(left.size, dtype=np.int8), (left, right)), shape=(size, size))


def _path(graph: sp.csr_array, start: int, stop: int) -> list[int]:
    before = breadth_first_order(graph, start, directed=False)[1]
    path = [stop]
    while path[-1] != start:
        path.append(int(before[path[-1]]))
    return path[::-1]
