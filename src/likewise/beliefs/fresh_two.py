"""Value and slope of fresh pairs of two classes: the innermost loop of most fits.

The likelihood of `likewise.beliefs.expansion`, pairs formed at random, in the log-odds z of the
second class: every row has one number instead of two, and nothing is worked out that a climb does
not need. With q the share of the second class, ``t = q^2 + (1 - q)^2``, and U, S and D the numbers
of unlabeled rows, similar and dissimilar pairs, a row of class k was sampled with the preference::

    c_k = U + 2 S q_k / t + 2 D (1 - q_k) / (1 - t)
"""

from math import log, log1p
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from likewise._types import FloatArray
from likewise.beliefs.expansion import Counts, Totals

__all__ = ["Place", "Slope", "of_shares", "preferences", "slope_at", "slope_of_two"]

_SMALLEST_SHARE = 1e-12
_TOL = 1e-9
_MOST_STEPS = 100


def slope_of_two(
    z: FloatArray, counts: Counts, totals: Totals, weights: FloatArray | None = None
) -> tuple[float, FloatArray]:
    """Return the log-likelihood in nats and its gradient.

    Parameters
    ----------
    z : array of shape (n_rows,)
        Log-odds of the second class, rows in the order of `Counts`.
    counts : Counts
    totals : Totals
        What they count together.
    weights : array of shape (n_rows,), optional
        Rows count so often, the same for both members of a pair.

    Returns
    -------
    value : float
    gradient : array of shape (n_rows,)
    """
    eta = expit(z)
    q = _share(eta, counts, totals, weights)
    c, _ = preferences(q, totals)
    found = slope_at(Place(float(c[0]), float(c[1]), 0.0), z, eta, counts, weights)
    alike = q * q + (1.0 - q) ** 2
    constant = -totals.similar * np.log(alike)
    return found.value + float(constant) + of_shares(q, totals), found.gradient


def of_shares(q: float, totals: Totals) -> float:
    """Return what the value has beside its sums over rows and over pairs of one kind.

    Parameters
    ----------
    q : float
        Share of the second class.
    totals : Totals
    """
    value = totals.rows * log(totals.rows)
    if totals.dissimilar:
        value -= totals.dissimilar * log1p(-(q * q + (1.0 - q) ** 2))
    return value


class Place(NamedTuple):
    """How rows and similar pairs count at given shares.

    Attributes
    ----------
    first, second : float
        The preferences ``c_k``.
    odds : float
        What similar pairs add to the log-odds that their members are of the second class.
    """

    first: float
    second: float
    odds: float


class Slope(NamedTuple):
    """What sums over rows and pairs say of the log-likelihood.

    Attributes
    ----------
    value : float
        But for what all rows, and all pairs of a kind, have in common.
    gradient : array of shape (n_rows,)
    posteriors : array of shape (n_rows,)
        Of the second class, the partner allowed for.
    sampled : array of shape (n_rows,)
        Preference for each row.
    """

    value: float
    gradient: FloatArray
    posteriors: FloatArray
    sampled: FloatArray


def slope_at(
    place: Place, z: FloatArray, eta: FloatArray, counts: Counts, weights: FloatArray | None
) -> Slope:
    """Add up over rows and pairs.

    Parameters
    ----------
    place : Place
    z, eta : arrays of shape (n_rows,)
        Log-odds and probabilities of the second class.
    counts : Counts
    weights : array of shape (n_rows,), optional
    """
    sampled = place.first + (place.second - place.first) * eta
    log_first = -_softplus(z)
    left, right = counts.left, counts.right
    both = z[left] + z[right] + place.odds
    said = [(left, right, _softplus(both))]
    posteriors = eta.copy()
    posteriors[left] = posteriors[right] = expit(both)
    if counts.dissimilar:
        left, right = counts.dissimilar_left, counts.dissimilar_right
        apart = z[left] - z[right]
        said.append((left, right, z[right] + _softplus(apart)))
        posteriors[left] = of_left = expit(apart)
        posteriors[right] = 1.0 - of_left
    gradient = posteriors - place.second * eta / sampled
    rows = -np.log(sampled)
    pairs = [log_first[left] + log_first[right] + own for left, right, own in said]
    if weights is not None:
        gradient *= weights
        rows *= weights
        pairs = [weights[one[0]] * own for one, own in zip(said, pairs, strict=True)]
    value = float(rows.sum()) + sum(float(own.sum()) for own in pairs)
    return Slope(value, gradient, posteriors, sampled)


def _softplus(x: FloatArray) -> FloatArray:
    """Return ``log(1 + exp(x))``."""
    return np.asarray(np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x))))


def preferences(q: float, totals: Totals) -> tuple[FloatArray, FloatArray]:
    """Return how many sampled rows there are for each row of a class, and the derivatives in q.

    Parameters
    ----------
    q : float
        Share of the second class.
    totals : Totals

    Returns
    -------
    preferences, slopes : arrays of shape (2,)
    """
    shares, signs = np.array([1.0 - q, q]), np.array([-1.0, 1.0])
    alike = q * q + (1.0 - q) ** 2
    bend = 2.0 * (2.0 * q - 1.0)  # the derivative of alike
    c = totals.unlabeled + 2.0 * totals.similar * shares / alike
    slopes = 2.0 * totals.similar * (signs / alike - shares * bend / alike**2)
    if totals.dissimilar:
        rest = 1.0 - alike
        c = c + 2.0 * totals.dissimilar * (1.0 - shares) / rest
        slopes = slopes + 2.0 * totals.dissimilar * (
            -signs / rest + (1.0 - shares) * bend / rest**2
        )
    return c, slopes


def _share(eta: FloatArray, counts: Counts, totals: Totals, weights: FloatArray | None) -> float:
    """Return the share that agrees with the rows' weights it implies, ``sum_i w_i eta_i = q``.

    Newton's method, kept between what is too low and what is too high.
    """
    low, high = _SMALLEST_SHARE, 1.0 - _SMALLEST_SHARE
    q = float((eta[counts.alone] if counts.unlabeled else eta).mean())
    q = min(max(q, low), high)
    of_rows = eta if weights is None else weights * eta
    for _ in range(_MOST_STEPS):
        c, slopes = preferences(q, totals)
        inverse = 1.0 / (c[0] + (c[1] - c[0]) * eta)
        profiled = of_rows * inverse
        residual = float(profiled.sum()) - q
        if abs(residual) < _TOL or high - low < 1e-15:
            break
        low, high = (q, high) if residual > 0 else (low, q)
        bent = slopes[0] + (slopes[1] - slopes[0]) * eta
        drift = -float(profiled @ (inverse * bent)) - 1.0
        trial = q - residual / drift if drift else q
        q = trial if low < trial < high else (low + high) / 2.0
    return q
