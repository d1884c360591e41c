"""Folds of rows that keep statements together."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from likewise.engines.rows import RowSets, count_positions
from likewise.statements.labels import locate

__all__ = ["PairKFold"]


class PairKFold(BaseCrossValidator):
    """K folds over weak labels that never tear a pair apart.

    Similar pairs, dissimilar pairs and unlabeled rows are dealt out in turn, each kind evenly over
    the folds: the i-th pair goes to fold ``i % n_splits``, so that rows sorted by anything are
    spread over all folds.

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

    def assign(self, y: ArrayLike) -> NDArray[np.intp]:
        """Return the fold of every row, shape (n_rows,)."""
        return self.deal(locate(y), np.shape(y)[0])

    def deal(self, rows: RowSets, n_rows: int) -> NDArray[np.intp]:
        """Return the fold of every row, given where each kind of row stands."""
        self._check_enough(rows)
        random = check_random_state(self.random_state) if self.shuffle else None
        folds = np.empty(n_rows, dtype=np.intp)
        for members in (
            (rows.unlabeled,),
            (rows.left, rows.right),
            (rows.dissimilar_left, rows.dissimilar_right),
        ):
            deal = np.arange(count_positions(members[0])) % self.n_splits
            if random is not None:
                random.shuffle(deal)
            for positions in members:
                folds[positions] = deal
        return folds

    def _check_enough(self, rows: RowSets) -> None:
        for name, positions in (
            ("unlabeled rows", rows.unlabeled),
            ("similar pairs", rows.left),
        ):
            count = count_positions(positions)
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
