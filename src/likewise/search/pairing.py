"""Were similar pairs formed at random? A likelihood-ratio test of cross-fitted scores.

The usual model says that two rows were drawn at random and kept as a pair if they were of one
class, so that the classes' shares among pairs follow from their shares among rows. Free shares
contain that model; how much better they explain the pairs is the evidence against it. With many
pairs of every class the gain is chi-square distributed; with few, samples drawn from the random
model tell how large it can be by chance.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import softmax
from scipy.stats import chi2

from likewise._types import FloatArray
from likewise.beliefs.fresh import Counts, expand, log_probabilities

__all__ = ["PairingTest", "compare_pairings"]

_LEVEL = 0.05
"""p-value below which random pairing is rejected."""
_FEW_PAIRS = 50
"""Pairs of the smallest class below which the chi-square distribution is not relied on."""
_DOUBTFUL = (1e-4, 0.2)
"""Chi-square p-values outside need no closer look: random pairing falls, or stands."""
_MOST_SAMPLES = 99
_ENOUGH_ABOVE = 5
"""Simulated gains above the one found after which simulation stops (Besag and Clifford, 1991)."""


@dataclass(frozen=True)
class PairingTest:
    """How well free pair shares explain the pairs, against pairs formed at random.

    Attributes
    ----------
    statistic : float
        Twice the gain in log-likelihood.
    p_value : float
        Chance of at least that gain if pairs were formed at random.
    pair_shares : tuple of floats
        Shares of the classes among similar pairs that explain them best, classes by size.
    expected_shares : tuple of floats
        Shares that pairs formed at random would have.
    """

    statistic: float
    p_value: float
    pair_shares: tuple[float, ...]
    expected_shares: tuple[float, ...]

    @property
    def is_rejected(self) -> bool:
        """Whether the pairs speak against random pairing."""
        return self.p_value < _LEVEL

    def __str__(self) -> str:
        found = ", ".join(f"{share:.2f}" for share in self.pair_shares)
        expected = ", ".join(f"{share:.2f}" for share in self.expected_shares)
        verdict = "contradict" if self.is_rejected else "agree with"
        return (
            f"the pairs {verdict} random pairing (p = {self.p_value:.2g}): shares of the classes "
            f"among similar pairs {found}, at random {expected}"
        )


def compare_pairings(scores: FloatArray, counts: Counts, freshness: float = 1.0) -> PairingTest:
    """Test random pairing against free pair shares, by the calibrated likelihood of scores.

    Parameters
    ----------
    scores : array of shape (n_rows, m)
        Cross-fitted scores, rows in the order of `Counts`; classes by size.
    counts : Counts
    freshness : float, default 1
        What a pair is worth where rows are in several (see `likewise.search.reuse`).

    Returns
    -------
    PairingTest
    """
    found = _fit(scores, counts)
    found = replace(found, statistic=freshness * found.statistic)
    p_value = float(chi2.sf(found.statistic, df=found.shares.size - 1))
    smallest = counts.similar * float(found.expected.min())
    if _DOUBTFUL[0] < p_value < _DOUBTFUL[1] and smallest < _FEW_PAIRS:
        p_value = _simulated_p_value(scores, counts, found)
    order = slice(None, None, -1) if scores.shape[1] == 1 else slice(None)
    return PairingTest(
        statistic=found.statistic,
        p_value=p_value,
        pair_shares=tuple(map(float, found.pair_shares[order])),
        expected_shares=tuple(map(float, found.expected[order])),
    )


@dataclass(frozen=True)
class _Fitted:
    """Both models, fitted to one sample.

    Attributes
    ----------
    statistic : float
    vector : array of shape (1 + m,)
        Scale and offsets of the model of pairs formed at random.
    shares, weights : arrays of shape (n_classes,) and (n_rows,)
        The classes' shares and the rows' weights in that model.
    pair_shares : array of shape (n_classes,)
        Of the free model.
    """

    statistic: float
    vector: FloatArray
    shares: FloatArray
    weights: FloatArray
    pair_shares: FloatArray

    @property
    def expected(self) -> FloatArray:
        """Shares of the classes among pairs formed at random."""
        return np.asarray(self.shares**2 / float(self.shares @ self.shares))


def _fit(scores: FloatArray, counts: Counts) -> _Fitted:
    random, vector = _best(scores, counts, None)
    expansion = expand(_calibrated(scores, vector), counts)
    fitted = _Fitted(0.0, vector, expansion.shares, expansion.weights, expansion.shares)
    expected = fitted.expected
    # Several starting points: the likelihood has a hill on each side of the classes' order.
    starts = [expected, expected[::-1], np.full(expected.size, 1.0 / expected.size)]
    free, pair_shares = random, expected
    for start in starts:
        value, freely = _best(scores, counts, start)
        if value < free:
            free, pair_shares = value, softmax(freely[-expected.size :])
    statistic = 2.0 * counts.pairs * (random - free)
    return replace(fitted, statistic=statistic, pair_shares=pair_shares)


def _simulated_p_value(scores: FloatArray, counts: Counts, found: _Fitted) -> float:
    """Return how often samples of the random model gain as much from free shares."""
    draw = np.random.default_rng(0)  # the same sample gives the same p-value
    above = 0
    for number in range(1, _MOST_SAMPLES + 1):
        above += _fit(scores[_simulate(scores, counts, found, draw)], counts).statistic >= (
            found.statistic
        )
        if above == _ENOUGH_ABOVE:
            return above / number
    return (above + 1) / (_MOST_SAMPLES + 1)


def _simulate(
    scores: FloatArray, counts: Counts, found: _Fitted, draw: np.random.Generator
) -> NDArray[np.intp]:
    """Draw rows and pairs formed at random from the fitted distribution, as row numbers."""
    chances = found.weights[:, None] * np.exp(_calibrated(scores, found.vector))
    both = np.outer(found.shares, found.shares)
    n_classes = found.shares.size

    def rows_of(classes: NDArray[np.intp]) -> NDArray[np.intp]:
        numbers = np.empty(classes.size, dtype=np.intp)
        for k in range(n_classes):
            of_class = classes == k
            weights = chances[:, k] / chances[:, k].sum()
            numbers[of_class] = draw.choice(weights.size, size=int(of_class.sum()), p=weights)
        return numbers

    def class_pairs(size: int, allowed: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
        weights = (both * allowed).ravel()
        drawn = draw.choice(weights.size, size=size, p=weights / weights.sum())
        return [np.asarray(side) for side in np.divmod(drawn, n_classes)]

    same = np.eye(n_classes, dtype=bool)
    alone = draw.choice(n_classes, size=counts.unlabeled, p=found.shares / found.shares.sum())
    sides = class_pairs(counts.similar, same) + class_pairs(counts.dissimilar, ~same)
    return np.concatenate([rows_of(classes) for classes in (alone, *sides)])


def _best(
    scores: FloatArray, counts: Counts, pair_shares: FloatArray | None
) -> tuple[float, FloatArray]:
    """Minimise over scale, offsets and, where shares are given to start from, pair shares."""
    m = scores.shape[1]
    size = 1 + m

    def objective(vector: FloatArray) -> tuple[float, FloatArray]:
        shares = None if pair_shares is None else softmax(vector[size:])
        found = expand(_calibrated(scores, vector), counts, shares)
        slopes = found.gradient[:, 1:] if m == 1 else found.gradient
        slope = np.exp(vector[0]) * float(np.sum(slopes * scores))
        parts = [np.array([slope]), slopes.sum(axis=0)]
        if pair_shares is not None:
            parts.append(found.pair_gradient)
        return found.value, np.concatenate(parts)

    start = np.zeros(size)
    if pair_shares is not None:
        start = np.concatenate([start, np.log(np.maximum(pair_shares, 1e-6))])
    bounds = [(-6.0, 6.0)] + [(-30.0, 30.0)] * (start.size - 1)
    found = minimize(
        objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-11}
    )
    return float(found.fun), np.asarray(found.x)


def _calibrated(scores: FloatArray, vector: FloatArray) -> FloatArray:
    m = scores.shape[1]
    calibrated = np.exp(vector[0]) * scores + vector[1 : 1 + m]
    return log_probabilities(calibrated[:, 0] if m == 1 else calibrated)
