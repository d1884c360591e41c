"""Pairs of both kinds and unlabeled rows, drawn from two Gaussians as the rewrites assume."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import likewise as lw

Floats = NDArray[np.float64]
Sides = tuple[Floats, Floats]


@dataclass(frozen=True)
class Drawn:
    """Rows of each kind; ``expected`` is the true ``E[y x] / 2``."""

    unlabeled: Floats
    similar: Sides | None
    dissimilar: Sides | None
    expected: Floats

    def pack(self) -> tuple[Any, Any]:
        return lw.pack(self.unlabeled, similar=self.similar, dissimilar=self.dissimilar)


def draw_pairs(
    rng: np.random.Generator,
    n_similar: int = 60,
    n_dissimilar: int = 40,
    n_unlabeled: int = 150,
    prior: float = 0.7,
    n_features: int = 3,
) -> Drawn:
    """Draw two classes at +-1 on the first columns, scaled differently, the others noise."""
    mean = np.zeros(n_features)
    mean[:2] = 1.0, -0.5
    scale = 10.0 ** np.linspace(-1, 1, n_features)

    def rows(classes: NDArray[np.int_]) -> Floats:
        noise = rng.standard_normal((classes.size, n_features))
        return np.asarray((noise + np.outer(classes, mean)) * scale + 0.5)

    def classes_of(n: int, probability: float) -> NDArray[np.int_]:
        return np.where(rng.random(n) < probability, 1, -1)

    alike = classes_of(n_similar, prior**2 / (prior**2 + (1 - prior) ** 2))
    first = classes_of(n_dissimilar, 0.5)
    return Drawn(
        unlabeled=rows(classes_of(n_unlabeled, prior)),
        similar=(rows(alike), rows(alike)) if n_similar else None,
        dissimilar=(rows(first), rows(-first)) if n_dissimilar else None,
        expected=(mean * scale + (2 * prior - 1) * 0.5) / 2,
    )


def draw_table(
    rng: np.random.Generator, n_rows: int, n_asked: int, prior: float = 0.7, n_features: int = 3
) -> tuple[Floats, NDArray[np.int_], NDArray[np.intp], NDArray[np.intp], Floats]:
    """Draw one table and ask about random pairs of its rows.

    Returns the rows, their classes, the pairs that are alike, those that differ (row numbers), and
    the true ``E[y x] / 2``.
    """
    drawn = draw_pairs(rng, 0, 0, 1, prior, n_features)
    classes = np.where(rng.random(n_rows) < prior, 1, -1)
    center = 2 * drawn.expected - (2 * prior - 1) * 0.5
    noise = rng.standard_normal((n_rows, n_features)) * 10.0 ** np.linspace(-1, 1, n_features)
    first = rng.integers(0, n_rows, n_asked)
    pairs = np.column_stack([first, (first + 1 + rng.integers(0, n_rows - 1, n_asked)) % n_rows])
    alike = classes[pairs[:, 0]] == classes[pairs[:, 1]]
    rows = noise + np.outer(classes, center) + 0.5
    return rows, classes, pairs[alike], pairs[~alike], drawn.expected
