"""Fresh pairs: members are rows of their own, drawn as pairs beside unlabeled rows.

The paper's setting. The mathematics is in `likewise.beliefs.expansion`; here it takes the form that
all kinds of statements have.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from likewise._types import FloatArray
from likewise.beliefs.base import Beliefs, HeldOut, Likelihood, as_shares, log_sum
from likewise.beliefs.coupling_two import in_two
from likewise.beliefs.expansion import Counts, Expansion, Totals, expand, share_covariance
from likewise.beliefs.fixed_point import settle
from likewise.beliefs.fresh_two import slope_of_two
from likewise.beliefs.fresh_two_free import FreeShares, settled_shares, slope_of_free_pairs
from likewise.engines.rows import Positions, row_numbers
from likewise.statements.labels import row_sets_of
from likewise.statements.statements import Links, Statements

__all__ = ["FreshLikelihood"]

_SMALLEST_SHARE = 1e-9


class FreshLikelihood(Likelihood):
    """The likelihood of fresh pairs and unlabeled rows.

    Parameters
    ----------
    statements : Statements
        With ``is_fresh``.
    n_classes : int
    pairing : {"random", "free"}
        Whether similar pairs were formed at random, or classes have shares of their own among them.
    """

    def __init__(self, statements: Statements, n_classes: int, pairing: str = "random") -> None:
        self.statements = statements
        self.n_rows = statements.n_rows
        self.n_classes = n_classes
        self.pairing = pairing
        self._rows = row_sets_of(statements)
        self.counts = Counts.of(self._rows)
        self._weights = None if statements.weights is None else self._ordered(statements.weights)
        self.totals = self.counts.total(self._weights)

    @property
    def size(self) -> float:
        """Number of pairs, or what they count together."""
        return max(self.totals.pairs, 1.0)

    @property
    def population_weights(self) -> FloatArray | None:
        """Weights of the unlabeled rows; see `Likelihood`."""
        if self.statements.weights is None:
            return None
        weights = self.statements.weights[self.population]
        return np.asarray(weights / weights.sum())

    @property
    def is_fresh_mixture(self) -> bool:
        """Whether there are dissimilar pairs too."""
        return self.counts.dissimilar > 0

    @property
    def has_free_shares(self) -> bool:
        """Whether the classes have shares of their own among similar pairs."""
        return self.pairing == "free"

    @property
    def population(self) -> Positions:
        """The unlabeled rows."""
        return self._rows.unlabeled

    @property
    def links(self) -> Links:
        """The pairs."""
        return self.statements.links

    def among(self, chosen: NDArray[np.bool_]) -> "FreshLikelihood":
        """Return the likelihood of some of the rows; pairs must be whole."""
        return FreshLikelihood(self.statements.among(chosen), self.n_classes, self.pairing)

    def paired(self, pairing: str) -> "FreshLikelihood":
        """Return the likelihood of the same pairs, had they come about another way."""
        return FreshLikelihood(self.statements, self.n_classes, pairing)

    def evaluate(self, log_p: FloatArray, near: Beliefs | None = None) -> Beliefs:
        """Return what the pairs imply; see `Likelihood`."""
        start = None if near is None else near.state
        ordered = self._ordered(log_p)
        if self.pairing == "free" and self._is_quick:
            z = ordered[:, 1] - ordered[:, 0]
            shares = self._free_shares(z, expit(z), near)
            of_pairs, of_rows = (
                in_two(np.array([one]))[0] for one in (shares.of_pairs, shares.of_rows)
            )
            return self._at(ordered, of_pairs, of_rows)
        if self.pairing == "free":
            eta = np.exp(ordered[self.counts.alone])
            settled = (
                self._settled_pair_shares(ordered, first, start)
                for first in _first_pair_shares(eta, near)
            )
            found = (self._at(ordered, pair_shares, start) for pair_shares in settled)
            return max(found, key=lambda one: one.value)
        return self._at(ordered, None, start)

    def _at(
        self, ordered: FloatArray, pair_shares: FloatArray | None, start: FloatArray | None
    ) -> Beliefs:
        found = expand(ordered, self.counts, pair_shares, start, self._weights)
        return self._beliefs(ordered, found, pair_shares)

    def slope(
        self, scores: FloatArray, near: Beliefs | None = None
    ) -> tuple[float, FloatArray, Beliefs | None]:
        """Return the value and its gradient in the scores; see `Likelihood`."""
        if scores.shape[1] > 1 or (self.pairing == "free" and not self._is_quick):
            return super().slope(scores, near)
        ordered = self._ordered(scores[:, 0])
        if self.pairing == "free":
            return self._slope_of_free(ordered, near)
        value, gradient = slope_of_two(ordered, self.counts, self.totals, self._weights)
        return value, self._in_place(gradient)[:, None], None

    @property
    def _is_quick(self) -> bool:
        """Whether free shares are settled by the short cut for two classes."""
        return self.n_classes == 2 and bool(self.counts.unlabeled and self.counts.similar)

    def _slope_of_free(
        self, z: FloatArray, near: Beliefs | None
    ) -> tuple[float, FloatArray, Beliefs]:
        """Return what `slope` does for two classes with free shares among pairs."""
        eta = expit(z)
        shares = self._free_shares(z, eta, near)
        found = slope_of_free_pairs(z, eta, shares, self.counts, self.totals, self._weights)
        gradient = self._in_place(found.gradient)
        profiled = (1.0 if self._weights is None else self._weights) / found.sampled
        of_rows = in_two(np.array([shares.of_rows]))[0]
        beliefs = Beliefs(
            found.value,
            np.stack([-gradient, gradient]).T,
            in_two(self._in_place(found.posteriors)),
            of_rows,
            self._in_place(profiled),
            pair_shares=in_two(np.array([shares.of_pairs]))[0],
            wrong=np.zeros(self.counts.pairs),
            state=of_rows,
        )
        return found.value, gradient[:, None], beliefs

    def _free_shares(self, z: FloatArray, eta: FloatArray, near: Beliefs | None) -> FreeShares:
        """Settle free shares of two classes, given log-odds and probabilities of the second."""
        given, weights = (self.counts, self.totals), self._weights
        q = float(eta[self.counts.alone].mean())
        if near is not None and near.state is not None:
            q = float(near.state[1])
        firsts = _first_pair_shares(np.array([[1.0 - q, q]]), near)
        found = [settled_shares(z, eta, *given, weights, (q, float(one[1]))) for one in firsts]
        if len(found) == 1:
            return found[0]
        return max(found, key=lambda one: _value_at(z, eta, one, *given, weights))

    def _settled_pair_shares(
        self, ordered: FloatArray, first: FloatArray, start: FloatArray | None
    ) -> FloatArray:
        """Return the pair shares that are likeliest: what they imply is what they are."""
        of_similar = self.totals.pairs / (self.totals.similar or 1.0)

        def step(shares: FloatArray) -> FloatArray:
            shares = as_shares(shares, _SMALLEST_SHARE)
            found = expand(ordered, self.counts, shares, start, self._weights)
            implied = shares - found.pair_gradient * of_similar
            return np.asarray(implied)

        return as_shares(settle(step, first)[0], _SMALLEST_SHARE) if self.counts.similar else first

    def _beliefs(
        self, ordered: FloatArray, found: Expansion, pair_shares: FloatArray | None
    ) -> Beliefs:
        gradient = -found.gradient * self.totals.pairs
        return Beliefs(
            value=-found.value * self.totals.pairs,
            gradient=self._in_place(gradient),
            posteriors=self._in_place(self._posteriors(ordered, found, pair_shares)),
            shares=found.shares,
            weights=self._in_place(found.weights),
            pair_shares=pair_shares,
            wrong=np.zeros(self.counts.pairs),
            state=found.shares,
        )

    def _posteriors(
        self, ordered: FloatArray, found: Expansion, pair_shares: FloatArray | None
    ) -> FloatArray:
        """Return class probabilities given the partner; of unlabeled rows as they are."""
        eta, counts = np.exp(ordered), self.counts
        rate = np.ones(found.shares.size)
        if pair_shares is not None:
            rate = pair_shares / found.shares**2
        together = ordered[counts.left] + ordered[counts.right] + np.log(rate)
        eta[counts.left] = eta[counts.right] = np.exp(together - log_sum(together)[:, None])
        left, right = eta[counts.dissimilar_left], eta[counts.dissimilar_right]
        apart = left * (1.0 - right), right * (1.0 - left)
        for part, values in zip(
            (counts.dissimilar_left, counts.dissimilar_right), apart, strict=True
        ):
            eta[part] = values / np.maximum(values.sum(axis=1, keepdims=True), 1e-300)
        return eta

    def share_covariance(self, log_p: FloatArray, beliefs: Beliefs) -> FloatArray:
        """Return the covariance of the classes' shares; see `Likelihood`."""
        found = Expansion(
            0.0, beliefs.gradient, np.zeros(0), beliefs.shares, self._ordered(beliefs.weights)
        )
        return share_covariance(
            self._ordered(log_p), self.counts, found, beliefs.pair_shares, self._weights
        )

    def share_of_population(self, mean: float, beliefs: Beliefs, k: int = 1) -> float:
        """Return the share of a class: members of pairs tell of it too; see `Likelihood`."""
        return float(beliefs.shares[k])

    def simulate(
        self, log_p: FloatArray, beliefs: Beliefs, draw: np.random.Generator
    ) -> tuple[NDArray[np.intp], "FreshLikelihood"]:
        """Draw rows and pairs formed at random from the fitted distribution."""
        joint = beliefs.weights[:, None] * np.exp(log_p)
        shares, k = beliefs.shares, self.n_classes

        def rows_of(classes: NDArray[np.intp]) -> NDArray[np.intp]:
            numbers = np.empty(classes.size, dtype=np.intp)
            for one in range(k):
                of_class = classes == one
                if not of_class.any():  # perhaps nothing is of it
                    continue
                weights = joint[:, one] / joint[:, one].sum()
                numbers[of_class] = draw.choice(weights.size, size=int(of_class.sum()), p=weights)
            return numbers

        def class_pairs(size: int, allowed: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
            weights = (np.outer(shares, shares) * allowed).ravel()
            drawn = draw.choice(weights.size, size=size, p=weights / weights.sum())
            return [np.asarray(side) for side in np.divmod(drawn, k)]

        same = np.eye(k, dtype=bool)
        counts = Counts(*(round(total) for total in self.totals))
        alone = draw.choice(k, size=counts.unlabeled, p=shares / shares.sum())
        sides = class_pairs(counts.similar, same) + class_pairs(counts.dissimilar, ~same)
        rows = np.concatenate([rows_of(classes) for classes in (alone, *sides)])
        return rows, FreshLikelihood(in_order(counts), k, self.pairing)

    def leave_out(self, rows: NDArray[np.bool_]) -> HeldOut:
        """Return a fold of rows; see `Likelihood`."""
        links = self.links
        touched = rows[links.left] | rows[links.right]
        outside = ~rows
        outside[links.left[touched]] = outside[links.right[touched]] = False
        inside = rows[links.left] & rows[links.right]
        judged = float(np.count_nonzero(inside))
        if self.statements.weights is not None:
            judged = float(self.statements.weights[links.left[inside]].sum())
        return HeldOut(rows, outside, self.among(outside), judged)

    def evidence(self, fold: HeldOut, log_p: FloatArray, trained: Beliefs) -> float:
        """Return the log-likelihood of a fold's own pairs; see `Likelihood`.

        A model without features has none.
        """
        if not fold.n_judged:
            return 0.0
        test = self.among(fold.rows)
        found = expand(
            test._ordered(log_p[fold.rows]),
            test.counts,
            trained.pair_shares,
            weights=test._weights,
        )
        return -found.value * test.totals.pairs

    @cached_property
    def _order(self) -> NDArray[np.intp] | None:
        """Rows in the order of `Counts`; None if they are in it."""
        order = np.concatenate([row_numbers(part) for part in self._rows])
        return None if np.array_equal(order, np.arange(self.n_rows)) else order

    def _ordered(self, values: FloatArray) -> FloatArray:
        return values if self._order is None else values[self._order]

    def _in_place(self, ordered: FloatArray) -> FloatArray:
        if self._order is None:
            return ordered
        values = np.empty_like(ordered)
        values[self._order] = ordered
        return values


def in_order(counts: Counts) -> Statements:
    """Return fresh pairs whose rows stand in the order of `Counts`.

    Parameters
    ----------
    counts : Counts
    """
    members = np.concatenate(
        [
            np.column_stack([np.arange(side.start, side.stop) for side in sides]).ravel()
            for sides in (
                (counts.left, counts.right),
                (counts.dissimilar_left, counts.dissimilar_right),
            )
        ]
    )
    return Statements(
        counts.rows,
        members,
        2 * np.arange(counts.pairs + 1),
        np.arange(counts.pairs) < counts.similar,
        np.arange(counts.pairs),
        is_fresh=True,
    )


def _first_pair_shares(eta: FloatArray, near: Beliefs | None) -> list[FloatArray]:
    """Return shares of the classes among pairs to begin with.

    More than one place may be settled. Where nothing nearby is known, equal shares are a start
    beside those of random pairs: from the latter, a rare class may never be found among the pairs.
    """
    if near is not None and near.pair_shares is not None:
        return [near.pair_shares]
    equal = np.full(eta.shape[1], 1.0 / eta.shape[1])
    return [as_shares(eta.mean(axis=0) ** 2, _SMALLEST_SHARE), equal] if eta.size else [equal]


def _value_at(
    z: FloatArray,
    eta: FloatArray,
    shares: FreeShares,
    counts: Counts,
    totals: Totals,
    weights: FloatArray | None,
) -> float:
    return slope_of_free_pairs(z, eta, shares, counts, totals, weights).value
