"""Were similar pairs formed at random? A likelihood-ratio test of cross-fitted scores.

The usual model says that two rows were drawn at random and kept as a pair if they were of one
class, so that the classes' shares among pairs follow from their shares among rows. Free shares
contain that model; how much better they explain the pairs is the evidence against it.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.stats import chi2

from likewise.likelihood import Counts, expand, log_probabilities
from likewise.losses import FloatArray

__all__ = ["PairingTest", "compare_pairings"]


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

    def __str__(self) -> str:
        found = ", ".join(f"{share:.2f}" for share in self.pair_shares)
        expected = ", ".join(f"{share:.2f}" for share in self.expected_shares)
        verdict = "contradict" if self.p_value < 0.05 else "agree with"
        return (
            f"the pairs {verdict} random pairing (p = {self.p_value:.2g}): shares of the classes "
            f"among similar pairs {found}, at random {expected}"
        )


def compare_pairings(scores: FloatArray, counts: Counts) -> PairingTest:
    """Test random pairing against free pair shares, by the calibrated likelihood of scores.

    Parameters
    ----------
    scores : array of shape (n_rows, m)
        Cross-fitted scores, rows in the order of `Counts`; classes by size.
    counts : Counts

    Returns
    -------
    PairingTest
    """
    random, vector = _best(scores, counts, None)
    shares = expand(_calibrated(scores, vector), counts).shares
    expected = shares**2 / float(shares @ shares)
    # Several starting points: the likelihood has a hill on each side of the classes' order.
    starts = [expected, expected[::-1], np.full(shares.size, 1.0 / shares.size)]
    free, pair_shares = random, expected
    for start in starts:
        value, vector = _best(scores, counts, start)
        if value < free:
            free, pair_shares = value, _softmax(vector[-shares.size :])
    statistic = 2.0 * counts.pairs * (random - free)
    order = slice(None, None, -1) if scores.shape[1] == 1 else slice(None)
    return PairingTest(
        statistic=statistic,
        p_value=float(chi2.sf(statistic, df=shares.size - 1)),
        pair_shares=tuple(map(float, pair_shares[order])),
        expected_shares=tuple(map(float, expected[order])),
    )


def _best(
    scores: FloatArray, counts: Counts, pair_shares: FloatArray | None
) -> tuple[float, FloatArray]:
    """Minimise over scale, offsets and, where shares are given to start from, pair shares."""
    m = scores.shape[1]
    size = 1 + m

    def objective(vector: FloatArray) -> tuple[float, FloatArray]:
        shares = None if pair_shares is None else _softmax(vector[size:])
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


def _softmax(logs: FloatArray) -> FloatArray:
    shares = np.exp(logs - logs.max())
    return np.asarray(shares / shares.sum())
