"""The class prior from pair moments: consistent, with an interval, without labels.

Given its class, the members of a similar pair are independent, so for every function g of a row

    cov(g(left), g(right)) = p (1 - p) D^2,   mean_S g - mean_U g = (p - prior) D,
    p = prior^2 / (prior^2 + (1 - prior)^2),  D the difference of g between the classes,

and ``(2 prior - 1)^2 = (mean_S g - mean_U g)^2 / cov(g(left), g(right))`` whatever g is. Here the
functions are the bins of a score that is learned on other rows; `latent_classes` pools them.
"""

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import validate_data
from threadpoolctl import threadpool_limits

from likewise.engines import Block, MemoryEngine
from likewise.losses import FloatArray
from likewise.pairs import RowSets, count_positions, locate_su, row_numbers, take_rows
from likewise.prior.base import PriorEstimate
from likewise.prior.latent_classes import (
    Counts,
    count_pairs,
    count_rows,
    profile_log_likelihood,
)
from likewise.prior.scores import Candidate, Triple, learn_score

_EDGES = np.array([0.06, 0.15, 0.3, 0.5, 0.75])
"""Ranks among unlabeled rows at which bins end; finer where the smaller class is."""
_LEARNING_SIZE = 3000
"""Pairs and rows that scores are learned from at most; all others are then held out."""
_KERNEL_SIZE = 20_000
"""Pairs and rows that a kernel score is evaluated on at most; it costs more than a product."""
_MOST_FEATURES = 2000
"""Learning a score takes time cubic in the features."""
_N_FOLDS = 5
_CAUTION = 0.65
"""Power of the likelihood. Rows scored by models that share most of their training rows tell less
than as many independent ones: on simulated waveform samples the plain likelihood's 90 % intervals
held the prior in 70 to 97 % of draws."""
_NO_SIGNAL = 1.0
"""Standard errors by which the pairs' covariance must exceed zero to count as a signal."""


class PairMomentPrior(BaseEstimator):
    """Share of the larger class from similar pairs and unlabeled rows.

    Scores that tell the classes apart are learned by the pair likelihood, linear or with kernel
    features and a penalty, whichever does best on held-out pairs. Rows are scored by models that
    did not see them (cross-fitting, or held-out rows where there are many). The prior follows from
    how often pairs and rows fall into bins of that score; it is right whatever the score is worth.

    Parameters
    ----------
    level : float in (0, 1), default 0.95
        Level of the interval.
    random_state : int, RandomState instance or None, default None
        Deals out folds and picks kernel centres and learning rows.

    Attributes
    ----------
    estimate_ : PriorEstimate
        Its value is the posterior mean under a flat prior on [1/2, 1], its interval the narrowest
        that holds `level` of the posterior; near 1/2 it touches 1/2. ``diagnostics``: ``signal``
        (standard errors by which pair members vary together), ``information`` (nats per pair on
        held-out pairs), ``features``, ``alpha``, ``n_pairs``, ``n_rows``, and ``notes``.
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "level": [Interval(Real, 0.0, 1.0, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(self, *, level: float = 0.95, random_state: Any = None) -> None:
        self.level = level
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Estimate the prior from weak labels.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
        y : integer array of shape (n_rows,)
            Weak labels as `likewise.pack` makes them, with at least ten similar pairs and ten
            unlabeled rows.

        Returns
        -------
        self
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        rows = locate_su(y, X.shape[0], type(self).__name__)
        n_pairs, n_rows = count_positions(rows.left), count_positions(rows.unlabeled)
        if X.shape[1] > _MOST_FEATURES:
            raise ValueError(
                f"Estimating the prior takes at most {_MOST_FEATURES} features, but X has "
                f"{X.shape[1]}: reduce them, for instance with sklearn.decomposition.TruncatedSVD, "
                "or pass prior=... if you know it."
            )
        if min(n_pairs, n_rows) < 2 * _N_FOLDS:
            raise ValueError(
                f"Estimating the prior needs at least {2 * _N_FOLDS} similar pairs and unlabeled "
                f"rows, but there are {n_pairs} pairs and {n_rows} rows: pass prior=... instead."
            )
        random_state = check_random_state(self.random_state)
        learning, others = _split(rows, random_state)
        # Hundreds of small products: threads would wait for each other longer than they work.
        with threadpool_limits(1, user_api="blas"):
            candidate = learn_score(_dense(X, learning), _N_FOLDS, random_state)
        if others is None:
            counts = Counts.of_ranks(candidate.left, candidate.right, candidate.unlabeled, _EDGES)
        else:
            counts = _count_held_out(candidate, X, others)
        self.estimate_ = _estimate(counts, candidate, self.level)
        self.prior_ = self.estimate_.value
        return self


def _count_held_out(candidate: Candidate, X: Any, rows: RowSets) -> Counts:
    """Count bins over rows outside the learning sample, in one pass."""
    if candidate.features.kernel is not None:
        rows = _first(rows, _KERNEL_SIZE)
    scores, n_bins = candidate.quantiles, _EDGES.size + 1
    limits = scores[(_EDGES * scores.size).astype(np.intp)]

    def bins_of(table: Any) -> NDArray[np.intp]:
        return np.searchsorted(limits, candidate.score(table))

    engine = MemoryEngine(X, rows)

    def count_block_of_pairs(block: Block) -> tuple[FloatArray]:
        left, right = block.tables
        return (count_pairs(bins_of(left), bins_of(right), n_bins),)

    (pairs,) = engine.map_reduce("similar", count_block_of_pairs)
    (singles,) = engine.map_reduce(
        "unlabeled", lambda block: (count_rows(bins_of(block.tables[0]), n_bins),)
    )
    return Counts.of_tables(pairs, singles, _EDGES)


def _estimate(counts: Counts, candidate: Candidate, level: float) -> PriorEstimate:
    priors, weights = _posterior(counts)
    value, interval = float(priors @ weights), _narrowest(priors, weights, level)
    signal = counts.signal()
    notes = []
    if signal < _NO_SIGNAL:
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
            "information": -candidate.held_out,
            "features": candidate.features.name,
            "alpha": candidate.alpha,
            "n_pairs": round(float(counts.pairs.sum())),
            "n_rows": round(float(counts.rows.sum())),
            "notes": notes,
        },
    )


def _posterior(counts: Counts) -> tuple[FloatArray, FloatArray]:
    """Return a grid of priors and the posterior weight of each, finer where it is narrow."""
    low, high = 0.5, 0.999
    while True:
        priors = np.linspace(low, high, 41)
        logs = _CAUTION * profile_log_likelihood(counts, priors)
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        mean = priors @ weights
        deviation = np.sqrt(weights @ (priors - mean) ** 2)
        step = priors[1] - priors[0]
        if deviation >= 2.0 * step or step < 1e-6:
            return priors, weights
        reach = max(6.0 * deviation, 2.0 * step)
        peak = priors[int(np.argmax(weights))]
        low, high = max(0.5, peak - reach), min(0.999, peak + reach)


def _narrowest(priors: FloatArray, weights: FloatArray, level: float) -> tuple[float, float]:
    """Return the narrowest interval that holds `level` of the weight; the grid ends are 1/2, 1."""
    total = np.concatenate([[0.0], np.cumsum(weights)])
    ends = np.searchsorted(total, total[:-1] + level * total[-1] - 1e-12)
    possible = ends < total.size
    starts = np.flatnonzero(possible)
    widths = ends[possible] - starts
    start = int(starts[np.argmin(widths)])
    stop = int(ends[start]) - 1
    return float(priors[start]), 1.0 if priors[stop] >= 0.999 else float(priors[stop])


def _split(rows: RowSets, random_state: np.random.RandomState) -> tuple[RowSets, RowSets | None]:
    """Return learning rows and held-out rows; with few rows all are for learning."""
    n_pairs, n_rows = count_positions(rows.left), count_positions(rows.unlabeled)
    if max(n_pairs, n_rows) <= 2 * _LEARNING_SIZE:
        return rows, None
    halves = (min(n_pairs // 2, _LEARNING_SIZE), min(n_rows // 2, _LEARNING_SIZE))
    pairs, singles = random_state.permutation(n_pairs), random_state.permutation(n_rows)
    return (
        _chosen(rows, pairs[: halves[0]], singles[: halves[1]]),
        _chosen(rows, np.sort(pairs[halves[0] :]), np.sort(singles[halves[1] :])),
    )


def _first(rows: RowSets, count: int) -> RowSets:
    return _chosen(rows, slice(0, count), slice(0, count))


def _chosen(rows: RowSets, pairs: Any, singles: Any) -> RowSets:
    left, right = row_numbers(rows.left)[pairs], row_numbers(rows.right)[pairs]
    return rows._replace(left=left, right=right, unlabeled=row_numbers(rows.unlabeled)[singles])


def _dense(X: Any, rows: RowSets) -> Triple:
    tables = (take_rows(X, positions) for positions in (rows.left, rows.right, rows.unlabeled))
    return Triple(
        *(
            table.toarray() if hasattr(table, "toarray") else np.asarray(table, dtype=np.float64)
            for table in tables
        )
    )
