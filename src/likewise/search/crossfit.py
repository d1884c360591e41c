"""Cross-fitting: every row is scored by a model that did not see it.

Scores of different folds come from different models; they are brought to one centre and scale
before they are used together, since a shift between folds would look like alikeness of pairs.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from likewise._types import FloatArray
from likewise.beliefs.fresh import Counts
from likewise.engines.base import Engine
from likewise.engines.memory import MemoryEngine
from likewise.scores.design import Design, Sample
from likewise.search.model import PairModel, evaluate, fit_path, freed_path, minimise, ordered
from likewise.search.passes import Standardise, State, collect, leave_out, minimise_by_passes

__all__ = [
    "Candidate",
    "Part",
    "cross_fit",
    "cross_fit_by_passes",
    "cross_fit_from",
    "judge",
    "outside_of",
    "partner_of",
    "parts_of",
]

_PATIENCE = 2
"""Penalties to go on for after the held-out likelihood began to fall."""


@dataclass(frozen=True)
class Candidate:
    """A penalty, with what it reached on held-out pairs.

    Attributes
    ----------
    alpha : float or None
        None if the scores are a sum over models with penalties of their own.
    model : PairModel
        Learned from the whole sample.
    held_out : array of shape (n_folds,)
        Mean log-likelihood of the held-out pairs of each fold, in nats per pair.
    scores : array of shape (n_rows, m)
        Cross-fitted scores, all folds on the scale of `model`.
    """

    alpha: float | None
    model: PairModel
    held_out: FloatArray
    scores: FloatArray

    @property
    def information(self) -> float:
        """Nats per held-out pair, the mean over folds."""
        return float(self.held_out.mean())


def cross_fit(
    sample: Sample,
    folds: NDArray[np.intp],
    alphas: Sequence[float],
    n_classes: int,
    *,
    is_free: bool,
    random_state: np.random.RandomState,
    own_ways: bool = False,
) -> list[Candidate]:
    """Cross-fit penalties, from the largest down, until held-out pairs are explained worse.

    The likelihood has several hills, and a start picks one. Models of folds start from the model of
    all rows, so that all are on one hill. With few pairs for the features that lets chance speak: a
    hill of chance is as high on the fold that helped to pick it. Where folds find their own ways,
    what they agree on is none.

    Parameters
    ----------
    sample : Sample
    folds : integer array of shape (n_rows,)
        Fold of every row; the members of a pair are in one fold, or in two where rows are in
        several pairs.
    alphas : sequence of floats
    n_classes : int
    is_free : bool
        Whether pairs have shares of their own instead of being formed at random.
    random_state : RandomState
    own_ways : bool, default False
        Whether every fold follows the path on its own.

    Returns
    -------
    list of Candidate
    """
    parts = list(parts_of(sample, folds))
    falling = sorted(alphas, reverse=True)

    def climb(start: Callable[[Sample], Iterator[PairModel]]) -> Iterator[Candidate]:
        """Follow a path with all rows, and judge every step."""
        ways = {part: start(part.train) for part in parts if part.train.counts.pairs}
        for alpha, model in zip(falling, start(sample), strict=True):
            refit = _refit(alpha, model)
            if own_ways:
                refit = _named_as(model, {part: next(way) for part, way in ways.items()})
            yield judge(sample, parts, alpha, model, refit)

    def at_random(some: Sample) -> Iterator[PairModel]:
        return fit_path(some, falling, n_classes, is_free=is_free, random_state=random_state)

    def freed(some: Sample) -> Iterator[PairModel]:
        return freed_path(some, falling, n_classes, random_state=random_state)

    candidates: list[Candidate] = []
    for tried in zip(*map(climb, [at_random, freed] if is_free else [at_random]), strict=True):
        candidates.append(max(tried, key=lambda candidate: candidate.information))
        found = [candidate.information for candidate in candidates]
        best = int(np.argmax(found))
        if found[best] > 0 and best < len(found) - _PATIENCE:
            break
    return candidates


def cross_fit_from(
    sample: Sample, folds: NDArray[np.intp], alpha: float, start: PairModel
) -> Candidate:
    """Cross-fit one penalty, from a model that was learned on part of the sample.

    Parameters
    ----------
    sample, folds
        As in `cross_fit`.
    alpha : float
    start : PairModel

    Returns
    -------
    Candidate
    """
    model = ordered(minimise(sample, alpha, start), sample)
    return judge(sample, parts_of(sample, folds), alpha, model, _refit(alpha, model))


def cross_fit_by_passes(
    engine: Engine | None,
    standardise: Standardise,
    sample: Sample,
    folds: NDArray[np.intp],
    alpha: float,
    start: PairModel,
) -> Candidate:
    """Learn linear scores of two classes from all rows of an engine, judged on a sample of them.

    Models that did not see a fold of the sample are those of all rows less one step (see
    `likewise.search.passes`): they cost no pass.

    Parameters
    ----------
    engine : Engine or None
        None if the sample is all there is.
    standardise : callable
        From the engine's rows to those of the sample's design, centred and scaled.
    sample, folds
        As in `cross_fit`; the sample's rows are dense.
    alpha : float
    start : PairModel
        Learned on part of the sample.

    Returns
    -------
    Candidate
    """
    with threadpool_limits(1, user_api="blas"):  # products too small to share
        near = minimise(sample, alpha, start)
        shares = evaluate(sample.design.decide(near.weights), sample, near.pair_shares)[0].shares
        state = State.of(near, float(shares[1]), sample.counts.similar, sample.counts.unlabeled)
        fit = minimise_by_passes(_engine_of(sample), sample.design.standardise, alpha, state)
    if engine is not None:
        fit = minimise_by_passes(engine, standardise, alpha, fit.state)
    if not fit.converged:
        warnings.warn(
            f"The pair likelihood was not minimised (alpha={alpha:g}): a decrease of about "
            f"{fit.promise:.1e} nats per pair is left; raise the penalty, or drop features.",
            ConvergenceWarning,
            stacklevel=2,
        )

    def refit(part: Part) -> PairModel:
        inside = collect(_engine_of(part.touched), sample.design.standardise, fit.last)
        return leave_out(fit, inside).model.turned(is_upside_down)

    is_upside_down = bool(fit.state.common[0] < 0.5)
    model = fit.state.model.turned(is_upside_down)
    return judge(sample, parts_of(sample, folds), alpha, model, refit)


def _engine_of(sample: Sample) -> MemoryEngine:
    return MemoryEngine(sample.design.rows, sample.counts.row_sets)


@dataclass(frozen=True, eq=False)
class Part:
    """One fold, and all others.

    Attributes
    ----------
    sample : Sample
        All rows.
    inside : boolean array of shape (n_rows,)
        Rows of the fold.
    """

    sample: Sample
    inside: NDArray[np.bool_]

    @cached_property
    def outside(self) -> NDArray[np.bool_]:
        """Rows that neither are in the fold nor have a partner there."""
        return outside_of(self.inside, self.sample.counts)

    @cached_property
    def whole(self) -> NDArray[np.bool_]:
        """Rows that are in the fold together with their partner."""
        return np.asarray(self.inside & self.inside[partner_of(self.sample.counts)])

    @cached_property
    def train(self) -> Sample:
        """Rows and pairs that have nothing to do with the fold."""
        return self.sample.among(self.outside)

    @cached_property
    def test(self) -> Sample:
        """Rows and pairs of the fold, whole pairs only."""
        return self.sample.among(self.whole)

    @property
    def touched(self) -> Sample:
        """All that is not for training."""
        return self.sample.among(~self.outside)

    @cached_property
    def own(self) -> Design:
        """The rows of the fold, those of pairs that are not whole too."""
        is_all = np.array_equal(self.whole, self.inside)
        return self.test.design if is_all else self.sample.design.take(self.inside)


def parts_of(sample: Sample, folds: NDArray[np.intp]) -> Iterable[Part]:
    """Yield one fold after the other, so that copies of many rows do not add up."""
    return (Part(sample, folds == fold) for fold in np.unique(folds))


def outside_of(inside: NDArray[np.bool_], counts: Counts) -> NDArray[np.bool_]:
    """Return the rows that neither are among others nor have a partner there."""
    return np.asarray(~(inside | inside[partner_of(counts)]))


def partner_of(counts: Counts) -> NDArray[np.intp]:
    """Return the number of every row's partner; of an unlabeled row its own."""
    partner = np.arange(counts.rows)
    for left, right in (
        (counts.left, counts.right),
        (counts.dissimilar_left, counts.dissimilar_right),
    ):
        partner[left], partner[right] = partner[right].copy(), partner[left].copy()
    return partner


def _refit(alpha: float, model: PairModel) -> Callable[[Part], PairModel]:
    # Starting from the fit to all rows only picks the hill; the climb forgets it (see `cross_fit`).
    return lambda part: minimise(part.train, alpha, model)


def _named_as(
    model: PairModel, of_parts: Mapping["Part", PairModel]
) -> Callable[["Part"], PairModel]:
    """Return the models of parts with their classes named as those of another model."""

    def refit(part: Part) -> PairModel:
        own, rows = of_parts[part], part.train.design.take(part.train.counts.alone)
        ours, theirs = (rows.decide(one.weights) for one in (own, model))
        together = (ours - ours.mean(axis=0)).T @ (theirs - theirs.mean(axis=0))
        if own.n_classes == 2:
            return own.turned(bool(together[0, 0] < 0))
        return own.reordered(linear_sum_assignment(together.T, maximize=True)[1])

    return refit


def judge(
    sample: Sample,
    parts: Iterable[Part],
    alpha: float | None,
    model: PairModel,
    refit: Callable[[Part], PairModel],
) -> Candidate:
    """Score every fold by a model that did not see it.

    Parameters
    ----------
    sample : Sample
    parts : iterable of Part
    alpha : float or None
        Kept in the candidate.
    model : PairModel
        Learned from the whole sample.
    refit : callable
        From a part to a model of all other rows.

    Returns
    -------
    Candidate
    """
    whole = sample.design.decide(model.weights)
    scores = np.empty_like(whole)
    held_out = []
    for part in parts:
        train, test = part.train, part.test
        target = whole[part.outside][train.counts.alone]
        if not train.counts.pairs:  # a row of the fold is in every pair: nothing can be learned
            scores[part.inside] = target.mean(axis=0)
            continue
        own = refit(part)
        own_scores = part.own.decide(own.weights)
        if test.counts.pairs:  # where rows are in many pairs, a fold may have none of its own
            of_pairs = own_scores[part.whole[part.inside]]
            held_out.append(-evaluate(of_pairs, test, own.pair_shares)[0].value)
        training = train.design.decide(own.weights)[train.counts.alone]
        scores[part.inside] = _aligned(own_scores, training, target)
    return Candidate(alpha, model, np.array(held_out or [0.0]), scores)


def _aligned(scores: FloatArray, training: FloatArray, target: FloatArray) -> FloatArray:
    """Move and scale scores so that those of training rows get the centre and scale of others."""
    center, other = training.mean(axis=0), target.mean(axis=0)
    length = np.sqrt(np.sum((training - center) ** 2))
    ratio = np.sqrt(np.sum((target - other) ** 2)) / length if length > 0 else 1.0
    return np.asarray((scores - center) * ratio + other)
