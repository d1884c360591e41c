"""What all classifiers here share: scores compare with true classes, never with weak labels."""

from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from likewise._sklearn import is_searched, labels_scored_against
from likewise.engines.rows import is_sparse
from likewise.exceptions import ScoringError, StopSearch
from likewise.statements.labels import TableLabels

__all__ = ["ScoresTrueClasses"]

_MOST_LISTED = 4
"""Classes that a message lists."""


class ScoresTrueClasses:
    """Mixin in front of scikit-learn's classifier mixin."""

    _scorer: ClassVar[str] = "su_risk_scorer"
    """Name of the scorer for weak labels that suits the classifier."""

    def score(self, X: Any, y: ArrayLike, sample_weight: Any = None) -> float:
        """Return the accuracy against true class labels.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
        y : array of shape (n_rows,)
            True classes. For weak labels there are `likewise.pair_log_likelihood_scorer` and
            `likewise.su_risk_scorer`.
        sample_weight : array of shape (n_rows,), optional

        Returns
        -------
        float
        """
        check_is_fitted(self)
        if is_weak(y, self.classes_):  # type: ignore[attr-defined]
            self._refuse_weak_labels(y)
        predicted = self.predict(X)  # type: ignore[attr-defined]
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def _check_scoring(self) -> None:
        """Raise where a metric of scikit-learn is about to compare predictions with weak labels."""
        labels = labels_scored_against()
        if labels is not None and is_weak(labels, self.classes_):  # type: ignore[attr-defined]
            self._refuse_weak_labels(labels)

    def _refuse_weak_labels(self, y: Any = None) -> NoReturn:
        classes = self.classes_  # type: ignore[attr-defined]
        message = (
            f"Scores such as accuracy compare with true classes (here {_some(classes)}), but y "
            f"holds {_what_is_held(y, classes)} For weak labels pass "
            f"scoring=likewise.{self._scorer} and cv=likewise.PairKFold(5) to scikit-learn's "
            "searches, or use likewise.label_free_report."
        )
        raise StopSearch(message) if is_searched() else ScoringError(message)


def _what_is_held(y: Any, classes: Any) -> str:
    """Say what labels are that are not all classes."""
    if y is None or is_sparse(y) or isinstance(y, TableLabels):
        return "weak labels."
    labels = np.unique(np.asarray(y).astype(object).astype(str))
    known = set(np.asarray(classes).astype(str).tolist())
    others = [one for one in labels.tolist() if one not in known]
    return (
        f"other values ({_some(others)}). If they are the true classes, name them: "
        "fit(..., known=...)."
    )


def _some(values: Any) -> str:
    """List values, of many the first ones."""
    shown = [str(one) for one in list(values)[:_MOST_LISTED]]
    return ", ".join(shown) + (", ..." if len(values) > _MOST_LISTED else "")


def is_weak(y: Any, classes: Any) -> bool:
    """Tell whether labels are weak ones rather than some of the classes.

    Parameters
    ----------
    y : labels
    classes : array of shape (n_classes,)

    Returns
    -------
    bool

    Examples
    --------
    >>> from likewise.classifiers.scoring import is_weak
    >>> is_weak([1, 1, 2, 2, 0], [-1, 1]), is_weak([1, -1, 1], [-1, 1])
    (True, False)
    """
    if is_sparse(y) or isinstance(y, TableLabels):
        return True
    return not bool(np.isin(np.asarray(y), classes).all())
