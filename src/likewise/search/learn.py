"""Class scores from statements: feature maps and penalties, chosen by held-out statements.

The best of two classes may be a weighted sum over feature maps (see `likewise.search.blend`).
"""

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from likewise._types import FloatArray
from likewise._verbose import step
from likewise.beliefs.base import HeldOut, Likelihood
from likewise.engines.rows import is_sparse
from likewise.scores.features import RadialFeatures
from likewise.scores.maps import SPARSE, FeatureMap
from likewise.search.blend import Entry, blend, join
from likewise.search.climb import Climbed, climb, climb_path
from likewise.search.crossfit import (
    Candidate,
    aligned,
    cross_fit,
    cross_fit_at,
    fit_whole,
    parts_of,
)
from likewise.search.passes import State, minimise_by_passes
from likewise.search.rows import MemoryRows, Some, SourceRows
from likewise.search.sample import Sample
from likewise.search.settings import Settings
from likewise.search.sparse import can_be_sparse, posterior_mean, posterior_path
from likewise.search.streamed import TableScores, minimise_table
from likewise.search.tried import Selection, Tried
from likewise.statements.folds import deal_rows

__all__ = ["Learned", "learn", "standard_error"]

_SELECTION_SIZE = 4000
"""Statements and rows that features and penalty are chosen on at most, where there are twice as
many."""
_SAMPLE_SIZE = 20_000
"""Statements and rows that scores are judged and calibrated on at most, where there are twice as
many; and that scores of radial features are learned from."""
_FEW_PAIRS, _FEW_PER_COLUMN = 1000, 6
"""With fewer pairs than either says, folds find their own optima (see `cross_fit`). When folds
started from the model of all rows, noise passed for a signal in 25 % of samples of 40 pairs and 20
columns, in 80 % of 120 and 60, in 90 % of 500 and 300; and of 50 samples of 500 pairs and 18 or 28
columns in three, once with odds of exp(22)."""
_ODDS = 20.0
"""Odds against noise that count as a signal: noise reaches them in one sample of 20 at most."""


@dataclass(frozen=True)
class Learned:
    """The best features and penalty, with what all others reached.

    Attributes
    ----------
    features : FeatureMap
    candidate : Candidate
    selection : Selection
    some : Some
        The rows and statements that it was judged on.
    likelihood : Likelihood
        Of these statements.
    parts : sequence of HeldOut
    """

    features: FeatureMap
    candidate: Candidate
    selection: Selection
    some: Some
    likelihood: Likelihood
    parts: Sequence[HeldOut]

    @property
    def information(self) -> float:
        """Nats per held-out statement."""
        return self.candidate.information

    @property
    def folds(self) -> NDArray[np.intp]:
        """Fold of every row that it was judged on."""
        found = np.zeros(self.likelihood.n_rows, dtype=np.intp)
        for number, part in enumerate(self.parts):
            found[part.rows] = number
        return found

    @property
    def log_odds(self) -> float:
        """Logarithm of the odds of a signal against none, were both as likely beforehand.

        How much more probable held-out statements are by the models that were tried than by a model
        without features, if one kind of features is as good as another beforehand, and one penalty
        of a kind as another. If there is no signal, every ratio of probabilities has a mean of one,
        and so has their mean: it exceeds 20 in at most one sample of 20, however many were tried.
        (Nearly so: models of folds share most of their rows.)

        Sums over kinds of features do not count: their weights are learned from scores of models
        that saw the fold, as in stacking, which is good enough to choose by and too kind to noise.
        """
        statements = self.some.statements
        count = self.likelihood.size if statements.is_fresh else statements.count
        of_kinds: dict[str, list[float]] = {}
        for row in self.selection.rows:
            if row.alpha is not None:
                of_kinds.setdefault(row.features, []).append(count * row.information)
        return _log_mean(
            [_log_mean(one) for one in of_kinds.values()] or [count * self.information]
        )

    @property
    def has_signal(self) -> bool:
        """Whether held-out statements speak for the scores beyond doubt."""
        return self.log_odds > math.log(_ODDS)

    def scores(self, rows: Any) -> FloatArray:
        """Return the scores of other rows, shape (n_rows, m)."""
        return self.features.design(rows).decide(self.candidate.weights)


def learn(
    source: SourceRows,
    maps: Sequence[tuple[str, Any]],
    settings: Settings,
    random_state: np.random.RandomState,
    known: NDArray[np.intp] | None = None,
) -> Learned:
    """Cross-fit every feature map at every penalty and keep the best.

    With many rows, features and penalty are chosen on some of them, and the best is then learned
    from all.

    Parameters
    ----------
    source : SourceRows
    maps : sequence of (name, transformer)
    settings : Settings
    random_state : RandomState
    known : integer array of shape (n_rows,), optional
        Classes of single rows of a table in memory; -1 where nothing is known.

    Returns
    -------
    Learned
    """
    return _Search(settings, random_state, known).run(source, maps)


@dataclass(frozen=True)
class _Search:
    settings: Settings
    random_state: np.random.RandomState
    known: NDArray[np.intp] | None

    @property
    def _keeps_rows(self) -> bool:
        return self.settings.pairing == "asked"

    def run(self, source: SourceRows, maps: Sequence[tuple[str, Any]]) -> Learned:
        sample = source.sample(_SAMPLE_SIZE, keeps_rows=self._keeps_rows)
        some = sample.thinned(_SELECTION_SIZE, keeps_rows=self._keeps_rows)
        likelihood, parts = self._deal(some)
        if not (some.is_whole and can_be_sparse(likelihood, some.rows.shape[1])):
            maps = [one for one in maps if one[0] != SPARSE] or maps
        pool = self._try(some, likelihood, parts, maps)
        if some.is_whole and self.settings.n_classes == 2:
            pool += _sums(pool, likelihood, parts)
        best = max(pool, key=_information)
        step(f"{best.features.name} features chosen")
        selection = _selection(pool, best)
        if not some.is_whole:
            return self._learn_from_more(best, selection, likelihood.size, source, sample)
        with threadpool_limits(1, user_api="blas"):
            found = _fit_whole(best, some, likelihood, self.random_state)
        return Learned(best.features, found, selection, some, likelihood, parts)

    def _deal(self, some: Some) -> tuple[Likelihood, list[HeldOut]]:
        known = self.known
        if known is not None and some.numbers is not None:
            known = known[some.numbers]
        likelihood = self.settings.likelihood(some.statements, known)
        folds = deal_rows(self.settings.cv, some.statements, self.random_state)
        return likelihood, parts_of(likelihood, folds)

    def _try(
        self,
        some: Some,
        likelihood: Likelihood,
        parts: Sequence[HeldOut],
        maps: Sequence[tuple[str, Any]],
    ) -> list[Entry]:
        """Cross-fit every feature map at every penalty."""
        seeds = self.random_state.randint(2**31 - 1, size=len(maps))
        # Hundreds of small products: threads would wait for each other longer than they work.
        with threadpool_limits(1, user_api="blas"):
            found = Parallel(n_jobs=self.settings.n_jobs)(
                delayed(_cross_fit_map)(
                    some.rows, likelihood, parts, name, transformer, self.settings, int(seed)
                )
                for (name, transformer), seed in zip(maps, seeds, strict=True)
            )
        return [Entry(features, candidate) for features, tried in found for candidate in tried]

    def _learn_from_more(
        self,
        best: Entry,
        selection: Selection,
        chosen_on: float,
        source: SourceRows,
        sample: Some,
    ) -> Learned:
        """Learn the chosen model from all rows, or from the sample where that is not possible.

        The penalty was chosen on `chosen_on` pairs: with more, it falls.
        """
        features, candidate = best.features, best.candidate
        likelihood, parts = self._deal(sample)
        rows = Sample(features.design(sample.rows), likelihood)
        alpha = self._fallen(candidate, chosen_on, likelihood.size)
        with threadpool_limits(1, user_api="blas"):
            judged = cross_fit_at(rows, parts, alpha, candidate.weights)
            alpha = self._fallen(candidate, chosen_on, source.n_pairs)
            start = climb(rows, alpha, judged.weights)
        weights = start.weights
        if not (sample.is_whole or isinstance(features.transformer, RadialFeatures)):
            weights = self._weights_of_all(features, alpha, start, source, rows)
        before, after = (rows.population.decide(w) for w in (judged.weights, weights))
        scores = aligned(judged.scores, before, after)
        found = replace(judged, alpha=alpha, weights=weights, scores=scores)
        return Learned(features, found, selection, sample, likelihood, parts)

    def _fallen(self, candidate: Candidate, chosen_on: float, n_pairs: float) -> float:
        alpha = candidate.alpha or 0.0  # a sum is not learned from more rows
        return alpha if self.settings.alphas else alpha * math.sqrt(chosen_on / n_pairs)

    def _weights_of_all(
        self,
        features: FeatureMap,
        alpha: float,
        start: Climbed,
        source: SourceRows,
        rows: Sample,
    ) -> FloatArray:
        """Return the weights that all rows teach, from those of a sample on."""
        is_dense = not is_sparse(rows.design.rows)
        if source.engine is not None and self.settings.n_classes == 2 and is_dense:
            share, pairs = float(start.beliefs.shares[1]), start.beliefs.pair_shares
            state = State.of(start.weights, pairs, share, *_counts_of(source))
            fit = minimise_by_passes(source.engine, features.standardise, alpha, state)
            _warn_unless(fit.converged, alpha, fit.promise)
            return fit.state.weights[:, None]
        if source.statements is None or source.table is None:
            return start.weights
        likelihood = self.settings.likelihood(source.statements, self.known)
        if is_dense:
            scores = TableScores(source.table, features)
            found = minimise_table(scores, likelihood, alpha, start.weights)
            _warn_unless(found.converged, alpha, found.promise)
            return found.weights
        if isinstance(source, MemoryRows) and features.transformer is None:
            whole = Sample(features.design(source.whole.rows), likelihood)
            return climb(whole, alpha, start.weights).weights
        return start.weights


def _counts_of(source: SourceRows) -> tuple[int, int]:
    engine = source.engine
    assert engine is not None  # noqa: S101 - asked for where there is one
    return engine.count("similar"), engine.count("unlabeled")


def _warn_unless(converged: bool, alpha: float, promise: float) -> None:
    if not converged:
        warnings.warn(
            f"The pair likelihood was not minimized (alpha={alpha:g}): a decrease of about "
            f"{promise:.1e} nats per pair is left; raise the penalty, or drop features.",
            ConvergenceWarning,
            stacklevel=2,
        )


def _cross_fit_map(
    rows: Any,
    likelihood: Likelihood,
    parts: Sequence[HeldOut],
    name: str,
    transformer: Any,
    settings: Settings,
    seed: int,
) -> tuple[FeatureMap, list[Candidate]]:
    features, design = FeatureMap.fit(name, transformer, rows)
    sample = Sample(design, likelihood)
    is_few = likelihood.size < max(_FEW_PAIRS, _FEW_PER_COLUMN * rows.shape[1])
    is_sparse_score = _is_sparse_score(name, likelihood, rows)
    candidates = cross_fit(
        sample,
        parts,
        settings.alphas_for(name, likelihood.size),
        np.random.RandomState(seed),
        own_ways=is_few or is_sparse_score,
        path=posterior_path if is_sparse_score else climb_path,
    )
    best = max(candidates, key=lambda one: one.information)
    step(f"{name} features tried: {best.information:.4f} nats per held-out statement")
    return features, candidates


def _is_sparse_score(name: str, likelihood: Likelihood, rows: Any) -> bool:
    return name == SPARSE and can_be_sparse(likelihood, rows.shape[1])


def _fit_whole(
    best: Entry, some: Some, likelihood: Likelihood, random_state: np.random.RandomState
) -> Candidate:
    """Learn the chosen model, or those that a chosen sum is over, from all rows."""

    def fitted(entry: Entry) -> Candidate:
        sample = Sample(entry.features.design(some.rows), likelihood)
        if not _is_sparse_score(entry.features.name, likelihood, some.rows):
            return fit_whole(sample, entry.candidate)
        return fit_whole(
            sample, entry.candidate, partial(posterior_mean, random_state=random_state)
        )

    if not best.weights:
        return fitted(best)
    return join(best, {entry: fitted(entry) for entry in best.weights})


def _information(entry: Entry) -> float:
    return entry.candidate.information


def _sums(pool: Sequence[Entry], likelihood: Likelihood, parts: Sequence[HeldOut]) -> list[Entry]:
    """Return the sum over the feature maps that held-out statements speak for, if several."""
    best: dict[str, Entry] = {}
    for entry in sorted(pool, key=_information, reverse=True):
        best.setdefault(entry.features.name, entry)
    entries = [entry for entry in best.values() if _information(entry) > 0]
    if len(entries) < 2:
        return []
    with threadpool_limits(1, user_api="blas"):
        found = blend(entries, likelihood, parts)
    return [found] if found else []


def _selection(pool: Iterable[Entry], best: Entry) -> Selection:
    total = sum(abs(weight) for weight in best.weights.values())
    shares = {entry: abs(weight) / total for entry, weight in best.weights.items()}
    return Selection(
        tuple(
            Tried(
                entry.features.name,
                entry.candidate.alpha,
                entry.candidate.information,
                standard_error(entry.candidate),
                1.0 if entry is best else shares.get(entry, 0.0),
                entry is best,
            )
            for entry in pool
        )
    )


def _log_mean(logs: Sequence[float]) -> float:
    """Return the logarithm of the mean of what the logarithms are of."""
    return float(logsumexp(logs) - math.log(len(logs)))


def standard_error(candidate: Candidate) -> float:
    """Return the standard error of the information; of a single fold nothing is known."""
    evidence = candidate.evidence
    if evidence.size < 2 or not np.isfinite(evidence).all():
        return math.inf
    return float(evidence.std(ddof=1) * math.sqrt(evidence.size) / max(candidate.n_judged, 1.0))
