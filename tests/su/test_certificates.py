"""Columns of a scale that no solver bears are named; what converges is left alone."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import likewise as lw
from likewise.engines import MemoryEngine
from likewise.su.solvers import minimise_double_hinge


@pytest.fixture
def sample(rng: np.random.Generator) -> tuple[Any, Any]:
    X, classes = lw.datasets.make_gaussians(200, random_state=0)
    pairs = [(i, i + 7) for i in range(80) if classes[i] == classes[i + 7]]
    return lw.pack(X, similar=pairs)


def refusal(model: lw.SUClassifier, X: Any, y: Any) -> str:
    """Return why a model was refused; else it has a certificate."""
    try:
        model.fit(X, y)
    except ValueError as error:
        return str(error)
    assert model.duality_gap_ < 1e-3
    assert np.isfinite(model.coef_).all()
    return ""


@pytest.mark.parametrize("loss", ["squared", "logistic", "double_hinge"])
@pytest.mark.parametrize("free", [False, True])
def test_columns_of_timestamps_are_named(sample: tuple[Any, Any], loss: str, free: bool) -> None:
    X, y = sample
    names = ["start", "end"]
    model = lw.SUClassifier(loss, prior=0.7, regularize_intercept=not free)
    sentence = refusal(model, pd.DataFrame(X + np.array([1.6e9, 1.7e9]), columns=names), y)
    assert "column 'end' of X are around 1.7e+09" in sentence
    assert "scale the features" in sentence
    assert refusal(model, pd.DataFrame(X, columns=names), y) == ""


@pytest.mark.parametrize("loss", ["squared", "logistic", "double_hinge"])
@pytest.mark.parametrize("scale", [1e100, 1e130])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_columns_of_any_scale_give_a_certificate_or_an_error(
    sample: tuple[Any, Any], loss: str, scale: float
) -> None:
    X, y = sample
    sentence = refusal(lw.SUClassifier(loss, prior=0.7), X * scale, y)
    assert sentence == "" or "column 0 of X" in sentence


def test_rows_that_leave_no_start_give_no_solution() -> None:
    rows = np.full((3, 2), 1e160)
    with np.errstate(over="ignore", invalid="ignore"):
        found = minimise_double_hinge(MemoryEngine.of_unlabeled(rows), np.ones(3), np.full(3, 1e-4))
    assert not found.converged
    assert not np.isfinite(found.gap)
