"""The structured interior point for the double hinge."""

import numpy as np
import pytest
from numpy.typing import NDArray

from likewise.engines import MemoryEngine
from likewise.engines.rows import RowSets
from likewise.su.solvers import minimise_double_hinge
from tests.su.solvers.conic import double_hinge_objective, solve_with_clarabel, solve_with_cvxopt

FloatArray = NDArray[np.float64]


def engine_of(rows: FloatArray) -> MemoryEngine:
    none = slice(0, 0, 1)
    return MemoryEngine(rows, RowSets(slice(0, len(rows), 1), none, none, none, none))


def penalty_of(alpha: float, d: int, free: bool) -> FloatArray:
    penalty = np.full(d + 1, alpha)
    penalty[-1] *= not free
    return penalty


@pytest.fixture
def rows(rng: np.random.Generator) -> FloatArray:
    return rng.standard_normal((120, 6)) * [1, 1, 1, 5, 0.1, 1]


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("strength", [0.02, 0.5])
@pytest.mark.parametrize("alpha", [1e-1, 1e-4])
def test_objective_agrees_with_a_general_conic_solver(
    rows: FloatArray, rng: np.random.Generator, alpha: float, strength: float, free: bool
) -> None:
    linear = strength * rng.standard_normal(7)
    linear[-1] = 0.2  # a free intercept needs a pull below one half
    penalty = penalty_of(alpha, 6, free)
    solution = minimise_double_hinge(engine_of(rows), linear, penalty)
    reference = double_hinge_objective(
        rows, linear, penalty, solve_with_clarabel(rows, linear, penalty)
    )
    found = double_hinge_objective(rows, linear, penalty, solution.weights)
    assert solution.objective == pytest.approx(found, rel=1e-10)
    assert abs(found - reference) <= 1e-8 * max(1, abs(reference))
    assert solution.converged
    assert solution.gap <= 1e-8


@pytest.mark.parametrize("free", [False, True])
def test_at_a_tiny_penalty_it_is_not_above_the_conic_solver(
    rows: FloatArray, rng: np.random.Generator, free: bool
) -> None:
    linear = 0.5 * rng.standard_normal(7)
    linear[-1] = 0.2
    penalty = penalty_of(1e-7, 6, free)
    solution = minimise_double_hinge(engine_of(rows), linear, penalty)
    reference = double_hinge_objective(
        rows, linear, penalty, solve_with_clarabel(rows, linear, penalty)
    )
    assert solution.objective <= reference + 1e-10 * abs(reference)
    assert solution.objective >= reference - 1e-6 * abs(reference)
    assert solution.gap <= 1e-8


def test_objective_agrees_with_a_dense_quadratic_program(
    rows: FloatArray, rng: np.random.Generator
) -> None:
    linear, penalty = 0.3 * rng.standard_normal(7), penalty_of(1e-2, 6, free=False)
    solution = minimise_double_hinge(engine_of(rows), linear, penalty)
    reference = solve_with_cvxopt(rows, linear, penalty)
    expected = double_hinge_objective(rows, linear, penalty, reference)
    assert solution.objective == pytest.approx(expected, rel=1e-6)


def test_the_gap_bounds_the_distance_to_the_minimum(
    rows: FloatArray, rng: np.random.Generator
) -> None:
    linear, penalty = 0.3 * rng.standard_normal(7), penalty_of(1e-3, 6, free=False)
    best = minimise_double_hinge(engine_of(rows), linear, penalty).objective
    for max_iter in (1, 3, 5):
        early = minimise_double_hinge(engine_of(rows), linear, penalty, max_iter=max_iter)
        assert early.n_iter == max_iter
        assert not early.converged
        assert best <= early.objective + 1e-12
        assert early.objective <= best + early.gap * max(1, abs(early.objective)) + 1e-12


def test_an_objective_that_is_flat_in_the_intercept_keeps_its_best_point() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((30, 2))
    penalty = penalty_of(1e-7, 2, free=True)
    for pull in (0.4, 0.1, 0.5 - 1 / 30):
        linear = np.array([0.3, 0.1, pull])
        solution = minimise_double_hinge(engine_of(rows), linear, penalty, tol=1e-15)
        assert solution.gap <= 1e-8
        assert solution.n_iter < 60


def test_constant_and_repeated_columns_are_no_trouble(rng: np.random.Generator) -> None:
    column = rng.standard_normal(80)
    rows = np.column_stack([column, column, np.ones(80), np.zeros(80)])
    linear, penalty = np.array([0.4, 0.4, 0.1, 0.0, 0.1]), penalty_of(1e-7, 4, free=False)
    solution = minimise_double_hinge(engine_of(rows), linear, penalty)
    assert solution.converged
    assert solution.weights[0] == pytest.approx(solution.weights[1], rel=1e-6)
    assert solution.weights[3] == pytest.approx(0, abs=1e-6)
