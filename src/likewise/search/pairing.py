"""Were similar pairs formed at random? A likelihood-ratio test of cross-fitted scores.

The usual model says that two rows were drawn at random and kept as a pair if they were of one
class, so that the classes' shares among pairs follow from their shares among rows. Free shares
contain that model; how much better they explain the pairs is the evidence against it. With many
pairs of every class the gain is chi-square distributed; with few, samples drawn from the random
model tell how large it can be without a reason.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize
from scipy.stats import chi2

from likewise._types import FloatArray
from likewise._verbose import step
from likewise.beliefs.base import Beliefs, Likelihood, log_probabilities

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
    """Likelihood-ratio test of random pairing against class-dependent pairing.

    Attributes
    ----------
    statistic : float
        Twice the gain in log-likelihood.
    p_value : float
        Probability of at least that gain if pairs were formed at random.
    pair_shares : tuple of floats
        Shares of the classes among similar pairs that explain them best, classes by size.
    expected_shares : tuple of floats
        Shares that pairs formed at random would have.

    Examples
    --------
    >>> import likewise as lw
    >>> lw.PairingTest(9.2, 0.002, (0.9, 0.1), (0.84, 0.16)).is_rejected
    True
    """

    statistic: float
    p_value: float
    pair_shares: tuple[float, ...]
    expected_shares: tuple[float, ...]

    @property
    def is_rejected(self) -> bool:
        """Whether random pairing is rejected."""
        return self.p_value < _LEVEL

    def __str__(self) -> str:
        found = ", ".join(f"{share:.2f}" for share in self.pair_shares)
        expected = ", ".join(f"{share:.2f}" for share in self.expected_shares)
        verdict = "contradict" if self.is_rejected else "agree with"
        return (
            f"the pairs {verdict} random pairing (p = {self.p_value:.2g}): shares of the classes "
            f"among similar pairs {found}, at random {expected}"
        )


def compare_pairings(scores: FloatArray, likelihood: Likelihood) -> PairingTest:
    """Test random pairing against free pair shares, by the calibrated likelihood of scores.

    Parameters
    ----------
    scores : array of shape (n_rows, m)
        Cross-fitted scores; classes by size.
    likelihood : Likelihood
        Of the statements about these rows, formed at random.

    Returns
    -------
    PairingTest
    """
    found = _fit(scores, likelihood)
    step("random pairing tested")
    p_value = float(chi2.sf(found.statistic, df=likelihood.n_classes - 1))
    n_similar = int(likelihood.links.is_similar.sum())
    smallest = n_similar * float(found.expected.min())
    if _DOUBTFUL[0] < p_value < _DOUBTFUL[1] and smallest < _FEW_PAIRS:
        p_value = _simulated_p_value(scores, likelihood, found)
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
    log_p : array of shape (n_rows, n_classes)
        Calibrated log-probabilities of the model of pairs formed at random.
    beliefs : Beliefs
        Of that model.
    pair_shares : array of shape (n_classes,)
        Of the free model.
    """

    statistic: float
    log_p: FloatArray
    beliefs: Beliefs
    pair_shares: FloatArray

    @property
    def expected(self) -> FloatArray:
        """Shares of the classes among pairs formed at random."""
        shares = self.beliefs.shares
        return np.asarray(shares**2 / float(shares @ shares))


def _fit(scores: FloatArray, likelihood: Likelihood) -> _Fitted:
    vector, random = _best(scores, likelihood, np.zeros(1 + scores.shape[1]))
    freely = likelihood.paired("free")
    # The free model has a local optimum on each side of the classes' order.
    tried = [_best(scores, freely, start)[1] for start in _free_starts(vector)]
    free = max(tried, key=lambda beliefs: beliefs.value)
    fitted = _Fitted(0.0, _calibrated(scores, vector), random, np.zeros(0))
    if free.value <= random.value or free.pair_shares is None:
        return replace(fitted, pair_shares=fitted.expected)
    statistic = 2.0 * (free.value - random.value)
    return replace(fitted, statistic=statistic, pair_shares=free.pair_shares)


def _free_starts(vector: FloatArray) -> list[FloatArray]:
    shifted = vector.copy()
    shifted[1:] = -vector[1:]
    return [vector, shifted, np.append(vector[:1], np.zeros(vector.size - 1))]


def _simulated_p_value(scores: FloatArray, likelihood: Likelihood, found: _Fitted) -> float:
    """Return how often samples of the random model gain as much from free shares."""
    draw = np.random.default_rng(0)  # the same sample gives the same p-value
    above = 0
    for number in range(1, _MOST_SAMPLES + 1):
        rows, drawn = likelihood.simulate(found.log_p, found.beliefs, draw)
        above += _fit(scores[rows], drawn).statistic >= found.statistic
        if above == _ENOUGH_ABOVE:
            return above / number
    return (above + 1) / (_MOST_SAMPLES + 1)


def _best(
    scores: FloatArray, likelihood: Likelihood, start: FloatArray
) -> tuple[FloatArray, Beliefs]:
    """Maximize over scale and offsets."""
    near: list[Beliefs | None] = [None]

    def objective(vector: FloatArray) -> tuple[float, FloatArray]:
        value, slopes, near[0] = likelihood.slope(_tempered(scores, vector), near[0])
        slope = np.exp(vector[0]) * float(np.sum(slopes * scores))
        gradient = np.append(slope, slopes.sum(axis=0))
        return -value / likelihood.size, -gradient / likelihood.size

    bounds = [(-6.0, 6.0)] + [(-30.0, 30.0)] * (start.size - 1)
    found = minimize(
        objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-11}
    )
    vector = np.asarray(found.x)
    return vector, likelihood.evaluate(_calibrated(scores, vector), near[0])


def _calibrated(scores: FloatArray, vector: FloatArray) -> FloatArray:
    return log_probabilities(_tempered(scores, vector))


def _tempered(scores: FloatArray, vector: FloatArray) -> FloatArray:
    return np.asarray(np.exp(vector[0]) * scores + vector[1 : 1 + scores.shape[1]])
