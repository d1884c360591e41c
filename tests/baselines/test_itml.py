"""Information-theoretic metric learning."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

import likewise as lw
from likewise.baselines import ITML, KMeansBaseline
from likewise.baselines.itml import (
    Bounds,
    LearnedMetric,
    descend,
    metric_objective,
    project_cyclically,
    random_distances,
)
from likewise.datasets import SUSample

Draw = Callable[..., SUSample]


def upper(bound: float, gamma: float, n_pairs: int) -> Bounds:
    return Bounds(np.full(n_pairs, bound), np.ones(n_pairs, dtype=bool), gamma)


def solve(differences: np.ndarray, bound: float, gamma: float = 1.0) -> LearnedMetric:
    bounds = upper(bound, gamma, len(differences))
    return project_cyclically(differences, bounds, tol=1e-10, max_iter=10_000)


@pytest.fixture
def differences(rng: np.random.Generator) -> np.ndarray:
    """Differences of forty pairs in four correlated dimensions, short and long ones."""
    return rng.standard_normal((40, 4)) @ rng.standard_normal((4, 4))


@pytest.mark.parametrize("gamma", [0.3, 1.0, 20.0])
def test_one_pair_in_one_dimension_has_a_solution_on_paper(gamma: float) -> None:
    learned = solve(np.array([[2.0]]), 1.0, gamma)
    assert learned.matrix[0, 0] == pytest.approx((1 + gamma) / (1 + 4 * gamma), abs=1e-12)
    if gamma == 1.0:
        assert learned.multipliers[0] == pytest.approx(0.375, abs=1e-12)


def test_a_pair_within_the_bound_changes_nothing() -> None:
    learned = solve(np.array([[2.0, 0.0], [0.0, 0.5]]), 1.0)
    np.testing.assert_allclose(learned.matrix, np.diag([0.4, 1.0]), atol=1e-12)
    assert learned.multipliers[1] == 0.0


@pytest.mark.parametrize("gamma", [0.1, 1.0, 10.0])
def test_the_metric_meets_the_conditions_of_the_optimum(
    differences: np.ndarray, gamma: float
) -> None:
    bound = 2.0
    learned = solve(differences, bound, gamma)
    assert learned.converged
    distances = np.einsum("ij,jk,ik->i", differences, learned.matrix, differences)
    multipliers = gamma * np.maximum(1 / bound - 1 / distances, 0)
    inverse = np.eye(4) + (differences * learned.multipliers[:, None]).T @ differences
    assert 0 < np.count_nonzero(multipliers) < len(differences)
    np.testing.assert_allclose(learned.multipliers, multipliers, atol=1e-8)
    np.testing.assert_allclose(np.linalg.inv(learned.matrix), inverse, rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(learned.matrix, learned.matrix.T)


@pytest.mark.parametrize("gamma", [0.1, 1.0, 10.0])
def test_a_general_minimiser_finds_nothing_lower(differences: np.ndarray, gamma: float) -> None:
    bound, lower = 2.0, np.tril_indices(4)
    bounds = upper(bound, gamma, len(differences))

    def objective(entries: np.ndarray) -> tuple[float, np.ndarray]:
        factor = np.zeros((4, 4))
        factor[lower] = entries
        matrix = factor @ factor.T
        distances = np.einsum("ij,jk,ik->i", differences, matrix, differences)
        weights = gamma * np.maximum(1 / bound - 1 / distances, 0)
        slope = np.eye(4) - np.linalg.inv(matrix) + (differences.T * weights) @ differences
        value = metric_objective(matrix, differences, bounds)
        return value, (2 * slope @ factor)[lower]

    found = minimize(
        objective,
        np.eye(4)[lower],
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 5000, "ftol": 1e-16, "gtol": 1e-12},
    )
    learned = solve(differences, bound, gamma)
    reached = metric_objective(learned.matrix, differences, bounds)
    assert reached == pytest.approx(found.fun, abs=1e-8)
    factor = np.zeros((4, 4))
    factor[lower] = found.x
    np.testing.assert_allclose(learned.matrix, factor @ factor.T, atol=1e-6)


def test_an_infinite_weight_makes_the_bounds_hard(differences: np.ndarray) -> None:
    learned = solve(differences, 2.0, np.inf)
    distances = np.einsum("ij,jk,ik->i", differences, learned.matrix, differences)
    assert distances.max() == pytest.approx(2.0, abs=1e-8)
    nearly = solve(differences, 2.0, 1e7)
    np.testing.assert_allclose(learned.matrix, nearly.matrix, atol=1e-5)


def test_pairs_of_equal_rows_are_passed_over(differences: np.ndarray) -> None:
    with_equal = np.vstack([np.zeros((3, 4)), differences])
    np.testing.assert_allclose(
        solve(with_equal, 2.0).matrix, solve(differences, 2.0).matrix, atol=1e-12
    )


def test_distances_are_those_of_distinct_rows(rng: np.random.Generator) -> None:
    corners = np.eye(5)
    distances = random_distances(corners, np.random.RandomState(0))
    np.testing.assert_array_equal(distances, np.full(20_000, 2.0))
    rows = rng.standard_normal((300, 2))
    drawn = random_distances(rows, np.random.RandomState(0))
    assert drawn.mean() == pytest.approx(2 * 300 / 299 * rows.var(axis=0).sum(), rel=0.03)


def test_a_loose_bound_leaves_plain_k_means(draw_waveform: Draw) -> None:
    drawn = draw_waveform(100, 200)
    loose = ITML(percentile=100.0, random_state=0).fit(*drawn.pack())
    plain = KMeansBaseline(random_state=0).fit(*drawn.pack())
    np.testing.assert_allclose(loose.metric_, np.eye(21), atol=1e-12)
    assert loose.objective_ == pytest.approx(0, abs=1e-12)
    np.testing.assert_array_equal(loose.predict(drawn.X_test), plain.predict(drawn.X_test))


def test_on_waveform_the_pairs_help_a_lot(draw_waveform: Draw) -> None:
    drawn = draw_waveform(500, 500)
    clf = ITML(random_state=0).fit(*drawn.pack())
    assert clf.score(drawn.X_test, drawn.y_test) > 0.85
    np.testing.assert_allclose(clf.components_ @ clf.components_.T, clf.metric_, atol=1e-12)


@pytest.mark.parametrize("n_pairs", [1, 5])
def test_fewer_pairs_than_columns_still_give_a_metric(draw_waveform: Draw, n_pairs: int) -> None:
    drawn = draw_waveform(n_pairs, 100)
    clf = ITML(random_state=0).fit(*drawn.pack())
    changed = np.linalg.eigvalsh(clf.metric_) < 1 - 1e-9
    assert 1 <= changed.sum() <= n_pairs


def test_repeated_columns_are_no_obstacle(draw_waveform: Draw) -> None:
    drawn = draw_waveform(100, 100)
    X, y = drawn.pack()
    clf = ITML(random_state=0).fit(np.hstack([X, X]), y)
    assert clf.score(np.hstack([drawn.X_test, drawn.X_test]), drawn.y_test) > 0.8


def test_a_direction_that_rounding_takes_below_zero_is_removed(
    draw_waveform: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    def solve(differences: Any, *_: Any, **__: Any) -> LearnedMetric:
        matrix = np.eye(differences.shape[1])
        matrix[0, 0] = -5e-26  # as `make fuzz` found it
        return LearnedMetric(matrix, np.ones(len(differences)), 1, converged=True)

    monkeypatch.setattr("likewise.baselines.itml.project_cyclically", solve)
    clf = ITML(random_state=0).fit(*draw_waveform(5, 100).pack())
    assert np.isfinite(clf.components_).all()
    np.testing.assert_allclose(clf.components_ @ clf.components_.T, clf.metric_, atol=1e-12)


def test_too_few_sweeps_are_warned_of(draw_waveform: Draw) -> None:
    with pytest.warns(ConvergenceWarning, match="ITML stopped after 1 iterations"):
        clf = ITML(max_iter=1, random_state=0).fit(*draw_waveform(50, 50).pack())
    assert not clf.converged_


def test_a_bound_of_zero_is_raised_to_something_positive(rng: np.random.Generator) -> None:
    rows = np.repeat(rng.standard_normal((2, 3)), [95, 5], axis=0)
    clf = ITML(random_state=0).fit(*lw.pack(rows, similar=[(0, 1), (98, 99)]))
    assert clf.bound_ == 1e-9
    np.testing.assert_array_equal(clf.predict(rows), np.repeat([1, -1], [95, 5]))


class TestDissimilarPairs:
    @pytest.fixture
    def bounds(self) -> Bounds:
        return Bounds(np.repeat([2.0, 9.0], 20), np.arange(40) < 20, 1.0)

    def test_one_pair_in_one_dimension_has_a_solution_on_paper(self) -> None:
        bounds = Bounds(np.array([4.0]), np.array([False]), 1.0)
        learned = descend(np.array([[1.0]]), bounds, tol=1e-8, max_iter=1000)
        # 1 - 1/a + 1/4 - 1/a vanishes at a = 8/5.
        assert learned.matrix[0, 0] == pytest.approx(1.6, abs=1e-6)
        assert learned.multipliers[0] == pytest.approx(1 / 4 - 1 / 1.6, abs=1e-6)

    def test_the_metric_meets_the_conditions_of_the_optimum(
        self, differences: np.ndarray, bounds: Bounds
    ) -> None:
        learned = descend(differences, bounds, tol=1e-9, max_iter=10_000)
        inverse = np.eye(4) + (differences * learned.multipliers[:, None]).T @ differences
        np.testing.assert_allclose(np.linalg.inv(learned.matrix), inverse, rtol=1e-4, atol=1e-4)
        assert np.all(learned.multipliers[:20] >= 0)
        assert np.all(learned.multipliers[20:] <= 0)
        assert np.any(learned.multipliers[20:] < 0)

    def test_no_metric_nearby_is_better(
        self, differences: np.ndarray, bounds: Bounds, rng: np.random.Generator
    ) -> None:
        learned = descend(differences, bounds, tol=1e-9, max_iter=10_000)
        least = metric_objective(learned.matrix, differences, bounds)
        root = np.linalg.cholesky(learned.matrix)
        for size in (1e-3, 0.1, 1.0):
            for _ in range(20):
                other = root + size * rng.standard_normal((4, 4))
                assert metric_objective(other @ other.T, differences, bounds) >= least

    def test_both_solvers_agree_on_similar_pairs(self, differences: np.ndarray) -> None:
        bounds = upper(2.0, 1.0, 40)
        descended = descend(differences, bounds, tol=1e-9, max_iter=10_000)
        np.testing.assert_allclose(
            descended.matrix, solve(differences, 2.0).matrix, rtol=1e-4, atol=1e-5
        )

    def test_bounds_of_both_kinds_cannot_be_hard(self) -> None:
        X, y = lw.pack(np.eye(6), similar=[(0, 1)], dissimilar=[(2, 3)])
        with pytest.raises(ValueError, match="pass a finite gamma"):
            ITML(gamma=np.inf).fit(X, y)

    def test_equal_rows_that_are_said_to_differ_are_left_out(self, draw_waveform: Draw) -> None:
        rows = draw_waveform(40, 200).unlabeled
        rows[7] = rows[3]
        clf, without = (
            ITML(random_state=0).fit(*lw.pack(rows, similar=[(0, 1)], dissimilar=apart))
            for apart in ([(2, 5), (3, 7)], [(2, 5)])
        )
        np.testing.assert_array_equal(clf.metric_, without.metric_)


def test_equal_rows_that_are_said_to_differ_are_no_obstacle(rng: np.random.Generator) -> None:
    rows = rng.standard_normal((30, 2))
    rows[1] = rows[0]
    X, y = lw.pack(rows, similar=[(2, 3), (4, 5)], dissimilar=[(0, 1), (6, 7)])
    clf = ITML(random_state=0).fit(X, y)
    assert np.isfinite(clf.metric_).all()
