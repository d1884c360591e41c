"""Statements about the rows of one table: asked, found at random, or found freely.

With ``eta_k(x)`` the class probabilities of a row and z the hidden classes of all n rows, the
log-likelihood of the statements given the rows is::

    log sum_z  prod_i eta_{z_i}(x_i)  prod_e psi_e(z)

asked
    Rows were chosen for whatever reason and every answer was kept: ``psi = 1 - eps`` where an
    answer is right, ``eps`` where it is wrong. No class shares are in it.
found at random
    Any alike pair was as likely to be stated as any other: ``psi = (1 - eps) / s`` for a pair that
    is alike, ``eps / (1 - s)`` for one that is not, with ``s = sum_k r_k^2`` and r the shares of
    the classes among the rows. (Pairs said to differ the other way round.)
found freely
    Class k has a share ``rho_k`` of its own among similar pairs: ``psi = (1 - eps) rho_k / r_k^2``.

Without errors, rows that statements tie together are contracted (`likewise.beliefs.components`);
with errors, beliefs are propagated (`likewise.beliefs.propagation`). Shares couple all rows
(`likewise.beliefs.coupling`): at the saddle point of the sum over z the coupling is a tilt of every
row's classes. Shares and a learned error rate solve equations that are settled inside every
evaluation, so that by the envelope theorem the gradient is that of fixed ones.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from likewise._types import FloatArray
from likewise.beliefs.base import Beliefs, HeldOut, Likelihood, log_probabilities, log_sum
from likewise.beliefs.components import Components, ContradictionError, contract
from likewise.beliefs.coupling import Coupled, Coupling
from likewise.beliefs.fixed_point import settle
from likewise.beliefs.propagation import HARD, Edges, propagate
from likewise.engines.rows import Positions
from likewise.statements.statements import Links, Statements

__all__ = ["Pairing", "TableLikelihood"]

Pairing = Literal["asked", "random", "free"]
IntArray = NDArray[np.intp]

_SMALLEST_SHARE = 1e-6
_ERROR_RATES = (1e-4, 0.49)
"""Learned error rates stay within: half of all answers wrong would say nothing."""
_FIRST_ERROR_RATE = 0.1
_IMPOSSIBLE = -1e8
"""Log-probability of a class that a row is known not to be of."""


@dataclass(frozen=True)
class _Common:
    """What all rows have in common.

    Attributes
    ----------
    shares : array of shape (n_classes,)
        Of the classes among rows, the ``r`` above.
    pair_shares : array of shape (n_classes,)
        Of the classes among similar statements, ``rho``.
    different : float
        Share of the links between rows that differ.
    error_rate : float
    """

    shares: FloatArray
    pair_shares: FloatArray
    different: float
    error_rate: float

    def flat(self) -> FloatArray:
        return np.concatenate([self.shares, self.pair_shares, [self.different, self.error_rate]])

    @classmethod
    def at(cls, vector: FloatArray) -> "_Common":
        k = (vector.size - 2) // 2
        return cls(
            _as_shares(vector[:k]),
            _as_shares(vector[k : 2 * k]),
            float(np.clip(vector[-2], 0.0, 1.0)),
            float(np.clip(vector[-1], *_ERROR_RATES)),
        )


@dataclass(frozen=True)
class _Found:
    """What the statements imply at given common numbers."""

    value: float
    posteriors: FloatArray
    alike: FloatArray
    """Expected number of alike links of each class, similar statements, (n_classes,)."""
    wrong: FloatArray
    """Probability that each link is wrong, (n_links,)."""
    n_different: float
    messages: FloatArray | None


class TableLikelihood(Likelihood):
    """The likelihood of statements about the rows of one table.

    Parameters
    ----------
    statements : Statements
    n_classes : int
    pairing : {"asked", "random", "free"}
    error_rate : float or None
        Probability that a statement is wrong; None to learn it.
    known : integer array of shape (n_rows,), optional
        Classes of single rows; -1 where nothing is known.

    Raises
    ------
    ContradictionError
        If the error rate is zero and statements cannot all be right.
    """

    def __init__(
        self,
        statements: Statements,
        n_classes: int,
        pairing: Pairing = "asked",
        error_rate: float | None = 0.0,
        known: IntArray | None = None,
    ) -> None:
        self.statements = statements
        self.n_rows = statements.n_rows
        self.n_classes = n_classes
        self.pairing: Pairing = pairing
        self.error_rate = error_rate
        self.known = None if known is None or np.all(known < 0) else known
        if self.is_exact:
            self._check_consistent()

    def _check_consistent(self) -> None:
        """Raise if statements, and what is known of rows, cannot all be right."""
        components = self._components
        if self.known is not None:
            _check_known(components, self.known)

    @property
    def is_exact(self) -> bool:
        """Whether all statements are right, so that rows are contracted."""
        return self.error_rate == 0.0

    @property
    def size(self) -> float:
        """Half the number of rows that something is known of: so many separate pairs."""
        informed = self.statements.stated
        if self.known is not None:
            informed = informed | (self.known >= 0)
        return max(0.5 * float(np.count_nonzero(informed)), 1.0)

    def with_error_rate(self, error_rate: float) -> "TableLikelihood":
        """Return the likelihood of the same statements at a given error rate."""
        return TableLikelihood(
            self.statements, self.n_classes, self.pairing, error_rate, self.known
        )

    def held(self, beliefs: Beliefs | None) -> "TableLikelihood":
        """Return the likelihood with a learned error rate held as it is; see `Likelihood`."""
        if self.error_rate is not None:
            return self
        rate = _FIRST_ERROR_RATE if beliefs is None else beliefs.error_rate
        return self.with_error_rate(float(np.clip(rate, *_ERROR_RATES)))

    def about(self, statements: Statements) -> "TableLikelihood":
        """Return the likelihood of other statements about the same rows."""
        return TableLikelihood(
            statements, self.n_classes, self.pairing, self.error_rate, self.known
        )

    def among(self, chosen: NDArray[np.bool_]) -> "TableLikelihood":
        """Return the likelihood of some of the rows and the statements about them."""
        known = None if self.known is None else self.known[chosen]
        return TableLikelihood(
            self.statements.among(chosen), self.n_classes, self.pairing, self.error_rate, known
        )

    @property
    def is_named(self) -> bool:
        """Whether the classes of some rows are known."""
        return self.known is not None

    @property
    def has_free_shares(self) -> bool:
        """Whether the classes have shares of their own among similar pairs."""
        return self.pairing == "free"

    @property
    def population(self) -> Positions:
        """All rows of the table."""
        return slice(0, self.n_rows, 1)

    @cached_property
    def links(self) -> Links:
        """The statements as couples of rows."""
        return self.statements.links

    def paired(self, pairing: str) -> "TableLikelihood":
        """Return the likelihood of the same statements, had they come about another way."""
        return TableLikelihood(
            self.statements, self.n_classes, cast(Pairing, pairing), self.error_rate, self.known
        )

    def share_covariance(self, log_p: FloatArray, beliefs: Beliefs) -> FloatArray:
        """Return the covariance of the classes' shares: rows are a sample; see `Likelihood`."""
        return np.atleast_2d(np.cov(np.exp(log_p), rowvar=False)) / self.n_rows

    def simulate(
        self, log_p: FloatArray, beliefs: Beliefs, draw: np.random.Generator
    ) -> tuple[NDArray[np.intp], "TableLikelihood"]:
        """Draw classes of the rows, and as many pairs as there are among alike rows."""
        totals = np.cumsum(np.exp(log_p), axis=1)
        classes = (draw.random((self.n_rows, 1)) * totals[:, -1:] > totals).sum(axis=1)
        counts = np.bincount(classes, minlength=self.n_classes).astype(np.float64)
        of_pairs = draw.choice(
            self.n_classes, size=self.links.left.size, p=counts**2 / (counts @ counts)
        )
        pairs = np.empty((of_pairs.size, 2), dtype=np.intp)
        for k in range(self.n_classes):
            rows, chosen = np.flatnonzero(classes == k), of_pairs == k
            if rows.size > 1:
                first = draw.integers(rows.size, size=int(chosen.sum()))
                other = (first + draw.integers(1, rows.size, size=first.size)) % rows.size
                pairs[chosen] = rows[np.column_stack([first, other])]
        statements = Statements(
            self.n_rows,
            pairs.ravel(),
            2 * np.arange(pairs.shape[0] + 1),
            np.ones(pairs.shape[0], dtype=bool),
            np.arange(pairs.shape[0]),
        )
        return np.arange(self.n_rows), self.about(statements)

    def evaluate(self, log_p: FloatArray, near: Beliefs | None = None) -> Beliefs:
        """Return what the statements imply; see `Likelihood`."""
        eta = np.exp(log_p)
        log_p = self._masked(log_p)
        start = None if near is None else near.state
        if not self.is_exact:
            return self._propagated(eta, *self._solve(log_p, eta, start))
        fields = self._components.add(log_p)
        if self._has_shares:
            return self._coupled(eta, self._coupling.solve(fields, start))
        return self._contracted(eta, fields, start)

    def _contracted(
        self, eta: FloatArray, fields: FloatArray, messages: FloatArray | None
    ) -> Beliefs:
        """Sum over the classes of components that answers tie together."""
        components, others = self._components, {}
        if components.left.size:
            size = components.left.size
            edges = Edges(components.left, components.right, components.count)
            on = np.full((size, self.n_classes), HARD)
            found = propagate(fields, edges, on, np.full(size, 1.0 - HARD), messages)
            value, beliefs, messages = found.value, found.beliefs, found.messages
            others["converged"] = found.converged
        else:
            nodes = log_sum(fields)
            value, beliefs = float(nodes.sum()), np.exp(fields - nodes[:, None])
        posteriors = components.spread(beliefs)
        shares = posteriors.mean(axis=0)
        return self._beliefs(eta, value, posteriors, shares, state=messages, **others)

    def _coupled(self, eta: FloatArray, found: Coupled) -> Beliefs:
        """Return what found statements imply."""
        posteriors = self._components.spread(found.beliefs)
        pairs = found.pair_shares if self.pairing == "free" else None
        return self._beliefs(
            eta, found.value, posteriors, found.shares, pair_shares=pairs, state=found
        )

    def _propagated(self, eta: FloatArray, common: _Common, found: _Found) -> Beliefs:
        """Return what statements imply of which some are wrong."""
        shares = common.shares if self._has_shares else found.posteriors.mean(axis=0)
        return self._beliefs(
            eta,
            found.value,
            found.posteriors,
            shares,
            pair_shares=common.pair_shares if self.pairing == "free" else None,
            error_rate=common.error_rate,
            wrong=self._wrong_statements(found.wrong),
            state=(common, found.messages),
        )

    def _beliefs(
        self,
        eta: FloatArray,
        value: float,
        posteriors: FloatArray,
        shares: FloatArray,
        *,
        state: Any,
        **others: Any,
    ) -> Beliefs:
        others.setdefault("wrong", np.zeros(self.statements.count))
        weights = np.full(self.n_rows, 1.0 / self.n_rows)
        return Beliefs(value, posteriors - eta, posteriors, shares, weights, state=state, **others)

    def hold_out(self, rows: NDArray[np.bool_]) -> HeldOut:
        """Return a fold of rows; see `Likelihood`."""
        touched = self.statements.links
        judged = np.unique(touched.statement[rows[touched.left] | rows[touched.right]]).size
        return HeldOut(rows, ~rows, self.among(~rows), float(judged))

    def evidence(self, fold: HeldOut, log_p: FloatArray, trained: Beliefs) -> float:
        """Return the log-probability of what was said about a fold; see `Likelihood`.

        It is the value of all statements less that of the statements about the other rows alone,
        both by a model that did not see the fold. A model without features has such a difference
        too, which is taken off.
        """
        value = self._gain(fold, log_p, trained.error_rate)
        return value - self._gain_without_features(fold)

    def _gain(self, fold: HeldOut, log_p: FloatArray, error_rate: float) -> float:
        whole, seen = self, cast(TableLikelihood, fold.likelihood)
        if self.error_rate is None:
            whole, seen = (one.with_error_rate(error_rate) for one in (whole, seen))
        of_whole, of_seen = whole.evaluate(log_p), seen.evaluate(log_p[fold.train])
        if not (of_whole.converged and of_seen.converged):
            return -np.inf  # beliefs that go to and fro are no evidence
        return of_whole.value - of_seen.value

    def _gain_without_features(self, fold: HeldOut) -> float:
        """Return what the best constant probabilities, found without the fold, tell of it."""
        key = fold.rows.tobytes()
        if key not in self._baselines:
            row, found = cast(TableLikelihood, fold.likelihood).constant()
            gain = self._gain(fold, np.tile(row, (self.n_rows, 1)), found.error_rate)
            if not np.isfinite(gain):
                gain = self._independent(fold, np.exp(row), found.error_rate)
            self._baselines[key] = gain
        return self._baselines[key]

    def _independent(self, fold: HeldOut, shares: FloatArray, error_rate: float) -> float:
        """Return the log-probability of a fold's statements, were they independent."""
        links = self.links
        touched = fold.rows[links.left] | fold.rows[links.right]
        alike = float(shares @ shares)
        same = (1.0 - error_rate) * alike + error_rate * (1.0 - alike)
        n_same = int(np.count_nonzero(links.is_similar[touched]))
        n_apart = int(np.count_nonzero(touched)) - n_same
        return n_same * float(np.log(same)) + n_apart * float(np.log1p(-same))

    @cached_property
    def _baselines(self) -> dict[bytes, float]:
        return {}

    def constant(self) -> tuple[FloatArray, Beliefs]:
        """Return the best log-probabilities that are the same for all rows, and what they imply."""
        k = self.n_classes

        def objective(offsets: FloatArray) -> tuple[float, FloatArray]:
            scores = np.tile(np.append(0.0, offsets), (self.n_rows, 1))
            found = self.evaluate(log_probabilities(scores))
            # A weak prior, worth one row of every class, keeps probabilities off zero.
            eta = np.exp(log_probabilities(scores[:1]))[0]
            value = found.value + float(np.log(eta).sum())
            gradient = found.gradient.sum(axis=0) + 1.0 - k * eta
            return -value / self.size, -gradient[1:] / self.size

        found = minimize(objective, np.linspace(-0.5, -1.0, k - 1), jac=True, method="L-BFGS-B")
        row = log_probabilities(np.append(0.0, found.x)[None])
        return row[0], self.evaluate(np.tile(row, (self.n_rows, 1)))

    @property
    def _has_shares(self) -> bool:
        return self.pairing != "asked"

    def _masked(self, log_p: FloatArray) -> FloatArray:
        """Take out the classes that rows are known not to be of."""
        if self.known is None:
            return log_p
        rows = np.flatnonzero(self.known >= 0)
        masked = log_p.copy()
        masked[rows] = _IMPOSSIBLE
        masked[rows, self.known[rows]] = log_p[rows, self.known[rows]]
        return masked

    def _solve(
        self, log_p: FloatArray, eta: FloatArray, start: tuple[_Common, FloatArray | None] | None
    ) -> tuple[_Common, _Found]:
        """Settle what is common; without shares and with a given error rate there is nothing to."""
        fixed = self.error_rate
        common, messages = start if start is not None else (self._first(eta), None)
        if fixed is not None:
            common = replace(common, error_rate=fixed)
        memory = [messages]

        def step(vector: FloatArray) -> FloatArray:
            here = _Common.at(vector)
            if fixed is not None:
                here = replace(here, error_rate=fixed)
            found = self._at(here, log_p, memory[0])
            memory[0] = found.messages
            return self._next(found, here).flat()

        if self._has_shares or fixed is None:
            common = _Common.at(settle(step, common.flat())[0])
            if fixed is not None:
                common = replace(common, error_rate=fixed)
        return common, self._at(common, log_p, memory[0])

    def _first(self, eta: FloatArray) -> _Common:
        shares = _as_shares(eta.mean(axis=0))
        pairs = _as_shares(shares**2)
        n_links = max(self.links.left.size, 1)
        different = float(np.count_nonzero(~self.links.is_similar)) / n_links
        return _Common(shares, pairs, different, _FIRST_ERROR_RATE)

    def _next(self, found: _Found, here: _Common) -> _Common:
        """Return the common numbers that beliefs imply."""
        n_links = max(self.links.left.size, 1)
        rate = here.error_rate
        if self.error_rate is None:
            rate = float(found.wrong.mean()) if found.wrong.size else _FIRST_ERROR_RATE
        total = float(found.alike.sum())
        pair_shares = found.alike / total if total > 0 else here.pair_shares
        return _Common(
            found.posteriors.mean(axis=0), pair_shares, found.n_different / n_links, rate
        )

    def _weights(self, common: _Common) -> tuple[FloatArray, float, FloatArray, float]:
        """Return ``on`` and ``off`` of similar links, and those of dissimilar ones."""
        eps, ones = common.error_rate, np.ones(self.n_classes)
        if self.pairing == "asked":
            return (1.0 - eps) * ones, eps, eps * ones, 1.0 - eps
        r = common.shares
        s = float(r @ r)
        rest = max(1.0 - s, _SMALLEST_SHARE)
        alike = common.pair_shares / r**2 if self.pairing == "free" else ones / s
        return (1.0 - eps) * alike, eps / rest, eps * ones / s, (1.0 - eps) / rest

    def _tilt(self, common: _Common) -> FloatArray:
        """Return ``lam``: the derivative of the links' log-weights in the number of rows."""
        if not self._has_shares:
            return np.zeros(self.n_classes)
        r, n_links = common.shares, self.links.left.size
        s = float(r @ r)
        n_different = common.different * n_links
        n_alike = n_links - n_different
        tilt = 2.0 * r * n_different / max(1.0 - s, _SMALLEST_SHARE)
        if self.pairing == "free":
            return np.asarray((tilt - 2.0 * n_alike * common.pair_shares / r) / self.n_rows)
        return np.asarray((tilt - 2.0 * n_alike * r / s) / self.n_rows)

    def _at(self, common: _Common, log_p: FloatArray, messages: FloatArray | None) -> _Found:
        """Propagate beliefs over links, any of which may be wrong."""
        tilt, links = self._tilt(common), self.links
        on_same, off_same, on_apart, off_apart = self._weights(common)
        is_similar = links.is_similar
        on = np.where(is_similar[:, None], on_same, on_apart)
        off = np.where(is_similar, off_same, off_apart)
        result = propagate(log_p + tilt, self._row_edges, on, off, messages)
        together = result.alike.sum(axis=1)
        return _Found(
            result.value - self.n_rows * float(tilt @ common.shares),
            result.beliefs,
            result.alike[is_similar].sum(axis=0),
            np.where(is_similar, 1.0 - together, together),
            float((1.0 - together).sum()),
            result.messages,
        )

    @cached_property
    def _row_edges(self) -> Edges:
        return Edges(self.links.left, self.links.right, self.n_rows)

    @cached_property
    def _components(self) -> Components:
        return contract(self.statements, self.n_classes)

    @cached_property
    def _coupling(self) -> Coupling:
        same = self.links.is_similar
        return Coupling(
            self._components,
            self.links.left[same],
            int(np.count_nonzero(~same)),
            self.n_classes,
            is_free=self.pairing == "free",
        )

    def _wrong_statements(self, of_links: FloatArray) -> FloatArray:
        """Return the probability that each statement is wrong: of a group, its worst link's."""
        wrong = np.zeros(self.statements.count)
        if of_links.size:
            np.maximum.at(wrong, self.links.statement, of_links)
        return wrong


def _as_shares(shares: FloatArray) -> FloatArray:
    shares = np.maximum(shares, _SMALLEST_SHARE)
    return np.asarray(shares / shares.sum())


def _check_known(components: Components, known: IntArray) -> None:
    """Raise if rows that are tied together are known to be of different classes."""
    rows = np.flatnonzero(known >= 0)
    of_component = known[rows].copy()
    if components.is_flipped is not None:
        of_component = np.where(components.is_flipped[rows], 1 - of_component, of_component)
    first = np.full(components.count, -1, dtype=np.intp)
    first[components.of_row[rows][::-1]] = rows[::-1]
    expected = np.full(components.count, -1, dtype=np.intp)
    expected[components.of_row[rows][::-1]] = of_component[::-1]
    clash = np.flatnonzero(expected[components.of_row[rows]] != of_component)
    if clash.size:
        row = int(rows[clash[0]])
        other = int(first[components.of_row[row]])
        raise ContradictionError(
            (other, row),
            f"What is known of rows {other} and {row} contradicts the statements that tie them "
            "together. Correct either, or pass error_rate='auto' if some statements may be wrong.",
        )
