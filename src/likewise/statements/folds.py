"""Folds of rows that keep statements together."""

from collections.abc import Iterator
from heapq import heapify, heapreplace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from likewise.statements.labels import WeakLabels, read_labels
from likewise.statements.packing import labels_of
from likewise.statements.statements import Statements

__all__ = ["PairKFold", "as_splitter", "deal_rows"]

_LONGEST = 0.25
"""Share of a fold that rows which hang together may fill: they are of few classes, folds not."""


class PairKFold(BaseCrossValidator):
    """K folds over weak labels that keep the rows of a statement together.

    Rows that hang together by statements go to one fold. Where statements join more rows than a
    quarter of a fold, these rows are dealt out one by one; of a statement that is split so, either
    part of the data holds one row only, and that says nothing there. Fresh pairs are never split.

    Similar pairs, dissimilar pairs and unlabeled rows are dealt out in turn, each kind evenly over
    the folds, so that rows sorted by anything are spread over all folds. Of fresh pairs, the i-th
    of each kind goes to fold ``i % n_splits``. In one table each kind begins with the smallest
    fold: no two folds differ by more rows than stay together.

    Parameters
    ----------
    n_splits : int, default 5
    shuffle : bool, default False
        Deal out in random order.
    random_state : int, RandomState instance or None
        Used when `shuffle` is true.

    Examples
    --------
    >>> import numpy as np, likewise as lw
    >>> y = np.array([1, 2, 0, 0, 2, 1])
    >>> for train, test in lw.PairKFold(2).split(np.zeros((6, 1)), y):
    ...     print(y[train], y[test])
    [2 0 2] [1 0 1]
    [1 0 1] [2 0 2]
    """

    def __init__(
        self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None
    ) -> None:
        if int(n_splits) != n_splits or n_splits < 2:
            raise ValueError(f"n_splits must be a whole number of at least 2; got {n_splits!r}.")
        self.n_splits = int(n_splits)
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds."""
        return self.n_splits

    def assign(self, y: WeakLabels) -> NDArray[np.intp]:
        """Return the fold of every row, shape (n_rows,)."""
        return self.deal(read_labels(y))

    def deal(self, statements: Statements) -> NDArray[np.intp]:
        """Return the fold of every row, given what was said about rows."""
        self._check_enough(statements)
        random = check_random_state(self.random_state) if self.shuffle else None
        folds = np.empty(statements.n_rows, dtype=np.intp)
        load = np.zeros(self.n_splits, dtype=np.intp)
        for sets in _kinds(statements, self.n_splits):
            chosen = sets >= 0
            sizes = np.bincount(sets[chosen])
            order = np.arange(sizes.size) if random is None else random.permutation(sizes.size)
            of_set = _dealt(sizes, order, load)
            folds[chosen] = of_set[sets[chosen]]
            if not statements.is_fresh:
                load += np.bincount(folds[chosen], minlength=self.n_splits)
        return folds

    def _check_enough(self, statements: Statements) -> None:
        counts = {"rows": statements.n_rows}
        if statements.is_fresh:
            n_alone = statements.n_rows - int(statements.stated.sum())
            counts = {"unlabeled rows": n_alone, "similar pairs": statements.n_similar}
        for name, count in counts.items():
            if 0 < count < self.n_splits:
                raise ValueError(
                    f"n_splits={self.n_splits} folds need at least {self.n_splits} {name}, but "
                    f"there are only {count}."
                )

    def _iter_test_masks(
        self, X: Any = None, y: Any = None, groups: Any = None
    ) -> Iterator[NDArray[np.bool_]]:
        if y is None:
            raise ValueError("PairKFold needs the weak labels y to keep pairs together.")
        folds = self.assign(y)
        for fold in range(self.n_splits):
            yield folds == fold


def as_splitter(cv: Any) -> Any:
    """Return a splitter: folds that keep pairs together for a number, five for None."""
    if cv is None or isinstance(cv, Integral):
        return PairKFold(5 if cv is None else int(cv))
    return cv


def deal_rows(
    cv: Any, statements: Statements, random_state: np.random.RandomState
) -> NDArray[np.intp]:
    """Return the fold of every row, shape (n_rows,).

    Parameters
    ----------
    cv : int, or splitter
        A number of shuffled folds that keep statements together, or a splitter whose test sets hold
        every row once. Of a statement that it splits, a part of the data holds one row alone, and
        that says nothing there.
    statements : Statements
    random_state : RandomState
        Deals out a number of folds.
    """
    if isinstance(cv, Integral):
        return PairKFold(int(cv), shuffle=True, random_state=random_state).deal(statements)
    if isinstance(cv, PairKFold):
        return cv.deal(statements)
    folds = np.full(statements.n_rows, -1, dtype=np.intp)
    times = np.zeros(statements.n_rows, dtype=np.intp)
    table = np.zeros((statements.n_rows, 1))
    labels = labels_of(statements)
    labels = np.asarray(labels) if statements.is_fresh else labels
    for number, (_, test) in enumerate(cv.split(table, labels)):
        folds[test] = number
        times[test] += 1
    if not np.all(times == 1) or folds.max(initial=0) < 1:
        raise ValueError(
            f"cv must put every row into one of at least two test sets, as PairKFold and KFold do; "
            f"{cv!r} does not."
        )
    return folds


def _dealt(
    sizes: NDArray[np.intp], order: NDArray[np.intp], load: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return a fold for every set: in turn, or where sets differ in size, to even out the load."""
    n_splits, of_set = load.size, np.empty(sizes.size, dtype=np.intp)
    if not sizes.size or sizes.min() == sizes.max():
        by_load = np.argsort(load, kind="stable")
        of_set[order] = by_load[np.arange(sizes.size) % n_splits]
        return of_set
    heap = [(int(load[fold]), fold) for fold in range(n_splits)]
    heapify(heap)
    for one in order[np.argsort(-sizes[order], kind="stable")]:
        rows, fold = heap[0]
        of_set[one] = fold
        heapreplace(heap, (rows + int(sizes[one]), fold))
    return of_set


def _kinds(statements: Statements, n_splits: int) -> list[NDArray[np.intp]]:
    """Return sets of rows that stay together, numbered within each kind; -1 for other kinds.

    The kinds are rows that nothing was said about, rows in similar statements, rows in dissimilar
    ones, and rows that too many others hang together with.
    """
    components = statements.components
    sizes = np.bincount(components, minlength=1)
    is_long = (sizes > max(2.0, _LONGEST * statements.n_rows / n_splits))[components]
    if statements.is_fresh:
        is_long[:] = False
    links = statements.links
    is_similar = np.zeros(sizes.size, dtype=bool)
    is_similar[components[links.left[links.is_similar]]] = True
    stated = statements.stated
    same = is_similar[components]
    rows = np.arange(statements.n_rows)
    return [
        _numbered(rows, stated & is_long),
        _numbered(components, stated & same & ~is_long),
        _numbered(components, stated & ~same & ~is_long),
        _numbered(rows, ~stated),
    ]


def _numbered(sets: NDArray[np.intp], chosen: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return numbers for the sets of chosen rows, by their first rows; -1 for other rows."""
    found = np.full(sets.size, -1, dtype=np.intp)
    names, firsts, inverse = np.unique(sets[chosen], return_index=True, return_inverse=True)
    rank = np.empty(names.size, dtype=np.intp)
    rank[np.argsort(firsts)] = np.arange(names.size)
    found[chosen] = rank[inverse]
    return found
