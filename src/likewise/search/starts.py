"""Where learning starts: directions in which rows that are said to be alike vary together."""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh

from likewise._types import FloatArray
from likewise.scores.design import Design
from likewise.search.sample import Sample

__all__ = ["starting_weights"]

_SPREAD = 1.5
"""Standard deviation of the scores that learning starts from."""
_ROUNDING = 1e-9
"""Spread of the scores, for weights of one, that is taken for rounding."""
_SLIGHT = 1e-5
"""Weight of how all rows vary, where statements leave it open."""
_N_ROTATIONS = 8
"""Starting points for more than two classes."""
_MOST_DENSE_FEATURES = 600
"""Above it, starting directions come from products with rows, not from square matrices."""


def starting_weights(sample: Sample, random_state: np.random.RandomState) -> list[FloatArray]:
    """Return starting weights: where pair members vary together, and where pairs differ from rows.

    Both directions are those of the class means if there is enough data: the first at any prior,
    the second sooner where the prior is far from one half.

    Parameters
    ----------
    sample : Sample
    random_state : RandomState

    Returns
    -------
    list of arrays of shape (n_features + 1, m)
    """
    n_classes = sample.n_classes
    n_directions = min(n_classes - 1, sample.design.n_features)
    directions, shift = _directions(sample, n_directions)
    if n_classes == 2:
        return [
            np.append(np.copysign(1.0, direction @ shift) * direction, offset)[:, None]
            for direction in (directions[:, 0], _scaled(sample, shift[:, None])[:, 0])
            for offset in (0.0, 1.0)
        ]
    weights = []
    for _ in range(_N_ROTATIONS):
        corners = random_state.standard_normal((n_directions, n_classes))
        corners -= corners.mean(axis=1, keepdims=True)
        weights.append(np.vstack([directions @ corners, np.zeros(n_classes)]))
    return weights


def _directions(sample: Sample, count: int) -> tuple[FloatArray, FloatArray]:
    """Return directions in which alike rows vary together most, and one of the pairs' shift."""
    design, ties = sample.design, sample.likelihood.ties()
    center, shift = _centers(sample)
    together = _together(sample, ties, center)
    d = design.n_features
    if d > _MOST_DENSE_FEATURES:
        operator = LinearOperator((d, d), matvec=lambda v: together(v).ravel(), dtype=np.float64)
        found = eigsh(operator, k=count, which="LA", v0=np.ones(d))[1][:, ::-1]
        return _scaled(sample, found), shift
    rows = sample.population.dense()
    spread = np.atleast_2d(np.cov(rows, rowvar=False)) if rows.shape[0] > 1 else np.eye(d)
    ridge = spread + (np.trace(spread) / d + 1e-12) * np.eye(d)
    product = together(np.eye(d))
    found = _leading((product + product.T) / 2, spread, ridge, count)
    return _scaled(sample, found), np.linalg.solve(ridge, shift)


def _leading(product: FloatArray, spread: FloatArray, ridge: FloatArray, count: int) -> FloatArray:
    """Return the directions in which alike rows vary together most, the first one first.

    Few statements may say nothing of so many directions: then those in which all rows vary most
    come next, else rounding would choose among them.
    """
    d = len(product)
    last = [d - count, d - 1]
    values, found = eigh(product, ridge, subset_by_index=last)
    size = float(np.abs(product).max())
    if abs(values[0]) <= _ROUNDING * size:
        found = eigh(product + _SLIGHT * size * spread, ridge, subset_by_index=last)[1]
    return np.asarray(found[:, ::-1])


def _centers(sample: Sample) -> tuple[FloatArray, FloatArray]:
    """Return the mean of the members of similar statements, and how far it is from that of all."""
    links = sample.likelihood.links
    design = sample.design
    everywhere = _mean(sample.population)
    same = links.is_similar
    if not same.any():
        return everywhere, np.zeros_like(everywhere)
    counts = np.bincount(
        np.concatenate([links.left[same], links.right[same]]), minlength=design.rows.shape[0]
    )
    total = design.pull(counts[:, None].astype(np.float64))
    members = total[:-1, 0] / total[-1, 0]
    return members, members - everywhere


def _mean(design: Design) -> FloatArray:
    total = design.pull(np.ones((design.rows.shape[0], 1)))
    return np.asarray(total[:-1, 0] / total[-1, 0])


def _together(
    sample: Sample, ties: sp.csr_array, center: FloatArray
) -> Callable[[FloatArray], FloatArray]:
    """Return the product with the covariance of tied rows, those that differ counted off."""
    design = sample.design

    def product(vectors: FloatArray) -> FloatArray:
        vectors = vectors.reshape(design.n_features, -1)
        padded = np.vstack([vectors, -center @ vectors])
        pulled = design.pull(np.asarray(ties @ design.decide(padded)))
        return np.asarray(pulled[:-1] - np.outer(center, pulled[-1]))

    return product


def _scaled(sample: Sample, directions: FloatArray) -> FloatArray:
    """Scale directions so that the scores of the population's rows have a given spread.

    A direction that these rows do not vary in is no start: it becomes zero. The spread that
    rounding leaves of it would be blown up to weights of 1e15.
    """
    padded = np.vstack([directions, np.zeros(directions.shape[1])])
    spread = sample.population.decide(padded).std(axis=0)
    varies = spread > _ROUNDING * np.abs(directions).max(axis=0)
    return np.asarray(directions * np.where(varies, _SPREAD / np.where(varies, spread, 1.0), 0.0))
