"""The squared loss in closed form."""

import numpy as np
import pytest

from likewise.su.solvers import RidgePath
from likewise.su.solvers.closed_form import _assess


@pytest.fixture
def gram(rng: np.random.Generator) -> np.ndarray:
    rows = np.column_stack([rng.standard_normal((50, 4)) + 2, np.ones(50)])
    return np.asarray(rows.T @ rows / 50)


@pytest.mark.parametrize("alpha", [1e-7, 1e-4, 0.1, 10.0])
def test_one_decomposition_solves_every_alpha_and_linear_term(
    gram: np.ndarray, rng: np.random.Generator, alpha: float
) -> None:
    path = RidgePath(gram)
    for linear in rng.standard_normal((3, 5)):
        expected = np.linalg.solve(gram + 2 * alpha * np.eye(5), 2 * linear)
        np.testing.assert_allclose(path.solve(linear, alpha), expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("alpha", [1e-4, 0.1, 10.0])
def test_a_free_intercept_solves_the_system_without_its_penalty(
    gram: np.ndarray, rng: np.random.Generator, alpha: float
) -> None:
    linear = rng.standard_normal(5)
    ridge = np.diag([2 * alpha] * 4 + [0.0])
    expected = np.linalg.solve(gram + ridge, 2 * linear)
    found = RidgePath(gram, regularize_intercept=False).solve(linear, alpha)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("regularize", [True, False])
def test_no_nearby_point_is_lower_and_the_certificate_says_so(
    gram: np.ndarray, rng: np.random.Generator, regularize: bool
) -> None:
    linear, alpha = rng.standard_normal(5), 0.01
    solution = RidgePath(gram, regularize_intercept=regularize).solution(linear, alpha)
    penalty = np.full(5, alpha)
    penalty[-1] *= regularize

    def objective(w: np.ndarray) -> float:
        return float((w @ gram @ w + 1) / 4 - linear @ w + penalty @ w**2 / 2)

    assert solution.objective == pytest.approx(objective(solution.weights))
    for step in rng.standard_normal((20, 5)):
        assert objective(solution.weights + 1e-3 * step) > solution.objective
    assert solution.converged
    assert 0 <= solution.gap < 1e-20


def test_collinear_features_do_not_break_it(rng: np.random.Generator) -> None:
    column = rng.standard_normal(30)
    rows = np.column_stack([column, column, np.zeros(30), np.ones(30)])
    weights = RidgePath(rows.T @ rows / 30).solve(np.ones(4), 1e-7)
    assert np.isfinite(weights).all()
    assert weights[0] == pytest.approx(weights[1])


def test_weights_that_are_wildly_off_have_an_infinite_gap(gram: np.ndarray) -> None:
    # Of columns of 1e100 a singular system gives such weights; others are then looked for.
    weights = np.stack([np.zeros(5), np.full(5, 1e200)])
    gaps = _assess(1e200 * gram, weights, np.full(5, 0.1), np.zeros(5))[1]
    assert gaps[0] == 0.0
    assert gaps[1] == np.inf
