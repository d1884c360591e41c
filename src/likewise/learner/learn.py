"""Class scores from pairs: feature maps and penalties, the best on held-out pairs is kept."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from likewise.learner.crossfit import Candidate, cross_fit, cross_fit_from
from likewise.learner.design import Design, Sample, count_among, in_order, thin
from likewise.learner.features import RadialFeatures, column_scale
from likewise.likelihood import Counts
from likewise.losses import FloatArray
from likewise.pairs import RowSets, is_sparse, take_rows
from likewise.selection import PairKFold

__all__ = ["FeatureMap", "Learned", "Selection", "Tried", "default_alphas", "feature_maps", "learn"]

_ALPHAS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
"""Penalties for a sample of `_USUAL_PAIRS` pairs."""
_USUAL_PAIRS = 500
_WIDTHS = (0.9, 0.5)
"""Kernel widths, in units of the typical distance of two rows."""
_FEWEST_TO_REDUCE = 2
"""With more columns, a kernel of their principal components is tried too."""
_MOST_KERNEL_FEATURES = 2000
"""Sparse tables with more columns are not made dense for a kernel."""
_SELECTION_SIZE = 4000
"""Pairs and rows that features and penalty are chosen on at most, where there are twice as many."""
_KERNEL_SIZE = 20_000
"""Pairs and rows that scores of other features than the columns are then learned from at most."""
_ODDS = 20.0
"""Odds against chance, after allowing for all that was tried, that count as a signal."""


@dataclass(frozen=True)
class FeatureMap:
    """What a score is linear in: the standardised columns, or a transformer's.

    Attributes
    ----------
    name : str
    transformer : fitted transformer, or None for the columns themselves
    mean, scale : arrays of shape (n_map_features,)
    """

    name: str
    transformer: Any
    mean: FloatArray
    scale: FloatArray

    @classmethod
    def fit(cls, name: str, transformer: Any, rows: Any) -> tuple["FeatureMap", Design]:
        """Fit a map to rows and return it with the rows' design."""
        if transformer is None:
            mean, scale = column_scale(rows)
        else:
            rows = _float_table(transformer.fit_transform(rows))
            radial = isinstance(transformer, RadialFeatures)
            mean, scale = _unscaled(rows) if radial else column_scale(rows)
        return cls(name, transformer, mean, scale), Design(rows, mean, scale)

    def design(self, rows: Any) -> Design:
        """Return other rows as the score sees them."""
        if self.transformer is not None:
            rows = _float_table(self.transformer.transform(rows))
        return Design(rows, self.mean, self.scale)


def _unscaled(rows: Any) -> tuple[FloatArray, FloatArray]:
    return np.zeros(rows.shape[1]), np.ones(rows.shape[1])


def _float_table(rows: Any) -> Any:
    return rows.tocsr() if is_sparse(rows) else np.asarray(rows, dtype=np.float64)


@dataclass(frozen=True)
class Tried:
    """One line of the selection: features, penalty, held-out log-likelihood in nats per pair."""

    features: str
    alpha: float
    information: float
    standard_error: float
    chosen: bool


@dataclass(frozen=True)
class Selection:
    """All that was tried, in order; prints as a table."""

    rows: tuple[Tried, ...]

    def __str__(self) -> str:
        lines = [f"{'features':<12}{'alpha':>10}{'held-out nats':>16}{'s.e.':>9}"]
        for row in self.rows:
            mark = "  <- chosen" if row.chosen else ""
            lines.append(
                f"{row.features:<12}{row.alpha:>10.2g}{row.information:>16.4f}"
                f"{row.standard_error:>9.4f}{mark}"
            )
        return "\n".join(lines)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns of the table."""
        names = ("features", "alpha", "information", "standard_error", "chosen")
        return {name: [getattr(row, name) for row in self.rows] for name in names}


@dataclass(frozen=True)
class Learned:
    """The best features and penalty, with what all others reached.

    Attributes
    ----------
    features : FeatureMap
    candidate : Candidate
    selection : Selection
    counts : Counts
    folds : integer array of shape (n_rows,)
        Fold of every row, in the order of `Counts`.
    """

    features: FeatureMap
    candidate: Candidate
    selection: Selection
    counts: Counts
    folds: Any

    @property
    def has_signal(self) -> bool:
        """Whether held-out pairs speak for the scores, after allowing for all that was tried."""
        evidence = self.candidate.information * self.counts.pairs
        return evidence > math.log(_ODDS * len(self.selection.rows))

    def scores(self, rows: Any) -> FloatArray:
        """Return the scores of other rows, shape (n_rows, m)."""
        return self.features.design(rows).decide(self.candidate.model.weights)


def default_alphas(n_pairs: int) -> tuple[float, ...]:
    """Return penalties that suit a number of pairs: the noise they hold down falls with it."""
    factor = math.sqrt(_USUAL_PAIRS / n_pairs)
    return tuple(alpha * factor for alpha in _ALPHAS)


def feature_maps(
    features: Any, X: Any, random_state: np.random.RandomState
) -> list[tuple[str, Any]]:
    """Return the names and transformers, not fitted, that a choice of features stands for.

    Parameters
    ----------
    features : {"auto", "linear", "rbf"} or transformer
    X : table of shape (n_rows, n_features)
    random_state : RandomState
    """
    linear: tuple[str, Any] = ("linear", None)
    if isinstance(features, str):
        seed = random_state.randint(2**31 - 1)
        kernels = [
            (f"rbf {width:g}", RadialFeatures(width, random_state=seed)) for width in _WIDTHS
        ]
        if X.shape[1] > _FEWEST_TO_REDUCE:
            reduced = RadialFeatures(_WIDTHS[0], principal=True, random_state=seed)
            kernels.append((f"rbf {_WIDTHS[0]:g} pc", reduced))
        if features == "auto" and is_sparse(X) and X.shape[1] > _MOST_KERNEL_FEATURES:
            return [linear]
        return {"auto": [linear, *kernels], "linear": [linear], "rbf": kernels}[features]
    return [(type(features).__name__, clone(features))]


def learn(
    X: Any,
    rows: RowSets,
    maps: Sequence[tuple[str, Any]],
    *,
    alphas: Sequence[float] | None = None,
    cv: int,
    n_classes: int = 2,
    is_free: bool = False,
    n_jobs: int | None = None,
    random_state: np.random.RandomState,
) -> Learned:
    """Cross-fit every feature map at every penalty and keep the best.

    With many rows, features and penalty are chosen on some of them, and the best is then learned
    from all.

    Parameters
    ----------
    X : array or scipy CSR matrix of shape (n_rows, n_features)
    rows : RowSets
        Where pairs and unlabeled rows stand in `X`.
    maps : sequence of (name, transformer)
    alphas : sequence of floats, optional
        By default what `default_alphas` says.
    cv : int
        Number of folds.
    n_classes : int
    is_free : bool
        Whether pairs have shares of their own instead of being formed at random.
    n_jobs : int or None
        Feature maps that are worked on side by side.
    random_state : RandomState

    Returns
    -------
    Learned
    """
    table, counts = in_order(X, rows)
    splitter = PairKFold(cv, shuffle=True, random_state=random_state)
    whole = _Table(table, counts, splitter.deal(counts.row_sets, counts.rows))
    some = whole.thinned(_SELECTION_SIZE, random_state)
    seeds = random_state.randint(2**31 - 1, size=len(maps))
    settings = (alphas or default_alphas(some.counts.pairs), n_classes, is_free)
    # Hundreds of small products: threads would wait for each other longer than they work.
    with threadpool_limits(1, user_api="blas"):
        found = Parallel(n_jobs=n_jobs)(
            delayed(_cross_fit_map)(some, name, transformer, *settings, int(seed))
            for (name, transformer), seed in zip(maps, seeds, strict=True)
        )
        pool = [(features, candidate) for features, tried in found for candidate in tried]
        features, best = max(pool, key=lambda entry: entry[1].information)
        selection = _selection(pool, best)
        if some is not whole:
            shrinkage = 1.0 if alphas else math.sqrt(some.counts.pairs / counts.pairs)
            some = whole
            if features.transformer is not None:
                some = whole.thinned(_KERNEL_SIZE, random_state)
            sample = Sample(features.design(some.rows), some.counts)
            best = cross_fit_from(sample, some.folds, shrinkage * best.alpha, best.model)
    return Learned(features, best, selection, some.counts, some.folds)


@dataclass(frozen=True)
class _Table:
    """Rows in the order of `Counts`, with the fold of each."""

    rows: Any
    counts: Counts
    folds: Any

    def thinned(self, size: int, random_state: np.random.RandomState) -> "_Table":
        """Return at most so many rows and pairs; the table itself unless it has twice as many."""
        if max(self.counts) <= 2 * size:
            return self
        chosen = thin(self.counts, size, random_state)
        return _Table(
            take_rows(self.rows, np.flatnonzero(chosen)),
            count_among(self.counts, chosen),
            self.folds[chosen],
        )


def _cross_fit_map(
    table: _Table,
    name: str,
    transformer: Any,
    alphas: Sequence[float],
    n_classes: int,
    is_free: bool,
    seed: int,
) -> tuple[FeatureMap, list[Candidate]]:
    features, design = FeatureMap.fit(name, transformer, table.rows)
    candidates = cross_fit(
        Sample(design, table.counts),
        table.folds,
        alphas,
        n_classes,
        is_free=is_free,
        random_state=np.random.RandomState(seed),
    )
    return features, candidates


def _selection(pool: Iterable[tuple[FeatureMap, Candidate]], best: Candidate) -> Selection:
    return Selection(
        tuple(
            Tried(
                features.name,
                float(candidate.alpha),
                candidate.information,
                float(candidate.held_out.std(ddof=1) / np.sqrt(candidate.held_out.size)),
                candidate is best,
            )
            for features, candidate in pool
        )
    )
