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

from dataclasses import replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from likewise._types import FloatArray
from likewise.beliefs.base import Beliefs, HeldOut, Likelihood, log_sum
from likewise.beliefs.components import Components, ContradictionError, contract
from likewise.beliefs.coupling import Coupled, Coupling
from likewise.beliefs.coupling_two import CoupledTwo, in_two, log_cosh
from likewise.beliefs.errors import ERROR_RATES, FIRST_ERROR_RATE, Erred, Erring, Pairing
from likewise.beliefs.hidden import HiddenFeatures, implied_among, names_by
from likewise.beliefs.propagation import HARD, Edges, propagate
from likewise.statements.statements import Statements

__all__ = ["Pairing", "TableLikelihood"]

IntArray = NDArray[np.intp]

_KNOWN = (
    "What is known of rows {{}} and {{}} contradicts the statements that {}. Correct either, or "
    "pass error_rate='auto' if some statements may be wrong."
)
_IMPOSSIBLE = -1e8
"""Log-probability of a class that a row is known not to be of."""


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
        rate = FIRST_ERROR_RATE if beliefs is None else beliefs.error_rate
        return self.with_error_rate(float(np.clip(rate, *ERROR_RATES)))

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

    def hold_out(self, rows: NDArray[np.bool_]) -> HeldOut:
        """Return a fold; of answers, those about its rows stay, without these rows' features."""
        fold = self.leave_out(rows)
        if self._has_shares:
            return fold
        if not self.is_exact:
            return replace(fold, likelihood=HiddenFeatures(self, ~rows))
        statements, known = implied_among(self._components, self.known, ~rows)
        return replace(
            fold, likelihood=TableLikelihood(statements, self.n_classes, "asked", 0.0, known)
        )

    @property
    def is_named(self) -> bool:
        """Whether the classes of some rows are known."""
        return self.known is not None

    def unnamed(self) -> "TableLikelihood":
        """Return the likelihood of the statements alone; see `Likelihood`."""
        if self.known is None:
            return self
        return TableLikelihood(self.statements, self.n_classes, self.pairing, self.error_rate)

    def naming(self, log_p: FloatArray) -> IntArray:
        """Return which class each name belongs to: what known rows are likeliest of."""
        if self.known is None:
            return super().naming(log_p)
        return names_by(self.known, self.unnamed().evaluate(log_p).posteriors)

    @property
    def has_free_shares(self) -> bool:
        """Whether the classes have shares of their own among similar pairs."""
        return self.pairing == "free"

    def paired(self, pairing: str) -> "TableLikelihood":
        """Return the likelihood of the same statements, had they come about another way."""
        return TableLikelihood(
            self.statements, self.n_classes, cast(Pairing, pairing), self.error_rate, self.known
        )

    def simulate(
        self, log_p: FloatArray, beliefs: Beliefs, draw: np.random.Generator
    ) -> tuple[NDArray[np.intp], "TableLikelihood"]:
        """Draw classes of the rows, and as many pairs as there are among alike rows."""
        totals = np.cumsum(np.exp(log_p), axis=1)
        classes = (draw.random((self.n_rows, 1)) * totals[:, -1:] > totals).sum(axis=1)
        if self.known is not None:
            classes = np.where(self.known >= 0, self.known, classes)
        counts = np.bincount(classes, minlength=self.n_classes).astype(np.float64)
        ways = counts * (counts - 1.0)
        of_pairs = draw.choice(self.n_classes, size=self.links.left.size, p=ways / ways.sum())
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
        if self.is_exact and self._has_shares:
            start = None if near is None else near.state
            return self._coupled(eta, self._coupling.solve(self._components.add(log_p), start))
        if near is not None and _are_exchanged(near.posteriors, eta):
            near = None  # messages of many rows hold each other: they do not turn round
        start = None if near is None else near.state
        if not self.is_exact:
            return self._propagated(eta, self._erring.solve(log_p, eta, start))
        return self._contracted(eta, self._components.add(log_p), start)

    def slope(
        self, scores: FloatArray, near: Beliefs | None = None
    ) -> tuple[float, FloatArray, Beliefs | None]:
        """Return the value and its gradient in the scores; see `Likelihood`.

        For two classes and answers without errors, with ``c(x) = log(2 cosh(x / 2))`` and D the sum
        of a component's scores, those of flipped rows with the other sign, the value is
        ``sum_components c(D) - sum_rows c(score)``.
        """
        has_short_cut = self.is_exact and self.pairing != "free" and self.known is None
        if scores.shape[1] > 1 or not has_short_cut:
            return super().slope(scores, near)
        of_row, signs = self._components.of_row, self._components.signs
        own = scores[:, 0]
        together = self._components.add_up(signs * own)
        alone, expected = float(log_cosh(own).sum()), np.tanh(0.5 * own)
        if not self._has_shares:
            gradient = 0.5 * (signs * np.tanh(0.5 * together)[of_row] - expected)
            return float(log_cosh(together).sum()) - alone, gradient[:, None], None
        start = None if near is None else near.state
        found = self._coupling.solve_two(together, start)
        if found is None:
            return super().slope(scores, near)
        turned = signs * np.tanh(0.5 * found.log_odds)[of_row]
        gradient = 0.5 * (turned - expected)
        beliefs = self._coupled_two(found, turned, gradient, alone)
        return beliefs.value, gradient[:, None], beliefs

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
            eta,
            found.value,
            posteriors,
            found.shares,
            pair_shares=pairs,
            converged=found.converged,
            state=found,
        )

    def _coupled_two(
        self, found: CoupledTwo, turned: FloatArray, gradient: FloatArray, alone: float
    ) -> Beliefs:
        """Return what pairs found at random imply of two classes."""
        shares = np.array([1.0 - found.share, found.share])
        state = Coupled(0.0, in_two(found.beliefs), shares, shares, None)
        of_both = np.empty((2, gradient.size))
        np.negative(gradient, out=of_both[0])
        of_both[1] = gradient
        return Beliefs(
            found.value - alone,
            of_both.T,
            in_two(0.5 + 0.5 * turned),
            shares,
            np.broadcast_to(1.0 / self.n_rows, self.n_rows),
            wrong=np.broadcast_to(0.0, self.statements.count),
            state=state,
        )

    def _propagated(self, eta: FloatArray, found: Erred) -> Beliefs:
        """Return what statements imply of which some are wrong."""
        common = found.common
        return self._beliefs(
            eta,
            found.value,
            found.posteriors,
            common.shares if self._has_shares else found.posteriors.mean(axis=0),
            pair_shares=common.pair_shares if self.pairing == "free" else None,
            error_rate=common.error_rate,
            wrong=self._wrong_statements(found.wrong),
            converged=found.converged,
            state=found,
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
        # At millions of rows memory is the cost: one number stands for many, and eta is used up.
        others.setdefault("wrong", np.broadcast_to(0.0, self.statements.count))
        weights = np.broadcast_to(1.0 / self.n_rows, self.n_rows)
        gradient = np.subtract(posteriors, eta, out=eta)
        return Beliefs(value, gradient, posteriors, shares, weights, state=state, **others)

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

    @cached_property
    def _erring(self) -> Erring:
        return Erring(
            self.links, self.n_rows, self.n_classes, self.pairing, error_rate=self.error_rate
        )

    def _wrong_statements(self, of_links: FloatArray) -> FloatArray:
        """Return the probability that each statement is wrong: of a group, its worst link's."""
        wrong = np.zeros(self.statements.count)
        if of_links.size:
            np.maximum.at(wrong, self.links.statement, of_links)
        return wrong


def _are_exchanged(before: FloatArray, after: FloatArray) -> bool:
    """Tell whether classes, (n_rows, n_classes), agree better under other names."""
    names = linear_sum_assignment(before.T @ after, maximize=True)[1]
    return not np.array_equal(names, np.arange(names.size))


def _check_known(components: Components, known: IntArray) -> None:
    """Raise if statements tie rows that are known to differ, or part rows known to be alike."""
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
        raise ContradictionError((other, row), _KNOWN.format("tie them together"))
    left, right = components.left, components.right
    clash = np.flatnonzero((expected[left] >= 0) & (expected[left] == expected[right]))
    if clash.size:
        ends = int(first[left[clash[0]]]), int(first[right[clash[0]]])
        raise ContradictionError(ends, _KNOWN.format("say that they differ"))
