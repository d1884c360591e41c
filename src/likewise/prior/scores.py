"""Scores that tell the hidden classes apart, learned from pairs by the pair likelihood.

A score is a function of a row, high for the larger class. It is learned on some rows and used on
others; what it is used for is not known here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.kernel_approximation import Nystroem

from likewise.engines.kernels import decide
from likewise.likelihood import expand, negative_log_likelihood
from likewise.losses import FloatArray
from likewise.pairs import is_sparse

Score = Callable[[Any], FloatArray]
"""Rows of shape (m, n_features), dense or sparse, to scores of shape (m,)."""

_ALPHAS = (0.3, 0.03, 0.003)
_N_COMPONENTS = 100
_KERNEL_SCALE = 10.0
"""Squared length of a kernel feature vector: makes the same penalties fit both feature maps."""


@dataclass(frozen=True)
class Triple:
    """Left members, right members and unlabeled rows; arrays of n_features columns each."""

    left: FloatArray
    right: FloatArray
    unlabeled: FloatArray

    def map(self, function: Callable[[FloatArray], FloatArray]) -> "Triple":
        """Apply a function to the three tables."""
        return Triple(function(self.left), function(self.right), function(self.unlabeled))

    def among(self, pairs: NDArray[np.bool_], rows: NDArray[np.bool_]) -> "Triple":
        """Return some of the pairs and some of the rows."""
        return Triple(self.left[pairs], self.right[pairs], self.unlabeled[rows])


@dataclass(frozen=True)
class FeatureMap:
    """Features to be linear in: the standardised columns, or kernel features of them.

    Attributes
    ----------
    name : str
    mean, scale : arrays of shape (n_features,)
    kernel : fitted Nystroem transformer, or None
    """

    name: str
    mean: FloatArray
    scale: FloatArray
    kernel: Any = None

    def __call__(self, rows: Any) -> FloatArray:
        """Return features of shape (m, n_map_features)."""
        dense = rows.toarray() if is_sparse(rows) else np.asarray(rows, dtype=np.float64)
        standard = (dense - self.mean) / self.scale
        if self.kernel is None:
            return np.asarray(standard)
        return np.asarray(np.sqrt(_KERNEL_SCALE) * self.kernel.transform(standard))


def feature_maps(sample: Triple, random_state: np.random.RandomState) -> list[FeatureMap]:
    """Return the feature maps to choose from, fitted to a sample."""
    stacked = np.vstack([sample.left, sample.right, sample.unlabeled])
    mean, scale = stacked.mean(axis=0), stacked.std(axis=0)
    scale = np.where(scale > 1e-9 * np.abs(mean), scale, 1.0)
    linear = FeatureMap("linear", mean, scale)
    kernel = Nystroem(
        gamma=1.0 / stacked.shape[1],
        n_components=min(_N_COMPONENTS, stacked.shape[0]),
        random_state=random_state,
    )
    kernel.fit((stacked - mean) / scale)
    return [linear, FeatureMap("rbf", mean, scale, kernel)]


@dataclass(frozen=True)
class Candidate:
    """A way to learn a score, with what it reached on held-out rows.

    Attributes
    ----------
    features : FeatureMap
    alpha : float
    held_out : float
        Mean negative log-likelihood on held-out pairs, in nats per pair.
    left, right, unlabeled : arrays
        Cross-fitted ranks in [0, 1]: where the score of a held-out row stands among those of the
        training rows.
    score : Score
        Learned from the whole sample.
    quantiles : array of shape (n_unlabeled,)
        Sorted scores of the sample's unlabeled rows.
    """

    features: FeatureMap
    alpha: float
    held_out: float
    left: FloatArray
    right: FloatArray
    unlabeled: FloatArray
    score: Score
    quantiles: FloatArray


def learn_score(sample: Triple, n_folds: int, random_state: np.random.RandomState) -> Candidate:
    """Learn scores with every feature map and penalty, and return the best on held-out pairs."""
    pair_folds = random_state.permutation(sample.left.shape[0]) % n_folds
    row_folds = random_state.permutation(sample.unlabeled.shape[0]) % n_folds
    candidates = [
        candidate
        for features in feature_maps(sample, random_state)
        for candidate in _cross_fit(sample.map(features), features, pair_folds, row_folds, n_folds)
    ]
    return min(candidates, key=lambda candidate: candidate.held_out)


def _cross_fit(
    sample: Triple,
    features: FeatureMap,
    pair_folds: NDArray[np.intp],
    row_folds: NDArray[np.intp],
    n_folds: int,
) -> list[Candidate]:
    """Cross-fit one feature map at every penalty."""
    whole = _path(sample, _ALPHAS, _starts(sample))
    candidates = []
    for alpha, weights in zip(_ALPHAS, whole, strict=True):
        ranks = sample.map(lambda table: np.empty(table.shape[0]))
        held_out = 0.0
        for fold in range(n_folds):
            pairs, rows = pair_folds == fold, row_folds == fold
            train = sample.among(~pairs, ~rows)
            # Starting from the fit to all rows only picks the hill; the climb forgets it.
            own = _minimise(train, alpha, weights)
            scores = sample.among(pairs, rows).map(partial(decide, weights=own))
            held_out += negative_log_likelihood(scores.left, scores.right, scores.unlabeled)
            reference = np.sort(decide(train.unlabeled, own))
            own_ranks = scores.map(partial(rank, reference=reference))
            ranks.left[pairs], ranks.right[pairs] = own_ranks.left, own_ranks.right
            ranks.unlabeled[rows] = own_ranks.unlabeled
        candidates.append(
            Candidate(
                features,
                alpha,
                held_out / n_folds,
                ranks.left,
                ranks.right,
                ranks.unlabeled,
                _Linear(features, weights),
                np.sort(decide(sample.unlabeled, weights)),
            )
        )
    return candidates


def rank(values: FloatArray, reference: FloatArray) -> FloatArray:
    """Return which share of the sorted reference values lies below each value."""
    return np.searchsorted(reference, values) / reference.size


@dataclass(frozen=True)
class _Linear:
    """A linear function of a feature map's features."""

    features: FeatureMap
    weights: FloatArray

    def __call__(self, rows: Any) -> FloatArray:
        if self.features.kernel is not None:
            return decide(self.features(rows), self.weights)
        # Standardising the weights instead of the rows copies nothing.
        slopes = self.weights[:-1] / self.features.scale
        return np.asarray(rows @ slopes + (self.weights[-1] - self.features.mean @ slopes))


def _path(sample: Triple, alphas: Sequence[float], starts: list[FloatArray]) -> list[FloatArray]:
    """Minimise at falling penalties, each from the last; the first from the best of the starts."""
    first = [_minimise(sample, alphas[0], start) for start in starts]
    path = [min(first, key=lambda weights: _objective(weights, sample, alphas[0])[0])]
    for alpha in alphas[1:]:
        path.append(_minimise(sample, alpha, path[-1]))
    return [_oriented(weights, sample) for weights in path]


def _oriented(weights: FloatArray, sample: Triple) -> FloatArray:
    """Turn the weights so that more unlabeled rows are on the high side; the likelihood is even."""
    return weights if expit(decide(sample.unlabeled, weights)).mean() >= 0.5 else -weights


def _minimise(sample: Triple, alpha: float, start: FloatArray) -> FloatArray:
    found = minimize(
        _objective,
        start,
        args=(sample, alpha),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 100, "ftol": 1e-8},
    )
    return np.asarray(found.x)


def _objective(weights: FloatArray, sample: Triple, alpha: float) -> tuple[float, FloatArray]:
    """Return the penalised pair likelihood and its gradient; the intercept is free."""
    tables = (sample.left, sample.right, sample.unlabeled)
    value, *slopes = expand(*(decide(table, weights) for table in tables))
    gradient = np.empty_like(weights)
    gradient[:-1] = alpha * weights[:-1]
    gradient[:-1] += sum(table.T @ slope for table, slope in zip(tables, slopes, strict=True))
    gradient[-1] = sum(slope.sum() for slope in slopes)
    return value + 0.5 * alpha * float(weights[:-1] @ weights[:-1]), gradient


def _starts(sample: Triple) -> list[FloatArray]:
    """Return starting weights: where pair members vary together, and where pairs differ from rows.

    The likelihood is not convex, and both directions are those of the class means if there is
    enough data: the first at any prior, the second sooner where the prior is far from one half.
    """
    center = (sample.left.mean(axis=0) + sample.right.mean(axis=0)) / 2
    product = (sample.left - center).T @ (sample.right - center) / sample.left.shape[0]
    spread = np.atleast_2d(np.cov(sample.unlabeled, rowvar=False))
    d = spread.shape[0]
    ridge = spread + (np.trace(spread) / d + 1e-12) * np.eye(d)
    together = eigh((product + product.T) / 2, ridge, subset_by_index=[d - 1, d - 1])[1][:, 0]
    shift = center - sample.unlabeled.mean(axis=0)
    starts = []
    for direction in (together, np.linalg.solve(ridge, shift)):
        length = np.sqrt(direction @ spread @ direction)
        if length > 0:
            # The larger class is on the side to which pairs are shifted.
            oriented = np.copysign(1.5 / length, direction @ shift) * direction
            middle = oriented @ sample.unlabeled.mean(axis=0)
            starts += [np.append(oriented, offset - middle) for offset in (0.0, 1.0)]
    return starts or [np.zeros(d + 1)]
