"""Linear class scores that explain statements best, with a ridge penalty.

Two classes have one column of weights (the log-odds of the second class), more have one column
each. The likelihood does not know which class is which, and it has more than one local optimum:
learning begins at a large penalty from several starting points and follows the best one down.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from likewise._types import FloatArray
from likewise.beliefs.base import Beliefs, log_probabilities
from likewise.search.sample import Sample
from likewise.search.starts import starting_weights

__all__ = [
    "FINAL",
    "Climbed",
    "Effort",
    "begin",
    "climb",
    "climb_path",
    "exchanged",
    "is_flat",
    "ordered",
    "renamed",
]

_FLAT = 0.01
"""Standard deviation of scores that counts as none."""


class Effort(NamedTuple):
    """How far to climb: steps of L-BFGS at most, and the relative gain that ends them."""

    steps: int
    tol: float


FINAL = Effort(500, 1e-9)
"""For a model that is kept."""
_SEARCH = Effort(100, 1e-5)
"""At one penalty of many; the next one goes on from there."""
_FIRST, _SECOND = Effort(8, 1e-5), Effort(20, 1e-5)
"""From each start, and from the better half of them: enough to tell which leads highest."""


@dataclass(frozen=True)
class Climbed:
    """Where a climb ended.

    Attributes
    ----------
    weights : array of shape (n_features + 1, m)
        One column for two classes, one per class for more; the intercepts are the last row.
    objective : float
        Negative log-likelihood, in nats per pair; penalized, but for a mean over a posterior.
    beliefs : Beliefs
        At these weights.
    draws : tuple of arrays of shape (n_features + 1,)
        Of the posterior whose mean the weights are, classes called in any way; empty where they are
        the best weights.
    """

    weights: FloatArray
    objective: float
    beliefs: Beliefs
    draws: tuple[FloatArray, ...] = ()


class _Objective:
    """The penalized likelihood as a function of one flat vector."""

    def __init__(
        self, sample: Sample, alpha: float, shape: tuple[int, ...], near: Beliefs | None
    ) -> None:
        self._sample = sample
        self._alpha = alpha
        self._shape = shape
        self.beliefs = near

    def __call__(self, vector: FloatArray) -> tuple[float, FloatArray]:
        weights = vector.reshape(self._shape)
        sample, size = self._sample, self._sample.likelihood.size
        scores = sample.design.decide(weights)
        own, slopes, self.beliefs = sample.likelihood.slope(scores, self.beliefs)
        gradient = sample.design.pull(slopes) / -size
        gradient[:-1] += self._alpha * weights[:-1]
        value = -own / size + 0.5 * self._alpha * float(np.sum(weights[:-1] ** 2))
        return value, gradient.ravel()


def climb(
    sample: Sample,
    alpha: float,
    start: FloatArray,
    near: Beliefs | None = None,
    effort: Effort = _SEARCH,
) -> Climbed:
    """Maximize the penalized likelihood from a starting point.

    Parameters
    ----------
    sample : Sample
    alpha : float
        Ridge penalty of all weights but the intercepts.
    start : array of shape (n_features + 1, m)
    near : Beliefs, optional
        At nearby weights.
    effort : Effort

    Returns
    -------
    Climbed
    """
    # What is settled between statements and scores, such as an error rate, is held while weights
    # move: settling it at every step would cost far more, and the next penalty goes on anyway.
    held = Sample(sample.design, sample.likelihood.held(near))
    objective = _Objective(held, alpha, start.shape, near)
    found = minimize(
        objective,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": effort.steps, "ftol": effort.tol, "maxcor": 10},
    )
    weights = found.x.reshape(start.shape)
    last = objective.beliefs if objective.beliefs is not None else near
    beliefs = sample.evaluate(sample.design.decide(weights), last)[0]
    return Climbed(weights, float(found.fun), beliefs)


def climb_path(
    sample: Sample, alphas: Sequence[float], random_state: np.random.RandomState
) -> Iterator[Climbed]:
    """Learn at falling penalties, each from the last, the first from the best of the starts.

    With more than two classes, or with fresh dissimilar pairs, what a large penalty explains best
    can be a lesser local optimum at a small one (two classes taken for one), and the path would
    stay in it: later penalties try one of the starts each. Else the path is the better guide; new
    starts lead small samples to optima that noise made. Free pair shares have an optimum without
    classes (all pairs of a class that no row is of), wide where penalties are large: every penalty
    begins at the model of pairs formed at random too. A few rows that name more than two classes
    cost a model with two of them exchanged so little that it would stay so: every penalty begins
    at the model of the statements alone too, its classes matched with the names.

    Yields
    ------
    Climbed
        One per alpha; classes in order of size (see `ordered`), unless they have names.
    """
    starts = starting_weights(sample, random_state)
    is_named = sample.likelihood.is_named
    if is_named and sample.n_classes == 2:
        starts = [*starts, *(-start for start in starts)]
    elif is_named:
        starts = [_matched(sample, start) for start in starts]
    found = begin(starts, sample, alphas[0])
    has_unnamed = sample.n_classes > 2 and not is_named
    tries_again = has_unnamed or sample.likelihood.is_fresh_mixture
    guide = _guide(sample, alphas, random_state)
    for step, alpha in enumerate(alphas):
        if step and is_flat(sample, found):
            found = begin(starts, sample, alpha)
        here = (found.weights, found.beliefs)
        other = [(starts[step % len(starts)], None)] if tries_again and step else []
        other += [(weights, None) for weights in islice(guide, 1)]
        found = _best([here, *other], sample, alpha)
        yield found if is_named else ordered(found)


def is_flat(sample: Sample, found: Climbed) -> bool:
    """Tell whether a penalty left nothing of the scores.

    Scores of zero are a saddle point at every penalty: no climb would leave it.

    Parameters
    ----------
    sample : Sample
    found : Climbed
    """
    return bool(np.all(sample.population.decide(found.weights).std(axis=0) < _FLAT))


def _guide(
    sample: Sample, alphas: Sequence[float], random_state: np.random.RandomState
) -> Iterator[FloatArray]:
    """Yield weights of a simpler model at every penalty, where one shows the way; else nothing."""
    likelihood = sample.likelihood
    if likelihood.is_named and sample.n_classes > 2:
        simpler = likelihood.unnamed()
        if simpler.links.left.size:
            for one in climb_path(Sample(sample.design, simpler), alphas, random_state):
                yield _matched(sample, one.weights)
    elif likelihood.has_free_shares:
        simpler = likelihood.paired("random")
        for one in climb_path(Sample(sample.design, simpler), alphas, random_state):
            yield one.weights


def _matched(sample: Sample, weights: FloatArray) -> FloatArray:
    """Put classes that stand in any order where known rows say that they belong."""
    scores = sample.design.decide(weights)
    return exchanged(weights, sample.likelihood.naming(log_probabilities(scores)))


def begin(starts: Sequence[FloatArray], sample: Sample, alpha: float) -> Climbed:
    """Climb a little from every start, farther from the better half, and return the best.

    Parameters
    ----------
    starts : sequence of arrays of shape (n_features + 1, m)
    sample : Sample
    alpha : float

    Returns
    -------
    Climbed
    """
    found = sorted(
        (climb(sample, alpha, start, None, _FIRST) for start in starts),
        key=lambda one: one.objective,
    )
    better = found[: (len(found) + 1) // 2]
    return _best([(one.weights, one.beliefs) for one in better], sample, alpha, _SECOND)


def _best(
    starts: Sequence[tuple[FloatArray, Beliefs | None]],
    sample: Sample,
    alpha: float,
    effort: Effort = _SEARCH,
) -> Climbed:
    """Climb from several points, and return the best of what they lead to."""
    found = (climb(sample, alpha, start, near, effort) for start, near in starts)
    return min(found, key=lambda one: one.objective)


def ordered(found: Climbed) -> Climbed:
    """Name the classes by size: of two the second is the larger, of more the first the largest."""
    shares = found.beliefs.shares
    if shares.size == 2:
        return found if shares[1] >= 0.5 else _renamed(found, np.array([1, 0]))
    order = np.argsort(-shares, kind="stable")
    return found if np.all(np.diff(order) > 0) else _renamed(found, order)


def _renamed(found: Climbed, order: NDArray[np.intp]) -> Climbed:
    weights, beliefs = exchanged(found.weights, order), renamed(found.beliefs, order)
    return replace(found, weights=weights, beliefs=beliefs)


def renamed(beliefs: Beliefs, order: NDArray[np.intp]) -> Beliefs:
    """Return beliefs with the classes in another order.

    Parameters
    ----------
    beliefs : Beliefs
    order : integer array of shape (n_classes,)
        Which class stands in each place.
    """
    pairs = beliefs.pair_shares
    return replace(
        beliefs,
        shares=beliefs.shares[order],
        pair_shares=None if pairs is None else pairs[order],
        posteriors=beliefs.posteriors[:, order],
        gradient=beliefs.gradient[:, order],
        state=None,
    )


def exchanged(values: FloatArray, order: NDArray[np.intp]) -> FloatArray:
    """Return weights or scores with the classes in another order.

    Parameters
    ----------
    values : array of shape (n, m)
    order : integer array of shape (n_classes,)
        Which class stands in each place.
    """
    if values.shape[1] == 1:
        return -values if order[0] else values
    return values[:, order]
