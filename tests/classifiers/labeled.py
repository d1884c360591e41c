"""Adapters as `likewise.testing.LearnsFromLabels`, for answers about one table and for weights."""

from typing import Any, Self

import numpy as np

from likewise.engines.rows import take_rows
from likewise.statements.packing import pack
from likewise.statements.weights import read_weights
from likewise.testing import PRIOR, LearnsFromLabels

__all__ = ["PRIOR", "AnswersFromLabels", "LearnsFromLabels", "WeighsFromLabels"]


class AnswersFromLabels(LearnsFromLabels):
    """Mixin in front of an estimator: answers questions about pairs of the table's own rows."""

    def _fit_on_pairs(self, table: Any, codes: Any, classes: Any) -> None:
        rng, n = np.random.default_rng(0), codes.size
        pairs = np.vstack([rng.permutation(n)[: 2 * (n // 2)].reshape(-1, 2) for _ in range(2)])
        same = codes[pairs[:, 0]] == codes[pairs[:, 1]]
        if hasattr(table, "reset_index"):
            table = table.reset_index(drop=True)  # numbers name rows
        X, y = pack(table, similar=pairs[same], dissimilar=pairs[~same])
        known = [classes[code] if row < n // 2 else None for row, code in enumerate(codes)]
        super(LearnsFromLabels, self).fit(X, y, known=known)  # type: ignore[misc]


class WeighsFromLabels(LearnsFromLabels):
    """Mixin in front of an estimator: every two rows of one label are a pair, and weigh together.

    So rows that are repeated give the pairs that rows of such weights give.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Form weak labels and their weights."""
        self._given = sample_weight
        return super().fit(X, y)

    def _fit_on_pairs(self, table: Any, codes: Any, classes: Any) -> None:
        given = read_weights(self.__dict__.pop("_given"), codes.size)
        weights = np.ones(codes.size) if given is None else given
        if len(np.unique(codes[weights > 0])) == 1:
            raise ValueError("Pairs tell two classes apart, but rows that count have one class.")
        left, right = np.nonzero(codes[:, None] == codes)
        numbers = np.arange(1, left.size + 1)
        y = np.concatenate([np.zeros(codes.size, dtype=int), numbers, numbers])
        rows = np.concatenate([np.arange(codes.size), left, right])
        both = weights[left] * weights[right]
        of_rows = None if given is None else np.concatenate([weights, both, both])
        super(LearnsFromLabels, self).fit(  # type: ignore[misc]
            take_rows(table, rows), y, sample_weight=of_rows
        )
