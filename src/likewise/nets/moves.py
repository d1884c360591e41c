"""Moves out of local optima: two classes that are one are merged, one that is two is split.

The likelihood of statements with more than two classes has local optima in which one true class is
told apart by two outputs of the net, and two true classes share one. Statements show it: pairs said
to be alike across the two outputs, pairs said to differ within the one. A move says what a net
should be taught next. It knows class probabilities and statements; it knows no nets.
"""

from collections.abc import Set as AbstractSet
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise._types import FloatArray

__all__ = ["Move", "propose"]

_LEAST_ERROR = 0.02
"""Error rate that moves are weighed with, at least: a single statement should not decide."""


class Move(NamedTuple):
    """Classes `kept` and `freed` become one; `split` becomes two, itself and `freed`."""

    split: int
    kept: int
    freed: int

    def taught(self, probabilities: FloatArray) -> FloatArray:
        """Return class probabilities after the move, the split one divided evenly.

        How rows of the split class are divided is left to what the net is trained with next.

        Parameters
        ----------
        probabilities : array of shape (n_rows, n_classes)
        """
        after = probabilities.copy()
        after[:, self.kept] += after[:, self.freed]
        after[:, self.freed] = after[:, self.split] = 0.5 * after[:, self.split]
        return after


def propose(
    left: FloatArray,
    right: FloatArray,
    is_similar: NDArray[np.bool_],
    error_rate: float,
    tried: AbstractSet[Move],
) -> Move | None:
    """Return the move that statements speak for most, of those not tried yet.

    Parameters
    ----------
    left, right : arrays of shape (n_links, n_classes)
        Class probabilities of the rows of each statement.
    is_similar : boolean array of shape (n_links,)
    error_rate : float
    tried : set of Move

    Returns
    -------
    Move, or None if there are no more, as with two classes
    """
    n_classes = left.shape[1]
    rate = max(error_rate, _LEAST_ERROR)
    alike = (left * right).sum(axis=1)
    value = _value(alike, is_similar, rate)
    split = [
        _value(np.where(is_similar, alike, alike - left[:, k] * right[:, k]), is_similar, rate)
        - value
        for k in range(n_classes)
    ]
    found = []
    for kept in range(n_classes):
        for freed in range(kept + 1, n_classes):
            across = left[:, kept] * right[:, freed] + left[:, freed] * right[:, kept]
            merged = _value(alike + across, is_similar, rate) - value
            found += [
                (merged + split[k], Move(k, kept, freed))
                for k in range(n_classes)
                if k not in (kept, freed)
            ]
    left_over = [(gain, move) for gain, move in found if move not in tried]
    return max(left_over)[1] if left_over else None


def _value(alike: FloatArray, is_similar: NDArray[np.bool_], error_rate: float) -> float:
    """Return the log-likelihood of answers."""
    alike = np.clip(alike, 0.0, 1.0)
    same = (1.0 - error_rate) * alike + error_rate * (1.0 - alike)
    return float(np.log(np.where(is_similar, same, 1.0 - same)).sum())
