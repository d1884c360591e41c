"""The likelihood of fresh pairs: how well class probabilities explain which rows were paired.

With ``eta_k(x)`` the probability of class k for a row x and ``q_k`` its mean over rows, the density
of a pair against that of two independent rows is::

    similar, formed at random:   sum_k eta_k(a) eta_k(b) / sum_k q_k^2
    similar, formed freely:      sum_k rho_k eta_k(a) eta_k(b) / q_k^2
    dissimilar:                  (1 - sum_k eta_k(a) eta_k(b)) / (1 - sum_k q_k^2)

``rho_k`` is the share of class k among freely formed similar pairs. The rows' own distribution is
left open and profiled out: the members of pairs are rows too, drawn with a known preference, so
that together with the unlabeled rows they tell what ``q`` is (empirical likelihood; weights
``1 / sum_k c_k eta_k``). For a constant eta the log-likelihood is zero, and at its best it is the
information that pairs carry, in nats. Everything here works on scores; models are not known.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from likewise._types import FloatArray
from likewise.beliefs.base import as_shares, log_sum
from likewise.engines.rows import RowSets, count_positions

__all__ = ["Counts", "Expansion", "Totals", "expand", "share_covariance"]

_SMALLEST_SHARE = 1e-12
"""Shares are kept above it: freely formed pairs divide by them."""


class Counts(NamedTuple):
    """How many rows and pairs there are; scores stand in the order that `likewise.pack` makes."""

    unlabeled: int
    similar: int
    dissimilar: int = 0

    @classmethod
    def of(cls, rows: RowSets) -> "Counts":
        """Count the rows and pairs that weak labels name."""
        parts = (rows.unlabeled, rows.left, rows.dissimilar_left)
        return cls(*(count_positions(part) for part in parts))

    @property
    def pairs(self) -> int:
        """Number of pairs of both kinds."""
        return self.similar + self.dissimilar

    @property
    def rows(self) -> int:
        """Number of rows: both members of every pair, and the unlabeled rows."""
        return 2 * self.pairs + self.unlabeled

    @property
    def alone(self) -> slice:
        """The unlabeled rows."""
        return slice(0, self.unlabeled)

    @property
    def members(self) -> slice:
        """The members of all pairs."""
        return slice(self.unlabeled, self.rows)

    def total(self, weights: FloatArray | None) -> "Totals":
        """Return how much rows and pairs count together."""
        if weights is None:
            return Totals(*map(float, self))
        parts = (self.alone, self.left, self.dissimilar_left)
        return Totals(*(float(weights[part].sum()) for part in parts))

    @property
    def left(self) -> slice:
        """Left members of the similar pairs."""
        return slice(self.unlabeled, self.unlabeled + self.similar)

    @property
    def right(self) -> slice:
        """Right members of the similar pairs."""
        return slice(self.left.stop, self.left.stop + self.similar)

    @property
    def dissimilar_left(self) -> slice:
        """Left members of the dissimilar pairs."""
        return slice(self.right.stop, self.right.stop + self.dissimilar)

    @property
    def dissimilar_right(self) -> slice:
        """Right members of the dissimilar pairs."""
        return slice(self.dissimilar_left.stop, self.rows)


class Totals(NamedTuple):
    """How much unlabeled rows and pairs count together: their numbers, or sums of weights."""

    unlabeled: float
    similar: float
    dissimilar: float

    @property
    def pairs(self) -> float:
        """Of pairs of both kinds."""
        return self.similar + self.dissimilar

    @property
    def rows(self) -> float:
        """Of both members of every pair, and of the unlabeled rows."""
        return 2.0 * self.pairs + self.unlabeled


@dataclass(frozen=True)
class Expansion:
    """The mean negative log-likelihood, in nats per pair, and what belongs to it.

    Attributes
    ----------
    value : float
        Below zero if the scores know something of the classes.
    gradient : array of shape (n_rows, n_classes)
        In the scores.
    pair_gradient : array of shape (n_classes,)
        In the logarithms of the pair shares (up to normalisation); zeros for random pairing.
    shares : array of shape (n_classes,)
        Share of each class among rows, the ``q`` above.
    weights : array of shape (n_rows,)
        Weight of each row in the profiled distribution of rows; they sum to one.
    """

    value: float
    gradient: FloatArray
    pair_gradient: FloatArray
    shares: FloatArray
    weights: FloatArray


def expand(
    log_p: FloatArray,
    counts: Counts,
    pair_shares: FloatArray | None = None,
    start: FloatArray | None = None,
    weights: FloatArray | None = None,
) -> Expansion:
    """Return the mean negative log-likelihood with its first derivatives.

    Parameters
    ----------
    log_p : array of shape (n_rows, n_classes)
        Log-probabilities of the classes, rows in the order of `Counts`.
    counts : Counts
    pair_shares : array of shape (n_classes,), optional
        Shares of the classes among freely formed similar pairs; None for pairs formed at random.
    start : array of shape (n_classes,), optional
        Where to begin the search for the shares of the classes.
    weights : array of shape (n_rows,), optional
        Rows count so often, the same for both members of a pair.

    Returns
    -------
    Expansion
    """
    pairs, totals = _Pairs.of(log_p, counts, weights), counts.total(weights)
    eta = np.exp(log_p)
    if start is None:
        start = (eta[counts.alone] if counts.unlabeled else eta).mean(axis=0)
    q = _settle(eta, pairs, totals, pair_shares, start, weights)
    joint, members = pairs.similar_terms(q, pair_shares)
    c = _preferences(q, pairs.sum_similar(members), totals, pair_shares)
    preference = eta @ c
    profiled = 1.0 / preference
    gradient = eta * profiled[:, None]  # from here in place: at millions of rows memory is the cost
    gradient *= c
    gradient[counts.alone] -= eta[counts.alone]
    gradient[counts.left] -= members
    gradient[counts.right] -= members
    different, of_left, of_right = pairs.dissimilar_terms()
    gradient[counts.dissimilar_left] -= of_left
    gradient[counts.dissimilar_right] -= of_right
    square = float(q @ q)
    logs = np.log(preference, out=preference)
    if weights is not None:
        gradient *= weights[:, None]
        logs, profiled = weights * logs, weights * profiled
        joint, different = weights[counts.left] * joint, weights[counts.dissimilar_left] * different
    value = logs.sum() - totals.rows * np.log(totals.rows)
    value -= joint.sum() + different.sum()
    gradient /= totals.pairs
    if counts.dissimilar:
        value += totals.dissimilar * np.log1p(-square)
    if pair_shares is None:
        value += totals.similar * np.log(square)
        pair_gradient = np.zeros_like(q)
    else:
        pair_gradient = (totals.similar * pair_shares - pairs.sum_similar(members)) / totals.pairs
    return Expansion(float(value / totals.pairs), gradient, pair_gradient, q, profiled)


def share_covariance(
    log_p: FloatArray,
    counts: Counts,
    expansion: Expansion,
    pair_shares: FloatArray | None = None,
    weights: FloatArray | None = None,
) -> FloatArray:
    """Return the covariance of the shares of the classes, the scores taken as given.

    It is the inverse curvature of the log-likelihood in the shares, the rows' weights following
    them: what is left to know of the shares once the scores are calibrated.

    Parameters
    ----------
    log_p, counts, pair_shares, weights
        As in `expand`.
    expansion : Expansion
        What `expand` returned for them.

    Returns
    -------
    array of shape (n_classes, n_classes)
    """
    q = expansion.shares
    # The share of the first class is one less the others: derivatives are along these columns.
    others = np.vstack([-np.ones(q.size - 1), np.eye(q.size - 1)])
    excess = (np.exp(log_p) - q)[:, 1:]
    slope, curvature = _pair_share_terms(log_p, counts, q, pair_shares, weights)
    profiled = expansion.weights
    if weights is not None:  # a row that counts twice is two rows with half of this each
        profiled = profiled / np.sqrt(np.where(weights > 0, weights, 1.0))
    weighted = profiled[:, None] * excess
    multiplier = others.T @ slope
    of_rows = weighted.T @ weighted
    of_pairs = others.T @ curvature @ others
    of_pairs += np.outer(multiplier, multiplier) / counts.total(weights).rows
    # The inverse of ``inv(of_rows) + of_pairs``, which is zero where all rows are alike: their
    # shares are then those of the calibration.
    inner = of_rows @ np.linalg.pinv(np.eye(q.size - 1) + of_pairs @ of_rows)
    return np.asarray(others @ ((inner + inner.T) / 2.0) @ others.T)


def _pair_share_terms(
    log_p: FloatArray,
    counts: Counts,
    q: FloatArray,
    pair_shares: FloatArray | None,
    weights: FloatArray | None,
) -> tuple[FloatArray, FloatArray]:
    """Return first and second derivatives in q of the pairs' negative log-likelihood."""
    totals = counts.total(weights)
    square, eye = float(q @ q), np.eye(q.size)
    slope, curvature = np.zeros(q.size), np.zeros((q.size, q.size))
    if counts.dissimilar:
        rest = 1.0 - square
        slope -= 2.0 * totals.dissimilar * q / rest
        curvature -= totals.dissimilar * (2.0 * eye / rest + 4.0 * np.outer(q, q) / rest**2)
    if pair_shares is None:
        slope += 2.0 * totals.similar * q / square
        curvature += totals.similar * (2.0 * eye / square - 4.0 * np.outer(q, q) / square**2)
        return slope, curvature
    pairs = _Pairs.of(log_p, counts, weights)
    members = pairs.similar_terms(q, pair_shares)[1]
    total, spread = pairs.sum_similar(members), pairs.spread_similar(members)
    slope += 2.0 * total / q
    curvature -= np.diag(2.0 * total / q**2) + 4.0 * spread / np.outer(q, q)
    return slope, curvature


@dataclass(frozen=True)
class _Pairs:
    """What pairs say whatever the shares are."""

    together: FloatArray
    """``log eta_k(a) eta_k(b)`` of the similar pairs, (n_similar, n_classes)."""
    left: FloatArray
    right: FloatArray
    """Log-probabilities of the members of the dissimilar pairs, (n_dissimilar, n_classes)."""
    weights: FloatArray | None
    """Of the similar pairs, (n_similar,)."""

    @classmethod
    def of(cls, log_p: FloatArray, counts: Counts, weights: FloatArray | None) -> "_Pairs":
        return cls(
            log_p[counts.left] + log_p[counts.right],
            log_p[counts.dissimilar_left],
            log_p[counts.dissimilar_right],
            None if weights is None else weights[counts.left],
        )

    def sum_similar(self, members: FloatArray) -> FloatArray:
        """Add up the class probabilities of the similar pairs, (n_classes,)."""
        return np.asarray(members.sum(axis=0) if self.weights is None else self.weights @ members)

    def spread_similar(self, members: FloatArray) -> FloatArray:
        """Add up the covariances of their classes, (n_classes, n_classes)."""
        weighted = members if self.weights is None else self.weights[:, None] * members
        return np.asarray(np.diag(self.sum_similar(members)) - members.T @ weighted)

    def similar_terms(
        self, q: FloatArray, pair_shares: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        """Return log-densities less the shares' constant, and the probability of each class."""
        terms = self.together
        if pair_shares is not None:
            terms = terms + np.log(np.maximum(pair_shares, 1e-300)) - 2.0 * np.log(q)
        joint = log_sum(terms)
        posteriors = terms - joint[:, None]
        return joint, np.exp(posteriors, out=posteriors)

    def dissimilar_terms(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return ``log(1 - sum_k eta_k eta'_k)`` and the members' class probabilities."""
        of_left = self.left + _log_others(self.right)
        of_right = self.right + _log_others(self.left)
        joint = log_sum(of_left)
        return joint, np.exp(of_left - joint[:, None]), np.exp(of_right - joint[:, None])


def _log_others(log_p: FloatArray) -> FloatArray:
    """Return ``log(1 - eta_k)``, from the other classes so that no digit is lost."""
    if not log_p.size:
        return log_p
    k = log_p.shape[1]
    others = np.where(np.eye(k, dtype=bool), -np.inf, log_p[:, None, :])
    return log_sum(others)


def _preferences(
    q: FloatArray, similar: FloatArray, totals: Totals, pair_shares: FloatArray | None
) -> FloatArray:
    """Return c: how many sampled rows there are for each row of a class, (n_classes,)."""
    square = float(q @ q)
    c = np.full(q.size, totals.unlabeled)
    if totals.dissimilar:
        c += 2.0 * totals.dissimilar * (1.0 - q) / (1.0 - square)
    if pair_shares is None:
        return np.asarray(c + 2.0 * totals.similar * q / square)
    return np.asarray(c + 2.0 * similar / q)


def _preference_slopes(
    q: FloatArray,
    members: FloatArray,
    pairs: "_Pairs",
    totals: Totals,
    pair_shares: FloatArray | None,
) -> FloatArray:
    """Return the derivatives of c in q, entry (k, l) that of ``c_k`` in ``q_l``."""
    square, eye = float(q @ q), np.eye(q.size)
    slopes = np.zeros((q.size, q.size))
    if totals.dissimilar:
        rest = 1.0 - square
        slopes += 2.0 * totals.dissimilar * (2.0 * np.outer(1.0 - q, q) / rest**2 - eye / rest)
    if pair_shares is None:
        return np.asarray(
            slopes + 2.0 * totals.similar * (eye / square - 2.0 * np.outer(q, q) / square**2)
        )
    total, spread = pairs.sum_similar(members), pairs.spread_similar(members)
    return np.asarray(slopes - 4.0 * spread / np.outer(q, q) - 2.0 * np.diag(total / q**2))


def _settle(
    eta: FloatArray,
    pairs: _Pairs,
    totals: Totals,
    pair_shares: FloatArray | None,
    start: FloatArray,
    weights: FloatArray | None,
) -> FloatArray:
    """Return the shares q that agree with the rows' weights they imply: ``sum_i w_i eta_i = q``."""
    q = as_shares(start, _SMALLEST_SHARE)
    residual, jacobian = _mismatch(q, eta, pairs, totals, pair_shares, weights)
    for _ in range(100):
        if np.abs(residual).max() < 1e-9:
            break
        # Newton's step where it helps, else the fixed-point step, which always goes uphill.
        try:
            trial = as_shares(q - np.linalg.solve(jacobian, residual), _SMALLEST_SHARE)
        except np.linalg.LinAlgError:
            trial = as_shares(q + residual, _SMALLEST_SHARE)
        found = _mismatch(trial, eta, pairs, totals, pair_shares, weights)
        if not np.abs(found[0]).max() < 0.9 * np.abs(residual).max():
            trial = as_shares(q + residual, _SMALLEST_SHARE)
            found = _mismatch(trial, eta, pairs, totals, pair_shares, weights)
        if np.abs(trial - q).max() < 1e-15:
            break
        q, (residual, jacobian) = trial, found
    return q


def _mismatch(
    q: FloatArray,
    eta: FloatArray,
    pairs: _Pairs,
    totals: Totals,
    pair_shares: FloatArray | None,
    weights: FloatArray | None,
) -> tuple[FloatArray, FloatArray]:
    """Return ``sum_i w_i eta_i - q`` and its derivatives in q."""
    members = similar = np.zeros(0)
    if pair_shares is not None:
        members = pairs.similar_terms(q, pair_shares)[1]
        similar = pairs.sum_similar(members)
    profiled = 1.0 / (eta @ _preferences(q, similar, totals, pair_shares))
    slopes = _preference_slopes(q, members, pairs, totals, pair_shares)
    weighted = eta * profiled[:, None]
    if weights is not None:
        weighted *= np.sqrt(weights)[:, None]
        profiled = weights * profiled
    return profiled @ eta - q, -(weighted.T @ weighted) @ slopes - np.eye(q.size)
