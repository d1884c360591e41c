"""Pairs found at random, two classes: the innermost loop of fits to found statements.

The saddle point of `likewise.beliefs.coupling` in numbers instead of vectors: r is the share of the
second class, every component has one log-odds x, and F is a function of r alone. What is settled is
r, how it tilts small components (lambda), and the probability p of every large one::

    lambda = (1 - L) F'(r) + sum_large E F'                  L: how many large components
    x      = D + w lambda                                    small; n w more rows move one way
    x_i    = D_i + F(r_i1) - F(r_i0) + w_i (lambda - E F'_i)  large; r_i1, r_i0: were it of a class

Newton's method takes a few steps, each a few sums: large components are coupled by r and lambda
alone, so that all but two unknowns are eliminated by hand.
"""

from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from likewise._types import FloatArray
from likewise.beliefs.components import Components

__all__ = ["SURE", "CoupledTwo", "CouplingTwo", "in_two", "log_cosh"]

_TOL = 1e-9
_MOST_STEPS = 5
_LEAST_GAIN = 0.5
"""Steps, and what each may leave of how far from settled all is: longer ways may lead elsewhere."""
_TIE = 1e-9
"""Nats by which the second class is preferred: rounding must not choose."""
SURE = 1e-3
"""Probability of the other class that large components begin with."""


class CoupledTwo(NamedTuple):
    """What pairs found at random imply.

    Attributes
    ----------
    value : float
        Log-likelihood in nats.
    log_odds : array of shape (n_components,)
        Of the second class, all that was said allowed for.
    beliefs : array of shape (n_components,)
        Probabilities of the second class.
    share : float
        Of the second class among rows.
    """

    value: float
    log_odds: FloatArray
    beliefs: FloatArray
    share: float


class _Place(NamedTuple):
    """What a share, and beliefs of large components, imply; derivatives are those of F."""

    value: float
    """Of all terms F."""
    log_odds: FloatArray
    beliefs: FloatArray
    excess: float
    """Implied share less the share."""
    gaps: FloatArray
    """The same of large components' beliefs."""
    bend: float
    """Derivative of the tilt in the share."""
    step: FloatArray
    """Difference of F' between the classes of large components."""
    turn: FloatArray
    """Derivative of the tilt in large components' beliefs."""

    @property
    def size(self) -> float:
        """How far from settled this is."""
        return max(abs(self.excess), float(np.abs(self.gaps).max(initial=0.0)))


class CouplingTwo:
    """The coupling of components of two classes, for pairs found at random.

    Parameters
    ----------
    components : Components
    n_links, n_apart : int
        Numbers of links between rows that are alike, and that differ.
    large : integer array
        Components that F is taken of at each of their classes.
    least : float
        The smallest probability of two rows to differ.
    """

    def __init__(
        self,
        components: Components,
        n_links: int,
        n_apart: int,
        large: NDArray[np.intp],
        least: float,
    ) -> None:
        n_rows = components.of_row.size
        self._n_links, self._n_apart, self._least = float(n_links), float(n_apart), least
        self._large, self._n_rows = large, n_rows
        self._order = np.argsort(-components.sizes[large], kind="stable").tolist()
        self._large_sizes = components.sizes[large]
        # How much the share of the second class rises if a component is of it, not of the first.
        self._moves = components.add_up(components.signs) / n_rows
        self._base = 0.5 * (1.0 - float(components.signs.sum()) / n_rows)
        self._large_moves = self._moves[large]
        self._small_moves = self._moves.copy()
        self._small_moves[large] = 0.0

    def solve(self, fields: FloatArray, start: FloatArray | None) -> CoupledTwo | None:
        """Settle shares and beliefs.

        Parameters
        ----------
        fields : array of shape (n_components,)
            Log-odds of the components' second class, as their rows say.
        start : array of shape (n_components,), optional
            Beliefs at nearby fields.

        Returns
        -------
        CoupledTwo or None
            Its value less what rows alone have; None where Newton's method does not settle.
        """
        start = self._first(fields) if start is None else self._renamed(start, fields)
        share, p = self._base + float(self._moves @ start), start[self._large]
        before = np.inf
        for _ in range(_MOST_STEPS):
            found = self._at(share, p, fields)
            size = found.size
            if size < _TOL:
                return self._settled(found, fields, share)
            if not size < _LEAST_GAIN * before:
                break
            share, p = self._moved(found, share, p)
            before = size
        return None

    def _renamed(self, start: FloatArray, fields: FloatArray) -> FloatArray:
        """Exchange the classes of a start if the fields say so: no small steps lead there."""
        chosen = self._large if self._large.size else slice(None)
        is_exchanged = float((start[chosen] - 0.5) @ fields[chosen]) < 0.0
        return np.asarray(1.0 - start) if is_exchanged else start

    def _first(self, fields: FloatArray) -> FloatArray:
        """Begin with small components as their fields say, and large ones one by one."""
        beliefs: FloatArray = expit(fields)
        if not self._order:
            return beliefs
        large, sizes, moves = self._large, self._large_sizes, self._large_moves * self._n_rows
        flipped, odds = (0.5 * (sizes - moves)).tolist(), fields[large].tolist()
        rest = beliefs.copy()
        rest[large] = 0.0
        total = self._n_rows - float(sizes.sum())
        second = self._n_rows * (self._base + float(self._moves @ rest)) - sum(flipped)
        for i in self._order:
            other = flipped[i]
            own = float(sizes[i]) - other
            total += own + other
            gain = odds[i] + self._term((second + own) / total)
            is_second = gain + _TIE > self._term((second + other) / total)
            second += own if is_second else other
            beliefs[large[i]] = 1.0 - SURE if is_second else SURE
        return beliefs

    def _term(self, r: float) -> float:
        """Return F at one share."""
        s = r * r + (1.0 - r) ** 2
        apart = self._n_apart * log(max(1.0 - s, self._least)) if self._n_apart else 0.0
        return -self._n_links * log(s) - apart

    def _at(self, share: float, p: FloatArray, fields: FloatArray) -> _Place:
        moves, n = self._large_moves, p.size
        shares = np.empty((2, n + 1))  # of the first class, and of the second; last, expected
        np.subtract(share, moves * p, out=shares[0, :n])
        np.add(shares[0, :n], moves, out=shares[1, :n])
        shares[:, n] = share
        terms, slopes, bends = self._curve(shares)
        gain, step = terms[1, :n] - terms[0, :n], slopes[1, :n] - slopes[0, :n]
        slope = slopes[0, :n] + p * step
        bend = bends[0, :n] + p * (bends[1, :n] - bends[0, :n])
        tilt = float((1 - n) * slopes[0, n] + slope.sum())
        log_odds = fields + self._small_moves * tilt
        log_odds[self._large] += gain + moves * (tilt - slope)
        beliefs = expit(log_odds)
        excess = self._base + float(self._moves @ beliefs) - share
        now = beliefs[self._large]
        gaps = now - p
        value = float((1 - n) * terms[0, n] + terms[0, :n].sum() + now @ gain)
        return _Place(
            # At the new beliefs, to first order in how far these are from where F was taken.
            value + tilt * excess - float(slope @ (moves * gaps)),
            log_odds,
            beliefs,
            excess,
            gaps,
            float((1 - n) * bends[0, n] + bend.sum()),
            step,
            step - moves * bend,
        )

    def _moved(self, found: _Place, share: float, p: FloatArray) -> tuple[float, FloatArray]:
        """Take Newton's step: large components are eliminated, share and tilt are left."""
        moves, turn = self._large_moves, found.turn
        spread = found.beliefs * (1.0 - found.beliefs)
        v = spread[self._large]
        per_tilt = float(self._small_moves * spread @ self._small_moves)
        inverse = 1.0 / (1.0 + v * moves * (found.step + turn))
        drift, pulled, left = v * turn * inverse, v * moves * inverse, found.gaps * inverse
        own = 1.0 - float(turn @ pulled)
        a, b = found.bend + float(turn @ drift), float(turn @ left)
        c = per_tilt + float(moves @ pulled)
        d = found.excess + float(moves @ (left - found.gaps))
        of_share = (c * b / own + d) / (own - c * a / own)
        of_tilt = (a * of_share + b) / own
        p = p + left + drift * of_share + pulled * of_tilt
        return share + of_share, np.minimum(np.maximum(p, 0.0), 1.0)

    def _settled(self, found: _Place, fields: FloatArray, share: float) -> CoupledTwo:
        tilts = found.log_odds - fields
        value = found.value + float(log_cosh(found.log_odds).sum() - tilts @ (found.beliefs - 0.5))
        return CoupledTwo(value, found.log_odds, found.beliefs, share)

    def _curve(self, r: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return F and its two derivatives in the share of the second class."""
        lean = 2.0 * r - 1.0
        s = 0.5 + 0.5 * lean * lean
        rate = -self._n_links / s
        terms, slope = -self._n_links * np.log(s), 2.0 * lean
        bends = 4.0 * rate - slope * slope * rate / s
        if self._n_apart:
            rest = np.maximum(1.0 - s, self._least)
            apart = self._n_apart / rest
            terms -= self._n_apart * np.log(rest)
            bends += 4.0 * apart + slope * slope * apart / rest
            rate = rate + apart
        return terms, slope * rate, bends


def log_cosh(x: FloatArray) -> FloatArray:
    """Return ``log(2 cosh(x / 2))``."""
    size = np.abs(x)
    return np.asarray(0.5 * size + np.log1p(np.exp(-size)))


def in_two(second: FloatArray) -> FloatArray:
    """Return the probabilities of both classes, (n, 2), given those of the second, (n,)."""
    both = np.empty((2, second.size))
    np.subtract(1.0, second, out=both[0])
    both[1] = second
    return np.asarray(both.T)
