"""Samples that tests of baselines learn from."""

import numpy as np

from likewise.baselines.base import Sample
from likewise.statements.labels import read_labels

__all__ = ["fresh_sample"]


def fresh_sample(left: np.ndarray, right: np.ndarray, unlabeled: np.ndarray) -> Sample:
    """Similar pairs and unlabeled rows as a baseline sees them."""
    codes = np.arange(1, len(left) + 1)
    labels = np.concatenate([codes, codes, np.zeros(len(unlabeled), dtype=int)])
    return Sample(np.vstack([left, right, unlabeled]), read_labels(labels))
