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


def test_a_column_that_overflows_in_a_step_is_named() -> None:
    X, y = lw.pack(np.array([[0.0], [0.0], [1e100]]), dissimilar=[(0, 1)])
    for alpha in (1e-1, 1e-4, 1e-7):
        assert refusal(lw.SUClassifier("double_hinge", prior=0.7, alpha=alpha), X, y)


def test_a_gap_far_below_zero_is_no_certificate() -> None:
    X = np.array([2.05, 2.45, 0.344, 1.77, 3.06, 2.47, 3.32, 0.895])[:, None] * 1e30
    X, y = lw.pack(X, similar=[(2, 5), (3, 6)], dissimilar=[(1, 4), (1, 2)])
    for prior in (0.51, 0.52, 0.7):
        model = lw.SUClassifier("double_hinge", prior=prior, alpha=0.1)
        assert refusal(model, X, y) or model.duality_gap_ >= -1e-9


def test_a_free_intercept_that_saturated_losses_do_not_hold_is_no_minimum() -> None:
    steps = [1.08, 1.29, 2.66, 1.96, 1.83, 2.21, 1.15, 2.68, 2.24, -0.69, 4.12, -0.03]
    X, y = lw.pack(1e6 + np.array(steps)[:, None], similar=[(3, 9)], dissimilar=[(1, 2), (3, 8)])
    model = lw.SUClassifier("logistic", prior=0.51, alpha=1e-7, regularize_intercept=False)
    assert "column 0 of X are around 1e+06" in refusal(model, X, y)
