"""Scores and statements that several tests of beliefs begin with."""

from collections.abc import Sequence

import numpy as np

from likewise._types import FloatArray
from likewise.beliefs.base import Likelihood, log_probabilities
from likewise.beliefs.table import Pairing, TableLikelihood
from tests.beliefs.brute_force import Said

CYCLES = Said(9, [(0, 1), (1, 2), (0, 2), (3, 4, 5)], [(2, 3), (5, 0), (6, 7)])
"""Consistent for two classes, with cycles of both signs."""
TREE = Said(7, [(0, 1, 2), (3, 4)], [(2, 3), (4, 5), (5, 6)])
"""Without cycles."""
RING = Said(7, [(5, 6)], [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (6, 0)])
"""A long cycle of rows that differ."""


def draw_log_p(said: Said, n_classes: int, seed: int = 0, size: float = 1.0) -> FloatArray:
    """Log-probabilities that know nothing of the statements."""
    rng = np.random.default_rng(seed)
    return log_probabilities(size * rng.normal(size=(said.n_rows, n_classes)))


def likelihood(
    said: Said,
    n_classes: int = 2,
    pairing: Pairing = "asked",
    error_rate: float | None = 0.0,
    known: Sequence[int] | None = None,
) -> TableLikelihood:
    codes = None if known is None else np.asarray(known, dtype=np.intp)
    return TableLikelihood(said.statements, n_classes, pairing, error_rate, codes)


def slope_error(model: Likelihood, scores: FloatArray, *, step: float = 1e-3) -> float:
    """The largest difference of slopes along random directions from those of the gradient."""
    rng = np.random.default_rng(1)
    gradient = model.evaluate(log_probabilities(scores)).gradient
    errors = []
    for _ in range(3):
        direction = rng.normal(size=scores.shape)
        values = [
            model.evaluate(log_probabilities(scores + sign * step * direction)).value
            for sign in (1, -1)
        ]
        errors.append((values[0] - values[1]) / (2 * step) - float(np.sum(gradient * direction)))
    return float(np.abs(errors).max())


def draw_answers(
    rng: np.random.Generator,
    labels: np.ndarray,
    n_statements: int,
    error_rate: float = 0.0,
    *,
    is_found: bool = False,
) -> Said:
    """Answers about random pairs of rows, or such pairs as are found alike; some are wrong."""
    same: list[tuple[int, int]] = []
    different: list[tuple[int, int]] = []
    while len(same) + len(different) < n_statements:
        a, b = rng.choice(labels.size, 2, replace=False).tolist()
        is_alike = bool(labels[a] == labels[b]) != bool(rng.random() < error_rate)
        if is_alike:
            same.append((a, b))
        elif not is_found:
            different.append((a, b))
    return Said(labels.size, same, different)


def draw_aligned(
    rng: np.random.Generator, n_rows: int, n_classes: int, shares: Sequence[float] | None = None
) -> tuple[np.ndarray, FloatArray]:
    """Labels, and scores that know something of them."""
    labels = rng.choice(n_classes, size=n_rows, p=shares)
    return labels, 1.5 * np.eye(n_classes)[labels] + rng.normal(size=(n_rows, n_classes))
