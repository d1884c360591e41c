"""Statements of which some are wrong: beliefs propagated over links, at a given or learned rate.

Shares of the classes, where statements were found, and a learned error rate are common to all rows:
they solve equations that are settled here.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from likewise._types import FloatArray
from likewise.beliefs.base import as_shares
from likewise.beliefs.fixed_point import settle
from likewise.beliefs.propagation import Edges, propagate
from likewise.statements.statements import Links

__all__ = ["ERROR_RATES", "FIRST_ERROR_RATE", "Erred", "Erring", "Pairing", "suspected"]

Pairing = Literal["asked", "random", "free"]

_SMALLEST_SHARE = 1e-6
ERROR_RATES = (1e-4, 0.49)
"""Learned error rates stay within: half of all answers wrong would say nothing."""
FIRST_ERROR_RATE = 0.1
_LEAST_SUSPECT = 0.01
"""Probability of being wrong from which on a statement is worth another look."""
_CLEARLY_MORE = 1.01
"""Times the error rate above which a statement is likelier wrong than an average one: where nothing
tells them apart, all are as likely, but for what a learned rate is off by."""


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
    denied : float
        Share of the links between rows that are alike, but said to differ.
    error_rate : float
    """

    shares: FloatArray
    pair_shares: FloatArray
    different: float
    denied: float
    error_rate: float

    def flat(self) -> FloatArray:
        numbers = [self.different, self.denied, self.error_rate]
        return np.concatenate([self.shares, self.pair_shares, numbers])

    @classmethod
    def at(cls, vector: FloatArray) -> "_Common":
        k = (vector.size - 3) // 2
        return cls(
            as_shares(vector[:k], _SMALLEST_SHARE),
            as_shares(vector[k : 2 * k], _SMALLEST_SHARE),
            float(np.clip(vector[-3], 0.0, 1.0)),
            float(np.clip(vector[-2], 0.0, 1.0)),
            float(np.clip(vector[-1], *ERROR_RATES)),
        )


@dataclass(frozen=True)
class Erred:
    """What the statements imply at given common numbers."""

    common: _Common
    value: float
    posteriors: FloatArray
    alike: FloatArray
    """Expected number of alike links of each class, similar statements, (n_classes,)."""
    wrong: FloatArray
    """Probability that each link is wrong, (n_links,)."""
    n_different: float
    n_denied: float
    messages: FloatArray | None
    converged: bool


class Erring:
    """Links between rows, any of which may be wrong.

    Parameters
    ----------
    links : Links
    n_rows, n_classes : int
    pairing : {"asked", "random", "free"}
    error_rate : float or None
        None to learn it.
    """

    def __init__(
        self,
        links: Links,
        n_rows: int,
        n_classes: int,
        pairing: Pairing,
        *,
        error_rate: float | None,
    ) -> None:
        self._links = links
        self._n_rows = n_rows
        self._n_classes = n_classes
        self._pairing = pairing
        self._error_rate = error_rate

    @property
    def _has_shares(self) -> bool:
        return self._pairing != "asked"

    @cached_property
    def _row_edges(self) -> Edges:
        left, right = map(np.ascontiguousarray, (self._links.left, self._links.right))
        return Edges(left, right, self._n_rows)

    def solve(self, log_p: FloatArray, eta: FloatArray, start: Erred | None) -> Erred:
        """Settle what is common; with answers and a given error rate there is nothing to settle.

        Parameters
        ----------
        log_p : array of shape (n_rows, n_classes)
            Log-probabilities, classes that rows are known not to be of taken out.
        eta : array of shape (n_rows, n_classes)
            Probabilities.
        start : Erred, optional
            At nearby probabilities.

        Returns
        -------
        Erred
        """
        common = self._first(eta) if start is None else start.common
        messages = [None if start is None else start.messages]

        def step(vector: FloatArray) -> FloatArray:
            found = self._at(self._given(_Common.at(vector)), log_p, messages[0])
            messages[0] = found.messages
            return self._next(found).flat()

        def step_rate(log_rate: FloatArray) -> FloatArray:
            found = self._at(replace(common, error_rate=_rate_at(log_rate[0])), log_p, messages[0])
            messages[0] = found.messages
            return np.asarray(np.log(np.clip([found.wrong.mean()], *ERROR_RATES)))

        if self._has_shares:
            common = _Common.at(settle(step, common.flat())[0])
        elif self._error_rate is None and self._links.left.size:
            # On a logarithmic scale a rate near zero is settled in a few steps.
            (log_rate,) = settle(step_rate, np.log([common.error_rate]))[0]
            common = replace(common, error_rate=_rate_at(log_rate))
        return self._at(self._given(common), log_p, messages[0])

    def _given(self, common: _Common) -> _Common:
        if self._error_rate is None:
            return common
        return replace(common, error_rate=self._error_rate)

    def _first(self, eta: FloatArray) -> _Common:
        shares = as_shares(eta.mean(axis=0), _SMALLEST_SHARE)
        pairs = as_shares(shares**2, _SMALLEST_SHARE)
        n_links = max(self._links.left.size, 1)
        different = float(np.count_nonzero(~self._links.is_similar)) / n_links
        return _Common(shares, pairs, different, 0.0, FIRST_ERROR_RATE)

    def _next(self, found: Erred) -> _Common:
        """Return the common numbers that beliefs imply."""
        here = found.common
        n_links = max(self._links.left.size, 1)
        rate = here.error_rate
        if self._error_rate is None:
            rate = float(found.wrong.mean()) if found.wrong.size else FIRST_ERROR_RATE
        total = float(found.alike.sum())
        pair_shares = found.alike / total if total > 0 else here.pair_shares
        different, denied = found.n_different / n_links, found.n_denied / n_links
        return _Common(found.posteriors.mean(axis=0), pair_shares, different, denied, rate)

    def _weights(self, common: _Common) -> tuple[FloatArray, float, FloatArray, float]:
        """Return ``on`` and ``off`` of similar links, and those of dissimilar ones."""
        eps, ones = common.error_rate, np.ones(self._n_classes)
        if self._pairing == "asked":
            return (1.0 - eps) * ones, eps, eps * ones, 1.0 - eps
        r = common.shares
        s = float(r @ r)
        rest = max(1.0 - s, _SMALLEST_SHARE)
        alike = common.pair_shares / r**2 if self._pairing == "free" else ones / s
        return (1.0 - eps) * alike, eps / rest, eps * ones / s, (1.0 - eps) / rest

    def _tilt(self, common: _Common) -> FloatArray:
        """Return ``lam``: the derivative of the links' log-weights in the number of rows."""
        if not self._has_shares:
            return np.zeros(self._n_classes)
        r, n_links = common.shares, self._links.left.size
        s = float(r @ r)
        n_different = common.different * n_links
        n_alike = n_links - n_different
        tilt = 2.0 * r * n_different / max(1.0 - s, _SMALLEST_SHARE)
        if self._pairing == "free":
            n_denied = common.denied * n_links
            tilt -= 2.0 * (n_alike - n_denied) * common.pair_shares / r
            n_alike = n_denied
        return np.asarray((tilt - 2.0 * n_alike * r / s) / self._n_rows)

    def _at(self, common: _Common, log_p: FloatArray, messages: FloatArray | None) -> Erred:
        """Propagate beliefs over links, any of which may be wrong."""
        tilt, links = self._tilt(common), self._links
        on_same, off_same, on_apart, off_apart = self._weights(common)
        is_similar = links.is_similar
        on = np.where(is_similar[:, None], on_same, on_apart)
        off = np.where(is_similar, off_same, off_apart)
        result = propagate(log_p + tilt, self._row_edges, on, off, messages)
        together = result.alike.sum(axis=1)
        return Erred(
            common,
            result.value - self._n_rows * float(tilt @ common.shares),
            result.beliefs,
            result.alike[is_similar].sum(axis=0),
            np.where(is_similar, 1.0 - together, together),
            float((1.0 - together).sum()),
            float(together[~is_similar].sum()),
            result.messages,
            result.converged,
        )


def _rate_at(log_rate: float) -> float:
    """Return a learned error rate, kept within its range."""
    return float(np.exp(np.clip(log_rate, *np.log(ERROR_RATES))))


def suspected(wrong: FloatArray, error_rate: float) -> NDArray[np.intp]:
    """Return the statements to check again, the likeliest wrong first.

    Those are likelier wrong than an average one, and wrong with a probability of 1 % at least: a
    learned error rate of nearly nothing makes no suspects.

    Parameters
    ----------
    wrong : array of shape (n_statements,)
        Probability that each is wrong.
    error_rate : float

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.beliefs.errors import suspected
    >>> suspected(np.array([0.0002, 0.02, 0.5, 0.0]), 0.0001).tolist()
    [2, 1]
    >>> suspected(np.array([0.1001, 0.1, 0.1002]), 0.1).tolist()
    []
    """
    found = np.flatnonzero(wrong > max(_CLEARLY_MORE * error_rate, _LEAST_SUSPECT))
    return np.asarray(found[np.argsort(-wrong[found], kind="stable")])
