"""Cross-fitting: every row is scored by a model that did not see it.

The likelihood has several local optima, and a start picks one. With few statements for the columns,
models of folds find their own way down the penalties, so that what noise suggests to one is not
confirmed by the others. With many, noise makes no optimum that could be mistaken for the classes',
and folds start from the model of all rows, so that all are in one optimum: weak signals need that.

Scores of different folds come from different models; they are brought to one center and scale
before they are used together, since a shift between folds would look like alikeness of pairs.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.special import logsumexp

from likewise._types import FloatArray
from likewise.beliefs.base import HeldOut, Likelihood, log_probabilities
from likewise.search.climb import FINAL, Climbed, climb, climb_path, exchanged
from likewise.search.sample import Sample

__all__ = ["Candidate", "aligned", "cross_fit", "cross_fit_at", "fit_whole", "parts_of"]

_PATIENCE = 2
"""Penalties to go on for after the held-out evidence began to fall."""

Path = Callable[[Sample, Sequence[float], np.random.RandomState], Iterator[Climbed]]
"""Learns from a sample at falling penalties."""
Climber = Callable[[Sample, float, FloatArray], Climbed]
"""Learns from a sample at one penalty, from weights that are near."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A penalty, with what it reached on held-out statements.

    Attributes
    ----------
    alpha : float or None
        None if the scores are a sum over models with penalties of their own.
    weights : array of shape (n_features + 1, m)
        Of a model of the whole sample; a mean over folds until `fit_whole` was called.
    evidence : array of shape (n_folds,)
        Log-probability of what was said about each fold, in nats, less that of the best model
        without features.
    n_judged : float
        Statements that it is of, all folds together.
    scores : array of shape (n_rows, m)
        Cross-fitted scores, all folds on the scale of `weights`.
    """

    alpha: float | None
    weights: FloatArray
    evidence: FloatArray
    n_judged: float
    scores: FloatArray

    @property
    def information(self) -> float:
        """Nats per held-out statement, to twelve digits: what is beyond is rounding."""
        return round(float(self.evidence.sum()) / max(self.n_judged, 1.0), 12)


def parts_of(likelihood: Likelihood, folds: NDArray[np.intp]) -> list[HeldOut]:
    """Return every fold, with what can be learned from without it.

    Parameters
    ----------
    likelihood : Likelihood
    folds : integer array of shape (n_rows,)
        Fold of every row.
    """
    return [likelihood.hold_out(folds == fold) for fold in np.unique(folds)]


def cross_fit(
    sample: Sample,
    parts: Sequence[HeldOut],
    alphas: Sequence[float],
    random_state: np.random.RandomState,
    *,
    own_ways: bool = True,
    path: Path = climb_path,
) -> list[Candidate]:
    """Cross-fit penalties, from the largest down, until held-out statements are explained worse.

    Parameters
    ----------
    sample : Sample
    parts : sequence of HeldOut
        As `parts_of` returns them.
    alphas : sequence of floats
    random_state : RandomState
    own_ways : bool, default True
        Whether models of folds find their own way, rather than start from that of all rows.
    path : callable, default climb_path
        That way.

    Returns
    -------
    list of Candidate
    """
    falling = sorted(alphas, reverse=True)
    if own_ways:
        steps = _find_own(sample, parts, falling, random_state, path)
    else:
        steps = _find_together(sample, parts, falling, random_state)
    candidates: list[Candidate] = []
    for alpha, found in zip(falling, steps, strict=True):
        candidates.append(_judge(sample, parts, alpha, found))
        reached = [candidate.information for candidate in candidates]
        best = int(np.argmax(reached))
        if reached[best] > 0 and best < len(reached) - _PATIENCE:
            break
    return candidates


def _find_own(
    sample: Sample,
    parts: Sequence[HeldOut],
    alphas: Sequence[float],
    random_state: np.random.RandomState,
    path: Path,
) -> Iterator[list[Climbed | None]]:
    """Follow the penalties without each fold in turn; None where nothing is left to learn from."""
    paths = [
        path(train, alphas, random_state) if train.likelihood.links.left.size else None
        for train in _trains(sample, parts)
    ]
    for _ in alphas:
        yield [None if one is None else next(one) for one in paths]


def _find_together(
    sample: Sample,
    parts: Sequence[HeldOut],
    alphas: Sequence[float],
    random_state: np.random.RandomState,
) -> Iterator[list[Climbed | None]]:
    """Follow the penalties with all rows, and climb without each fold from there."""
    trains = list(_trains(sample, parts))
    for alpha, whole in zip(alphas, climb_path(sample, alphas, random_state), strict=True):
        yield [
            climb(train, alpha, whole.weights) if train.likelihood.links.left.size else None
            for train in trains
        ]


def _trains(sample: Sample, parts: Sequence[HeldOut]) -> Iterator[Sample]:
    """Yield the rows to learn from, one fold after the other: copies of many rows add up."""
    return (Sample(sample.design.take(part.train), part.likelihood) for part in parts)


def cross_fit_at(
    sample: Sample, parts: Sequence[HeldOut], alpha: float, start: FloatArray
) -> Candidate:
    """Cross-fit one penalty, from weights that were learned on part of the sample.

    Parameters
    ----------
    sample, parts
        As in `cross_fit`.
    alpha : float
    start : array of shape (n_features + 1, m)

    Returns
    -------
    Candidate
    """
    found = [climb(train, alpha, start) for train in _trains(sample, parts)]
    return _judge(sample, parts, alpha, found)


def _climb_far(sample: Sample, alpha: float, start: FloatArray) -> Climbed:
    return climb(sample, alpha, start, effort=FINAL)


def fit_whole(sample: Sample, candidate: Candidate, climber: Climber = _climb_far) -> Candidate:
    """Learn the model of the whole sample, and bring cross-fitted scores to its scale.

    Parameters
    ----------
    sample : Sample
    candidate : Candidate
        With one penalty.
    climber : callable
        Learns at one penalty, from weights that are near; by default the best weights.

    Returns
    -------
    Candidate
    """
    if candidate.alpha is None:
        return candidate
    found = climber(sample, candidate.alpha, candidate.weights)
    before, after = (
        sample.population.decide(weights) for weights in (candidate.weights, found.weights)
    )
    return replace(
        candidate, weights=found.weights, scores=aligned(candidate.scores, before, after)
    )


def _judge(
    sample: Sample, parts: Sequence[HeldOut], alpha: float, found: Sequence[Climbed | None]
) -> Candidate:
    """Score every fold by a model that did not see it, classes named alike in all."""
    is_named = [part.likelihood.is_named for part in parts]
    kept = [(one.weights, n) for one, n in zip(found, is_named, strict=True) if one is not None]
    weights = _named_alike(sample, kept)
    mean = np.mean(weights, axis=0) if weights else _no_weights(sample)
    reference = sample.design.decide(mean)
    scores = reference.copy()
    evidence, n_judged, named = [], 0.0, iter(weights)
    for part, own in zip(parts, found, strict=True):
        if own is None:  # a row of the fold is in every statement: nothing can be learned
            scores[part.rows] = reference.mean(axis=0)
            continue
        whole = sample.design.decide(next(named))
        evidence.append(_evidence(sample, part, whole, own))
        n_judged += part.n_judged
        scores[part.rows] = aligned(whole[part.rows], whole[part.train], reference[part.train])
    return Candidate(alpha, mean, np.array(evidence or [0.0]), n_judged, scores)


def _evidence(sample: Sample, part: HeldOut, scores: FloatArray, own: Climbed) -> float:
    """Return the log-probability of a fold's statements, less that without features.

    By the posterior, where it was sampled: the mean over its draws of how probable the statements
    are together. Its mean weights alone would be surer than it is.
    """
    likelihood = sample.likelihood
    if not own.draws:
        return likelihood.evidence(part, log_probabilities(scores), own.beliefs)
    of_draws = sample.design.decide(np.column_stack(own.draws))
    found = [
        likelihood.evidence(part, log_probabilities(one[:, None]), own.beliefs)
        for one in of_draws.T
    ]
    return float(logsumexp(found) - math.log(len(found)))


def _no_weights(sample: Sample) -> FloatArray:
    m = 1 if sample.n_classes == 2 else sample.n_classes
    return np.zeros((sample.design.n_features + 1, m))


def _named_alike(sample: Sample, models: Sequence[tuple[FloatArray, bool]]) -> list[FloatArray]:
    """Return weights of models with their classes in one order.

    Of two classes, models whose classes have names keep theirs; the others follow the first of
    these, or else the first of all. Of more, a fold may hold the only known row of a class: all
    models follow the first, and known rows of the whole sample then name what they have in common.
    """
    if not models:
        return []
    rows = sample.population
    if sample.n_classes > 2 and sample.likelihood.is_named:
        models = [(weights, False) for weights, _ in models]
    first = rows.decide(next((weights for weights, is_named in models if is_named), models[0][0]))
    first = first - first.mean(axis=0)
    found = [
        own if is_named else exchanged(own, _order_like(first, rows.decide(own)))
        for own, is_named in models
    ]
    if sample.n_classes == 2:
        return found
    scores = sample.design.decide(np.mean(found, axis=0))
    order = sample.likelihood.naming(log_probabilities(scores))
    return [exchanged(own, order) for own in found]


def _order_like(centred: FloatArray, scores: FloatArray) -> NDArray[np.intp]:
    together = (scores - scores.mean(axis=0)).T @ centred
    if together.size == 1:
        return np.array([1, 0] if together[0, 0] < 0 else [0, 1])
    return np.asarray(linear_sum_assignment(together.T, maximize=True)[1])


def aligned(scores: FloatArray, training: FloatArray, target: FloatArray) -> FloatArray:
    """Move and scale scores so that those of training rows get the center and scale of others.

    Parameters
    ----------
    scores : array of shape (n_rows, m)
    training, target : arrays of shape (n_training, m)
        Of the same rows: by the model of `scores`, and as they should be.

    Returns
    -------
    array of shape (n_rows, m)
    """
    center, other = training.mean(axis=0), target.mean(axis=0)
    length = np.sqrt(np.sum((training - center) ** 2))
    ratio = np.sqrt(np.sum((target - other) ** 2)) / length if length > 0 else 1.0
    return np.asarray((scores - center) * ratio + other)
