"""Any scikit-learn classifier as a score: fitted to class probabilities of rows, read as log-odds.

A classifier learns from rows that stand there once per class, weighted by the probability of that
class. What it makes of other rows is a feature like any other: the score is linear in it, so that
calibration, intervals and files need to know nothing of it.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.utils.validation import has_fit_parameter

from likewise._types import FloatArray
from likewise.engines.rows import take_rows
from likewise.scores.maps import FeatureMap

__all__ = ["ClassScores", "check_learns", "fit_to_probabilities", "score_of"]

_CERTAIN = 0.95
"""Mean probability of the rows' likeliest classes above which these are taken for their classes:
fits without weights can be much faster (gradient boosting bins its columns by weights)."""
_LEAST = 1e-3
"""Weight below which a row is not shown as one of a class: fitting would cost more for nothing."""


class ClassScores(BaseEstimator):
    """The log-odds, or log-probabilities, that a fitted classifier gives.

    Parameters
    ----------
    estimator : fitted classifier
        Of classes ``0, ..., n_classes - 1``; it may know only some of them.
    n_classes : int
    smallest : float
        Added to every probability: forests give zeros.
    """

    def __init__(self, estimator: Any, n_classes: int, smallest: float) -> None:
        self.estimator = estimator
        self.n_classes = n_classes
        self.smallest = smallest

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> Self:
        """Do nothing: the classifier is fitted."""
        return self

    def transform(self, X: Any) -> FloatArray:
        """Return log-odds of the second of two classes, (n_rows, 1), or (n_rows, n_classes)."""
        try:
            found = np.asarray(self.estimator.predict_proba(X), dtype=np.float64)
        except (IndexError, KeyError) as error:
            raise ValueError(
                f"{name_of(self.estimator)} cannot predict rows that it was not fitted to "
                f"({error}); statements are learned from by such predictions. Let it take values "
                "that it did not see (CategoricalNB: min_categories)."
            ) from error
        p = np.zeros((found.shape[0], self.n_classes))
        p[:, np.asarray(self.estimator.classes_, dtype=np.intp)] = found
        if not np.isfinite(p).all():
            raise ValueError(
                f"{type(self.estimator).__name__}.predict_proba returned values that are not "
                "finite; statements cannot be learned from those."
            )
        log_p = np.log((p + self.smallest) / (1.0 + self.n_classes * self.smallest))
        return np.asarray(log_p[:, 1:] - log_p[:, :1] if self.n_classes == 2 else log_p)


def score_of(estimator: Any, n_classes: int, n_rows: int) -> FeatureMap:
    """Return a fitted classifier as what a score is linear in.

    Parameters
    ----------
    estimator : fitted classifier
    n_classes : int
    n_rows : int
        How many rows it was fitted to: probabilities much below one of these are not believed.
    """
    columns = 1 if n_classes == 2 else n_classes
    scores = ClassScores(estimator, n_classes, 1.0 / (n_rows + n_classes))
    return FeatureMap(name_of(estimator), scores, np.zeros(columns), np.ones(columns))


def name_of(estimator: Any) -> str:
    """Return what a classifier is called: of a pipeline, its last step."""
    return name_of(estimator[-1]) if hasattr(estimator, "steps") else type(estimator).__name__


def check_learns(estimator: Any) -> None:
    """Raise unless a classifier can learn from rows with weights, and gives probabilities."""
    what = type(estimator).__name__
    if isinstance(estimator, type):
        raise TypeError(f"estimator must be an object, not a class; pass {estimator.__name__}().")
    if not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise TypeError(f"estimator must be a scikit-learn classifier; got {what}.")
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(
            f"{what} has no predict_proba, and statements are learned from by probabilities. Set "
            "the parameter that gives it one, or wrap it in "
            "sklearn.calibration.CalibratedClassifierCV."
        )
    _weight_parameter(estimator)
    if not is_classifier(estimator):
        raise TypeError(f"estimator must be a classifier; {what} is not one.")


def _weight_parameter(estimator: Any) -> str:
    """Return the name under which `fit` takes the weights of rows."""
    from sklearn.ensemble import VotingClassifier  # slow to load, and rarely needed

    if hasattr(estimator, "steps"):
        name, last = estimator.steps[-1]
        return f"{name}__{_weight_parameter(last)}"
    if has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    if isinstance(estimator, GridSearchCV | RandomizedSearchCV):
        return _weight_parameter(estimator.estimator)
    if isinstance(estimator, VotingClassifier):
        names = {_weight_parameter(inner) for _, inner in estimator.estimators}
        if names == {"sample_weight"}:
            return "sample_weight"
    raise TypeError(
        f"{type(estimator).__name__}.fit takes no sample_weight, or hands none on, but rows whose "
        "class is not certain are learned from with weights. Choose an estimator that takes it, "
        "such as HistGradientBoostingClassifier, RandomForestClassifier or LogisticRegression."
    )


def fit_to_probabilities(
    estimator: Any,
    rows: Any,
    numbers: NDArray[np.intp],
    weights: FloatArray,
    random_state: np.random.RandomState,
) -> Any:
    """Fit a clone of a classifier to rows, each once per class.

    Parameters
    ----------
    estimator : classifier
    rows : table of shape (n_rows, n_columns)
    numbers : integer array of shape (n_fitted,)
        Which rows to fit to.
    weights : array of shape (n_fitted, n_classes)
    random_state : RandomState
        Seeds whatever in the classifier has no seed.

    Returns
    -------
    fitted classifier, of classes ``0, ..., n_classes - 1``
    """
    model = clone(estimator)
    _seed(model, random_state)
    # Weights are for the last step, whatever users route to where in pipelines of their own.
    with config_context(enable_metadata_routing=False):
        if _are_certain(weights):
            return model.fit(take_rows(rows, numbers), weights.argmax(axis=1))
        who, codes, own = _once_per_class(weights)
        given = {_weight_parameter(model): own}
        return model.fit(take_rows(rows, numbers[who]), codes, **given)


def _are_certain(weights: FloatArray) -> bool:
    """Tell whether weights are as good as labels: every row is one, and every class has some."""
    is_once = bool(np.allclose(weights.sum(axis=1), 1.0, atol=1e-6))
    has_all = np.unique(weights.argmax(axis=1)).size == weights.shape[1]
    return is_once and has_all and float(weights.max(axis=1).mean()) > _CERTAIN


def _once_per_class(weights: FloatArray) -> tuple[NDArray[np.intp], NDArray[np.intp], FloatArray]:
    """Return positions, classes and weights of the rows in each class; no class is left out."""
    weights = weights.copy()
    likeliest = weights.argmax(axis=0), np.arange(weights.shape[1])
    weights[likeliest] = np.maximum(weights[likeliest], 2 * _LEAST)
    who, codes = np.nonzero(weights > _LEAST)
    return who, codes, weights[who, codes]


def _seed(estimator: Any, random_state: np.random.RandomState) -> None:
    names = sorted(
        name
        for name, value in estimator.get_params(deep=True).items()
        if name.rpartition("__")[2] == "random_state" and value is None
    )
    seeds = {name: int(random_state.randint(2**31 - 1)) for name in names}
    if seeds:
        estimator.set_params(**seeds)
