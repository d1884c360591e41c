"""How accurate is a classifier? An answer from pairs and unlabeled rows, without one label.

A reference score is learned from the pairs and cross-fitted. Together with the classifier's own
predictions it explains the pairs (`likewise.beliefs.fresh`), which gives every row a chance of the
positive class; accuracy and rates are what these chances say of the predictions. Predictions are
of rows that the classifier did not learn from: held out, or made by refitted clones.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import expit, ndtri
from sklearn.base import clone
from sklearn.utils import check_array, check_random_state
from threadpoolctl import threadpool_limits

from likewise._types import FloatArray
from likewise.beliefs.fresh import Counts, expand, log_probabilities
from likewise.classifiers.pair import PairClassifier
from likewise.classifiers.scoring import ScoresTrueClasses
from likewise.engines.rows import RowSets, count_positions, is_sparse, take_rows
from likewise.report.checks import Check, check_independence, check_moment_ratios
from likewise.scores.design import in_order
from likewise.scores.features import column_scale
from likewise.scores.maps import feature_maps
from likewise.search.calibration import CROSS_FITTED
from likewise.search.crossfit import outside_of
from likewise.search.learn import Learned, Settings, learn
from likewise.search.pairing import compare_pairings
from likewise.search.table import Table
from likewise.statements.labels import locate_pairs

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["Estimate", "LabelFreeReport", "NoSignalError", "label_free_report"]

_MOST = 20_000
"""Rows and pairs that are judged by at most, where there are twice as many."""
_N_FOLDS = 5
_N_RESAMPLES = 200
_SIGNAL = 3.0
"""Standard errors by which predictions of pair members must agree to count as a signal."""
_SAY = 0.3
"""How far predictions may move the log-odds beyond the score before pairs must speak for it."""
_CLONES = 0.25
"""Standard deviation of how far clones and classifier differ in a rate, per share of rows on which
they disagree: if half of those were right by chance, with a margin."""
_NAMES = {
    "accuracy": "accuracy",
    "true_positive_rate": "true-positive rate",
    "false_positive_rate": "false-positive rate",
    "prior": "share of class +1",
    "pair_agreement": "similar pairs that agree",
}


class NoSignalError(ValueError):
    """The pairs do not say enough to judge a classifier."""


@dataclass(frozen=True)
class Estimate:
    """A value with its interval."""

    value: float
    interval: tuple[float, float]

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.interval[0]:.3f} to {self.interval[1]:.3f})"


@dataclass(frozen=True)
class LabelFreeReport:
    """What pairs and unlabeled rows say of a classifier.

    Class +1 is the class that the classifier calls +1: of the two hidden classes the one whose
    rows it calls +1 more often.

    Attributes
    ----------
    accuracy, true_positive_rate, false_positive_rate, prior : Estimate
        Of new rows; `prior` is the share of class +1.
    pair_agreement : Estimate
        Share of similar pairs whose members are predicted alike.
    level : float
        Level of the intervals.
    cross_fitted : bool
        Whether predictions were made by refitted clones; else `clf` itself predicted.
    n_pairs, n_rows : int
    checks : tuple of Check
        Tests of the assumptions behind these numbers.
    chances, predictions : arrays of shape (n_rows,)
        Of the unlabeled rows: chance of class +1, and whether +1 is predicted.
    """

    accuracy: Estimate
    true_positive_rate: Estimate
    false_positive_rate: Estimate
    prior: Estimate
    pair_agreement: Estimate
    level: float
    cross_fitted: bool
    n_pairs: int
    n_rows: int
    checks: tuple[Check, ...]
    chances: FloatArray
    predictions: NDArray[np.bool_]

    def __str__(self) -> str:
        how = "cross-fitted" if self.cross_fitted else "held-out"
        lines = [
            f"Without labels, from {self.n_pairs} pairs and {self.n_rows} rows "
            f"({how} predictions, {100 * self.level:g} % intervals):"
        ]
        lines += [f"  {title:<26}{getattr(self, name)}" for name, title in _NAMES.items()]
        lines.append("Assumptions:")
        marks = {True: "holds", False: "DOUBTFUL", None: "not tested"}
        lines += [f"  {check.name}: {marks[check.passed]}; {check.text}" for check in self.checks]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return numbers and texts, ready for JSON."""
        found: dict[str, Any] = {
            name: {
                "value": getattr(self, name).value,
                "interval": list(getattr(self, name).interval),
            }
            for name in _NAMES
        }
        return {
            **found,
            "level": self.level,
            "cross_fitted": self.cross_fitted,
            "n_pairs": self.n_pairs,
            "n_rows": self.n_rows,
            "checks": [asdict(check) for check in self.checks],
        }

    def to_frame(self) -> "pd.DataFrame":
        """Return the estimates as a pandas data frame with columns value, low and high."""
        import pandas as pd

        rows = {name: (getattr(self, name).value, *getattr(self, name).interval) for name in _NAMES}
        return pd.DataFrame.from_dict(rows, orient="index", columns=["value", "low", "high"])

    def plot(self) -> "Figure":
        """Draw the estimates, and the chances behind them."""
        from likewise.plots import plot_label_free_report

        return plot_label_free_report(
            {title: getattr(self, name) for name, title in _NAMES.items()},
            self.chances,
            self.predictions,
            self.level,
        )


def label_free_report(
    clf: Any,
    X: Any,
    y: ArrayLike,
    level: float = 0.95,
    *,
    trained_on_same_pairs: bool | None = None,
    random_state: Any = None,
) -> LabelFreeReport:
    """Tell how accurate a classifier is, from pairs and unlabeled rows alone.

    Parameters
    ----------
    clf : fitted classifier of two classes with ``predict``
        Any: a likewise learner, a pipeline, or a classifier fitted elsewhere, on labels too.
        The larger of its class values is +1.
    X : table of shape (n_rows, n_features)
        As `clf` takes it. The reference score is learned from it where it holds finite numbers
        alone; where it does not (categories, gaps), from the first numbers that the steps of a
        pipeline make of it.
    y : integer array of shape (n_rows,)
        Weak labels as `likewise.pack` makes them.
    level : float, default 0.95
        Level of the intervals.
    trained_on_same_pairs : bool, optional
        Whether `clf` learned from these pairs. If so, clones are refitted on folds, and every row
        is judged by one that did not see it. By default true for learners of this library and
        false for all others.
    random_state : int, RandomState instance or None
        Deals out folds and draws bootstrap samples.

    Returns
    -------
    LabelFreeReport

    Raises
    ------
    NoSignalError
        If the pairs do not say enough.
    ValueError
        If neither `X` nor what a step of `clf` makes of it is a table of finite numbers, or if
        `clf` does not predict one of two classes for every row.

    Examples
    --------
    >>> import likewise as lw
    >>> X, y = lw.datasets.make_gaussians(8000, random_state=0)
    >>> sample = lw.datasets.sample_su(X, y, 500, 500, n_test=2000, prior=0.7, random_state=0)
    >>> clf = lw.PairClassifier(features="linear", random_state=0).fit(*sample.pack())
    >>> report = lw.label_free_report(clf, *sample.pack(), random_state=0)
    >>> abs(report.accuracy.value - clf.score(sample.X_test, sample.y_test)) < 0.05
    True
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie between 0 and 1; got {level!r}.")
    random = check_random_state(random_state)
    X = _as_table(X)
    rows = locate_pairs(y, X.shape[0], "label_free_report")
    _check_enough(rows)
    X, y, rows = _thinned(X, np.asarray(y), rows)
    table = _reference_rows(clf, X)
    maps = feature_maps("auto", table.shape[1], random, is_sparse_table=is_sparse(table))
    learned = learn(table, rows, maps, Settings(_N_FOLDS), random)
    if trained_on_same_pairs is None:
        trained_on_same_pairs = isinstance(_innermost(clf), ScoresTrueClasses)
    own = _ordered(_is_positive(clf, X), rows)
    predictions, clones = own, own[None]
    if trained_on_same_pairs:
        predictions, clones = _cross_fitted(clf, X, y, rows, learned, own)
    disagreement = float(np.mean(predictions != own))
    _check_signal(learned, predictions)
    with threadpool_limits(1, user_api="blas"):
        judged = _Judgement.fit(learned.candidate.scores[:, 0], predictions, learned.counts)
        draws = _bootstrap(judged, random)
    lag = judged.lag(own, clones)
    estimates = _estimates(judged, draws, level, disagreement, lag, learned.freshness)
    return LabelFreeReport(
        **estimates,
        level=level,
        cross_fitted=trained_on_same_pairs,
        n_pairs=learned.counts.pairs,
        n_rows=learned.counts.unlabeled,
        checks=_checks(judged, learned, table, rows, random),
        chances=judged.chances(),
        predictions=judged.columns[learned.counts.alone, 1].astype(bool),
    )


def _as_table(X: Any) -> Any:
    """Return a table whose rows can be taken; data frames keep their kind and names."""
    if is_sparse(X):
        return X.tocsr()
    if hasattr(X, "shape"):
        return X
    array = np.atleast_1d(np.asarray(X))
    # Beside text, numpy would turn numbers into text too.
    return np.atleast_1d(np.asarray(X, dtype=object)) if array.dtype.kind in "US" else array


def _check_enough(rows: RowSets) -> None:
    n_pairs, n_rows = count_positions(rows.left), count_positions(rows.unlabeled)
    if min(n_pairs, n_rows) < 2 * _N_FOLDS:
        raise ValueError(
            f"A label-free report needs at least {2 * _N_FOLDS} similar pairs and unlabeled rows, "
            f"but there are {n_pairs} pairs and {n_rows} rows."
        )


def _thinned(X: Any, y: NDArray[np.int64], rows: RowSets) -> tuple[Any, NDArray[np.int64], RowSets]:
    """Keep evenly spaced rows and pairs where there are more than a report needs."""
    numbers = Table.of(np.arange(y.shape[0])[:, None], rows)
    some = numbers.thinned(_MOST)
    if some is numbers:
        return X, y, rows
    kept = np.sort(some.rows[:, 0])
    return take_rows(X, kept), y[kept], locate_pairs(y[kept], kept.size, "label_free_report")


def _reference_rows(clf: Any, X: Any) -> Any:
    """Return the rows as numbers for the reference score: `X`, or what steps of `clf` make of it.

    The first numbers on the way, as later steps may drop what tells the classes apart.
    """
    for rows in _stages(clf, X):
        try:
            return check_array(rows, accept_sparse="csr", dtype=np.float64, input_name="X")
        except (TypeError, ValueError) as error:
            problem = error
    raise ValueError(
        "label_free_report learns a reference score from X, which must be a table of finite "
        "numbers, or become one in a step of clf. Encode categories and fill gaps, or put what "
        f"does so into a pipeline with the classifier. The trouble with these rows: {problem}"
    ) from problem


def _stages(clf: Any, X: Any) -> Iterator[Any]:
    """Yield the rows as given and after every step of a pipeline, or of one within another."""
    yield X
    fitted = getattr(clf, "best_estimator_", clf)
    if not hasattr(fitted, "steps"):
        return
    for _, step in fitted.steps[:-1]:
        if hasattr(step, "transform"):  # "passthrough" has none
            X = step.transform(X)
            yield X
    yield from _stages(fitted.steps[-1][1], X)


def _innermost(clf: Any) -> Any:
    """Return the classifier inside a search or a pipeline."""
    clf = getattr(clf, "best_estimator_", clf)
    return _innermost(clf[-1]) if hasattr(clf, "steps") else clf


def _is_positive(clf: Any, X: Any) -> NDArray[np.bool_]:
    """Return which rows are predicted to be of the larger class value."""
    predicted = _predicted(clf, X)
    values = np.unique(predicted)
    if hasattr(clf, "classes_"):
        values = np.unique(np.concatenate([values, np.asarray(clf.classes_)]))
    if values.size > 2:
        raise ValueError(
            f"A label-free report is for two classes, but clf predicts {values.size}: "
            f"{values.tolist()}."
        )
    return np.asarray(predicted == values[-1])


def _predicted(clf: Any, X: Any) -> NDArray[Any]:
    """Return the class that is predicted for every row, (n_rows,)."""
    predicted, n_rows = np.asarray(clf.predict(X)), X.shape[0]
    if predicted.shape == (n_rows, 1):
        predicted = predicted[:, 0]
    expected = f"one of two classes is expected for each of the {n_rows} rows"
    if predicted.shape != (n_rows,):
        raise ValueError(f"clf.predict returned an array of shape {predicted.shape}; {expected}.")
    n_missing = sum(map(_is_missing, predicted.tolist()))
    if n_missing:
        raise ValueError(f"clf.predict returned NaN or None for {n_missing} rows; {expected}.")
    return predicted


def _is_missing(value: Any) -> bool:
    """Tell whether a class is None, NaN, which is not even like itself, or pandas' NA."""
    try:
        return value is None or bool(value != value)  # noqa: PLR0124
    except TypeError:  # NA does not say
        return True


def _ordered(values: NDArray[np.bool_], rows: RowSets) -> NDArray[np.bool_]:
    return np.asarray(in_order(values[:, None], rows)[0][:, 0])


def _cross_fitted(
    clf: Any, X: Any, y: ArrayLike, rows: RowSets, learned: Learned, own: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Predict every row by a clone that was fitted without it, classes named as in `own`.

    Returns
    -------
    predictions : array of shape (n_rows,)
    clones : array of shape (n_folds, n_rows)
        What each clone predicts for all rows.
    """
    labels = np.asarray(y)
    order = in_order(np.arange(labels.shape[0])[:, None], rows)[0][:, 0]
    clones = []
    for fold in range(learned.folds.max() + 1):
        train = np.sort(order[outside_of(learned.folds == fold, learned.counts)])
        refitted = _unfitted(clf).fit(take_rows(X, train), labels[train])
        found = _ordered(_is_positive(refitted, X), rows)
        # Pairs cannot name the classes: a clone may have them the other way round.
        clones.append(~found if np.mean(found == own) < 0.5 else found)
    by_clone = np.array(clones)
    return by_clone[learned.folds, np.arange(order.size)], by_clone


def _unfitted(clf: Any) -> Any:
    """Return a clone; one of `PairClassifier` keeps what was chosen instead of choosing again."""
    copy = clone(clf)
    fitted, own = _innermost(clf), _innermost(copy)  # a search that was not run has none inside
    if isinstance(fitted, PairClassifier) and isinstance(own, PairClassifier):
        own.set_params(**_chosen(fitted))
    return copy


def _chosen(clf: PairClassifier) -> dict[str, Any]:
    """Return what a classifier chose, as parameters."""
    chosen: dict[str, Any] = {"pairing": clf.pairing_}
    if clf.alpha_ is None:  # a sum over kinds of features: weighed anew
        parts = [row for row in clf.selection_.rows if row.weight and not row.chosen]
        return chosen | {"alphas": {part.features: [part.alpha] for part in parts}}
    transformer = clf.feature_map_.transformer
    features = "linear" if transformer is None else clone(transformer)
    return chosen | {"alphas": [clf.alpha_], "features": features}


def _check_signal(learned: Learned, predictions: NDArray[np.bool_]) -> None:
    counts = learned.counts
    members = predictions[counts.members].mean()
    products = (predictions[counts.left] - members) * (predictions[counts.right] - members)
    spread = float(products.std())
    size = np.sqrt(learned.freshness * counts.similar)
    agreement = float(products.mean()) * size / spread if spread > 0 else 0.0
    if not learned.has_signal and agreement < _SIGNAL:
        raise NoSignalError(
            "The pairs show no signal: neither a score learned from them nor the classifier's "
            "predictions are alike within pairs, so its accuracy cannot be told. Collect more "
            "pairs, or features that tell the classes apart."
        )


@dataclass(frozen=True)
class _Judgement:
    """Chances of class +1 that explain the pairs best, given a score and the predictions."""

    columns: FloatArray
    """Score, prediction and a one, (n_rows, 3)."""
    counts: Counts
    vector: FloatArray
    """Coefficients of the columns in the log-odds of the larger class."""

    @classmethod
    def fit(
        cls, scores: FloatArray, predictions: NDArray[np.bool_], counts: Counts
    ) -> "_Judgement":
        columns = np.column_stack([scores, predictions, np.ones(scores.size)])
        return cls(columns, counts, _explain(columns, counts, np.array([1.0, 0.0, 0.0])))

    def values(self) -> FloatArray:
        """Return accuracy, true- and false-positive rate, prior and pair agreement."""
        positive = self.columns[:, 1]
        agree = positive[self.counts.left] == positive[self.counts.right]
        return np.append(_rates(*self._weighed(), positive), agree.mean())

    def lag(self, own: NDArray[np.bool_], clones: NDArray[np.bool_]) -> FloatArray:
        """Return how far the clones, which saw fewer rows, fall behind the classifier itself.

        The correction of cross-validation by Burman (1989): accuracy, true- and false-positive
        rate of the classifier over all rows, less the mean of its clones, all judged by the same
        chances.
        """
        weights, chances = self._weighed()  # the classes keep their names from one to the next
        rates = [_rates(weights, chances, positive)[:3] for positive in (own, *clones)]
        return np.asarray(rates[0] - np.mean(rates[1:], axis=0))

    def _weighed(self) -> tuple[FloatArray, FloatArray]:
        """Return the weights of the rows and their chances of class +1."""
        log_odds = self.columns @ self.vector
        weights = expand(log_probabilities(log_odds), self.counts).weights
        chances = expit(log_odds)
        is_smaller = _is_turned(weights, chances, self.columns[:, 1])
        return weights, np.asarray(1.0 - chances if is_smaller else chances)

    def chances(self) -> FloatArray:
        """Return the unlabeled rows' chances of class +1."""
        return self._weighed()[1][self.counts.alone]


def _is_turned(weights: FloatArray, chances: FloatArray, positive: NDArray[Any]) -> bool:
    """Return whether rows that are predicted +1 are of the class less often than others.

    Where all are predicted alike, neither: then +1 is the class that makes more of them right.
    """
    prior, predicted = float(weights @ chances), float(weights @ positive)
    together = float(weights @ (positive * chances)) - prior * predicted
    if abs(together) > 1e-9:
        return together < 0
    return float(weights @ np.where(positive, chances, 1.0 - chances)) < 0.5


def _rates(weights: FloatArray, chances: FloatArray, positive: NDArray[Any]) -> FloatArray:
    """Return accuracy, true- and false-positive rate, and the share of class +1."""
    prior, predicted = float(weights @ chances), float(weights @ positive)
    hits = weights @ (positive * chances)
    true_rate = hits / max(prior, 1e-12)
    false_rate = (predicted - hits) / max(1.0 - prior, 1e-12)
    accuracy = prior * true_rate + (1.0 - prior) * (1.0 - false_rate)
    return np.array([accuracy, true_rate, false_rate, prior])


def _explain(columns: FloatArray, counts: Counts, start: FloatArray) -> FloatArray:
    """Fit log-odds that are linear in the columns by the pair likelihood."""
    shrinkage = np.array([0.0, 1.0 / (_SAY**2 * counts.pairs), 0.0])

    def objective(vector: FloatArray) -> tuple[float, FloatArray]:
        found = expand(log_probabilities(columns @ vector), counts)
        value = found.value + 0.5 * float(shrinkage @ vector**2)
        return value, columns.T @ found.gradient[:, 1] + shrinkage * vector

    bounds = [(-20.0, 20.0)] * columns.shape[1]
    found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds)
    return np.asarray(found.x)


def _bootstrap(judged: _Judgement, random: np.random.RandomState) -> FloatArray:
    """Return the values of bootstrap samples of pairs and rows, (n_resamples, 5)."""
    counts, draws = judged.counts, []
    for _ in range(_N_RESAMPLES):
        pairs = random.randint(counts.similar, size=counts.similar)
        others = random.randint(max(counts.dissimilar, 1), size=counts.dissimilar)
        chosen = np.concatenate(
            [
                random.randint(counts.unlabeled, size=counts.unlabeled),
                counts.left.start + pairs,
                counts.right.start + pairs,
                counts.dissimilar_left.start + others,
                counts.dissimilar_right.start + others,
            ]
        )
        columns = judged.columns[chosen]
        draws.append(_Judgement(columns, counts, _explain(columns, counts, judged.vector)).values())
    return np.array(draws)


def _estimates(
    judged: _Judgement,
    draws: FloatArray,
    level: float,
    disagreement: float,
    lag: FloatArray,
    freshness: float,
) -> dict[str, Estimate]:
    """Return values with intervals that also allow for what a bootstrap cannot see.

    Rates are those of the cross-fitted predictions and of how far these fall behind (`lag`).

    Scores are given to it, though they were learned from the same rows (`CROSS_FITTED`), and pairs
    that share rows are taken to be independent (`freshness`). Clones
    are not the classifier itself: where they disagree, either may be right. And where all pairs
    agree, every bootstrap sample does, though a rate of ``log(1 / (1 - level)) / n`` could have
    gone unseen.
    """
    shift = np.concatenate([lag, [0.0, 0.0]])
    values, draws = judged.values() + shift, draws + shift
    values[:3] = values[:3].clip(0.0, 1.0)
    clones = _CLONES * disagreement * float(ndtri((1.0 + level) / 2.0))
    unseen = -np.log1p(-level) / judged.counts.similar
    estimates = {}
    for k, name in enumerate(_NAMES):
        value = float(values[k])
        low, high = np.quantile(draws[:, k], [(1 - level) / 2, (1 + level) / 2])
        apart = 0.0 if name in ("prior", "pair_agreement") else clones
        widening = (1.0 if name == "pair_agreement" else CROSS_FITTED**-0.5) * freshness**-0.5
        low = value - np.hypot(widening * max(value - low, 0.0), apart)
        high = value + np.hypot(widening * max(high - value, 0.0), apart)
        low, high = min(low, 1.0 - unseen), max(high, unseen)
        estimates[name] = Estimate(value, (max(float(low), 0.0), min(float(high), 1.0)))
    return estimates


def _checks(
    judged: _Judgement,
    learned: Learned,
    table: Any,
    rows: RowSets,
    random: np.random.RandomState,
) -> tuple[Check, ...]:
    if not learned.has_signal:
        return (Check("assumptions", None, "the reference score is too weak to test them."),)
    pairing = compare_pairings(learned.candidate.scores, learned.counts, learned.freshness)
    mean, scale = column_scale(table)
    ordered = in_order(table, rows)[0]
    standard = ((ordered.toarray() if is_sparse(ordered) else ordered) - mean) / scale
    chances = expit(judged.columns @ judged.vector)
    at_random = Check(
        "pairs formed at random", not pairing.is_rejected, f"{pairing}.", pairing.p_value
    )
    if learned.freshness < 1.0:
        text = "rows are in several pairs, and such pairs are not independent of each other."
        return at_random, Check("what else is assumed", None, text)
    return (
        at_random,
        check_moment_ratios(learned.candidate.scores[:, 0], learned.counts, random),
        check_independence(standard, chances, learned.counts, learned.folds, random),
    )
