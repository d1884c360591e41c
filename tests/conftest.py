"""Weakly labeled samples that many tests learn from."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from likewise import datasets
from likewise.datasets import SUSample


@pytest.fixture(scope="session")
def draw_waveform() -> Callable[..., SUSample]:
    """Draw pairs, unlabeled rows and test rows from the waveform generator."""
    X, y = datasets.make_waveform(30_000, random_state=0)

    def draw(
        n_similar: int = 300, n_unlabeled: int = 300, prior: float = 0.7, seed: int = 0
    ) -> SUSample:
        return datasets.sample_su(
            X, y, n_similar, n_unlabeled, n_test=2000, prior=prior, random_state=seed
        )

    return draw


@pytest.fixture
def real_data() -> Path:
    """The folder with the twelve datasets; tests that need it skip where it is absent."""
    folder = os.environ.get("LIKEWISE_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("needs the benchmark datasets: set LIKEWISE_DATA to their folder")
    return Path(folder)


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator with a fixed seed."""
    return np.random.default_rng(20180713)
