"""Linear scores from statements about a table that is read block by block, by few passes.

Statements, beliefs and one score per row are in memory; features are not. The penalized likelihood
is minimized by L-BFGS whose first metric is the information in the statements: with g the slopes
of the likelihood in the scores, ``X' diag(g^2) X`` is its curvature as far as rows of one statement
are not alike in their features. A step takes two passes, one for the scores of its direction and
one for the gradient; how far to go along it is found in memory.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise._types import FloatArray
from likewise.beliefs.base import Beliefs, Likelihood
from likewise.engines.arrays import is_tensor, like, namespace_of, to_numpy
from likewise.engines.base import Block, Engine, Sums, ValuedKernel
from likewise.engines.finite import raise_not_finite
from likewise.engines.kernels import decide, weighted_gram, weighted_sum
from likewise.scores.maps import FeatureMap
from likewise.search.passes import solve_downhill
from likewise.search.rows import Some, SourceRows, effective_pairs, is_large, thin
from likewise.statements.statements import Statements

__all__ = ["Minimised", "StreamedRows", "TableScores", "minimise_table"]

_MOST_STEPS = 8
"""Each is two passes, beside two to begin with."""
_GAP = 1e-6
"""Decrease still to come, relative to the likelihood, that counts as converged."""
_TOL = 1e-8
"""The same where it can be had within the steps."""
_SMALLEST_VALUE = 1e-2
"""Nats per pair that decreases are compared with at least: without classes there are none."""
_MOST_HALVINGS = 10
_STEEP = 0.1
"""Share of the slope along a direction that may be left at the end of a step."""
_LENGTHS = (0.1, 4.0)
"""How much of a direction to go where the slopes at both ends say so."""


class StreamedRows(SourceRows):
    """The rows of one table that an engine reads, and statements about them in memory.

    Parameters
    ----------
    engine : Engine
        All rows are its unlabeled ones.
    statements : Statements
    """

    def __init__(self, engine: Engine, statements: Statements) -> None:
        self._engine = engine
        self._statements = statements
        self.n_pairs = effective_pairs(statements)

    def sample(self, size: int, *, keeps_rows: bool) -> Some:
        """Return about `size` rows and statements, by one pass; see `SourceRows`."""
        if not is_large(self._statements, size):
            (rows,) = self._engine.every("unlabeled", 1)
            return Some(self._checked(rows), self._statements, None, is_whole=True)
        numbers, statements = thin(self._statements, size, keeps_rows=keeps_rows)
        wanted, places = np.unique(numbers, return_inverse=True)
        (pieces,) = self._engine.map_reduce("unlabeled", lambda block: _chosen(block, wanted))
        return Some(self._checked(np.concatenate(pieces))[places], statements, numbers)

    def _checked(self, rows: NDArray[Any]) -> FloatArray:
        if not np.isfinite(rows).all():
            raise_not_finite(self._engine)
        return rows.astype(np.float64, copy=False)

    @property
    def engine(self) -> Engine | None:
        """None: these are not fresh pairs."""
        return None

    @property
    def statements(self) -> Statements | None:
        """The statements."""
        return self._statements

    @property
    def table(self) -> Engine | None:
        """The engine."""
        return self._engine

    @property
    def n_passes(self) -> int | None:
        """How often the engine has read the rows."""
        return self._engine.n_passes


def _chosen(block: Block, wanted: NDArray[np.intp]) -> Sums:
    """Return those rows of a block that are wanted."""
    here = block.rows
    first, last = np.searchsorted(wanted, [here.start, here.stop])
    rows = block.tables[0]
    if first == last:
        return ([],)
    numbers = wanted[first:last] - here.start
    return ([to_numpy(rows[numbers])],)


@dataclass(frozen=True)
class TableScores:
    """Scores of all rows of a table, linear in features that are made block by block.

    It offers what `likewise.scores.design.Design` does for rows in memory; each call is a pass.

    Attributes
    ----------
    engine : Engine
    features : FeatureMap
    """

    engine: Engine
    features: FeatureMap

    def decide(self, weights: FloatArray) -> FloatArray:
        """Return scores, (n_rows, m), for weights of shape (n_features + 1, m)."""
        scores_of = _scorer(self.features, weights)
        (pieces,) = self.engine.map_reduce("unlabeled", lambda block: ([scores_of(block)],))
        scores = np.concatenate(pieces)
        if not np.isfinite(scores).all():
            raise_not_finite(self.engine)
        return scores

    def pull(self, values: FloatArray) -> FloatArray:
        """Return ``[x, 1]' values`` over the standardized rows, (n_features + 1, m)."""
        (sums,) = self.engine.map_reduce_with(values, _puller(self.features))
        return _standardised(self.features, np.asarray(sums))

    def pull_with_products(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what `pull` does, and ``[x, 1]' diag(sum of squared values) [x, 1]``."""
        features, pull = self.features, _puller(self.features)

        def kernel(block: Block, here: Any) -> Sums:
            rows = features.standardise(block.tables[0])
            return *pull(block, here), weighted_gram(rows, like(rows, np.sum(here**2, axis=1)))

        sums, products = self.engine.map_reduce_with(values, kernel)
        return _standardised(features, np.asarray(sums)), np.asarray(products)


def _scorer(features: FeatureMap, weights: FloatArray) -> Callable[[Block], FloatArray]:
    """Return the function from a block to the scores of its rows; it may travel."""
    if features.transformer is not None:
        return lambda block: features.design(_on_host(block)).decide(weights)
    slopes = weights[:-1] / features.scale[:, None]
    raw = np.vstack([slopes, weights[-1] - features.mean @ slopes])
    return lambda block: to_numpy(decide(block.tables[0], raw))


def _puller(features: FeatureMap) -> ValuedKernel:
    """Return the kernel of ``[x, 1]' values`` over features that are not standardized."""

    def kernel(block: Block, values: Any) -> Sums:
        rows = block.tables[0]
        if features.transformer is not None:
            rows = features.design(_on_host(block)).rows
        columns = [weighted_sum(rows, like(rows, column)) for column in np.transpose(values)]
        return (namespace_of(columns[0]).stack(columns, 1),)

    return kernel


def _on_host(block: Block) -> Any:
    rows = block.tables[0]
    return to_numpy(rows) if is_tensor(rows) else rows


def _standardised(features: FeatureMap, sums: FloatArray) -> FloatArray:
    """Return ``[x, 1]' values`` as it is after every column was centered and scaled."""
    total = sums[-1]
    slopes = (sums[:-1] - np.outer(features.mean, total)) / features.scale[:, None]
    return np.vstack([slopes, total])


@dataclass(frozen=True)
class Minimised:
    """Where the search ended.

    Attributes
    ----------
    weights : array of shape (n_features + 1, m)
    promise : float
        Decrease that one more step promised, in nats per pair.
    converged : bool
    """

    weights: FloatArray
    promise: float
    converged: bool


def minimise_table(
    scores: TableScores, likelihood: Likelihood, alpha: float, start: FloatArray
) -> Minimised:
    """Minimize the penalized likelihood of statements about all rows of a table.

    Parameters
    ----------
    scores : TableScores
    likelihood : Likelihood
        Of statements about all rows.
    alpha : float
        Ridge penalty of all weights but the intercepts.
    start : array of shape (n_features + 1, m)
        Near the minimizer, as one that was found on a sample.

    Returns
    -------
    Minimized
    """
    objective = _Objective(likelihood, alpha)
    here = objective.at(start, scores.decide(start))
    # A learned error rate is that of the start, which is near: settling it costs more than a step.
    objective = _Objective(likelihood.held(here.near), alpha)
    sums, products = scores.pull_with_products(here.slopes)
    metric = _Metric(products / likelihood.size, np.sum(here.slopes**2, axis=0), alpha)
    gradient, here = objective.gradient(here, sums), here.without_slopes()
    promise = np.inf
    for step in range(_MOST_STEPS + 1):
        direction = -metric.solve(gradient)
        promise = -0.5 * float(np.sum(gradient * direction))
        if step == _MOST_STEPS or promise <= _TOL * max(abs(here.value), _SMALLEST_VALUE):
            break
        there = objective.along(here, gradient, direction, scores.decide(direction))
        if there is None:
            break  # what is left is rounding
        before, gradient = gradient, objective.gradient(there, scores.pull(there.slopes))
        metric.learn(there.weights - here.weights, gradient - before)
        here = there.without_slopes()
    converged = promise <= _GAP * max(abs(here.value), _SMALLEST_VALUE)
    return Minimised(here.weights + direction if converged else here.weights, promise, converged)


@dataclass(frozen=True)
class _Point:
    """Weights, and what statements imply there.

    Attributes
    ----------
    weights : array of shape (n_features + 1, m)
    scores, slopes : arrays of shape (n_rows, m)
        Slopes of the log-likelihood in the scores.
    value : float
        Penalized negative log-likelihood, in nats per pair.
    near : Beliefs or None
        Where a search nearby begins; None if anywhere.
    """

    weights: FloatArray
    scores: FloatArray
    slopes: FloatArray
    value: float
    near: Beliefs | None

    def without_slopes(self) -> "_Point":
        """Return the point without what the gradient has been made from."""
        return replace(self, slopes=np.zeros(0))


@dataclass(frozen=True)
class _Objective:
    """The penalized likelihood of all rows, once their scores are known."""

    likelihood: Likelihood
    alpha: float

    def at(self, weights: FloatArray, scores: FloatArray, near: Beliefs | None = None) -> _Point:
        """Evaluate at weights that give these scores."""
        gain, slopes, near = self.likelihood.slope(scores, near)
        value = 0.5 * self.alpha * float(np.sum(weights[:-1] ** 2)) - gain / self.likelihood.size
        return _Point(weights, scores, slopes, value, near)

    def gradient(self, point: _Point, sums: FloatArray) -> FloatArray:
        """Return the gradient in the weights, given ``[x, 1]' slopes``."""
        gradient = sums / -self.likelihood.size
        gradient[:-1] += self.alpha * point.weights[:-1]
        return gradient

    def along(
        self, here: _Point, gradient: FloatArray, direction: FloatArray, change: FloatArray
    ) -> _Point | None:
        """Go as far along a direction as the slope says; None if the value does not fall.

        Parameters
        ----------
        here : _Point
        gradient, direction : arrays of shape (n_features + 1, m)
        change : array of shape (n_rows, m)
            Of the scores, by the whole direction.
        """
        fall = float(np.sum(gradient * direction))

        def at(length: float) -> _Point:
            scores = here.scores + length * change
            return self.at(here.weights + length * direction, scores, here.near)

        there, length = at(1.0), 1.0
        slope = self._slope(there, direction, change)
        if abs(slope) > _STEEP * abs(fall):
            length = float(np.clip(fall / (fall - slope), *_LENGTHS)) if slope > fall else 1.0
            other = at(length)
            there = min(there, other, key=lambda point: point.value)
        for _ in range(_MOST_HALVINGS):
            if there.value <= here.value + 1e-4 * length * fall:
                return there
            length *= 0.5
            there = at(length)
        return None

    def _slope(self, point: _Point, direction: FloatArray, change: FloatArray) -> float:
        of_statements = float(np.sum(point.slopes * change)) / self.likelihood.size
        return self.alpha * float(np.sum(point.weights[:-1] * direction[:-1])) - of_statements


class _Metric:
    """The inverse of the curvature: of the information in statements, and of the steps so far.

    Parameters
    ----------
    products : array of shape (n_features + 1, n_features + 1)
    shares : array of shape (m,)
        What each column of weights has of them, in proportion.
    alpha : float
    """

    def __init__(self, products: FloatArray, shares: FloatArray, alpha: float) -> None:
        self._products = products
        self._shares = shares / max(float(shares.sum()), 1e-300)
        self._penalty = np.append(np.full(products.shape[0] - 1, alpha), 1e-12)
        self._steps: list[tuple[FloatArray, FloatArray]] = []

    def learn(self, step: FloatArray, change: FloatArray) -> None:
        """Take note of how the gradient changed along a step."""
        if float(np.sum(step * change)) > 0.0:
            self._steps.append((step, change))

    def solve(self, gradient: FloatArray) -> FloatArray:
        """Return the inverse times a gradient, by the two loops of L-BFGS."""
        rest, lengths = gradient.copy(), []
        for step, change in reversed(self._steps):
            lengths.append(float(np.sum(step * rest) / np.sum(step * change)))
            rest -= lengths[-1] * change
        found = self._first(rest)
        for (step, change), length in zip(self._steps, reversed(lengths), strict=True):
            found += (length - float(np.sum(change * found) / np.sum(step * change))) * step
        return found

    def _first(self, gradient: FloatArray) -> FloatArray:
        """Return the inverse that steps have taught nothing yet, times a gradient."""
        common = np.zeros((gradient.shape[0], 1))
        if gradient.shape[1] > 1:  # what all classes have in common only the penalty holds
            common = gradient.mean(axis=1, keepdims=True)
        found = np.column_stack(
            [
                solve_downhill(share * self._products + np.diag(self._penalty), column)
                for share, column in zip(self._shares, (gradient - common).T, strict=True)
            ]
        )
        if gradient.shape[1] > 1:
            found -= found.mean(axis=1, keepdims=True)
            found[:-1] += common[:-1] / self._penalty[:-1, None]
        return found
