"""How found statements couple all rows: through the shares of the classes among them.

A pair that was found had to be picked from all alike pairs, so its weight depends on how many rows
each class has. With r the shares of the classes and M the numbers of alike links in each, the
statements' log-weight is::

    found at random:   F(r, M) = - sum_k M_k log s - D log(1 - s),     s = sum_k r_k^2
    found freely:      F(r, M) = sum_k M_k (log rho_k - 2 log r_k) - D log(1 - s)

with D links between rows that differ and ``rho = M / sum M``, which is where it is likeliest. The
sum over the classes of all components is taken at its saddle point: every component sees F as
linear in its own rows. That is wrong of large components, whose rows move r by themselves; for them
F is taken at each of their classes, around what the others are expected to be.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from likewise._types import FloatArray
from likewise.beliefs.base import as_shares, log_sum
from likewise.beliefs.components import Components
from likewise.beliefs.coupling_two import SURE, CoupledTwo, CouplingTwo, in_two
from likewise.beliefs.fixed_point import Trace, settle
from likewise.beliefs.propagation import HARD, Edges, propagate

__all__ = ["Coupled", "Coupling"]

_LINEAR = 0.025
"""A component of c of n rows is large if F bends by more than this over it, ``m (c / n)^2``, with m
links: the second-order term is at most eight times as much, for two classes of one size."""
_SMALLEST_SHARE = 1e-9
"""Shares are kept above it: logarithms are taken of them."""


@dataclass(frozen=True)
class Coupled:
    """What found statements imply.

    Attributes
    ----------
    value : float
    beliefs : array of shape (n_components, n_classes)
    shares, pair_shares : arrays of shape (n_classes,)
    messages : array or None
    converged : bool
        Whether propagation between components settled.
    trace : Trace or None
        How shares were settled: the next search, nearby, begins with it.
    """

    value: float
    beliefs: FloatArray
    shares: FloatArray
    pair_shares: FloatArray
    messages: FloatArray | None
    converged: bool = True
    trace: Trace | None = None


class Coupling:
    """The coupling of components by the shares of the classes.

    Parameters
    ----------
    components : Components
    of_links : array of shape (n_links,)
        A row of each similar link.
    n_apart : int
        Number of links between rows that differ.
    n_classes : int
    is_free : bool
        Whether pairs were found freely.
    """

    def __init__(
        self,
        components: Components,
        of_links: NDArray[np.intp],
        n_apart: int,
        n_classes: int,
        *,
        is_free: bool,
    ) -> None:
        self._components = components
        self._n_apart = n_apart
        self._is_free = is_free
        self._k = n_classes
        self._n_rows = components.of_row.size
        self._n_links = of_links.size
        links = np.bincount(of_links, minlength=self._n_rows).astype(np.float64)
        self._rows = _Amounts.of(components, np.ones(self._n_rows), n_classes)
        self._links = _Amounts.of(components, links, n_classes)
        # Half a row's share: what cannot be told from nothing.
        self._least = 0.5 / max(self._n_rows, n_classes)
        m = max(self._n_links + n_apart, 1)
        limit = max(2.0, self._n_rows * np.sqrt(_LINEAR / m))
        self._large = np.flatnonzero(components.sizes > limit)
        self._large_rows = self._rows.by_state(self._large)
        self._large_links = self._links.by_state(self._large)

    def solve(self, fields: FloatArray, start: Coupled | None) -> Coupled:
        """Settle shares and beliefs.

        Parameters
        ----------
        fields : array of shape (n_components, n_classes)
            Log-weights of the components' classes.
        start : Coupled, optional
            At nearby fields.

        Returns
        -------
        Coupled
        """
        found = None
        if self.is_quick:
            found = self.solve_two(fields[:, 1] - fields[:, 0], start)
        return self.settle(fields, start) if found is None else self._told(fields, found)

    def settle(self, fields: FloatArray, start: Coupled | None) -> Coupled:
        """Settle any number of classes and either kind of coupling; see `solve`."""
        here = self._first(fields) if start is None else self._renamed(start, fields)
        memory, places = [here], [np.zeros(0)]

        def step(vector: FloatArray) -> FloatArray:
            memory[0], places[0] = self._at(vector, fields, memory[0]), vector
            return self._flat(memory[0].beliefs)

        end, trace = settle(step, self._flat(here.beliefs), here.trace)
        if places[0] is end and not self._large.size:
            return replace(memory[0], trace=trace)
        return replace(self._at(end, fields, memory[0]), trace=trace)

    @property
    def is_quick(self) -> bool:
        """Whether there is a short cut: two classes, and pairs found at random."""
        return self._k == 2 and not self._is_free

    def solve_two(self, log_odds: FloatArray, start: Coupled | None) -> CoupledTwo | None:
        """Take the short cut; None where that does not settle.

        Parameters
        ----------
        log_odds : array of shape (n_components,)
            Of the components' second class.
        start : Coupled, optional
            At nearby ones.
        """
        return self._of_two.solve(log_odds, None if start is None else start.beliefs[:, 1])

    def _told(self, fields: FloatArray, found: CoupledTwo) -> Coupled:
        """Return what the short cut found."""
        value = found.value + 0.5 * float(fields.sum())
        shares = np.array([1.0 - found.share, found.share])
        return Coupled(value, in_two(found.beliefs), shares, shares, None)

    @cached_property
    def _of_two(self) -> CouplingTwo:
        return CouplingTwo(self._components, self._n_links, self._n_apart, self._large, self._least)

    def _flat(self, beliefs: FloatArray) -> FloatArray:
        """Return the shares of the classes among rows and, where they are free, among links."""
        r = self._rows.total(beliefs) / self._n_rows
        if not self._is_free:
            return r
        return np.concatenate([r, self._links.total(beliefs) / max(self._n_links, 1)])

    def _first(self, fields: FloatArray) -> Coupled:
        """Begin with small components as their fields say, and large ones one by one."""
        beliefs = np.exp(fields - log_sum(fields)[:, None])
        large = self._large
        is_small = np.ones(beliefs.shape[0], dtype=bool)
        is_small[large] = False
        small = np.where(is_small[:, None], beliefs, 0.0)
        rows, links = self._rows.total(small), self._links.total(small)
        for i in np.argsort(-self._components.sizes[large], kind="stable"):
            c = large[i]
            with_rows, with_links = rows + self._large_rows[i], links + self._large_links[i]
            r = with_rows / with_rows.sum(axis=1, keepdims=True)
            rho = np.array([self._likeliest(each) for each in with_links])
            gains = fields[c] + self._term(r, with_links, rho)
            best = int(np.argmax(gains + 1e-9 * np.arange(self._k)))
            rows, links = with_rows[best], with_links[best]
            beliefs[c] = SURE / (self._k - 1)
            beliefs[c, best] = 1.0 - SURE
        return Coupled(0.0, beliefs, np.zeros(0), np.zeros(0), None)

    def _renamed(self, start: Coupled, fields: FloatArray) -> Coupled:
        """Exchange the classes of a start if the fields say so.

        F hardly changes then, and from one side of it to the other there is no way by small steps.
        """
        large = self._large if self._large.size else slice(None)
        found = linear_sum_assignment(start.beliefs[large].T @ fields[large], maximize=True)[1]
        if np.array_equal(found, np.arange(self._k)):
            return start
        beliefs = np.empty_like(start.beliefs)
        beliefs[:, found] = start.beliefs
        return Coupled(0.0, beliefs, start.shares, start.pair_shares, None)

    def _at(self, vector: FloatArray, fields: FloatArray, before: Coupled) -> Coupled:
        """Return beliefs at given shares; large components as they were believed before."""
        r, links = self._parts(vector)
        rho = self._likeliest(links)
        total_r, total_m = self._slopes(r, links, rho)
        base = float(self._term(r, links, rho))
        large, of_large = self._large, 0.0
        own: FloatArray | None = None
        if large.size:
            b = before.beliefs[large]
            own, of_large, total_r, total_m = self._at_large(b, r, links, rho, total_r, total_m)
        extra = self._rows.tilt(total_r / self._n_rows)
        if self._is_free:
            extra += self._links.tilt(total_m)
        if own is not None:
            extra[large] = own
        value, beliefs, messages, converged = self._sum(fields + extra, before.messages)
        value += base + of_large - base * large.size
        # Extra fields stand for F: they are taken off where they were linear.
        value -= float(np.vdot(beliefs, extra))
        return Coupled(value, beliefs, r, rho, messages, converged)

    def _at_large(
        self,
        b: FloatArray,
        r: FloatArray,
        links: FloatArray,
        rho: FloatArray,
        slope_r: FloatArray,
        slope_m: FloatArray,
    ) -> tuple[FloatArray, float, FloatArray, FloatArray]:
        """Take F at each class of the large components.

        Returns
        -------
        fields : array of shape (n_large, n_classes)
            What is added to theirs.
        value : float
            Sum of the expected F of each, the others as they are expected.
        slope_r, slope_m : arrays of shape (n_classes,)
            Derivatives of F in rows and links for all others, large components' own spread
            allowed for.
        """
        rows_of, links_of = self._large_rows, self._large_links
        mean = b[:, None]
        away_r = (rows_of - mean @ rows_of) / self._n_rows
        away_m = links_of - mean @ links_of
        here_r, here_m = np.maximum(r + away_r, 0.0), np.maximum(links + away_m, 0.0)
        terms = self._term(here_r, here_m, rho)
        mean_r, mean_m = ((mean @ s)[:, 0] for s in self._slopes(here_r, here_m, rho))
        total_r = slope_r + (mean_r - slope_r).sum(axis=0)
        total_m = slope_m + (mean_m - slope_m).sum(axis=0)
        fields = terms + (rows_of @ ((total_r - mean_r) / self._n_rows)[:, :, None])[:, :, 0]
        if self._is_free:
            fields += (links_of @ (total_m - mean_m)[:, :, None])[:, :, 0]
        return fields, float(np.vdot(b, terms)), total_r, total_m

    def _sum(
        self, fields: FloatArray, messages: FloatArray | None
    ) -> tuple[float, FloatArray, FloatArray | None, bool]:
        components = self._components
        if not components.left.size:
            nodes = log_sum(fields)
            return float(nodes.sum()), np.exp(fields - nodes[:, None]), None, True
        on, off = self._weights
        found = propagate(fields, self._edges, on, off, messages)
        return found.value, found.beliefs, found.messages, found.converged

    @cached_property
    def _edges(self) -> Edges:
        components = self._components
        return Edges(components.left, components.right, components.count)

    @cached_property
    def _weights(self) -> tuple[FloatArray, FloatArray]:
        """Weights of edges whose ends are of one class, and of those whose ends differ."""
        size = self._components.left.size
        return np.full((size, self._k), HARD), np.full(size, 1.0 - HARD)

    def _parts(self, vector: FloatArray) -> tuple[FloatArray, FloatArray]:
        if not self._is_free:
            return as_shares(vector, _SMALLEST_SHARE), np.zeros(self._k)
        return as_shares(vector[: self._k], _SMALLEST_SHARE), np.maximum(
            vector[self._k :], 0.0
        ) * self._n_links

    def _term(self, r: FloatArray, links: FloatArray, rho: FloatArray) -> FloatArray:
        """Return F, for shares and links of shape (..., n_classes)."""
        s = (r * r).sum(axis=-1)
        apart = -self._n_apart * np.log(np.maximum(1.0 - s, self._least))
        if not self._is_free:
            return np.asarray(apart - self._n_links * np.log(s))
        logs = np.log(np.maximum(rho, self._least)) - 2.0 * np.log(np.maximum(r, self._least))
        return np.asarray(apart + (links * logs).sum(axis=-1))

    def _slopes(
        self, r: FloatArray, links: FloatArray, rho: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the derivatives of F in the shares and in the links."""
        s = (r * r).sum(axis=-1)[..., None]
        of_r = 2.0 * self._n_apart * r / np.maximum(1.0 - s, self._least)
        if not self._is_free:
            return of_r - 2.0 * self._n_links * r / s, np.zeros_like(of_r)
        floor = np.maximum(r, self._least)
        of_links = np.log(np.maximum(rho, self._least)) - 2.0 * np.log(floor)
        return of_r - 2.0 * links / floor, of_links

    def _likeliest(self, links: FloatArray) -> FloatArray:
        """Return the likeliest shares among links, (n_classes,), of which none is too small."""
        links = np.maximum(links, 1e-9)
        rho = links / links.sum()
        is_small = rho < self._least
        if not is_small.any():  # as almost always, in the innermost loop of all
            return np.asarray(rho)
        for _ in range(self._k):
            left = 1.0 - self._least * np.count_nonzero(is_small)
            rho = np.where(is_small, self._least, left * links / links[~is_small].sum())
            is_small |= rho < self._least
        return np.asarray(rho)


@dataclass(frozen=True)
class _Amounts:
    """What components add to the class they are of and, where some rows are flipped, to the other.

    Attributes
    ----------
    own : array of shape (n_components,)
    other : array of shape (n_components,), or None
    n_classes : int
    """

    own: FloatArray
    other: FloatArray | None
    n_classes: int

    @classmethod
    def of(cls, components: Components, of_rows: FloatArray, n_classes: int) -> "_Amounts":
        flips = components.is_flipped
        if flips is None:
            return cls(components.add_up(of_rows), None, n_classes)
        own, other = (components.add_up(np.where(here, of_rows, 0.0)) for here in (~flips, flips))
        return cls(own, other, n_classes)

    def total(self, beliefs: FloatArray) -> FloatArray:
        """Return what is expected of each class, (n_classes,)."""
        found = self.own @ beliefs
        return np.asarray(found if self.other is None else found + (self.other @ beliefs)[::-1])

    def tilt(self, slope: FloatArray) -> FloatArray:
        """Return how a linear function changes with each component's class."""
        found = np.multiply.outer(self.own, slope)
        if self.other is not None:
            found += np.multiply.outer(self.other, slope[::-1])
        return np.asarray(found)

    def by_state(self, chosen: NDArray[np.intp]) -> FloatArray:
        """Return what components add to each class, for each class that they can be of."""
        found = self.own[chosen, None, None] * np.eye(self.n_classes)
        if self.other is not None:
            found = found + self.other[chosen, None, None] * np.eye(self.n_classes)[::-1]
        return np.asarray(found)
