"""Sums over class assignments, written out: what beliefs are compared with.

`sum_over_classes` enumerates: any statements, tiny tables. The others are for pairs that were found
among many rows of two classes: rows count only by how many are of class 1, so they are added up.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp, xlogy

from likewise._types import FloatArray
from likewise.statements.named import name_statements
from likewise.statements.statements import Statements

Rows = Sequence[int]


@dataclass(frozen=True)
class Said:
    """Statements about the rows of one table.

    Attributes
    ----------
    n_rows : int
    same : sequence of pairs and groups
    different : sequence of pairs
    """

    n_rows: int
    same: Sequence[Rows] = ()
    different: Sequence[Rows] = ()

    @property
    def statements(self) -> Statements:
        return name_statements(np.zeros((self.n_rows, 1)), self.same, self.different)

    @property
    def links(self) -> list[tuple[int, int, bool]]:
        """Couples of rows and whether they are said to be alike; a group is a chain."""
        alike = [(a, b, True) for rows in self.same for a, b in itertools.pairwise(rows)]
        return alike + [(a, b, False) for a, b in self.different]


@dataclass(frozen=True)
class Exact:
    """The logarithm of the sum, and what it is made of.

    Attributes
    ----------
    value : float
    posteriors : array of shape (n_rows, n_classes)
    wrong : array of shape (n_links,)
        Probability that each link is wrong.
    """

    value: float
    posteriors: FloatArray
    wrong: FloatArray


def sum_over_classes(
    log_p: FloatArray,
    said: Said,
    pairing: str = "asked",
    error_rate: float = 0.0,
    known: Sequence[int] | None = None,
    pair_shares: FloatArray | None = None,
) -> Exact:
    """Enumerate all classes of all rows; `pair_shares` are needed for pairs found freely."""
    n_rows, k = log_p.shape
    z = np.array(list(itertools.product(range(k), repeat=n_rows)))
    if known is not None:
        fixed = np.asarray(known)
        z = z[np.all((z == fixed) | (fixed < 0), axis=1)]
    logs = log_p[np.arange(n_rows), z].sum(axis=1)
    weigh = _weights_of(z, k, pairing, error_rate, pair_shares)
    for left, right, is_similar in said.links:
        logs = logs + weigh(left, right, is_similar)
    value = float(logsumexp(logs))
    weights = np.exp(logs - value)
    posteriors = weights @ (z[:, :, None] == np.arange(k)).reshape(len(z), -1)
    wrong = [weights @ ((z[:, a] == z[:, b]) != same) for a, b, same in said.links]
    return Exact(value, posteriors.reshape(n_rows, k), np.array(wrong))


def _weights_of(
    z: np.ndarray, k: int, pairing: str, error_rate: float, pair_shares: FloatArray | None
) -> Callable[[int, int, bool], FloatArray]:
    """Return the log-weight of a link under every assignment."""
    shares = (z[:, :, None] == np.arange(k)).mean(axis=1)
    square = (shares**2).sum(axis=1)
    rest = 1.0 - square
    if pairing == "asked":
        square, rest = np.ones(len(z)), np.ones(len(z))
    right_rate, wrong_rate = 1.0 - error_rate, error_rate

    def weigh(left: int, right: int, is_similar: bool) -> FloatArray:
        alike = z[:, left] == z[:, right]
        on, off = (right_rate, wrong_rate) if is_similar else (wrong_rate, right_rate)
        together = on / square
        if pairing == "free" and is_similar:
            assert pair_shares is not None
            here = shares[np.arange(len(z)), z[:, left]]
            together = on * pair_shares[z[:, left]] / here**2
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.log(np.where(alike, together, off / np.where(alike, 1.0, rest))))

    return weigh


Option = tuple[int, int, float]
"""One way in which rows can be: how many are of class 1, how many links count, its log-weight."""


def add_up(options: Sequence[Sequence[Option]], n_rows: int, most: int) -> FloatArray:
    """Add up the options of all sets of rows by the numbers of rows and of links.

    Returns
    -------
    array of shape (n_rows + 1, most + 1)
        Logarithms of the sums.
    """
    table = np.full((1, most + 1), -np.inf)
    table[0, 0] = 0.0
    for ways in options:
        shape = table.shape[0] + max(rows for rows, _, _ in ways), most + 1
        total = np.full(shape, -np.inf)
        for rows, links, weight in ways:
            part = total[rows : rows + table.shape[0], links:]
            np.logaddexp(part, table[:, : most + 1 - links] + weight, out=part)
        table = total
    missing = np.full((n_rows + 1 - table.shape[0], most + 1), -np.inf)
    return np.concatenate([table, missing])


@dataclass(frozen=True)
class Block:
    """Rows of two classes that statements tie together.

    Attributes
    ----------
    own, other : lists of row numbers
        Those of the first row's class, and those of the other one.
    n_apart : int
        Number of dissimilar links; all others form two chains.
    """

    own: list[int]
    other: list[int] = field(default_factory=list)
    n_apart: int = 0

    @property
    def n_links(self) -> tuple[int, int]:
        """Numbers of similar links among the own class and among the other."""
        return len(self.own) - 1, max(len(self.other) - 1, 0)

    def options(self, log_p: FloatArray) -> list[Option]:
        own, other = log_p[self.own].sum(axis=0), log_p[self.other].sum(axis=0)
        links = self.n_links
        return [
            (len(self.other), links[1], float(own[0] + other[1])),
            (len(self.own), links[0], float(own[1] + other[0])),
        ]


def random_by_counts(log_p: FloatArray, blocks: Sequence[Block]) -> float:
    """Return the log-likelihood of two classes' pairs found at random, without errors."""
    m, apart = sum(sum(block.n_links) for block in blocks), sum(block.n_apart for block in blocks)
    # Links need no count: whatever their class, they weigh the same.
    options = [[(n, 0, w) for n, _, w in block.options(log_p)] for block in blocks]
    square = _squares(log_p.shape[0])
    with np.errstate(divide="ignore"):
        weights = -m * np.log(square) - (apart * np.log(1.0 - square) if apart else 0.0)
    logs = _weighed(add_up(options, log_p.shape[0], 0)[:, 0], weights)
    return float(logsumexp(logs))


def free_by_counts(log_p: FloatArray, blocks: Sequence[Block]) -> tuple[float, float]:
    """Return that of pairs found freely, at the best share of class 1 among them, and the share."""
    m = sum(sum(block.n_links) for block in blocks)
    table = add_up([block.options(log_p) for block in blocks], log_p.shape[0], m)
    ones, shares = np.arange(m + 1), np.linspace(0, 1, log_p.shape[0] + 1)[:, None]
    weights = -2 * xlogy(ones, shares) - 2 * xlogy(m - ones, 1 - shares)
    of_ones = logsumexp(_weighed(table, weights), axis=0)

    def negative(share: float) -> float:
        return -float(logsumexp(of_ones + xlogy(ones, share) + xlogy(m - ones, 1 - share)))

    best = minimize_scalar(
        negative, bounds=(1e-9, 1 - 1e-9), method="bounded", options={"xatol": 1e-10}
    )
    return -float(best.fun), float(best.x)


def random_with_errors(
    log_p: FloatArray, pairs: Sequence[tuple[int, int]], error_rate: float
) -> float:
    """Return that of separate pairs found at random, of which some are wrong."""
    paired = {row for pair in pairs for row in pair}
    options: list[list[Option]] = [
        [(0, 0, float(log_p[row, 0])), (1, 0, float(log_p[row, 1]))]
        for row in range(log_p.shape[0])
        if row not in paired
    ]
    for a, b in pairs:
        differ = np.logaddexp(log_p[a, 0] + log_p[b, 1], log_p[a, 1] + log_p[b, 0])
        alike = log_p[a] + log_p[b]
        options.append([(0, 0, float(alike[0])), (2, 0, float(alike[1])), (1, 1, float(differ))])
    square, wrong = _squares(log_p.shape[0])[:, None], np.arange(len(pairs) + 1)
    right = len(pairs) - wrong
    weights = xlogy(right, (1 - error_rate) / square) - xlogy(wrong, (1 - square) / error_rate)
    return float(logsumexp(_weighed(add_up(options, log_p.shape[0], len(pairs)), weights)))


def _weighed(logs: FloatArray, weights: FloatArray) -> FloatArray:
    """Add log-weights, but not to what cannot be."""
    return logs + np.where(np.isfinite(logs), weights, 0.0)


def _squares(n_rows: int) -> FloatArray:
    """Return the sum of squared shares for every number of rows of class 1."""
    shares = np.linspace(0, 1, n_rows + 1)
    return np.asarray(shares**2 + (1 - shares) ** 2)
