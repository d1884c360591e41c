"""Small samples that nets learn from in seconds."""

from dataclasses import dataclass
from typing import Any

import numpy as np

import likewise as lw


@dataclass(frozen=True)
class Blobs:
    """Rows around as many centers as there are classes, and statements about them."""

    X: Any
    y: Any
    classes: Any
    is_similar: Any


def blobs(
    n_rows: int = 300,
    n_pairs: int = 300,
    n_classes: int = 3,
    wrong: float = 0.0,
    seed: int = 0,
    *,
    similar_only: bool = False,
) -> Blobs:
    """Draw rows and statements about random pairs of them."""
    rng = np.random.default_rng(seed)
    centers = 4.0 * np.array([(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)])[:n_classes]
    classes = rng.choice(n_classes, n_rows, p=_shares(n_classes))
    table = (centers[classes] + rng.normal(size=(n_rows, 2))).astype(np.float32)
    pairs = rng.integers(n_rows, size=(20 * n_pairs, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = classes[pairs[:, 0]] == classes[pairs[:, 1]]
    if similar_only:
        pairs, same = pairs[same][:n_pairs], same[same][:n_pairs]
    pairs, same = pairs[:n_pairs], same[:n_pairs]
    said = same ^ (rng.random(pairs.shape[0]) < wrong)
    X, y = lw.pack(table, similar=pairs[said], dissimilar=pairs[~said])
    return Blobs(X, y, classes, said)


def _shares(n_classes: int) -> Any:
    sizes = np.arange(n_classes, 0.0, -1.0) + 1.0
    return sizes / sizes.sum()
