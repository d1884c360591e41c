"""Class scores from pairs: feature maps and penalties, chosen by the likelihood of held-out pairs.

The best of two classes may be a weighted sum over feature maps (see `likewise.search.blend`).
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from likewise._types import FloatArray
from likewise.beliefs.fresh import Counts
from likewise.engines.base import Engine
from likewise.engines.finite import raise_not_finite
from likewise.engines.memory import MemoryEngine
from likewise.engines.rows import RowSets, is_sparse
from likewise.scores.design import Sample
from likewise.scores.features import RadialFeatures
from likewise.scores.maps import FeatureMap
from likewise.search.blend import Entry, blend
from likewise.search.crossfit import Candidate, cross_fit, cross_fit_by_passes, cross_fit_from
from likewise.search.reuse import find_reuse
from likewise.search.table import Table
from likewise.search.tried import Selection, Tried
from likewise.statements.folds import PairKFold

__all__ = [
    "Learned",
    "Settings",
    "default_alphas",
    "learn",
    "learn_from_engine",
]

_ALPHAS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
"""Penalties for a sample of `_USUAL_PAIRS` pairs."""
_USUAL_PAIRS = 500
_SELECTION_SIZE = 4000
"""Pairs and rows that features and penalty are chosen on at most, where there are twice as many."""
_SAMPLE_SIZE = 20_000
"""Pairs and rows that scores are judged and calibrated on at most, where there are twice as many;
and that scores of radial features, or of more than two classes, are learned from."""
_FEW_PAIRS, _FEW_PER_COLUMN = 500, 6
"""With fewer pairs than either says, a signal must show itself in folds that find their own hills
too (see `cross_fit`)."""
_ODDS = 20.0
"""Odds against chance, after allowing for all that was tried, that count as a signal."""


@dataclass(frozen=True)
class Learned:
    """The best features and penalty, with what all others reached.

    Attributes
    ----------
    features : FeatureMap
    candidate : Candidate
    selection : Selection
    counts : Counts
    deal : Deal
    confirmed : float or None
        With few pairs, the most that these tell of any model if folds find their own hills (see
        `cross_fit`), in nats per held-out pair.
    """

    features: FeatureMap
    candidate: Candidate
    selection: Selection
    counts: Counts
    deal: "Deal"
    confirmed: float | None = None

    @property
    def information(self) -> float:
        """Nats per held-out pair that can be relied on."""
        found = self.candidate.information
        return found if self.confirmed is None else min(found, self.confirmed)

    @property
    def folds(self) -> NDArray[np.intp]:
        """Fold of every row, in the order of `Counts`."""
        return self.deal.folds

    @property
    def freshness(self) -> float:
        """What a pair is worth: below one where rows are in several (see `Reuse`)."""
        return self.deal.freshness

    @property
    def has_signal(self) -> bool:
        """Whether held-out pairs speak for the scores, after allowing for all that was tried."""
        return self.information * self.deal.n_judged > _enough(len(self.selection.rows))

    def scores(self, rows: Any) -> FloatArray:
        """Return the scores of other rows, shape (n_rows, m)."""
        return self.features.design(rows).decide(self.candidate.model.weights)


@dataclass(frozen=True)
class Deal:
    """Folds, and what the pairs in them are worth.

    Attributes
    ----------
    folds : integer array of shape (n_rows,)
    freshness : float
        One, or the share of rows of their own among the members (see `Reuse`).
    n_judged : float
        Pairs that are held out whole; where rows are in several, half their number of rows.
    """

    folds: NDArray[np.intp]
    freshness: float
    n_judged: float


def default_alphas(n_pairs: int) -> tuple[float, ...]:
    """Return penalties that suit a number of pairs: the noise they hold down falls with it."""
    factor = math.sqrt(_USUAL_PAIRS / n_pairs)
    return tuple(alpha * factor for alpha in _ALPHAS)


@dataclass(frozen=True)
class Settings:
    """How to learn.

    Attributes
    ----------
    cv : int
        Number of folds.
    alphas : sequence of floats, or mapping from names of feature maps to such, optional
        By default what `default_alphas` says.
    n_classes : int
    is_free : bool
        Whether pairs have shares of their own instead of being formed at random.
    n_jobs : int or None
        Feature maps that are worked on side by side.
    """

    cv: int
    alphas: Sequence[float] | Mapping[str, Sequence[float]] | None = None
    n_classes: int = 2
    is_free: bool = False
    n_jobs: int | None = None

    def alphas_for(self, name: str, n_pairs: int) -> Sequence[float]:
        """Return the penalties to try with a feature map."""
        if isinstance(self.alphas, Mapping):
            return self.alphas[name]
        return self.alphas or default_alphas(n_pairs)


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
        deal = self._deal(some)
        pool = self._try(some, deal.folds, maps)
        is_whole = some.counts == source.counts
        if is_whole and self.settings.n_classes == 2:
            pool += _sums(pool, some.counts, deal.folds)
        best = max(pool, key=_information)
        confirmed = None
        few = max(_FEW_PAIRS, _FEW_PER_COLUMN * some.rows.shape[1])
        if some.counts.pairs < few and _information(best) > 0:
            confirmed = self._confirm(pool, some, deal)
        found = best.candidate
        if not is_whole:
            found, some, deal = self._learn_from_more(best, some.counts.pairs, source, sample)
        selection = _selection(pool, best)
        return Learned(best.features, found, selection, some.counts, deal, confirmed)

    def _deal(self, table: Table) -> Deal:
        splitter = PairKFold(self.settings.cv, shuffle=True, random_state=self.random_state)
        counts = table.counts
        folds = splitter.deal(counts.row_sets, counts.rows)
        reuse = find_reuse(table.rows, counts.row_sets)
        if reuse is None:
            return Deal(folds, 1.0, counts.pairs)
        left, right = reuse.deal(self.settings.cv, self.random_state)
        folds[counts.left], folds[counts.dissimilar_left] = np.split(left, [counts.similar])
        folds[counts.right], folds[counts.dissimilar_right] = np.split(right, [counts.similar])
        judged = np.unique(reuse.members[:, left == right])
        return Deal(folds, reuse.freshness, judged.size / 2)

    def _try(self, table: Table, folds: Any, maps: Sequence[tuple[str, Any]]) -> list[Entry]:
        """Cross-fit every feature map at every penalty."""
        seeds = self.random_state.randint(2**31 - 1, size=len(maps))
        # Hundreds of small products: threads would wait for each other longer than they work.
        with threadpool_limits(1, user_api="blas"):
            found = Parallel(n_jobs=self.settings.n_jobs)(
                delayed(_cross_fit_map)(table, folds, name, transformer, self.settings, int(seed))
                for (name, transformer), seed in zip(maps, seeds, strict=True)
            )
        return [Entry(features, candidate) for features, tried in found for candidate in tried]

    def _confirm(self, pool: Sequence[Entry], table: Table, deal: Deal) -> float:
        """Return what held-out pairs tell if folds find their own hills.

        Feature maps are tried, the best first, until one tells enough; else it is the most.
        """
        found = -math.inf
        maps = {entry.features.name: entry.features for entry in _ranked(pool)}
        for features in maps.values():
            with threadpool_limits(1, user_api="blas"):
                found = max(found, _confirm_map(table, deal.folds, features, self.settings))
            if found * deal.n_judged > _enough(len(pool)):
                break
        return found

    def _learn_from_more(
        self, best: Entry, n_pairs: int, source: _Source, sample: Table
    ) -> tuple[Candidate, Table, Deal]:
        """Learn the chosen model from all rows, or from the sample where passes cannot.

        The penalty was chosen on `n_pairs` pairs: with more, it falls.
        """
        features, model = best.features, best.candidate.model
        alpha = cast(float, best.candidate.alpha)  # a sum is not learned from more rows
        if not self.settings.alphas:
            alpha *= math.sqrt(n_pairs / source.counts.pairs)
        is_linear = not isinstance(features.transformer, RadialFeatures)
        by_passes = source.engine is not None and self.settings.n_classes == 2 and is_linear
        if not by_passes and source.table is not None and features.transformer is None:
            sample = source.table
        deal = self._deal(sample)
        rows = Sample(features.design(sample.rows), sample.counts)
        if not by_passes or is_sparse(rows.design.rows):
            with threadpool_limits(1, user_api="blas"):
                return cross_fit_from(rows, deal.folds, alpha, model), sample, deal
        whole = None if sample.counts == source.counts else source.engine
        found = cross_fit_by_passes(whole, features.standardise, rows, deal.folds, alpha, model)
        return found, sample, deal


def _cross_fit_map(
    table: Table, folds: Any, name: str, transformer: Any, settings: Settings, seed: int
) -> tuple[FeatureMap, list[Candidate]]:
    features, design = FeatureMap.fit(name, transformer, table.rows)
    candidates = cross_fit(
        Sample(design, table.counts),
        folds,
        settings.alphas_for(name, table.counts.pairs),
        settings.n_classes,
        is_free=settings.is_free,
        random_state=np.random.RandomState(seed),
    )
    return features, candidates


def _confirm_map(table: Table, folds: Any, features: FeatureMap, settings: Settings) -> float:
    alphas = settings.alphas_for(features.name, table.counts.pairs)
    steps = [step for step in default_alphas(table.counts.pairs) if step > max(alphas)]
    path = cross_fit(
        Sample(features.design(table.rows), table.counts),
        folds,
        [*steps, *alphas],
        settings.n_classes,
        is_free=settings.is_free,
        random_state=np.random.RandomState(0),
        own_ways=True,
    )
    return max(candidate.information for candidate in path)


def _information(entry: Entry) -> float:
    return entry.candidate.information


def _ranked(pool: Sequence[Entry]) -> list[Entry]:
    """Return scores of single feature maps, those first of which held-out pairs tell most."""
    single = (entry for entry in pool if not entry.weights)
    return sorted(single, key=_information, reverse=True)


def _enough(n_tried: int) -> float:
    """Return the nats that count as a signal."""
    return math.log(_ODDS * n_tried)


def _sums(pool: Sequence[Entry], counts: Counts, folds: Any) -> list[Entry]:
    """Return the sum over the feature maps that held-out pairs speak for, if there are several."""
    best: dict[str, Entry] = {}
    for entry in _ranked(pool):
        best.setdefault(entry.features.name, entry)
    parts = [entry for entry in best.values() if _information(entry) > 0]
    found = blend(parts, counts, folds) if len(parts) > 1 else None
    return [found] if found else []


def _selection(pool: Iterable[Entry], best: Entry) -> Selection:
    return Selection(tuple(_tried(entry, best) for entry in pool))


def _tried(entry: Entry, best: Entry) -> Tried:
    candidate = entry.candidate
    return Tried(
        entry.features.name,
        candidate.alpha,
        candidate.information,
        _standard_error(candidate.held_out),
        1.0 if entry is best else best.weights.get(entry, 0.0),
        entry is best,
    )


def _standard_error(values: FloatArray) -> float:
    """Return the standard error of a mean; of a single value nothing is known."""
    return float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else math.inf
