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
            self._refuse_weak_labels()
        predicted = self.predict(X)  # type: ignore[attr-defined]
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def _check_scoring(self) -> None:
        """Raise where a metric of scikit-learn is about to compare predictions with weak labels."""
        labels = labels_scored_against()
        if labels is not None and is_weak(labels, self.classes_):  # type: ignore[attr-defined]
            self._refuse_weak_labels()

    def _refuse_weak_labels(self) -> NoReturn:
        message = (
            "Scores such as accuracy compare with true classes, but y holds other values. For weak "
            f"labels pass scoring=likewise.{self._scorer} and cv=likewise.PairKFold(5) to "
            "scikit-learn's searches, or use likewise.label_free_report."
        )
        raise StopSearch(message) if is_searched() else ScoringError(message)


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
