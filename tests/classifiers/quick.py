"""Small fits that tests of `PairClassifier` share."""

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

import likewise as lw
from likewise.datasets import StatementSample, sample_statements

THREE = np.array([0.5, 0.3, 0.2])


def quick(**settings: Any) -> Any:
    """A classifier that tries little."""
    return lw.PairClassifier(
        **{"features": "linear", "alphas": [0.1, 0.01], "random_state": 0, **settings}
    )


def draw_three(n: int, seed: int) -> tuple[Any, Any, Any, Any]:
    """Draw fresh pairs and rows of three Gaussians, and test rows with their classes."""
    rng = np.random.default_rng(seed)
    means = 2.0 * np.array([[0.0, 1.0, 0.0], [1.0, -1.0, 0.0], [-1.0, -1.0, 0.0]])

    def rows(labels: np.ndarray) -> np.ndarray:
        return np.asarray(means[labels] + rng.standard_normal((labels.size, 3)))

    pairs = rng.choice(3, n, p=THREE**2 / (THREE @ THREE))
    alone, test = rng.choice(3, (2, n), p=THREE)
    X, y = lw.pack(rows(alone), similar=(rows(pairs), rows(pairs)))
    return X, y, rows(test), test


def draw_table(
    n_rows: int, n_statements: int, kind: Any = "asked", *, error_rate: float = 0.0, seed: int = 1
) -> StatementSample:
    """Draw one table of two Gaussians at a prior of 0.7, and statements about its rows."""
    X, y = lw.datasets.make_gaussians(6000, separation=3.0, random_state=0)
    return sample_statements(
        X,
        y,
        n_rows,
        n_statements,
        kind=kind,
        n_test=1500,
        prior=0.7,
        error_rate=error_rate,
        random_state=seed,
    )


def share_right(found: Any, truth: Any) -> float:
    """Return the share of right classes, whichever got which name."""
    _, ours = np.unique(found, return_inverse=True)
    _, theirs = np.unique(truth, return_inverse=True)
    counts = np.zeros((ours.max() + 1, theirs.max() + 1))
    np.add.at(counts, (ours, theirs), 1)
    return float(counts[linear_sum_assignment(counts, maximize=True)].sum() / len(ours))
