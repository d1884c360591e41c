"""What all classifiers here share: ``score`` compares with true classes, never with weak labels."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted


class ScoresTrueClasses:
    """Mixin in front of scikit-learn's classifier mixin."""

    def score(self, X: Any, y: ArrayLike, sample_weight: Any = None) -> float:
        """Return the accuracy against true class labels.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
        y : array of shape (n_rows,)
            True classes; for weak labels there is `likewise.su_risk_scorer`.
        sample_weight : array of shape (n_rows,), optional

        Returns
        -------
        float
        """
        check_is_fitted(self)
        classes = self.classes_  # type: ignore[attr-defined]
        if not np.isin(np.asarray(y), classes).all():
            raise ValueError(
                "score compares with true classes, but y holds other values; for weak labels use "
                "likewise.su_risk_scorer, for instance as scoring=likewise.su_risk_scorer."
            )
        predicted = self.predict(X)  # type: ignore[attr-defined]
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))
