"""Class scores from pairs: feature maps and penalties, the best on held-out pairs is kept."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from likewise.engines.arrays import to_numpy
from likewise.engines.base import Engine
from likewise.engines.finite import raise_not_finite
from likewise.engines.memory import MemoryEngine
from likewise.learner.crossfit import Candidate, cross_fit, cross_fit_by_passes, cross_fit_from
from likewise.learner.design import Design, Sample
from likewise.learner.features import RadialFeatures, column_scale
from likewise.learner.table import Table
from likewise.likelihood import Counts
from likewise.losses import FloatArray
from likewise.pairs import RowSets, is_sparse
from likewise.selection import PairKFold

__all__ = [
    "FeatureMap",
    "Learned",
    "Selection",
    "Settings",
    "Tried",
    "default_alphas",
    "feature_maps",
    "learn",
    "learn_from_engine",
]

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
_SAMPLE_SIZE = 20_000
"""Pairs and rows that scores are judged and calibrated on at most, where there are twice as many;
and that scores of radial features, or of more than two classes, are learned from."""
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

    def standardise(self, rows: Any) -> Any:
        """Return dense rows of any library as the score sees them, centred and scaled."""
        if self.transformer is None:
            return Design(rows, self.mean, self.scale).standardise(rows)
        return self.design(to_numpy(rows)).dense()


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
    features: Any,
    n_columns: int,
    random_state: np.random.RandomState,
    *,
    is_sparse_table: bool = False,
) -> list[tuple[str, Any]]:
    """Return the names and transformers, not fitted, that a choice of features stands for.

    Parameters
    ----------
    features : {"auto", "linear", "rbf"} or transformer
    n_columns : int
        Number of columns of the table.
    random_state : RandomState
    is_sparse_table : bool
        Whether the table is sparse.
    """
    linear: tuple[str, Any] = ("linear", None)
    if isinstance(features, str):
        seed = random_state.randint(2**31 - 1)
        kernels = [
            (f"rbf {width:g}", RadialFeatures(width, random_state=seed)) for width in _WIDTHS
        ]
        if n_columns > _FEWEST_TO_REDUCE:
            reduced = RadialFeatures(_WIDTHS[0], principal=True, random_state=seed)
            kernels.append((f"rbf {_WIDTHS[0]:g} pc", reduced))
        if features == "auto" and is_sparse_table and n_columns > _MOST_KERNEL_FEATURES:
            return [linear]
        return {"auto": [linear, *kernels], "linear": [linear], "rbf": kernels}[features]
    return [(type(features).__name__, clone(features))]


@dataclass(frozen=True)
class Settings:
    """How to learn.

    Attributes
    ----------
    cv : int
        Number of folds.
    alphas : sequence of floats, optional
        By default what `default_alphas` says.
    n_classes : int
    is_free : bool
        Whether pairs have shares of their own instead of being formed at random.
    n_jobs : int or None
        Feature maps that are worked on side by side.
    """

    cv: int
    alphas: Sequence[float] | None = None
    n_classes: int = 2
    is_free: bool = False
    n_jobs: int | None = None


def learn(
    X: Any,
    rows: RowSets,
    maps: Sequence[tuple[str, Any]],
    settings: Settings,
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
    settings : Settings
    random_state : RandomState

    Returns
    -------
    Learned
    """
    whole = Table.of(X, rows)
    engine = None
    if not is_sparse(X) and not whole.counts.dissimilar:
        engine = MemoryEngine(whole.rows, whole.counts.row_sets)
    source = _Source(whole.counts, engine, whole, whole.thinned)
    return _Search(settings, random_state).run(source, maps)


def learn_from_engine(
    engine: Engine,
    maps: Sequence[tuple[str, Any]],
    settings: Settings,
    random_state: np.random.RandomState,
) -> Learned:
    """Learn from rows that are not in memory; see `learn`.

    Scores of two classes that are linear in the columns or in what a transformer makes of them
    are learned from all rows, others from a sample.
    """
    counts = Counts(engine.count("unlabeled"), engine.count("similar"))

    def sample(size: int) -> Table:
        found = Table.of_engine(engine, size)
        if not np.isfinite(found.rows).all():
            raise_not_finite(engine)
        return found

    return _Search(settings, random_state).run(_Source(counts, engine, None, sample), maps)


@dataclass(frozen=True)
class _Source:
    """Where rows are.

    Attributes
    ----------
    counts : Counts
    engine : Engine or None
        What passes go over; None if they cannot: sparse rows, dissimilar pairs.
    table : Table or None
        All rows, if they are in memory.
    sample : callable
        Returns so many of the rows and pairs in memory.
    """

    counts: Counts
    engine: Engine | None
    table: Table | None
    sample: Callable[[int], Table]


@dataclass(frozen=True)
class _Search:
    settings: Settings
    random_state: np.random.RandomState

    def run(self, source: _Source, maps: Sequence[tuple[str, Any]]) -> Learned:
        sample = source.sample(_SAMPLE_SIZE)
        some = sample.thinned(_SELECTION_SIZE)
        folds = self._deal(some)
        pool = self._try(some, folds, maps)
        features, best = max(pool, key=lambda entry: entry[1].information)
        selection = _selection(pool, best)
        if some.counts != source.counts:
            shrinkage = math.sqrt(some.counts.pairs / source.counts.pairs)
            alpha = best.alpha * (1.0 if self.settings.alphas else shrinkage)
            best, some, folds = self._learn_from_more(features, best, alpha, source, sample)
        return Learned(features, best, selection, some.counts, folds)

    def _deal(self, table: Table) -> Any:
        splitter = PairKFold(self.settings.cv, shuffle=True, random_state=self.random_state)
        return splitter.deal(table.counts.row_sets, table.counts.rows)

    def _try(
        self, table: Table, folds: Any, maps: Sequence[tuple[str, Any]]
    ) -> list[tuple[FeatureMap, Candidate]]:
        """Cross-fit every feature map at every penalty."""
        seeds = self.random_state.randint(2**31 - 1, size=len(maps))
        # Hundreds of small products: threads would wait for each other longer than they work.
        with threadpool_limits(1, user_api="blas"):
            found = Parallel(n_jobs=self.settings.n_jobs)(
                delayed(_cross_fit_map)(table, folds, name, transformer, self.settings, int(seed))
                for (name, transformer), seed in zip(maps, seeds, strict=True)
            )
        return [(features, candidate) for features, tried in found for candidate in tried]

    def _learn_from_more(
        self, features: FeatureMap, best: Candidate, alpha: float, source: _Source, sample: Table
    ) -> tuple[Candidate, Table, Any]:
        """Learn the chosen model from all rows, or from the sample where passes cannot."""
        is_linear = not isinstance(features.transformer, RadialFeatures)
        by_passes = source.engine is not None and self.settings.n_classes == 2 and is_linear
        if not by_passes and source.table is not None and features.transformer is None:
            sample = source.table
        folds = self._deal(sample)
        rows = Sample(features.design(sample.rows), sample.counts)
        if not by_passes or is_sparse(rows.design.rows):
            with threadpool_limits(1, user_api="blas"):
                return cross_fit_from(rows, folds, alpha, best.model), sample, folds
        whole = None if sample.counts == source.counts else source.engine
        found = cross_fit_by_passes(whole, features.standardise, rows, folds, alpha, best.model)
        return found, sample, folds


def _cross_fit_map(
    table: Table, folds: Any, name: str, transformer: Any, settings: Settings, seed: int
) -> tuple[FeatureMap, list[Candidate]]:
    features, design = FeatureMap.fit(name, transformer, table.rows)
    candidates = cross_fit(
        Sample(design, table.counts),
        folds,
        settings.alphas or default_alphas(table.counts.pairs),
        settings.n_classes,
        is_free=settings.is_free,
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
