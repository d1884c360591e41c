"""Scores for prior estimators: learned on some of the rows where there are many, used on the rest.

Learning needs a few thousand pairs and rows; the others are then held out, and one pass scores
them. With fewer rows, all are for learning, and their scores are cross-fitted.
"""

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval

from likewise.learner.learn import Learned, Settings, feature_maps, learn
from likewise.likelihood import Counts
from likewise.losses import FloatArray
from likewise.pairs import RowSets, count_positions, is_sparse, row_numbers, take_rows

__all__ = ["HeldOut", "ScoredPrior", "learn_scores"]

_LEARNING_SIZE = 3000
"""Pairs and rows that scores are learned from at most."""
_N_FOLDS = 5


class ScoredPrior(BaseEstimator):
    """The parameters of a prior estimator over learned scores."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "level": [Interval(Real, 0.0, 1.0, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(self, *, level: float = 0.95, random_state: Any = None) -> None:
        self.level = level
        self.random_state = random_state


@dataclass(frozen=True)
class HeldOut:
    """Rows that no score was learned from."""

    X: Any
    rows: RowSets

    def first(self, count: int) -> "HeldOut":
        """Return at most so many pairs of each kind and rows."""
        return HeldOut(self.X, RowSets(*(row_numbers(part)[:count] for part in self.rows)))

    @property
    def counts(self) -> Counts:
        """How many rows and pairs there are."""
        return Counts.of(self.rows)

    def scores(self, learned: Learned) -> FloatArray:
        """Return the scores of the larger of two classes, rows in the order of `Counts`."""
        return np.concatenate([learned.scores(take_rows(self.X, part))[:, 0] for part in self.rows])


def learn_scores(
    X: Any, rows: RowSets, random_state: np.random.RandomState
) -> tuple[Learned, HeldOut | None]:
    """Learn the scores of two classes, and return them with the rows they were not learned from.

    Parameters
    ----------
    X : array or scipy CSR matrix of shape (n_rows, n_features)
    rows : RowSets
    random_state : RandomState

    Returns
    -------
    learned : Learned
    others : HeldOut or None
        None if there are so few rows that all were learned from.
    """
    n_pairs, n_rows = rows.n_pairs, count_positions(rows.unlabeled)
    if min(n_pairs, n_rows) < 2 * _N_FOLDS:
        raise ValueError(
            f"Estimating the prior needs at least {2 * _N_FOLDS} pairs and unlabeled rows, but "
            f"there are {n_pairs} pairs and {n_rows} rows: pass prior=... instead."
        )
    some, others = _split(rows, random_state)
    maps = feature_maps("auto", X.shape[1], random_state, is_sparse_table=is_sparse(X))
    learned = learn(X, some, maps, Settings(_N_FOLDS), random_state)
    return learned, None if others is None else HeldOut(X, others)


def _split(rows: RowSets, random_state: np.random.RandomState) -> tuple[RowSets, RowSets | None]:
    """Return learning rows and held-out rows; with few rows all are for learning."""
    sizes = [count_positions(part) for part in rows]
    if max(sizes) <= 2 * _LEARNING_SIZE:
        return rows, None
    some, others = [], []
    order = random_state.permutation(max(sizes))
    for part, size in zip(rows, sizes, strict=True):
        numbers, mixed = row_numbers(part), order[order < size]  # members of a pair stay together
        half = min(size // 2, _LEARNING_SIZE)
        some.append(numbers[mixed[:half]])
        others.append(numbers[np.sort(mixed[half:])])
    return RowSets(*some), RowSets(*others)
