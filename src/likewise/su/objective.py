"""The reduced SU objective over an engine: ``mean_U even(w.x) - c.w + (alpha / 2) |w|^2``.

Here the loss, the prior and the sums over rows meet, and the right solver is chosen. Rows stay
behind the engine; scikit-learn and weak labels are not known here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from likewise._types import FloatArray
from likewise.engines.arrays import namespace_of
from likewise.engines.base import Block, Engine, Kernel, Part, Sums
from likewise.engines.kernels import (
    column_sums,
    decide,
    square_sums,
    squared_sums,
    weighted_gram,
    weighted_sum,
)
from likewise.engines.kernels import gram as block_gram
from likewise.engines.memory import MemoryEngine
from likewise.su.losses import MarginLoss, double_hinge, squared
from likewise.su.rewrites import SU, Rewrite, Spreads
from likewise.su.solvers import (
    Solution,
    minimise_double_hinge,
    minimise_smooth,
    minimise_smoothed_hinge,
    minimise_squared,
    penalty_diagonal,
)
from likewise.su.span import Span, is_wide, span_of

_SAMPLE_ENTRIES = 1 << 22
"""Numbers in the sample that solvers start from: 32 MiB, and passes over it cost next to nothing
beside one over the rows of an engine for which it matters."""
_SAMPLE_TOL = 1e-7
"""Gap on the sample; its minimizer is farther from that of all rows than this."""


@dataclass(frozen=True)
class Means:
    """Mean rows, each of shape (n_features + 1,) with a one in the last place.

    Those of pairs are None where there are none, or none are used.
    """

    unlabeled: FloatArray
    similar: FloatArray | None
    dissimilar: FloatArray | None


@dataclass(frozen=True)
class Summary:
    """What one pass over the rows tells, before loss, prior and alpha are known.

    Attributes
    ----------
    squares : array of shape (p,)
        Mean of ``x^2`` over unlabeled rows x with a one behind their features.
    means : Means
    spreads : Spreads or None
        Variances of the means, added up over the columns in units of their variances among
        unlabeled rows; collected for rewrites that need them.
    make_gram : callable
        Returns `gram`.
    """

    squares: FloatArray
    means: Means
    spreads: Spreads | None
    make_gram: Callable[[], FloatArray]

    @cached_property
    def gram(self) -> FloatArray:
        """Mean of ``x x'``, shape (p, p): of a wide table far larger than the table."""
        return self.make_gram()

    @classmethod
    def of_sums(cls, gram: FloatArray, pairs: Mapping[Part, Sums]) -> "Summary":
        """Build from sums over unlabeled rows and over pairs, as `pair_kernel` collects them."""
        return cls.of_moments(gram[-1], gram.diagonal(), lambda: gram / gram[-1, -1], pairs)

    @classmethod
    def of_moments(
        cls,
        sums: FloatArray,
        square_sums: FloatArray,
        make_gram: Callable[[], FloatArray],
        pairs: Mapping[Part, Sums],
    ) -> "Summary":
        """Build from sums over rows x with a one behind their features, and over pairs."""
        count = sums[-1]
        mean, squares = sums / count, square_sums / count
        members = {part: found[0] / found[0][-1] for part, found in pairs.items()}
        means = Means(mean, members.get("similar"), members.get("dissimilar"))
        if not all(len(found) == 2 for found in pairs.values()):
            return cls(squares, means, None, make_gram)
        variance = _variances(squares, mean)
        spreads: dict[Part, float] = {
            part: _spread(totals[:-1] / (4 * totals[-1]), members[part][:-1], variance) / totals[-1]
            for part, (_, totals) in pairs.items()
        }
        own = np.count_nonzero(variance) / count
        spread = Spreads(own, spreads.get("similar", 0.0), spreads.get("dissimilar", 0.0))
        return cls(squares, means, spread, make_gram)

    def linear_term(self, prior: float, rewrite: Rewrite = SU) -> FloatArray:
        """Return c of the reduced objective, ``E[y x] / 2`` as a rewrite estimates it."""
        means = self.means
        weights = rewrite.weights(prior, self.spreads)
        return weights.combine(means.unlabeled, means.similar, means.dissimilar)


def _variances(squares: FloatArray, means: FloatArray) -> FloatArray:
    """Return the variances of the features; zero for those that are constant but for rounding."""
    variance = (squares - means**2)[:-1]
    return np.where(variance > 1e-12 * squares[:-1], variance, 0.0)


def _spread(squares: FloatArray, mean: FloatArray, variance: FloatArray) -> float:
    """Return the variance of pair means, in units of those given, added up over the columns."""
    varies = variance > 0
    within = np.maximum(squares - mean**2, 0.0)
    return float(np.sum(within[varies] / variance[varies]))


def summarise(engine: Engine, rewrite: Rewrite = SU) -> Summary:
    """Collect the means of rows and of their outer products, in one pass.

    Outer products of a wide table are summed only if somebody asks for them.
    """
    wide = is_wide(engine)
    kernels: dict[Part, Kernel] = {"unlabeled": _sums_and_squares if wide else _gram_of}
    for part in rewrite.parts:
        kernels[part] = pair_kernel(_member_sums, rewrite)
    pairs = engine.map_reduce_parts(kernels, frugal=not rewrite.needs_spreads)
    found = pairs.pop("unlabeled")
    if wide:
        return Summary.of_moments(found[0], found[1], lambda: _mean_gram(engine), pairs)
    return Summary.of_sums(found[0], pairs)


def _sums_and_squares(block: Block) -> Sums:
    (rows,) = block.tables
    return column_sums(rows, block.weights), square_sums(rows, block.weights)


def _mean_gram(engine: Engine) -> FloatArray:
    (total,) = engine.map_reduce("unlabeled", _gram_of)
    return np.asarray(total / engine.total("unlabeled"))


def pair_kernel(sum_members: Callable[[Block], Any], rewrite: Rewrite) -> Kernel:
    """Return the kernel that sums what a rewrite needs of pairs: members, and squares if it must.

    Parameters
    ----------
    sum_members : callable
        Sums the columns of all tables of a block.
    rewrite : Rewrite
    """

    def members_and_squares(block: Block) -> Sums:
        squares = Block((squared_sums(*block.tables),), block.start, block.weights)
        return sum_members(block), sum_members(squares)

    return members_and_squares if rewrite.needs_spreads else lambda block: (sum_members(block),)


def _member_sums(block: Block) -> Any:
    return sum(column_sums(rows, block.weights) for rows in block.tables)


def _gram_of(block: Block) -> Sums:
    return (block_gram(block.tables[0], block.weights),)


@dataclass(frozen=True)
class SUObjective:
    """The SU risk of one loss on the rows of an engine, for any prior and penalty.

    Attributes
    ----------
    engine : Engine
    summary : Summary
        Of that engine.
    loss : MarginLoss
    rewrite : Rewrite, default SU
        Which kinds of rows the linear term is made of.
    """

    engine: Engine
    summary: Summary
    loss: MarginLoss
    rewrite: Rewrite = SU

    @cached_property
    def sample(self) -> MemoryEngine:
        """Evenly spaced unlabeled rows in memory: all of them if there are few."""
        if self.is_sampled_whole and isinstance(self.engine, MemoryEngine):
            return self.engine
        (rows,) = self.engine.every("unlabeled", self._stride)
        return MemoryEngine.of_unlabeled(rows)

    @property
    def is_sampled_whole(self) -> bool:
        """Whether the sample is all there is, so that minimizing over it is enough."""
        return self._stride == 1

    @property
    def _stride(self) -> int:
        n_entries = self.engine.count("unlabeled") * self.engine.n_features
        return max(1, -(-n_entries // _SAMPLE_ENTRIES))

    def expand(
        self, engine: Engine, linear: FloatArray, weights: FloatArray
    ) -> tuple[float, FloatArray, FloatArray]:
        """Return value, gradient and Hessian without penalty on the rows of `engine`."""
        loss = self.loss  # a kernel may travel: it takes along what it needs, not the rows
        value, gradient, hessian = engine.map_reduce(
            "unlabeled", lambda block: _even_sums(block, loss, weights)
        )
        n = engine.total("unlabeled")
        return float(value / n - linear @ weights), gradient / n - linear, hessian / n


def minimise_su_risk(
    objective: SUObjective,
    *,
    prior: float,
    alpha: float,
    regularize_intercept: bool,
    tol: float,
    max_iter: int,
) -> Solution:
    """Minimize the regularized SU risk, by the solver that fits the loss.

    Parameters
    ----------
    objective : SUObjective
    prior, alpha : float
    regularize_intercept : bool
    tol : float
        Relative duality gap at which iterative solvers stop.
    max_iter : int

    Returns
    -------
    Solution
    """
    linear = objective.summary.linear_term(prior, objective.rewrite)
    span = span_of(objective.engine, linear) if is_wide(objective.engine) else None
    if span is not None:
        linear = span.linear
        objective = replace(objective, engine=span.engine, summary=_in_span(objective, span))
    # Values of a useless scale overflow: the certificate of what comes out says so.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if objective.loss == squared:
            solution = minimise_squared(
                objective.summary.gram,
                linear,
                alpha,
                regularize_intercept=regularize_intercept,
                tol=tol,
            )
        else:
            penalty = penalty_diagonal(objective.engine.n_features, alpha, regularize_intercept)
            minimise = _minimise_kinked if objective.loss == double_hinge else _minimise_smooth
            solution = minimise(objective, linear, penalty, tol, max_iter)
    return solution if span is None else span.lifted(solution)


def _in_span(objective: SUObjective, span: Span) -> Summary:
    """Return the summary with the outer products of the rows as they are in a span."""
    return replace(objective.summary, make_gram=lambda: _mean_gram(span.engine))


def _minimise_kinked(
    objective: SUObjective, linear: FloatArray, penalty: FloatArray, tol: float, max_iter: int
) -> Solution:
    """Minimize the double hinge, exactly where arrays over all rows fit into memory."""
    if isinstance(objective.engine, MemoryEngine):
        return minimise_double_hinge(objective.engine, linear, penalty, tol=tol, max_iter=max_iter)
    if objective.is_sampled_whole:
        return minimise_double_hinge(objective.sample, linear, penalty, tol=tol, max_iter=max_iter)
    start = minimise_double_hinge(
        objective.sample, linear, penalty, tol=_SAMPLE_TOL, max_iter=max_iter
    )
    (rows,) = objective.sample.every("unlabeled", 1)
    return minimise_smoothed_hinge(
        objective.engine,
        linear,
        penalty,
        sample=rows,
        start=start.weights,
        tol=tol,
        max_iter=max_iter,
    )


def _minimise_smooth(
    objective: SUObjective, linear: FloatArray, penalty: FloatArray, tol: float, max_iter: int
) -> Solution:
    """Minimize a smooth loss, from the minimizer on a sample where there are many rows."""

    def evaluate(weights: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        return objective.expand(objective.engine, linear, weights)

    def evaluate_sample(weights: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        return objective.expand(objective.sample, linear, weights)

    if objective.is_sampled_whole:
        return minimise_smooth(evaluate_sample, penalty, tol=tol, max_iter=max_iter)
    start = minimise_smooth(evaluate_sample, penalty, tol=_SAMPLE_TOL, max_iter=max_iter)
    return minimise_smooth(evaluate, penalty, start=start.weights, tol=tol, max_iter=max_iter)


def _even_sums(block: Block, loss: MarginLoss, weights: FloatArray) -> tuple[Any, Any, Any]:
    (rows,) = block.tables
    z = decide(rows, weights)
    xp = namespace_of(z)
    counts: Any = 1.0 if block.weights is None else block.weights
    return (
        xp.sum(loss.even(z) * counts, dtype=xp.float64),
        weighted_sum(rows, loss.even_derivative(z) * counts),
        weighted_gram(rows, loss.even_curvature(z) * counts),
    )
