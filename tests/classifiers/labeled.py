"""Scikit-learn's estimator checks feed class labels; these adapters form weak labels from them.

The adapted class *is* the estimator (a subclass), so its parameters, cloning, tags, validation and
fitted attributes are what the checks see. Only the meaning of y differs.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_consistent_length, column_or_1d

from likewise.engines.rows import is_sparse, take_rows
from likewise.statements.packing import pack
from likewise.statements.weights import read_weights

PRIOR = 0.75
"""Share of the larger label among the weakly labeled rows, whatever it is in the data."""


class LearnsFromLabels:
    """Mixin in front of an estimator: forms pairs of equal class labels, then fits on them."""

    def fit(self, X: Any, y: Any) -> Self:
        """Form weak labels where X and y allow it; else let the estimator complain."""
        table = _table(X)
        if y is None or table.ndim != 2:
            super().fit(X, y)  # type: ignore[misc]
            return self
        y = column_or_1d(y, warn=True)
        check_consistent_length(table, y)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) == 1:
            raise ValueError("Pairs tell two classes apart, but y has one class.")
        if len(classes) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass."
            )
        self._fit_on_pairs(table, codes, classes)
        self.classes_ = classes
        return self

    def _fit_on_pairs(self, table: Any, codes: Any, classes: Any) -> None:
        rows, weak_labels = _form_pairs(codes == 1, np.random.default_rng(0))
        super().fit(take_rows(table, rows), weak_labels)  # type: ignore[misc]


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


def _table(X: Any) -> Any:
    if is_sparse(X):
        return X.tocsr()
    return X if hasattr(X, "iloc") else np.asarray(X)


def _form_pairs(
    is_positive: NDArray[np.bool_], rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return row numbers and weak labels: every row unlabeled once or more, pairs at random."""
    positive, negative = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
    n_positive = max(len(positive), 3 * len(negative))
    unlabeled = np.concatenate(
        [np.resize(positive, n_positive), np.resize(negative, -(-n_positive // 3))]
    )
    # At a prior of 3/4 there are nine positive pairs to a negative one.
    n = max(1, len(is_positive) // 10)
    members = np.concatenate([rng.choice(positive, (9 * n, 2)), rng.choice(negative, (n, 2))])
    codes = np.arange(1, 10 * n + 1)
    rows = np.concatenate([unlabeled, members[:, 0], members[:, 1]])
    return rows, np.concatenate([np.zeros(len(unlabeled), dtype=np.int64), codes, codes])
