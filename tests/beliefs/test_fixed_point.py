"""The search for fixed points."""

import numpy as np
import pytest

from likewise._types import FloatArray
from likewise.beliefs.fixed_point import settle

MATRIX = np.array([[0.5, -2.0, 0.0], [1.0, -1.5, 0.3], [0.0, 0.4, -3.0]])
SHIFT = np.array([1.0, -0.5, 2.0])


def linear(x: FloatArray) -> FloatArray:
    return np.asarray(MATRIX @ x + SHIFT)


def counted(start: FloatArray, trace: tuple[FloatArray, FloatArray] | None = None) -> int:
    """Return how many evaluations a search for a fixed point of the cosine takes."""
    calls = []

    def step(x: FloatArray) -> FloatArray:
        calls.append(x)
        return np.asarray(np.cos(x))

    settle(step, start, trace)
    return len(calls)


def test_a_linear_step_settles_though_plain_iteration_would_run_away() -> None:
    assert np.abs(np.linalg.eigvals(MATRIX)).max() > 1
    found, _ = settle(linear, np.zeros(3))
    np.testing.assert_allclose(found, np.linalg.solve(np.eye(3) - MATRIX, SHIFT), atol=1e-7)


@pytest.mark.parametrize("start", [-2.0, 0.0, 5.0])
def test_a_step_that_is_not_linear_settles(start: float) -> None:
    found, _ = settle(np.cos, np.array([start]))
    assert found[0] == pytest.approx(0.7390851332, abs=1e-7)


def test_at_a_fixed_point_nothing_moves() -> None:
    found, trace = settle(lambda x: x, np.array([3.0, 4.0]))
    np.testing.assert_array_equal(found, [3.0, 4.0])
    assert trace is None


def test_a_trace_of_a_search_nearby_saves_evaluations() -> None:
    trace = settle(np.cos, np.zeros(1))[1]
    assert counted(np.array([0.7]), trace) <= counted(np.array([0.7]))


def test_where_there_is_no_fixed_point_the_smallest_gap_is_returned() -> None:
    def step(x: FloatArray) -> FloatArray:
        return np.asarray(x + 0.5 + (x - 1.0) ** 2)

    found, _ = settle(step, np.array([3.0]))
    assert np.isfinite(found).all()
    assert step(found)[0] - found[0] <= step(np.array([3.0]))[0] - 3.0


def test_a_step_of_few_digits_is_not_repeated_in_vain() -> None:
    calls = []

    def step(x: FloatArray) -> FloatArray:
        calls.append(x)
        return np.round(0.5 * x + 1.0, 6) + 1e-6 * (len(calls) % 2)

    found = settle(step, np.zeros(2))[0]
    np.testing.assert_allclose(found, 2.0, atol=1e-4)
    assert len(calls) < 30
