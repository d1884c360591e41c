"""Inductive matrix completion with noise."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

import likewise as lw
from likewise.baselines.dimc import (
    DIMC,
    Completion,
    complete,
    completion_objective,
    leading_directions,
)


def solve(
    left: np.ndarray, right: np.ndarray, lambda_m: float, lambda_n: float, tol: float = 1e-8
) -> Completion:
    return complete(left, right, lambda_m=lambda_m, lambda_n=lambda_n, tol=tol, max_iter=200)


def soft_threshold(matrix: np.ndarray, threshold: float) -> np.ndarray:
    """The proximal operator of the nuclear norm, for a symmetric matrix."""
    values, vectors = np.linalg.eigh(matrix)
    kept = np.sign(values) * np.maximum(np.abs(values) - threshold, 0)
    return np.asarray((vectors * kept) @ vectors.T)


def solve_jointly(
    left: np.ndarray, right: np.ndarray, lambda_m: float, lambda_n: float, n_steps: int
) -> tuple[np.ndarray, float]:
    """Minimise the definition over M and a full N, by accelerated proximal gradient steps."""
    rows = np.vstack([left, right])
    n = len(left)
    known = np.zeros((2 * n, 2 * n))
    known[np.arange(n), np.arange(n) + n] = known[np.arange(n) + n, np.arange(n)] = 1.0
    products = np.einsum("ij,ik->ijk", left, right).reshape(n, -1)
    step = 1 / (2 * float(np.linalg.norm(products, ord=2)) ** 2 + 1)
    m, noise = np.zeros((rows.shape[1],) * 2), np.zeros((2 * n, 2 * n))
    ahead_m, ahead_noise, momentum = m, noise, 1.0
    for _ in range(n_steps):
        error = known * (rows @ ahead_m @ rows.T + ahead_noise - 1)
        next_m = soft_threshold(ahead_m - step * rows.T @ error @ rows, step * lambda_m)
        next_noise = soft_threshold(ahead_noise - step * error, step * lambda_n)
        if (
            np.vdot(ahead_m - next_m, next_m - m)
            + np.vdot(ahead_noise - next_noise, next_noise - noise)
            > 0
        ):
            momentum = 1.0
        next_momentum = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        push = (momentum - 1) / next_momentum
        ahead_m, ahead_noise = (
            next_m + push * (next_m - m),
            next_noise + push * (next_noise - noise),
        )
        m, noise, momentum = next_m, next_noise, next_momentum
    error = known * (rows @ m @ rows.T + noise - 1)
    objective = 0.5 * (error**2).sum() + lambda_m * np.abs(np.linalg.eigvalsh(m)).sum()
    return m, float(objective + lambda_n * np.abs(np.linalg.eigvalsh(noise)).sum())


def correlated_classes(
    rng: np.random.Generator, n_pairs: int, n_unlabeled: int, positive_pairs: float = 0.8
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs and unlabeled rows of two classes, one axis of six telling them apart, all mixed up."""
    mixing = rng.standard_normal((6, 6))

    def draw(classes: np.ndarray) -> np.ndarray:
        rows = rng.standard_normal((len(classes), 6))
        rows[:, 0] += 3 * classes
        return np.asarray(rows @ mixing)

    pairs = np.where(rng.random(n_pairs) < positive_pairs, 1, -1)
    classes = np.where(rng.random(n_unlabeled) < 0.65, 1, -1)
    X, y = lw.pack(draw(classes), similar=(draw(pairs), draw(pairs)))
    return X, y, classes


def test_one_pair_in_one_dimension_has_a_solution_on_paper() -> None:
    completion = solve(np.ones((1, 1)), np.ones((1, 1)), 0.5, 10.0)
    assert completion.matrix[0, 0] == pytest.approx(0.75, abs=1e-6)
    assert completion.objective == pytest.approx(0.25**2 + 0.5 * 0.75, abs=1e-8)


def test_where_noise_is_cheaper_than_features_m_is_exactly_zero() -> None:
    completion = solve(np.ones((1, 1)), np.ones((1, 1)), 0.5, 0.2)
    assert completion.matrix[0, 0] == 0.0
    # Then N = 0.8 on both orders of the pair, at a cost of 0.2^2 + 0.2 * 1.6.
    assert completion.objective == pytest.approx(0.36, abs=1e-12)


@pytest.mark.parametrize(("lambda_m", "lambda_n"), [(0.3, 0.2), (2.0, 0.3), (0.1, 0.5)])
def test_it_minimises_the_definition_with_n_left_in(
    rng: np.random.Generator, lambda_m: float, lambda_n: float
) -> None:
    left = rng.standard_normal((12, 3))
    right = left + 0.7 * rng.standard_normal((12, 3))
    completion = solve(left, right, lambda_m, lambda_n, tol=1e-9)
    matrix, objective = solve_jointly(left, right, lambda_m, lambda_n, 3000)
    assert completion.converged
    assert completion.objective == pytest.approx(objective, rel=1e-7)
    np.testing.assert_allclose(completion.matrix, matrix, atol=1e-4)


def test_no_nearby_matrix_is_better(rng: np.random.Generator) -> None:
    left, right = rng.standard_normal((2, 60, 5))
    right += left
    completion = solve(left, right, 0.01, 0.01)
    for change in rng.standard_normal((30, 5, 5)):
        nearby = completion.matrix + 1e-3 * (change + change.T)
        assert completion_objective(nearby, left, right, 0.01, 0.01) > completion.objective


def test_rank_two_is_embedded_without_loss(rng: np.random.Generator) -> None:
    rows = rng.standard_normal((20, 4))
    directions = rng.standard_normal((4, 2))
    embedded = leading_directions(rows, directions @ np.diag([2.0, -1.0]) @ directions.T)
    completed = rows @ directions @ np.diag([2.0, -1.0]) @ directions.T @ rows.T
    assert embedded.shape == (20, 2)
    signs = np.sign(np.diag(embedded.T @ completed @ embedded))
    np.testing.assert_allclose((embedded * signs) @ embedded.T, completed, atol=1e-10)


def test_a_direction_that_varies_little_is_found(rng: np.random.Generator) -> None:
    X, y, classes = correlated_classes(rng, 400, 400)
    clf = DIMC(random_state=0).fit(X, y)
    accuracy = clf.score(X[y == 0], classes)
    assert max(accuracy, 1 - accuracy) > 0.9
    assert clf.converged_
    assert clf.gap_ <= 1e-6
    assert not clf.collapsed_


def test_the_clusters_are_those_of_the_unlabeled_rows(rng: np.random.Generator) -> None:
    X, y, _ = correlated_classes(rng, 100, 150, positive_pairs=1.0)
    clf = DIMC(random_state=0).fit(X, y)
    rows = (X - clf.mean_) / clf.scale_
    embedded = leading_directions(np.vstack([rows[y > 0], rows[y == 0]]), clf.matrix_)[-150:]
    expected = KMeans(2, n_init=10, random_state=0).fit_predict(embedded)
    assert len(set(zip(expected, clf.predict(X[y == 0]), strict=True))) == 2


def test_rows_are_recognised_in_any_order_type_and_zero_sign(rng: np.random.Generator) -> None:
    X, y, _ = correlated_classes(rng, 30, 30)
    X = X.astype(np.float32)
    X[:, 0] = np.resize([-1, 0, 0, 1], len(X))[: len(X)]
    X[len(X) // 4 * 4 :, 0] = 0
    assert X[:, 0].mean() == 0
    clf = DIMC(random_state=0).fit(X, y)
    order = rng.permutation(len(X))
    again = np.asfortranarray(X[order].astype(np.float64))
    again[again == 0] = -0.0
    np.testing.assert_array_equal(clf.predict(again), clf.predict(X)[order])


def test_other_rows_are_refused_with_what_to_do(rng: np.random.Generator) -> None:
    X, y, _ = correlated_classes(rng, 30, 30)
    clf = DIMC(random_state=0).fit(X, y)
    rows = X[:3].copy()
    rows[1, 0] = np.nextafter(rows[1, 0] + 1e-3, np.inf)
    with pytest.raises(ValueError, match=r"1 of these 3 rows .* row 1: .* packed among the unl"):
        clf.predict(rows)


def test_pairs_that_features_do_not_explain_are_an_error(rng: np.random.Generator) -> None:
    X, y, _ = correlated_classes(rng, 20, 20)
    with pytest.raises(ValueError, match="lower lambda_m"):
        DIMC(lambda_m=1e6).fit(X, y)


def test_stopping_early_is_reported(rng: np.random.Generator) -> None:
    X, y, _ = correlated_classes(rng, 30, 30)
    with pytest.warns(ConvergenceWarning, match="DIMC stopped after 2 iterations"):
        clf = DIMC(max_iter=2, random_state=0).fit(X, y)
    assert not clf.converged_
    assert clf.gap_ > 1e-6


def test_a_gap_beyond_rounding_is_not_claimed(rng: np.random.Generator) -> None:
    X, y, _ = correlated_classes(rng, 30, 30)
    with pytest.warns(ConvergenceWarning, match="DIMC stopped after 100 iterations"):
        clf = DIMC(tol=1e-16, random_state=0).fit(X, y)
    assert 1e-16 < clf.gap_ < 1e-6


def test_redundant_columns_change_nothing(rng: np.random.Generator) -> None:
    X, y, _ = correlated_classes(rng, 60, 60)
    clf = DIMC(random_state=0).fit(X, y)
    constant = np.column_stack([X, np.full(len(X), 7.0)])
    np.testing.assert_array_equal(
        clf.predict(X), DIMC(random_state=0).fit(constant, y).predict(constant)
    )
    doubled = DIMC(random_state=0).fit(np.column_stack([X, X]), y)
    assert doubled.converged_


@pytest.mark.parametrize("n_pairs", [1, 40])
def test_repeated_one_hot_rows_converge(rng: np.random.Generator, n_pairs: int) -> None:
    levels = rng.integers(0, 3, size=(2 * n_pairs + 30, 2))
    rows = np.column_stack([np.eye(3)[levels[:, 0]], np.eye(3)[levels[:, 1]]])
    pairs = np.repeat(rows[:2].reshape(1, 2, -1), n_pairs, axis=0)
    clf = DIMC(random_state=0).fit(*lw.pack(rows, similar=pairs))
    assert clf.converged_


@pytest.mark.parametrize("name", ["phishing", "adult"])
def test_real_one_hot_data_converge(real_data: object, name: str) -> None:
    data = lw.datasets.load(name)
    sample = lw.datasets.sample_su(data.data, data.target, 300, 300, random_state=0)
    clf = DIMC(random_state=0).fit(*sample.pack())
    assert clf.converged_
    accuracy = clf.score(sample.unlabeled, sample.y_unlabeled)
    assert max(accuracy, 1 - accuracy) > 0.6
