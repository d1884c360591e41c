"""Linear scores of few columns: every column has a penalty of its own, learned from the pairs.

A ridge penalty is a normal prior with one deviation for all weights. Where a few columns of many
tell the classes apart, it shrinks these too much and the others too little. Here the deviations
have half-Cauchy priors of their own (the horseshoe; Carvalho, Polson and Scott 2010): columns
that the pairs do not speak for are shrunk to nearly nothing, the others are nearly left alone.

The deviations are integrated out approximately (variational Bayes; Neville, Ormerod and Wand 2014):
weights are learned by the ridge penalty under which they are expected, and the penalty of a column
then follows from its weight and from how uncertain that is, in turns. For fresh similar pairs of
two classes, formed at random.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import exp1

from likewise._types import FloatArray
from likewise.beliefs.base import Likelihood
from likewise.scores.design import Design
from likewise.search.climb import FINAL, Climbed, Effort, begin, climb, is_flat, ordered
from likewise.search.sample import Sample
from likewise.search.starts import starting_weights

__all__ = ["can_be_sparse", "climb_sparse", "sparse_path"]

_MOST_COLUMNS = 600
"""With more, square matrices of columns take longer than all the rest."""
_ROUNDS = 2
"""Turns at each penalty of a path: the next penalty goes on from there."""
_LAST_ROUNDS = 5
"""Turns for a model that is kept; after them, weights hardly move."""
_LARGE = 500.0
"""Not far above it ``exp1`` falls below the smallest float; its expansion is right to 0.2 %."""
_FREE = 1e-3
"""Precision of the prior of the intercept, which has none to speak of."""


def can_be_sparse(likelihood: Likelihood, n_columns: int) -> bool:
    """Tell whether sparse scores can be learned.

    Parameters
    ----------
    likelihood : Likelihood
    n_columns : int
    """
    statements = likelihood.statements
    return (
        likelihood.n_classes == 2
        and statements.is_fresh
        and statements.weights is None
        and not (likelihood.has_free_shares or likelihood.is_fresh_mixture)
        and n_columns <= _MOST_COLUMNS
    )


def sparse_path(
    sample: Sample, alphas: Sequence[float], random_state: np.random.RandomState
) -> Iterator[Climbed]:
    """Learn at falling penalties, as `likewise.search.climb.climb_path` does.

    Parameters
    ----------
    sample : Sample
        One that `can_be_sparse` accepts.
    alphas : sequence of floats
        Penalties of a column whose deviation is the typical one.
    random_state : RandomState

    Yields
    ------
    Climbed
        One per alpha.
    """
    starts = starting_weights(sample, random_state)
    found, factors = begin(starts, sample, alphas[0]), np.ones(sample.design.n_features)
    for alpha in alphas:
        for _ in range(_ROUNDS):
            if is_flat(sample, found):
                scaled, root = _on_own_scales(sample, factors)
                found = _back(begin([start * root for start in starts], scaled, alpha), root)
            found = _climb(sample, alpha, found.weights, factors)
            factors = _factors(sample, found.weights, alpha, factors)
        yield ordered(found)


def climb_sparse(
    sample: Sample, alpha: float, start: FloatArray, effort: Effort = FINAL
) -> Climbed:
    """Learn at one penalty, from weights that are near.

    Parameters
    ----------
    sample : Sample
    alpha : float
    start : array of shape (n_features + 1, 1)
    effort : Effort

    Returns
    -------
    Climbed
    """
    factors = _factors(sample, start, alpha, np.ones(sample.design.n_features))
    for _ in range(_LAST_ROUNDS):
        found = _climb(sample, alpha, start, factors, effort)
        start = found.weights
        factors = _factors(sample, start, alpha, factors)
    return found


def _climb(
    sample: Sample, alpha: float, start: FloatArray, factors: FloatArray, *effort: Effort
) -> Climbed:
    """Climb where the penalty of every column is `alpha` times a factor of its own."""
    scaled, root = _on_own_scales(sample, factors)
    return _back(climb(scaled, alpha, start * root, None, *effort), root)


def _on_own_scales(sample: Sample, factors: FloatArray) -> tuple[Sample, FloatArray]:
    """Return columns for which one penalty is the columns' own, and by what weights grow there."""
    root, design = np.sqrt(factors), sample.design
    scaled = Sample(Design(design.rows, design.mean, design.scale * root), sample.likelihood)
    return scaled, np.append(root, 1.0)[:, None]


def _back(found: Climbed, root: FloatArray) -> Climbed:
    return replace(found, weights=found.weights / root)


def _factors(sample: Sample, weights: FloatArray, alpha: float, factors: FloatArray) -> FloatArray:
    """Return the columns' expected penalties, in units of `alpha`.

    Let s be the mean square of a weight over its posterior, in units of twice the typical prior
    variance. Under a half-Cauchy prior of the deviation, its inverse square has the mean
    ``1 / (s exp(s) E1(s)) - 1``.
    """
    precision = sample.likelihood.size * alpha
    variance = _variances(sample, weights, precision * factors)
    s = np.maximum((weights[:-1, 0] ** 2 + variance) * precision / 2.0, 1e-8)
    near = np.minimum(s, _LARGE)
    return np.asarray(np.where(s < _LARGE, 1.0 / (near * np.exp(near) * exp1(near)) - 1.0, 1.0 / s))


def _variances(sample: Sample, weights: FloatArray, precisions: FloatArray) -> FloatArray:
    """Return the posterior variances of the weights but the intercept, the prior's normal.

    What pairs and rows tell of the weights is summed from the outer products of their slopes.
    """
    slopes = sample.likelihood.slope(sample.design.decide(weights))[1]
    links = sample.likelihood.links
    of_rows = np.column_stack([sample.design.dense(), np.ones(len(slopes))]) * slopes
    of_pairs = of_rows[links.left] + of_rows[links.right]
    alone = of_rows[sample.likelihood.population]
    told = of_pairs.T @ of_pairs + alone.T @ alone
    return np.asarray(np.diag(np.linalg.inv(told + np.diag(np.append(precisions, _FREE))))[:-1])
