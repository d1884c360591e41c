"""Weakly labeled samples that many tests learn from."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from likewise import datasets
from likewise.datasets import SUSample

# The same cases on every run, whether they take long on a busy machine or not; `make fuzz` draws
# new ones.
settings.register_profile(
    "likewise",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("likewise")


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
