"""From class scores to decisions: log-odds, probabilities and classes."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.utils.validation import check_is_fitted

from likewise._types import FloatArray
from likewise.classifiers.scoring import ScoresTrueClasses

__all__ = ["DecidesByScores"]


class DecidesByScores(ScoresTrueClasses):
    """Mixin for classifiers whose scores are calibrated: one for two classes, else one each."""

    _scorer = "pair_log_likelihood_scorer"

    classes_: NDArray[Any]

    @abstractmethod
    def _scores_of(self, X: Any) -> FloatArray:
        """Return the scores of rows, shape (n_rows, m), of a fitted classifier."""

    def decision_function(self, X: Any) -> FloatArray:
        """Return log-odds of class +1, or one score per class where there are more than two.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows,) or (n_rows, n_classes)
        """
        check_is_fitted(self)
        self._check_scoring()
        scores = self._scores_of(X)
        return scores[:, 0] if self.classes_.size == 2 else scores

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes, in the order of `classes_`.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows, n_classes)
        """
        decision = self.decision_function(X)
        if self.classes_.size == 2:
            return np.column_stack([expit(-decision), expit(decision)])
        return np.asarray(softmax(decision, axis=1))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most likely class of every row.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows,)
        """
        decision = self.decision_function(X)
        chosen = decision > 0 if self.classes_.size == 2 else decision.argmax(axis=1)
        return np.asarray(self.classes_[np.asarray(chosen, dtype=np.intp)])
