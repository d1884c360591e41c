"""The class prior from pair moments: consistent, with an interval, without labels.

Given its class, the members of a similar pair are independent, so for every function g of a row

    cov(g(left), g(right)) = p (1 - p) D^2,   mean_S g - mean_U g = (p - prior) D,
    p = prior^2 / (prior^2 + (1 - prior)^2),  D the difference of g between the classes,

and ``(2 prior - 1)^2 = (mean_S g - mean_U g)^2 / cov(g(left), g(right))`` whatever g is. Here the
functions are the bins of a score that is learned on other rows; `latent_classes` pools them.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import chi2

from likewise._types import FloatArray
from likewise.engines.arrays import to_numpy
from likewise.engines.rows import kish_scaled
from likewise.prior.base import PriorEstimate
from likewise.prior.latent_classes import (
    Counts,
    count_pairs,
    count_rows,
    profile_log_likelihood,
)
from likewise.prior.scores import HeldOut, ScoredPrior
from likewise.search.learn import Learned
from likewise.statements.labels import WeakLabels, row_sets_of
from likewise.statements.statements import Statements

_EDGES = np.array([0.06, 0.15, 0.3, 0.5, 0.75])
"""Ranks among unlabeled rows at which bins end; finer where the smaller class is."""
_HIGHEST = 0.999
"""Largest prior that is tried."""
_LEAST_SIGNAL = math.sqrt(10.0)
"""Standard errors by which the pairs' covariance must exceed zero. The prior is a ratio over that
covariance, and ratios over what may be zero are not near normal: the rule for weak instruments asks
for a squared ratio of ten (Staiger and Stock, 1997)."""


class PairMomentPrior(ScoredPrior):
    """Share of the majority class from similar pairs and unlabeled rows.

    Scores that tell the classes apart are learned by the pair likelihood: linear, with kernel
    features, or a sum of such, whichever does best on held-out pairs. Rows are scored by models
    that did not see them (cross-fitting, or held-out rows where there are many). The prior follows
    from how often pairs and rows fall into bins of that score; it is right whatever the score is
    worth.

    Parameters
    ----------
    level : float in (0, 1), default 0.95
        Level of the interval.
    verbose : bool or int, default 0
        Whether to print a line on every step.
    random_state : int, RandomState instance or None, default None
        Deals out folds and picks kernel centers and learning rows.

    Attributes
    ----------
    estimate_ : PriorEstimate
        Its value is the posterior mean under a flat prior on [1/2, 1], its interval holds what a
        likelihood-ratio test does not reject; near 1/2 it touches 1/2. ``diagnostics``: ``signal``
        (standard errors by which pair members vary together), ``information`` (nats per pair on
        held-out pairs), ``features``, ``alpha`` (None if the score is a sum over several kinds of
        features), ``n_pairs``, ``n_rows``, and ``notes``.
    prior_ : float
        The estimate's value.

    Examples
    --------
    >>> import likewise as lw
    >>> X, y = lw.datasets.make_gaussians(6000, separation=3, random_state=0)
    >>> sample = lw.datasets.sample_su(X, y, 500, 500, prior=0.8, random_state=0)
    >>> estimate = lw.prior.PairMomentPrior(random_state=0).fit(*sample.pack()).estimate_
    >>> abs(estimate.value - 0.8) < 0.1
    True
    """

    _is_quick = True

    def _statements(self, y: WeakLabels | None, n_rows: int) -> Statements:
        statements = super()._statements(y, n_rows)
        if statements.n_dissimilar:
            raise ValueError(
                f"{type(self).__name__} learns from similar pairs only, but y holds "
                f"{statements.n_dissimilar} dissimilar ones: leave them out of likewise.pack."
            )
        return statements

    def read_off(self, learned: Learned, others: HeldOut | None) -> PriorEstimate:
        """Return the class prior that given scores imply; see `ScoredPrior`."""
        if others is None:
            counts = _count_cross_fitted(learned)
            return _estimate(counts, learned, self.level)
        return _estimate(_count_held_out(learned, others), learned, self.level)


def _count_cross_fitted(learned: Learned) -> Counts:
    scores, where = learned.candidate.scores[:, 0], row_sets_of(learned.some.statements)
    reference = np.sort(scores[where.unlabeled])
    ranks = np.searchsorted(reference, scores) / reference.size
    left, right, alone = ranks[where.left], ranks[where.right], ranks[where.unlabeled]
    weights = learned.some.statements.weights
    if weights is None:
        return Counts.of_ranks(left, right, alone, _EDGES)
    of_pairs = weights[where.left]
    if not learned.some.statements.is_fresh:  # of one table, both members were drawn
        of_pairs = kish_scaled(of_pairs * weights[where.right])
    return Counts.of_ranks(left, right, alone, _EDGES, (of_pairs, weights[where.unlabeled]))


def _count_held_out(learned: Learned, others: HeldOut) -> Counts:
    """Count bins over rows outside the learning sample, in one pass."""
    reference = np.sort(learned.candidate.scores[learned.likelihood.population, 0])
    limits, n_bins = reference[(_EDGES * reference.size).astype(np.intp)], _EDGES.size + 1

    def bins_of(table: Any) -> NDArray[np.intp]:
        return np.searchsorted(limits, learned.scores(to_numpy(table))[:, 0])

    def count_left_and_right(left: Any, right: Any) -> tuple[FloatArray]:
        return (count_pairs(bins_of(left), bins_of(right), n_bins),)

    def count_alone(rows: Any) -> tuple[FloatArray]:
        return (count_rows(bins_of(rows), n_bins),)

    if learned.features.transformer is None:
        (pairs,) = others.sum_over("similar", count_left_and_right)
        (singles,) = others.sum_over("unlabeled", count_alone)
    else:  # a kernel costs more than a product: some of the rows are enough
        rows, where = others.sample.rows, row_sets_of(others.sample.statements)
        (pairs,) = count_left_and_right(rows[where.left], rows[where.right])
        (singles,) = count_alone(rows[where.unlabeled])
    return Counts.of_tables(pairs, singles, _EDGES)


def _estimate(counts: Counts, learned: Learned, level: float) -> PriorEstimate:
    priors, logs = _profile(counts)
    weights = np.exp(logs - logs.max())
    value = float(priors @ weights / weights.sum())
    interval = _accepted(priors, logs, level)
    if not learned.some.statements.is_fresh:
        interval = _beyond_the_table(value, interval, float(counts.rows.sum()), level)
    signal = counts.signal()
    notes = []
    if signal < _LEAST_SIGNAL or not learned.has_signal:
        notes.append("the pairs show no signal: their members are not alike in these features")
        interval = 0.5, 1.0
        if signal <= 0.0:
            value = 0.75  # the middle: members that vary apart say nothing of the classes
    elif interval[0] <= 0.5:
        notes.append("the interval reaches one half")
    return PriorEstimate(
        value=value,
        interval=interval,
        level=level,
        method="pair_moments",
        diagnostics={
            "signal": signal,
            "information": learned.candidate.information,
            "features": learned.features.name,
            "alpha": learned.candidate.alpha,
            "n_pairs": round(float(counts.pairs.sum())),
            "n_rows": round(float(counts.rows.sum())),
            "notes": notes,
        },
    )


def _profile(counts: Counts) -> tuple[FloatArray, FloatArray]:
    """Return a grid of priors, finer where the likelihood is narrow, and log-likelihoods."""
    low, high = 0.5, _HIGHEST
    while True:
        priors = np.linspace(low, high, 41)
        logs = profile_log_likelihood(counts, priors)
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        mean = priors @ weights
        deviation = np.sqrt(weights @ (priors - mean) ** 2)
        step = priors[1] - priors[0]
        if deviation >= 2.0 * step or step < 1e-6:
            return priors, logs
        reach = max(6.0 * deviation, 2.0 * step)
        peak = priors[int(np.argmax(weights))]
        low, high = max(0.5, peak - reach), min(_HIGHEST, peak + reach)


def _accepted(priors: FloatArray, logs: FloatArray, level: float) -> tuple[float, float]:
    """Return the priors that a likelihood-ratio test does not reject.

    A posterior on [1/2, 1] would not do: where the truth is one half, it lies at the end of the
    range, and the weight that is missing beyond makes the rest look surer than it is.
    """
    fine = np.linspace(priors[0], priors[-1], 4000)
    excess = logs.max() - np.interp(fine, priors, logs)
    kept = fine[2.0 * excess <= chi2.ppf(level, df=1)]
    return float(kept[0]), 1.0 if kept[-1] >= _HIGHEST else float(kept[-1])


def _beyond_the_table(
    value: float, interval: tuple[float, float], n_rows: float, level: float
) -> tuple[float, float]:
    """Return the interval of the share in what the rows of a table were drawn from.

    The counts take the members of pairs for further rows; but they are rows of the table, and tell
    the share in it alone.
    """
    low, high = interval
    reach = float(ndtri((1.0 + level) / 2.0)) * math.sqrt(value * (1.0 - value) / n_rows)
    below, above = max(value - low, 0.0), max(high - value, 0.0)
    return max(value - math.hypot(below, reach), 0.5), min(value + math.hypot(above, reach), 1.0)
