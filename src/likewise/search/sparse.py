"""Linear scores of few columns: the mean of all weights that the pairs leave possible.

A ridge penalty is a normal prior with one deviation for all weights. Where a few columns of many
tell the classes apart, it shrinks these too much and the others too little. Here the deviations
have half-Cauchy priors of their own (the horseshoe; Carvalho, Polson and Scott 2010): columns
that the pairs do not speak for are shrunk to nearly nothing, the others are nearly left alone.

Where pairs say little, the best weights follow the noise. So the mean of the weights over their
posterior is kept in the place of the best ones. It is sampled, in turns: weights by Hamiltonian
Monte Carlo (Neal 2011), and given these the deviations, from inverse gamma distributions (Makalic
and Schmidt 2016). For fresh similar pairs of two classes, formed at random.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from likewise._types import FloatArray
from likewise.beliefs.base import Likelihood
from likewise.search.climb import Climbed, begin, ordered
from likewise.search.sample import Sample
from likewise.search.starts import starting_weights

__all__ = ["can_be_sparse", "posterior_mean", "posterior_path"]

_MOST_COLUMNS = 100
"""Every draw solves equations with a square matrix of columns."""
_MOST_PAIRS = 2000
"""With more, the posterior is so narrow that its mean is hardly better than its mode."""
_WARM_UP, _DRAWS = 40, 240
_LEAPS, _STEP = 3, 0.8
"""Steps of a draw, and their largest usual length in posterior deviations: eight draws of ten are
accepted, and the next draw is far from the last one."""
_EVERY = 4
"""Every so many draws one is kept: neighbours would tell the same of held-out pairs."""
_FREE = 1e-2
"""Precision of the prior of the intercept, which has none to speak of."""
_SMALLEST, _LARGEST = 1e-8, 1e8
"""Of each factor of a prior variance, so that rounding makes none zero or infinite."""


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
        and likelihood.size <= _MOST_PAIRS
    )


def posterior_path(
    sample: Sample, alphas: Sequence[float], random_state: np.random.RandomState
) -> Iterator[Climbed]:
    """Find the posterior's mean for each typical penalty, as `climb_path` finds the mode.

    Parameters
    ----------
    sample : Sample
        One that `can_be_sparse` accepts.
    alphas : sequence of floats
        Penalties of a column whose deviation is the typical one, beforehand.
    random_state : RandomState

    Yields
    ------
    Climbed
        One per alpha.
    """
    starts = starting_weights(sample, random_state)
    for alpha in alphas:
        found = begin(starts, sample, alpha)
        yield ordered(posterior_mean(sample, alpha, found.weights, random_state))


def posterior_mean(
    sample: Sample, alpha: float, start: FloatArray, random_state: np.random.RandomState
) -> Climbed:
    """Find the posterior's mean by a chain of draws.

    Parameters
    ----------
    sample : Sample
    alpha : float
    start : array of shape (n_features + 1, 1)
        Where the chain begins; classes are called as they are there.
    random_state : RandomState

    Returns
    -------
    Climbed
        ``draws``: some of the chain.
    """
    rng = np.random.default_rng(random_state.randint(2**31 - 1))
    chain = _Chain(sample, alpha, start, rng)
    chain.run(_WARM_UP // 2)
    chain.look_again()
    chain.run(_WARM_UP // 2)
    chain.look_again()
    draws = chain.run(_DRAWS)
    weights = _mean(sample, draws, start)
    beliefs = sample.evaluate(sample.design.decide(weights))[0]
    objective = -beliefs.value / sample.likelihood.size
    return Climbed(weights, objective, beliefs, tuple(draws[::_EVERY]))


def _mean(sample: Sample, draws: Sequence[FloatArray], start: FloatArray) -> FloatArray:
    """Return the mean of draws, each with the classes called as those before it call them."""
    columns = np.column_stack(draws)
    scores = sample.population.decide(np.column_stack([start, columns]))
    scores -= scores.mean(axis=0)
    together = scores[:, 0].copy()
    signs = np.ones(len(draws))
    for number, own in enumerate(scores[:, 1:].T):
        signs[number] = 1.0 if own @ together >= 0.0 else -1.0
        together += signs[number] * own
    return np.asarray(columns @ signs / len(draws))[:, None]


class _Chain:
    """Draws of weights from their posterior, one after the other.

    The square of a weight's deviation is ``local * typical``. Given the weights and all the others,
    each factor is inverse gamma distributed, and so is its helper; the roots of both factors are
    half-Cauchy distributed beforehand.

    Parameters
    ----------
    sample : Sample
    alpha : float
    start : array of shape (n_features + 1, 1)
    rng : Generator
    """

    def __init__(
        self, sample: Sample, alpha: float, start: FloatArray, rng: np.random.Generator
    ) -> None:
        self._sample = sample
        self._rng = rng
        rows = sample.design.dense()
        self._varies = np.append(np.ptp(rows, axis=0) > 0.0, True)
        self._rows = np.column_stack([rows, np.ones(len(rows))])[:, self._varies]
        self._weights = start[self._varies, 0]
        self._expected = 1.0 / (sample.likelihood.size * alpha)
        self._typical = self._expected
        self._local = np.ones(self._weights.size - 1)
        self._helpers, self._helper = self._local, 1.0
        self.look_again()

    def look_again(self) -> None:
        """Measure here what pairs and rows tell of the weights: the outer products of slopes.

        Draws are then as long as the posterior is wide in each direction.
        """
        self._value, self._slope, slopes = self._at(self._weights)
        likelihood, of_rows = self._sample.likelihood, self._rows * slopes
        of_pairs = of_rows[likelihood.links.left] + of_rows[likelihood.links.right]
        alone = of_rows[likelihood.population]
        self._told = of_pairs.T @ of_pairs + alone.T @ alone

    def run(self, count: int) -> list[FloatArray]:
        """Draw weights, columns without variation among them at zero."""
        draws = []
        for _ in range(count):
            self._draw_weights(self._draw_precisions())
            draws.append(np.zeros(self._varies.size))
            draws[-1][self._varies] = self._weights
        return draws

    def _draw_precisions(self) -> FloatArray:
        """Return precisions of the weights' prior, drawn given the weights."""
        squares = self._weights[:-1] ** 2 / 2.0
        self._local = self._inverse_gamma(1.0, 1.0 / self._helpers + squares / self._typical)
        self._helpers = self._inverse_gamma(1.0, 1.0 + 1.0 / self._local)
        spread = 1.0 / self._helper + np.sum(squares / self._local)
        self._typical = float(self._inverse_gamma((squares.size + 1.0) / 2.0, spread))
        rate = 1.0 / self._expected + 1.0 / self._typical
        self._helper = float(self._inverse_gamma(1.0, rate))
        return np.append(1.0 / (self._local * self._typical), _FREE)

    def _inverse_gamma(self, shape: float, rate: FloatArray | float) -> FloatArray:
        drawn = rate / self._rng.standard_gamma(shape, size=np.shape(rate))
        return np.asarray(np.clip(drawn, _SMALLEST, _LARGEST))

    def _draw_weights(self, precisions: FloatArray) -> None:
        """Go along a path of nearly constant energy, and stay there if it is."""
        root = cholesky(self._told + np.diag(precisions))

        def push(weights: FloatArray, slope: FloatArray) -> FloatArray:
            pull = slope - precisions * weights
            return np.asarray(solve_triangular(root, pull, trans="T", check_finite=False))

        def energy(weights: FloatArray, value: float, momentum: FloatArray) -> float:
            own = momentum @ momentum + precisions @ weights**2
            return float(0.5 * own - value)

        weights, value, slope = self._weights, self._value, self._slope
        momentum = self._rng.standard_normal(weights.size)
        before = energy(weights, value, momentum)
        length = _STEP * self._rng.uniform(0.6, 1.2)
        momentum = momentum + 0.5 * length * push(weights, slope)
        for leap in range(_LEAPS):
            moved = solve_triangular(root, momentum, check_finite=False)
            weights = weights + length * moved
            value, slope, _ = self._at(weights)
            part = 0.5 if leap == _LEAPS - 1 else 1.0
            momentum = momentum + part * length * push(weights, slope)
        if -self._rng.standard_exponential() < before - energy(weights, value, momentum):
            self._weights, self._value, self._slope = weights, value, slope

    def _at(self, weights: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return the log-likelihood, its slope in the weights and that in the scores."""
        scores = (self._rows @ weights)[:, None]
        value, slopes, _ = self._sample.likelihood.slope(scores)
        return value, self._rows.T @ slopes[:, 0], slopes
