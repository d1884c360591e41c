"""Fresh similar pairs of two classes whose shares among pairs are free, beside unlabeled rows.

As `likewise.beliefs.fresh_two`, with the share rho of the second class among similar pairs as a
second unknown. Both shares are what they imply: with P the sum of the pairs' probabilities of the
second class, ``rho = P / S`` and ``q = sum_i w_i eta_i``, where a row of class k was sampled with
the preference ``U + 2 P_k / q_k`` (and what dissimilar pairs add). Newton's method settles both at
once.
"""

from math import log
from typing import NamedTuple

from scipy.special import expit

from likewise._types import FloatArray
from likewise.beliefs.expansion import Counts, Totals
from likewise.beliefs.fixed_point import settle_number
from likewise.beliefs.fresh_two import Place, Slope, of_shares, preferences, slope_at

__all__ = ["FreeShares", "settled_shares", "slope_of_free_pairs"]

_SMALLEST_SHARE = 1e-9
_TOL, _TOL_OF_PAIRS, _ROUNDING = 1e-9, 1e-8, 1e-14
_NEAR, _MOST_STEPS = 0.1, 5
"""How far from settled Newton's method for both shares may begin, and its steps: there may be more
than one place that is settled, and longer ways may lead elsewhere."""
_MOST_INNER_STEPS, _NO_MOVE = 100, 1e-15
_SMALLEST_OF_ROWS = 1e-12


class FreeShares(NamedTuple):
    """Shares of the second class that imply themselves.

    Attributes
    ----------
    of_rows, of_pairs : float
    place : Place
        How rows and pairs count there.
    """

    of_rows: float
    of_pairs: float
    place: Place


def slope_of_free_pairs(
    z: FloatArray,
    eta: FloatArray,
    shares: FreeShares,
    counts: Counts,
    totals: Totals,
    weights: FloatArray | None = None,
) -> Slope:
    """Return the log-likelihood in nats and its gradient.

    Parameters
    ----------
    z, eta : arrays of shape (n_rows,)
        Log-odds and probabilities of the second class, rows in the order of `Counts`.
    shares : FreeShares
        As `settled_shares` returns them.
    counts : Counts
    totals : Totals
        What they count together.
    weights : array of shape (n_rows,), optional
    """
    found = slope_at(shares.place, z, eta, counts, weights)
    q, rho = shares.of_rows, shares.of_pairs
    constant = totals.similar * (log(1.0 - rho) - 2.0 * log(1.0 - q))
    return found._replace(value=found.value + constant + of_shares(q, totals))


def settled_shares(
    z: FloatArray,
    eta: FloatArray,
    counts: Counts,
    totals: Totals,
    weights: FloatArray | None,
    start: tuple[float, float],
) -> FreeShares:
    """Settle both shares.

    Parameters
    ----------
    z, eta, counts, totals, weights
        As in `slope_of_free_pairs`.
    start : tuple of two floats
        Shares among rows and among pairs to begin with.

    Returns
    -------
    FreeShares
    """
    search = _Search(z, eta, counts, totals, weights)
    q, rho = (_kept(share) for share in start)
    found = search.both(q, rho)
    return search.one_by_one(q, rho) if found is None else found


class _Gaps(NamedTuple):
    """What shares imply less what they are, and derivatives in them."""

    place: Place
    of_rows: float
    of_pairs: float
    rows_rows: float
    rows_pairs: float
    pairs_rows: float
    pairs_pairs: float

    def is_settled(self, q: float) -> bool:
        """Tell whether the share q among rows is settled."""
        return abs(self.of_rows) < _TOL * q * (1.0 - q) + _ROUNDING


class _Mismatch(NamedTuple):
    """Shares among rows as two unknowns, what is left of their equations, and derivatives."""

    q: tuple[float, float]
    implied: float
    """Share among pairs."""
    left: tuple[float, float]
    a: float
    b: float
    c: float
    d: float

    @property
    def size(self) -> float:
        """How far from settled this is."""
        return max(abs(self.left[0]), abs(self.left[1]))

    def newton(self) -> tuple[float, float]:
        """Return shares after Newton's step."""
        determinant = self.a * self.d - self.b * self.c
        if not determinant:
            return self.plain()
        first, second = self.left
        return _as_shares(
            self.q[0] - (self.d * first - self.b * second) / determinant,
            self.q[1] - (self.a * second - self.c * first) / determinant,
        )

    def plain(self) -> tuple[float, float]:
        """Return the shares that the rows' weights imply."""
        return _as_shares(self.q[0] + self.left[0], self.q[1] + self.left[1])


class _Search:
    """The search for both shares, at given log-odds of rows."""

    def __init__(
        self,
        z: FloatArray,
        eta: FloatArray,
        counts: Counts,
        totals: Totals,
        weights: FloatArray | None,
    ) -> None:
        self._eta, self._totals = eta, totals
        self._apart = totals._replace(similar=0.0)
        self._both = z[counts.left] + z[counts.right]
        self._of_pairs = None if weights is None else weights[counts.left]
        self._weights = weights
        self._of_rows = eta if weights is None else weights * eta

    def both(self, q: float, rho: float) -> FreeShares | None:
        """Take Newton's steps for both shares; None where these are not settled nearby."""
        before = 2.0 * _NEAR
        for _ in range(_MOST_STEPS):
            gaps = self._at(q, rho)
            if abs(gaps.of_pairs) < _TOL_OF_PAIRS and gaps.is_settled(q):
                return FreeShares(q, rho, gaps.place)
            size = max(abs(gaps.of_rows) / (q * (1.0 - q)), abs(gaps.of_pairs))
            determinant = gaps.rows_rows * gaps.pairs_pairs - gaps.rows_pairs * gaps.pairs_rows
            if not (size < 0.5 * before and determinant):
                return None
            before = size
            of_rows = gaps.pairs_pairs * gaps.of_rows - gaps.rows_pairs * gaps.of_pairs
            of_pairs = gaps.rows_rows * gaps.of_pairs - gaps.pairs_rows * gaps.of_rows
            q, rho = q - of_rows / determinant, rho - of_pairs / determinant
            if not (min(q, rho) > _SMALLEST_SHARE and max(q, rho) < 1.0 - _SMALLEST_SHARE):
                return None  # another place may be nearer than the end of the range
        return None

    def one_by_one(self, start: float, rho: float) -> FreeShares:
        """Settle the share among pairs, and for each of its values that among rows."""

        def implied(share: float) -> float:
            share = _kept(share)
            return self._rows(start, share).implied

        rho = _kept(settle_number(implied, rho))
        found = self._rows(start, rho)
        q = found.q[1]
        return FreeShares(q, rho, self._at(q, rho).place)

    def _rows(self, start: float, rho: float) -> "_Mismatch":
        """Settle the share among rows, by the steps that the general likelihood takes."""
        here = self._mismatch(_as_shares(1.0 - start, start), rho)
        for _ in range(_MOST_INNER_STEPS):
            size = here.size
            if size < _TOL:
                break
            # Newton's step where it helps, else the fixed-point step, which always goes uphill.
            there = self._mismatch(here.newton(), rho)
            if not there.size < 0.9 * size:
                there = self._mismatch(here.plain(), rho)
            if max(abs(there.q[0] - here.q[0]), abs(there.q[1] - here.q[1])) < _NO_MOVE:
                break
            here = there
        return here

    def _mismatch(self, q: tuple[float, float], rho: float) -> "_Mismatch":
        """Return what `likewise.beliefs.expansion` settles, both shares taken for unknowns."""
        totals, (q0, q1) = self._totals, q
        odds = log(rho / (1.0 - rho)) - 2.0 * log(q1 / q0)
        post = expit(self._both + odds)
        told = post if self._of_pairs is None else self._of_pairs * post
        second = float(told.sum())
        first = totals.similar - second
        spread = second - float(told @ post)
        c0, c1 = totals.unlabeled + 2.0 * first / q0, totals.unlabeled + 2.0 * second / q1
        s00 = -(4.0 * spread + 2.0 * first) / q0**2
        s11 = -(4.0 * spread + 2.0 * second) / q1**2
        s01 = s10 = 4.0 * spread / (q0 * q1)
        if totals.dissimilar:
            rest = 1.0 - q0**2 - q1**2
            per = 2.0 * totals.dissimilar / rest
            c0, c1 = c0 + per * (1.0 - q0), c1 + per * (1.0 - q1)
            s00 += per * (2.0 * (1.0 - q0) * q0 / rest - 1.0)
            s11 += per * (2.0 * (1.0 - q1) * q1 / rest - 1.0)
            s01 += per * 2.0 * (1.0 - q0) * q1 / rest
            s10 += per * 2.0 * (1.0 - q1) * q0 / rest
        inverse = 1.0 / (c0 + (c1 - c0) * self._eta)
        profiled = self._of_rows * inverse
        implied = float(profiled.sum())
        weighted = profiled * inverse
        total, square = float(weighted.sum()), float(weighted @ self._eta)
        cross = total - square
        rows = inverse if self._weights is None else self._weights * inverse
        other = float(rows.sum()) - implied
        a00 = float(rows @ inverse) - total - cross
        return _Mismatch(
            q,
            second / totals.similar,
            (other - q0, implied - q1),
            -(a00 * s00 + cross * s10) - 1.0,
            -(a00 * s01 + cross * s11),
            -(cross * s00 + square * s10),
            -(cross * s01 + square * s11) - 1.0,
        )

    def _at(self, q: float, rho: float) -> _Gaps:
        totals, rest = self._totals, 1.0 - q
        odds = log(rho / (1.0 - rho)) - 2.0 * log(q / rest)
        post = expit(self._both + odds)
        told = post if self._of_pairs is None else self._of_pairs * post
        second = float(told.sum())
        first = totals.similar - second
        spread = second - float(told @ post)
        c0, c1, c0_q, c1_q = 2.0 * first / rest, 2.0 * second / q, 0.0, 0.0
        if totals.dissimilar:
            c, slopes = preferences(q, self._apart)
            c0, c1 = c0 + float(c[0]), c1 + float(c[1])
            c0_q, c1_q = map(float, slopes)
        else:
            c0, c1 = c0 + totals.unlabeled, c1 + totals.unlabeled
        inverse = 1.0 / (c0 + (c1 - c0) * self._eta)
        profiled = self._of_rows * inverse
        weighted = profiled * inverse
        square = float(weighted @ self._eta)
        cross = float(weighted.sum()) - square
        # How preferences, and the log-odds of pairs, change with the shares.
        c0_q += 2.0 * first / rest**2
        c1_q -= 2.0 * second / q**2
        odds_q, odds_rho = -2.0 / (q * rest), 1.0 / (rho * (1.0 - rho))
        per_odds = 2.0 * spread * (cross / rest - square / q)
        return _Gaps(
            Place(c0, c1, odds),
            float(profiled.sum()) - q,
            second / totals.similar - rho,
            per_odds * odds_q - cross * c0_q - square * c1_q - 1.0,
            per_odds * odds_rho,
            spread / totals.similar * odds_q,
            spread / totals.similar * odds_rho - 1.0,
        )


def _kept(share: float) -> float:
    return min(max(share, _SMALLEST_SHARE), 1.0 - _SMALLEST_SHARE)


def _as_shares(first: float, second: float) -> tuple[float, float]:
    first, second = max(first, _SMALLEST_OF_ROWS), max(second, _SMALLEST_OF_ROWS)
    return first / (first + second), second / (first + second)
