"""Linear class scores learned by the pair likelihood with a ridge penalty.

Two classes have one column of weights (the log-odds of the second class), more have one column
each. The likelihood does not know which class is which, and it has more than one hill: learning
begins at a large penalty from several starting points and follows the best one down.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, eigsh
from scipy.special import softmax

from likewise._types import FloatArray
from likewise.beliefs.fresh import Expansion, expand, log_probabilities
from likewise.scores.design import Sample

__all__ = [
    "PairModel",
    "evaluate",
    "fit_path",
    "freed_path",
    "minimise",
    "ordered",
]

_LENGTH_OF_START = 1.5
"""Standard deviation of the scores that learning starts from."""
_N_ROTATIONS = 8
"""Starting points for more than two classes."""
_MOST_STEPS = 100
"""Of L-BFGS at one penalty; the next penalty goes on from there."""
_MOST_DENSE_FEATURES = 600
"""Above it, starting directions come from products with rows, not from square matrices."""


@dataclass(frozen=True)
class PairModel:
    """Weights of linear scores.

    Attributes
    ----------
    weights : array of shape (n_features + 1, m)
        One column for two classes, one per class for more; the intercepts are the last row.
    pair_shares : array of shape (n_classes,), or None
        Shares of the classes among freely formed pairs; None for random pairing.
    """

    weights: FloatArray
    pair_shares: FloatArray | None = None

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return max(2, int(self.weights.shape[1]))

    def flat(self) -> FloatArray:
        """Return the weights and the logarithms of the pair shares as one vector."""
        if self.pair_shares is None:
            return self.weights.ravel()
        return np.concatenate([self.weights.ravel(), np.log(self.pair_shares)])

    def at(self, vector: FloatArray) -> "PairModel":
        """Return the model of the same kind that is at another flat vector."""
        weights, logs = np.split(vector, [self.weights.size])
        weights = weights.reshape(self.weights.shape)
        if self.pair_shares is None:
            return PairModel(weights)
        return PairModel(weights, softmax(logs))

    def reordered(self, order: NDArray[np.intp]) -> "PairModel":
        """Return the model of more than two classes with their names in another order."""
        shares = None if self.pair_shares is None else self.pair_shares[order]
        return PairModel(self.weights[:, order], shares)

    def turned(self, is_upside_down: bool = True) -> "PairModel":
        """Return the model of two classes with their names exchanged, if asked."""
        if not is_upside_down:
            return self
        return PairModel(
            -self.weights, None if self.pair_shares is None else self.pair_shares[::-1]
        )


def evaluate(
    scores: FloatArray,
    sample: Sample,
    pair_shares: FloatArray | None = None,
    start: FloatArray | None = None,
) -> tuple[Expansion, FloatArray]:
    """Return the likelihood of scores, (n_rows, m), and its gradient in them."""
    binary = scores.shape[1] == 1
    log_p = log_probabilities(scores[:, 0] if binary else scores)
    expansion = expand(log_p, sample.counts, pair_shares, start)
    return expansion, expansion.gradient[:, 1:] if binary else expansion.gradient


class _Objective:
    """The penalised likelihood as a function of one flat vector."""

    def __init__(self, sample: Sample, alpha: float, like: PairModel) -> None:
        self._sample = sample
        self._alpha = alpha
        self._like = like
        self._shares: FloatArray | None = None

    def __call__(self, vector: FloatArray) -> tuple[float, FloatArray]:
        model = self._like.at(vector)
        scores = self._sample.design.decide(model.weights)
        found, slopes = evaluate(scores, self._sample, model.pair_shares, self._shares)
        self._shares = found.shares  # the next point is near: its shares are too
        gradient = self._sample.design.pull(slopes)
        gradient[:-1] += self._alpha * model.weights[:-1]
        value = found.value + 0.5 * self._alpha * float(np.sum(model.weights[:-1] ** 2))
        flat, is_free = gradient.ravel(), model.pair_shares is not None
        return value, np.concatenate([flat, found.pair_gradient]) if is_free else flat


def minimise(sample: Sample, alpha: float, start: PairModel) -> PairModel:
    """Minimise the penalised likelihood from a starting model.

    Parameters
    ----------
    sample : Sample
    alpha : float
        Ridge penalty of all weights but the intercepts.
    start : PairModel
        Also says whether pair shares are free.

    Returns
    -------
    PairModel
    """
    objective = _Objective(sample, alpha, start)
    found = minimize(
        objective,
        start.flat(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _MOST_STEPS, "ftol": 1e-7, "maxcor": 20},
    )
    return start.at(np.asarray(found.x))


def fit_path(
    sample: Sample,
    alphas: Sequence[float],
    n_classes: int,
    *,
    is_free: bool,
    random_state: np.random.RandomState,
) -> Iterator[PairModel]:
    """Learn at falling penalties, each from the last, the first from the best of the starts.

    With dissimilar pairs, or with more than two classes, what a large penalty explains best can be
    a lesser hill at a small one (two classes taken for one), and the path would stay on it: later
    penalties try one of the starts each. With similar pairs of two classes the path is the better
    guide; fresh starts lead small samples to hills of chance.

    Yields
    ------
    PairModel
        One per alpha; classes in order of size (see `ordered`).
    """
    starts = _starts(sample, n_classes, is_free, random_state)
    model = _best(starts, sample, alphas[0])
    tries_again = sample.counts.dissimilar > 0 or n_classes > 2
    for step, alpha in enumerate(alphas):
        if step:
            fresh = [starts[step % len(starts)]] if tries_again else []
            model = _best([model, *fresh], sample, alpha)
        yield ordered(model, sample)


def _best(starts: Sequence[PairModel], sample: Sample, alpha: float) -> PairModel:
    """Minimise from several models, and return the lowest of what they lead to."""
    found = [minimise(sample, alpha, start) for start in starts]
    return min(found, key=lambda model: _penalised(sample, alpha, model))


def freed_path(
    sample: Sample,
    alphas: Sequence[float],
    n_classes: int,
    *,
    random_state: np.random.RandomState,
) -> Iterator[PairModel]:
    """Learn free pair shares from the models of pairs formed at random.

    Free shares have a hill without classes (all pairs of a class that no row is of), wide where
    penalties are large; this is the way round it.

    Yields
    ------
    PairModel
        One per alpha, as `fit_path` does.
    """
    at_random = fit_path(sample, alphas, n_classes, is_free=False, random_state=random_state)
    for alpha, model in zip(alphas, at_random, strict=True):
        yield ordered(minimise(sample, alpha, _freed(model, sample)), sample)


def _freed(model: PairModel, sample: Sample) -> PairModel:
    """Return a model of pairs formed at random as one with free shares."""
    shares = evaluate(sample.design.decide(model.weights), sample)[0].shares
    return PairModel(model.weights, shares**2 / float(shares @ shares))


def ordered(model: PairModel, sample: Sample) -> PairModel:
    """Name the classes by size: of two the second is the larger, of more the first the largest."""
    scores = sample.design.decide(model.weights)
    shares = evaluate(scores, sample, model.pair_shares)[0].shares
    if model.n_classes > 2:
        return model.reordered(np.argsort(-shares, kind="stable"))
    return model.turned(bool(shares[1] < 0.5))


def _penalised(sample: Sample, alpha: float, model: PairModel) -> float:
    return _Objective(sample, alpha, model)(model.flat())[0]


def _starts(
    sample: Sample, n_classes: int, is_free: bool, random_state: np.random.RandomState
) -> list[PairModel]:
    """Return starting models: where pair members vary together, and where pairs differ from rows.

    Both directions are those of the class means if there is enough data: the first at any prior,
    the second sooner where the prior is far from one half.
    """
    n_directions = min(n_classes - 1, sample.design.n_features)
    directions, shift = _directions(sample, n_directions)
    if n_classes == 2:
        weights = [
            np.append(np.copysign(1.0, direction @ shift) * direction, offset)[:, None]
            for direction in (directions[:, 0], _scaled(sample, shift[:, None])[:, 0])
            for offset in (0.0, 1.0)
        ]
    else:
        weights = []
        for _ in range(_N_ROTATIONS):
            corners = random_state.standard_normal((n_directions, n_classes))
            corners -= corners.mean(axis=1, keepdims=True)
            weights.append(np.vstack([directions @ corners, np.zeros(n_classes)]))
    if not is_free:
        return [PairModel(w) for w in weights]
    return [PairModel(w, shares) for w in weights for shares in _pair_shares(n_classes)]


def _pair_shares(n_classes: int) -> list[FloatArray]:
    """Return pair shares to start from: even, and for two classes either class ahead."""
    if n_classes > 2:
        return [np.full(n_classes, 1.0 / n_classes)]
    return [np.array([share, 1.0 - share]) for share in (0.5, 0.15, 0.85)]


def _directions(sample: Sample, count: int) -> tuple[FloatArray, FloatArray]:
    """Return directions in which pair members vary together most, and one of the pairs' shift."""
    design, counts = sample.design, sample.counts
    parts = {
        name: design.take(getattr(counts, name))
        for name in ("alone", "left", "right", "dissimilar_left", "dissimilar_right")
    }
    n_similar, n_dissimilar = max(counts.similar, 1), max(counts.dissimilar, 1)

    def mean(name: str) -> FloatArray:
        size = parts[name].rows.shape[0]
        return np.asarray(parts[name].pull(np.ones((size, 1)))[:-1, 0] / max(size, 1))

    center = (mean("left") + mean("right")) / 2 if counts.similar else mean("alone")

    def together(vectors: FloatArray) -> FloatArray:
        """Apply the symmetric cross-covariance of similar pairs, less that of dissimilar ones."""
        vectors = vectors.reshape(design.n_features, -1)
        offset = -center @ vectors
        padded = np.vstack([vectors, offset])
        total = np.zeros_like(vectors)
        for left, right, weight in (
            ("left", "right", 0.5 / n_similar),
            ("right", "left", 0.5 / n_similar),
            ("dissimilar_left", "dissimilar_right", -0.5 / n_dissimilar),
            ("dissimilar_right", "dissimilar_left", -0.5 / n_dissimilar),
        ):
            if parts[left].rows.shape[0]:
                pulled = parts[left].pull(parts[right].decide(padded))
                total += weight * (pulled[:-1] - np.outer(center, pulled[-1]))
        return total

    shift = center - mean("alone")
    d = design.n_features
    if d > _MOST_DENSE_FEATURES:
        operator = LinearOperator((d, d), matvec=lambda v: together(v).ravel(), dtype=np.float64)
        found = eigsh(operator, k=count, which="LA", v0=np.ones(d))[1][:, ::-1]
        return _scaled(sample, found), shift
    rows = parts["alone"].dense()
    spread = np.atleast_2d(np.cov(rows, rowvar=False)) if rows.shape[0] > 1 else np.eye(d)
    ridge = spread + (np.trace(spread) / d + 1e-12) * np.eye(d)
    found = eigh(together(np.eye(d)), ridge, subset_by_index=[d - count, d - 1])[1][:, ::-1]
    return _scaled(sample, found), np.linalg.solve(ridge, shift)


def _scaled(sample: Sample, directions: FloatArray) -> FloatArray:
    """Scale directions so that the scores of unlabeled rows have a given spread."""
    rows = sample.design.take(sample.counts.alone)
    padded = np.vstack([directions, np.zeros(directions.shape[1])])
    spread = rows.decide(padded).std(axis=0)
    return np.asarray(directions * _LENGTH_OF_START / np.where(spread > 0, spread, 1.0))
