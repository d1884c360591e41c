"""How accurate is a classifier? An answer from statements about rows, without one label.

A reference score is learned from the statements and cross-fitted. Together with the classifier's
own predictions it explains the statements (`likewise.report.judgement`), which gives every row
class probabilities; accuracy and recall are what these say of the predictions. Predictions are of
rows that the classifier did not learn from: held out, or made by refitted clones
(`likewise.report.predictions`).
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from likewise._types import FloatArray
from likewise._verbose import step, tells_if_asked
from likewise.beliefs.base import Beliefs
from likewise.classifiers.scoring import ScoresTrueClasses
from likewise.engines.rows import as_table, is_sparse, take_rows
from likewise.exceptions import NoSignalError
from likewise.report.checks import Check, check_independence, check_moment_ratios
from likewise.report.details import check_classes, details_of
from likewise.report.estimates import Estimate, LabelFreeReport
from likewise.report.judgement import Judgement, agreement, draw_values, judge
from likewise.report.predictions import (
    Predicted,
    cross_fitted,
    innermost,
    read_classes,
    read_scores,
    reference_rows,
)
from likewise.scores.features import column_scale
from likewise.scores.maps import feature_maps
from likewise.search.fitted import calibrated
from likewise.search.learn import Learned, learn
from likewise.search.pairing import compare_pairings
from likewise.search.rows import MemoryRows, Some
from likewise.search.settings import Settings, default_pairing
from likewise.statements.labels import WeakLabels, statements_for
from likewise.statements.statements import Statements
from likewise.statements.weights import weigh

__all__ = ["LabelFreeReport", "NoSignalError", "label_free_report"]

_MOST = 20_000
"""Rows and statements that are judged by at most, where there are twice as many."""
_N_FOLDS = 5
_SIGNAL = 3.0
"""Standard errors by which predictions of pair members must agree to count as a signal."""
_EITHER_WAY = 3**-0.5
"""Standard deviation of what may be anything from -1 to 1 (a uniform distribution)."""


@tells_if_asked
def label_free_report(
    clf: Any,
    X: Any,
    y: WeakLabels,
    *,
    level: float = 0.95,
    trained_on_same_pairs: bool | None = None,
    pairing: str = "auto",
    error_rate: float | str | None = None,
    verbose: bool | int = 0,
    random_state: Any = None,
    sample_weight: Any = None,
) -> LabelFreeReport:
    """Estimate how accurate a classifier is, from statements about rows alone.

    Parameters
    ----------
    clf : fitted classifier with ``predict``
        Any: a likewise learner, a pipeline, or a classifier fitted elsewhere, on labels too. It may
        have any number of classes: those of its ``classes_``, or else those that it predicts. Of
        two, the larger value is +1.
    X : table of shape (n_rows, n_features)
        As `clf` takes it. The reference score is learned from it where it holds finite numbers
        alone; where it does not (categories, gaps), from the first numbers that the steps of a
        pipeline make of it.
    y : integer array of shape (n_rows,), or CSR matrix of shape (n_rows, n_statements)
        Weak labels as `likewise.pack` makes them: fresh pairs, or statements about one table.
    level : float, default 0.95
        Level of the intervals.
    trained_on_same_pairs : bool, optional
        Whether `clf` learned from these statements. If so, clones are refitted on folds, and every
        row is judged by one that did not see it. By default true for learners of this library and
        false for all others.
    pairing : {"auto", "asked", "random", "free"}, default "auto"
        How statements came about, as in `PairClassifier`. "auto": as a `PairClassifier`, or a net,
        that learned from them took them; else asked where some rows of a table are said to differ,
        and random otherwise.
    error_rate : float or "auto", optional
        Probability that a statement about a table is wrong; "auto" to learn it. By default that of
        a `PairClassifier` that learned from these statements, else 0.
    verbose : bool or int, default 0
        Whether to print a line on every step.
    random_state : int, RandomState instance or None
        Deals out folds and draws what intervals are made of.
    sample_weight : array of shape (n_rows,), optional
        How many rows of the population each row stands for, as in `PairClassifier`: rates are those
        of the population. Clones are refitted with the same weights where they take any.

    Returns
    -------
    LabelFreeReport

    Raises
    ------
    NoSignalError
        If the statements do not say enough.
    ValueError
        If neither `X` nor what a step of `clf` makes of it is a table of finite numbers, if `clf`
        does not predict one class for every row, or if statements contradict each other and the
        error rate is zero.

    Notes
    -----
    Of fresh pairs, intervals are bootstrap intervals over pairs and rows. Of one table, they
    are drawn from the posterior of the calibration and from weights of the rows (Bayesian
    bootstrap). Both are widened since the reference scores were learned from the same statements,
    and by how far clones and classifier disagree.

    Examples
    --------
    >>> import likewise as lw
    >>> X, y = lw.datasets.make_gaussians(8000, random_state=0)
    >>> sample = lw.datasets.sample_statements(
    ...     X, y, 400, 600, n_test=2000, prior=0.7, random_state=0
    ... )
    >>> clf = lw.PairClassifier(features="linear", random_state=0).fit(*sample.pack())
    >>> report = lw.label_free_report(clf, *sample.pack(), random_state=0)
    >>> abs(report.accuracy.value - clf.score(sample.X_test, sample.y_test)) < 0.05
    True
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie between 0 and 1; got {level!r}.")
    random = check_random_state(random_state)
    if trained_on_same_pairs is None:
        trained_on_same_pairs = isinstance(innermost(clf), ScoresTrueClasses)
    X = as_table(X)
    name = "label_free_report"
    statements = weigh(statements_for(y, X.shape[0], name), sample_weight, name)
    kept = statements.counted
    if kept is not None:
        X, y = take_rows(X, np.flatnonzero(kept)), np.asarray(y)[kept]
        statements = statements.among(kept)
    _check_enough(statements)
    known = innermost(clf) if trained_on_same_pairs else None
    how = _How.read(pairing, error_rate, statements, known)
    some, labels, population = _thinned(X, y, statements, how)
    table = reference_rows(clf, some.rows)
    classes = read_classes(clf, some.rows)
    learned = _learn(table, some.statements, len(classes.labels), how, random)
    scores = read_scores(clf, some.rows, len(classes.labels))
    predicted = Predicted(classes.codes, classes.codes, classes.codes[None], scores)
    if trained_on_same_pairs:
        _check_folds(learned)
        predicted = cross_fitted(
            clf,
            some.rows,
            labels,
            learned.parts,
            classes.codes,
            len(classes.labels),
            some.statements.weights,
        )
    _check_signal(learned, predicted)
    with threadpool_limits(1, user_api="blas"):
        judged, beliefs = judge(
            learned.candidate.scores,
            predicted.held_out,
            learned.likelihood,
            population,
            predicted.scores.ranks,
            predicted.ahead(len(classes.labels)),
        )
        draws = draw_values(judged, beliefs, random)
        step("accuracy drawn for its interval")
        checks = _checks(judged, learned, how, random)
        step("assumptions tested")
        rates = _estimates(judged, beliefs, draws, predicted, classes.labels, level)
        if len(classes.labels) == 2 and some.statements.is_fresh and learned.has_signal:
            rates["prior"] = _wider(rates["prior"], calibrated(learned, level).intervals[1])
        details = details_of(judged, beliefs, draws, predicted, rates, level)
    alone = learned.likelihood.population
    is_counted = population[alone] > 0
    return LabelFreeReport(
        **rates,
        **details,
        level=level,
        cross_fitted=trained_on_same_pairs,
        n_pairs=learned.likelihood.statements.count,
        n_rows=int(is_counted.sum()),
        checks=checks,
        probabilities=judged.known(beliefs)[1][alone][is_counted],
        predictions=predicted.held_out[alone][is_counted],
    )


class _How(NamedTuple):
    """How statements came about."""

    pairing: str
    error_rate: float | None

    def settings(self, n_classes: int) -> Settings:
        """Return how to learn a reference score."""
        return Settings(
            _N_FOLDS, n_classes=n_classes, pairing=self.pairing, error_rate=self.error_rate
        )

    @classmethod
    def read(
        cls, pairing: str, error_rate: float | str | None, statements: Statements, known: Any
    ) -> "_How":
        """Check what was passed, and fill in what a classifier knows that learned from it."""
        if pairing not in ("auto", "asked", "random", "free"):
            raise ValueError(
                f"pairing must be 'auto', 'asked', 'random' or 'free'; got {pairing!r}."
            )
        is_known, is_fresh = hasattr(known, "pairing_"), statements.is_fresh
        if is_fresh and (pairing == "asked" or error_rate not in (None, 0)):
            raise ValueError(
                "pairing='asked' and error_rate are for statements about the rows of one table; "
                "these are fresh pairs. Pass row numbers to likewise.pack."
            )
        if pairing == "auto":
            pairing = known.pairing_ if is_known else default_pairing(statements)
        if error_rate is None:
            error_rate = known.error_rate if is_known and not is_fresh else 0.0
        if error_rate == "auto":
            return cls(pairing, None)
        if isinstance(error_rate, str) or not 0.0 <= error_rate < 0.5:
            raise ValueError(f"error_rate must be 'auto', or in [0, 0.5); got {error_rate!r}.")
        return cls(pairing, float(error_rate))


def _check_enough(statements: Statements) -> None:
    counts = {"statements": statements.count, "rows": statements.n_rows}
    if statements.is_fresh:
        n_alone = statements.n_rows - int(statements.stated.sum())
        counts = {"similar pairs": statements.n_similar, "unlabeled rows": n_alone}
    if min(counts.values()) < 2 * _N_FOLDS:
        needed, found = (
            " and ".join(f"{number}{name}" for name, number in numbers.items())
            for numbers in (dict.fromkeys(counts, ""), {k: f"{v} " for k, v in counts.items()})
        )
        raise ValueError(
            f"A label-free report needs at least {2 * _N_FOLDS} {needed}, but there are {found}."
        )


def _thinned(
    X: Any, y: WeakLabels, statements: Statements, how: _How
) -> tuple[Some, Any, FloatArray]:
    """Keep evenly spaced rows and statements where there are more than a report needs.

    Returns
    -------
    some : Some
    labels : weak labels of these rows
    population : array of shape (n_rows,)
        Weight of rows that were chosen without regard to statements, zero for those that were kept
        because of these.
    """
    keeps_rows = how.pairing == "asked"
    labels = y.tocsr() if is_sparse(y) else np.asanyarray(y)
    # Where rows stay one table, both rows of every statement are kept beside those that are spaced.
    size = _MOST * 2 // 3 if keeps_rows else _MOST
    some = Some(X, statements, None, is_whole=True).thinned(size, keeps_rows=keeps_rows)
    weights = some.statements.weights
    population = np.ones(some.statements.n_rows) if weights is None else weights.copy()
    if some.numbers is None:
        return some, labels, population
    if some.statements.is_fresh and not statements.is_fresh:
        labels = np.zeros(some.statements.n_rows, dtype=np.int64)
        codes = np.where(some.statements.is_similar, 1, -1) * (1 + np.arange(some.statements.count))
        labels[some.statements.members] = np.repeat(codes, 2)
        return some, labels, population
    if not statements.is_fresh:
        population[some.numbers % -(-statements.n_rows // size) != 0] = 0.0
    return some, labels[some.numbers], population


def _learn(
    table: Any,
    statements: Statements,
    n_classes: int,
    how: _How,
    random_state: np.random.RandomState,
) -> Learned:
    """Learn the reference score."""
    maps = feature_maps("auto", table.shape[1], random_state, is_sparse_table=is_sparse(table))
    settings = how.settings(n_classes)
    return learn(MemoryRows(table, statements), maps, settings, random_state)


def _check_folds(learned: Learned) -> None:
    """Raise where all statements touch one fold: clones could not be fitted without it."""
    if any(part.likelihood.links.left.size == 0 for part in learned.parts):
        raise NoSignalError(
            "All statements are about rows of one fold, so that nothing can be learned without "
            "it. Collect statements about more rows."
        )


def _check_signal(learned: Learned, predicted: Predicted) -> None:
    """Raise unless scores, or else predictions, are alike where rows are said to be."""
    if learned.has_signal:
        return
    links, products = learned.likelihood.links, []
    says = np.eye(learned.likelihood.n_classes)[predicted.held_out]
    for kind, sign in ((links.is_similar, 1.0), (~links.is_similar, -1.0)):
        left, right = says[links.left[kind]], says[links.right[kind]]
        mean = (left.sum(axis=0) + right.sum(axis=0)) / max(2 * left.shape[0], 1)
        products.append(sign * np.sum((left - mean) * (right - mean), axis=1))
    found = np.concatenate(products)
    spread = float(found.std())
    if spread == 0 or float(found.mean()) * np.sqrt(found.size) / spread < _SIGNAL:
        raise NoSignalError(
            "The pairs show no signal: neither a score learned from them nor the classifier's "
            "predictions are alike within pairs, so its accuracy cannot be told. Collect more "
            "pairs, or features that tell the classes apart."
        )


def _estimates(
    judged: Judgement,
    beliefs: Beliefs,
    draws: FloatArray,
    predicted: Predicted,
    labels: list[Any],
    level: float,
) -> dict[str, Any]:
    """Return values with intervals that also allow for what draws cannot show.

    Rates are those of the cross-fitted predictions and of how far these fall behind.

    Clones are not the classifier itself: where they disagree, either may be right more often. And
    where all pairs agree, every draw does, though a rate of ``log(1 / (1 - level)) / n`` could have
    gone unseen.
    """
    k = len(labels)
    values = judged.values(beliefs)
    shift = judged.lag(beliefs)
    normal = float(ndtri((1.0 + level) / 2.0))
    clones = _EITHER_WAY * normal * _largest_difference(judged, beliefs, predicted)
    unseen = -np.log1p(-level) / _n_trials(judged, values)
    agreed = agreement(judged.predictions, judged.likelihood)[0]

    def estimate(j: int, value: float, apart: float) -> Estimate:
        low, high = np.quantile(draws[:, j], [(1 - level) / 2, (1 + level) / 2])
        low = value - np.hypot(max(value - low, 0.0), apart)
        high = value + np.hypot(max(high - value, 0.0), apart)
        low, high = min(low, 1.0 - unseen[j]), max(high, unseen[j])
        return Estimate(value, (max(float(low), 0.0), min(float(high), 1.0)))

    values = np.append((values + shift).clip(0.0, 1.0), agreed)
    found = [estimate(j, float(values[j]), float(clones[j])) for j in range(1 + 2 * k)]
    recall, shares = (
        dict(zip(labels, part, strict=True)) for part in (found[1 : 1 + k], found[1 + k :])
    )
    is_two = k == 2
    return {
        "accuracy": found[0],
        "recall": recall,
        "prior": found[-1] if is_two else shares,
        "true_positive_rate": found[2] if is_two else None,
        "false_positive_rate": _opposite(found[1]) if is_two else None,
        "pair_agreement": None if np.isnan(agreed) else estimate(1 + 2 * k, agreed, 0.0),
    }


def _wider(prior: Estimate, interval: FloatArray) -> Estimate:
    """Return the prior with an interval that reaches as far as that of the majority class does.

    A bootstrap of few fresh pairs misses that both halves explain the pairs nearly as well where
    classes are about equally large; the posterior over all priors knows.
    """
    low, high = interval if prior.value >= 0.5 else 1.0 - interval[::-1]
    return Estimate(
        prior.value, (min(prior.interval[0], float(low)), max(prior.interval[1], float(high)))
    )


def _largest_difference(judged: Judgement, beliefs: Beliefs, predicted: Predicted) -> FloatArray:
    """Return how far apart accuracy and recall of clones and classifier may be.

    Rows on which they disagree have two likely classes. If one of these has probability p, whoever
    names it is right more often by ``2 p - 1``; which of the two it is the score does not tell,
    since the classifier saw what the clones did not. Were it always the same one, accuracy would
    differ by the sum of ``|2 p - 1|``, and recall by half of that, per row of the class.

    Returns
    -------
    array of shape (1 + 2 n_classes,)
        Zeros for the shares of the classes, which do not depend on predictions.
    """
    weights, probabilities = judged.known(beliefs)
    of_scores = judged.by_scores(beliefs)
    rows, k = np.arange(weights.size), probabilities.shape[1]
    own, held_out = predicted.own, predicted.held_out
    apart = weights * np.abs(of_scores[rows, own] - of_scores[rows, held_out])
    of_classes = np.bincount(own, apart, k) + np.bincount(held_out, apart, k)
    recalls = 0.5 * of_classes / np.maximum(weights @ probabilities, 1e-12)
    return np.concatenate([[apart.sum()], recalls, np.zeros(k)])


def _opposite(one: Estimate) -> Estimate:
    return Estimate(1.0 - one.value, (1.0 - one.interval[1], 1.0 - one.interval[0]))


def _n_trials(judged: Judgement, values: FloatArray) -> FloatArray:
    """Return how many rows or pairs each value is a rate of, (2 + 2 n_classes,)."""
    statements = judged.likelihood.statements
    if statements.is_fresh:
        return np.full(values.size + 1, float(statements.n_similar))
    k, n_rows = values.size // 2, float(np.count_nonzero(judged.population))
    of_classes = np.maximum(n_rows * values[1 + k :], 1.0)
    return np.concatenate([[n_rows], of_classes, np.full(k, n_rows), [statements.n_similar or 1]])


def _checks(
    judged: Judgement, learned: Learned, how: _How, random_state: np.random.RandomState
) -> tuple[Check, ...]:
    if not learned.has_signal:
        return (Check("assumptions", None, "the reference score is too weak to test them."),)
    likelihood = learned.likelihood
    settings = how.settings(likelihood.n_classes)
    found = [
        _check_pairing(learned, how),
        check_classes(learned, settings, np.random.RandomState(0)),
    ]
    links = likelihood.links
    reason = None
    if not likelihood.statements.is_fresh:
        reason = "rows are in several statements, which are therefore not independent."
    elif likelihood.n_classes > 2:
        reason = "these tests are for two classes."
    if reason is not None:
        return *found, Check("what else is assumed", None, reason)
    left, right = links.left[links.is_similar], links.right[links.is_similar]
    rows = learned.some.rows
    mean, scale = column_scale(rows)
    standard = ((rows.toarray() if is_sparse(rows) else rows) - mean) / scale
    scores = learned.candidate.scores[:, 0]
    probabilities = np.exp(judged.log_p[:, 1])
    return (
        *found,
        check_moment_ratios(scores, likelihood.population, left, right, random_state),
        check_independence(standard, probabilities, left, right, learned.folds, random_state),
    )


def _check_pairing(learned: Learned, how: _How) -> Check:
    name = "pairs formed at random"
    if how.pairing == "asked":
        return Check(name, None, "pairs were asked about: how they were chosen does not matter.")
    if how.pairing == "free":
        return Check(name, None, "not assumed: every class has its own share among pairs.")
    if not learned.likelihood.statements.n_similar:
        return Check(name, None, "there are no similar pairs.")
    pairing = compare_pairings(learned.candidate.scores, learned.likelihood)
    return Check(name, not pairing.is_rejected, f"{pairing}.", pairing.p_value)
