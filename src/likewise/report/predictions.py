"""What a classifier predicts, as class numbers; and for rows that it did not learn from.

It reads classifiers of any kind, pipelines and searches. It knows nothing of accuracy.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.special import logit
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils.validation import has_fit_parameter

from likewise._types import FloatArray
from likewise._verbose import step
from likewise.beliefs.base import HeldOut
from likewise.classifiers.pair import PairClassifier
from likewise.classifiers.saying import unsaid
from likewise.engines.rows import take_rows
from likewise.scores.encoding import as_numbers
from likewise.scores.maps import SPARSE
from likewise.search.crossfit import aligned
from likewise.statements.known import is_missing
from likewise.statements.packing import labels_of

__all__ = [
    "Classes",
    "Predicted",
    "Scores",
    "cross_fitted",
    "innermost",
    "order_like",
    "read_classes",
    "read_scores",
    "reference_rows",
    "unfitted",
]

IntArray = NDArray[np.intp]


@dataclass(frozen=True)
class Classes:
    """The classes of a classifier.

    Attributes
    ----------
    values : array of shape (n_values,)
        In increasing order: those that the classifier knows, or else those that it predicts.
    codes : integer array of shape (n_rows,)
        Position of each row's predicted class among `labels`.
    """

    values: NDArray[Any]
    codes: IntArray

    @property
    def labels(self) -> list[Any]:
        """The classes by name, two at least: a classifier may predict the same for all rows."""
        listed = self.values.tolist()
        return listed if len(listed) > 1 else ["other", *listed]


@dataclass(frozen=True)
class Scores:
    """What a classifier says beside the class that it predicts.

    Attributes
    ----------
    probabilities : array of shape (n_rows, n_classes), or None
        None if it has none.
    ranks : array of shape (n_rows,), or None
        What rows are ranked by, high for the second of two classes: log-odds, or decision values.
        None for more than two classes.
    """

    probabilities: FloatArray | None = None
    ranks: FloatArray | None = None

    def named(self, order: IntArray) -> "Scores":
        """Return the scores with class k in the place ``order[k]``."""
        if np.all(np.diff(order) > 0):
            return self
        given, ranks = self.probabilities, self.ranks
        return Scores(
            None if given is None else given[:, np.argsort(order)],
            None if ranks is None else -ranks,
        )


@dataclass(frozen=True)
class Predicted:
    """What is predicted for all rows, as class numbers.

    Attributes
    ----------
    held_out : integer array of shape (n_rows,)
        By a classifier that did not learn from the row.
    own : integer array of shape (n_rows,)
        By the classifier itself.
    clones : integer array of shape (n_clones, n_rows)
        By every clone; the classifier itself where there are none.
    scores : Scores
        Of classes, by a classifier that did not learn from the row.
    all_ranks : array of shape (1 + n_clones, n_rows), or None
        What the classifier itself and every clone rank rows by, where all do.
    """

    held_out: IntArray
    own: IntArray
    clones: IntArray
    scores: "Scores"
    all_ranks: FloatArray | None = None

    def ahead(self, n_classes: int) -> FloatArray:
        """Return one for the class that the classifier itself predicts, less its clones' share.

        The clone that did not see the row is left out. Scores that judge the row did not see it
        either, and would take the side of that clone: the classifier and all others saw the row.

        Returns
        -------
        array of shape (n_rows, n_classes)
        """
        named = np.eye(n_classes)
        if len(self.clones) < 2:
            return np.zeros((self.own.size, n_classes))
        others = sum(named[one] for one in self.clones) - named[self.held_out]
        return np.asarray(named[self.own] - others / (len(self.clones) - 1))


def reference_rows(clf: Any, X: Any) -> Any:
    """Return the rows as numbers for the reference score: `X`, or what steps of `clf` make of it.

    The first numbers on the way, as later steps may drop what tells the classes apart. Where no
    step makes numbers of gaps and categories, they are encoded here.

    Parameters
    ----------
    clf : fitted classifier, pipeline or search
    X : table of shape (n_rows, n_columns)

    Returns
    -------
    array or CSR matrix of shape (n_rows, n_features)
    """
    if isinstance(X, np.ndarray) and X.ndim > 2:  # images and the like, which nets take
        X = X.reshape(X.shape[0], -1)
    for rows in _stages(clf, X):
        try:
            return check_array(rows, accept_sparse="csr", dtype=np.float64, input_name="X")
        except (TypeError, ValueError) as error:
            problem = error
    try:
        return as_numbers(X)
    except ValueError:
        raise ValueError(
            "label_free_report learns a reference score from X, which must be a table of numbers "
            "and categories, or become one in a step of clf. The trouble with these rows: "
            f"{problem}"
        ) from problem


def _stages(clf: Any, X: Any) -> Iterator[Any]:
    """Yield the rows as given and after every step of a pipeline, or of one within another."""
    yield X
    fitted = getattr(clf, "best_estimator_", clf)
    if not hasattr(fitted, "steps"):
        return
    for _, stage in fitted.steps[:-1]:
        if hasattr(stage, "transform"):  # "passthrough" has none
            X = stage.transform(X)
            yield X
    yield from _stages(fitted.steps[-1][1], X)


def innermost(clf: Any) -> Any:
    """Return the classifier inside a search or a pipeline."""
    clf = getattr(clf, "best_estimator_", clf)
    return innermost(clf[-1]) if hasattr(clf, "steps") else clf


def read_classes(clf: Any, X: Any) -> Classes:
    """Predict rows and say which classes there are.

    Parameters
    ----------
    clf : fitted classifier
    X : table of shape (n_rows, n_columns)

    Returns
    -------
    Classes
    """
    predicted = _predicted(clf, X)
    values = np.unique(predicted)
    if hasattr(clf, "classes_"):
        values = np.unique(np.concatenate([values, np.asarray(clf.classes_)]))
    if values.size > max(2, predicted.size):
        raise ValueError(
            f"clf has {values.size:,} classes, more than there are rows to judge it by "
            f"({predicted.size:,})."
        )
    codes = np.searchsorted(values, predicted).astype(np.intp)
    return Classes(values, codes + 1 if values.size == 1 else codes)


def _predicted(clf: Any, X: Any) -> NDArray[Any]:
    """Return the class that is predicted for every row, (n_rows,)."""
    predicted, n_rows = np.asarray(clf.predict(X)), X.shape[0]
    if predicted.shape == (n_rows, 1):
        predicted = predicted[:, 0]
    expected = f"one class is expected for each of the {n_rows} rows"
    if predicted.shape != (n_rows,):
        raise ValueError(f"clf.predict returned an array of shape {predicted.shape}; {expected}.")
    n_missing = sum(map(is_missing, predicted.tolist()))
    if n_missing:
        raise ValueError(f"clf.predict returned NaN or None for {n_missing} rows; {expected}.")
    return predicted


def read_scores(clf: Any, X: Any, n_classes: int) -> Scores:
    """Return class probabilities, or decision values of two classes, where there are any.

    Parameters
    ----------
    clf : fitted classifier
    X : table of shape (n_rows, n_columns)
    n_classes : int
    """
    for name in ("predict_proba", "decision_function"):
        method = getattr(clf, name, None)
        if method is None:
            continue
        try:
            found = np.asarray(method(X), dtype=np.float64)
        except (AttributeError, NotImplementedError, TypeError, ValueError):
            continue  # such as an SVC that was fitted without probabilities
        if not np.isfinite(found).all():
            continue
        if name == "predict_proba" and found.shape == (X.shape[0], n_classes):
            if n_classes > 2:
                return Scores(found)
            odds = logit(found[:, 1].clip(1e-12, 1.0 - 1e-12))
            return Scores(found, np.asarray(odds))
        if name == "decision_function" and n_classes == 2 and found.size == X.shape[0]:
            return Scores(None, found.ravel())
    return Scores()


def cross_fitted(
    clf: Any,
    X: Any,
    y: Any,
    parts: Sequence[HeldOut],
    own: IntArray,
    n_classes: int,
    weights: FloatArray | None = None,
) -> Predicted:
    """Predict every row by a clone that was fitted without it, classes named as in `own`.

    Parameters
    ----------
    clf : fitted classifier
    X : table of shape (n_rows, n_columns)
    y : weak labels
    parts : sequence of HeldOut
        Folds of these rows.
    own : integer array of shape (n_rows,)
        What `clf` itself predicts.
    n_classes : int
    weights : array of shape (n_rows,), optional
        Of the rows, for clones that take weights.

    Returns
    -------
    Predicted
    """
    held_out, clones = own.copy(), []
    whole = read_scores(clf, X, n_classes)
    given = None if whole.probabilities is None else whole.probabilities.copy()
    ranks = None if whole.ranks is None else whole.ranks.copy()
    all_ranks = [whole.ranks]
    for number, part in enumerate(parts, start=1):
        train = np.flatnonzero(part.train)
        with unsaid():  # what there is to say was said when the classifier was fitted
            refitted = unfitted(clf).fit(
                take_rows(X, train), _left_of(clf, y, part), **_weights_for(clf, weights, train)
            )
        codes = read_classes(refitted, X).codes
        order = order_like(own, codes, n_classes)
        found = order[codes]
        held_out[part.rows] = found[part.rows]
        clones.append(found)
        scores = read_scores(refitted, X, n_classes).named(order)
        given = _filled(given, scores.probabilities, part.rows)
        own_ranks = scores.ranks
        if own_ranks is not None and whole.ranks is not None and given is None:
            # Decision values have no scale of their own, and clones may differ in it.
            one, other = own_ranks[:, None], whole.ranks[:, None]
            own_ranks = aligned(one, one[part.train], other[part.train])[:, 0]
        ranks = _filled(ranks, own_ranks, part.rows)
        all_ranks.append(own_ranks)
        step(f"classifier refitted without fold {number} of {len(parts)}")
    ranked = None if ranks is None else np.array(all_ranks, dtype=np.float64)
    return Predicted(held_out, own, np.array(clones), Scores(given, ranks), ranked)


def _weights_for(clf: Any, weights: FloatArray | None, rows: IntArray) -> dict[str, Any]:
    """Return the weights of some rows as a classifier takes them, or nothing if it takes none."""
    if weights is None:
        return {}
    if hasattr(clf, "best_estimator_"):
        return _weights_for(clf.estimator, weights, rows)
    if hasattr(clf, "steps"):
        name, last = clf.steps[-1]
        return {f"{name}__{k}": v for k, v in _weights_for(last, weights, rows).items()}
    return {"sample_weight": weights[rows]} if has_fit_parameter(clf, "sample_weight") else {}


def _left_of(clf: Any, y: Any, part: HeldOut) -> Any:
    """Return the weak labels that a clone learns from, with what answers imply of its rows.

    Only a likelihood of answers can use that: other learners take pairs for a sample.
    """
    fitted = innermost(clf)
    if isinstance(fitted, PairClassifier) and fitted.pairing_ == "asked":
        return labels_of(part.likelihood.statements)
    return y[part.train]


def _filled(
    whole: FloatArray | None, found: FloatArray | None, rows: NDArray[np.bool_]
) -> FloatArray | None:
    """Put in what a clone says of its rows; nothing is known where one says nothing."""
    if whole is None or found is None:
        return None
    whole[rows] = found[rows]
    return whole


def order_like(own: IntArray, found: IntArray, n_classes: int) -> IntArray:
    """Return what classes are called in `own`: statements cannot name them, and clones differ.

    Parameters
    ----------
    own, found : integer arrays of shape (n_rows,)
        Two predictions of the same rows.
    n_classes : int

    Returns
    -------
    integer array of shape (n_classes,)
    """
    together = np.zeros((n_classes, n_classes))
    np.add.at(together, (found, own), 1.0)
    return np.asarray(linear_sum_assignment(together, maximize=True)[1], dtype=np.intp)


def unfitted(clf: Any) -> Any:
    """Return a clone; one of `PairClassifier` keeps what was chosen instead of choosing again."""
    copy = clone(clf)
    fitted, own = innermost(clf), innermost(copy)  # a search that was not run has none inside
    if isinstance(fitted, PairClassifier) and isinstance(own, PairClassifier):
        own.set_params(**_chosen(fitted))
        own._trusts_scores = bool(fitted.weights_[:-1].any())
    return copy


def _chosen(clf: PairClassifier) -> dict[str, Any]:
    """Return what a classifier chose, as parameters."""
    chosen: dict[str, Any] = {
        "pairing": clf.pairing_,
        "n_classes": clf.classes_.size,
        "verbose": 0,  # whoever refits says so
    }
    if clf.estimator_ is not None:
        return chosen | {"estimator": clone(clf.estimator_)}
    chosen["estimator"] = None
    if clf.alpha_ is None:  # a sum over kinds of features: weighed anew
        parts = [row for row in clf.selection_.rows if row.weight and not row.chosen]
        return chosen | {"alphas": {part.features: [part.alpha] for part in parts}}
    if clf.features_ == SPARSE:
        return chosen | {"alphas": {SPARSE: [clf.alpha_]}}
    transformer = clf.feature_map_.transformer
    features = "linear" if transformer is None else clone(transformer)
    return chosen | {"alphas": [clf.alpha_], "features": features}
