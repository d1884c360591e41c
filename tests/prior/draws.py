"""Samples that prior estimators are tested on."""

from typing import Any

import numpy as np

import likewise as lw
from likewise.datasets import StatementSample, sample_statements


def draw_gaussians(
    n: int,
    prior: float,
    seed: int,
    *,
    noise_features: int = 0,
    separation: float = 3.0,
    n_dissimilar: int = 0,
) -> tuple[Any, Any]:
    """Draw n similar pairs and n rows of two Gaussians that differ in the first feature."""
    rng = np.random.default_rng(seed)
    share = prior**2 / (prior**2 + (1 - prior) ** 2)
    pairs, alone = np.where(rng.random((2, n)) < [[share], [prior]], 1, -1)
    other = np.where(rng.random(n_dissimilar) < 0.5, 1, -1)

    def rows(labels: np.ndarray) -> np.ndarray:
        X = rng.standard_normal((labels.size, 2 + noise_features))
        X[:, 0] += separation / 2 * labels
        return X

    return lw.pack(
        rows(alone), similar=(rows(pairs), rows(pairs)), dissimilar=(rows(other), rows(-other))
    )


def draw_rings(n: int, seed: int) -> tuple[Any, Any]:
    """Draw n similar pairs and n rows of two rings, at a prior of 0.7."""
    rng = np.random.default_rng(seed)

    def rings(radius: np.ndarray) -> np.ndarray:
        angle = rng.uniform(0, 2 * np.pi, radius.size)
        points = np.column_stack([np.cos(angle), np.sin(angle)]) * radius[:, None]
        return np.asarray(points + 0.2 * rng.standard_normal(points.shape))

    pairs, alone = np.where(rng.random((2, n)) < [[0.49 / 0.58], [0.7]], 1.0, 3.0)
    return lw.pack(rings(alone), similar=(rings(pairs), rings(pairs)))


def draw_table(
    kind: Any, n_rows: int, n_statements: int, seed: int = 0, error_rate: float = 0.0
) -> StatementSample:
    """Draw one table of two Gaussians, at a prior of 0.7, and statements about its rows."""
    X, y = lw.datasets.make_gaussians(6000, separation=3.0, random_state=0)
    return sample_statements(
        X,
        y,
        n_rows,
        n_statements,
        kind=kind,
        prior=0.7,
        error_rate=error_rate,
        random_state=seed,
    )
