"""Semi-supervised clustering by squared-loss mutual information."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_circles
from sklearn.exceptions import ConvergenceWarning

import likewise as lw
from likewise.baselines.three_smic import (
    Clusters,
    Kernel,
    ThreeSMIC,
    excess_agreement,
    leading_eigenvectors,
    neighbor_kernels,
)
from likewise.datasets import SUSample

Draw = Callable[..., SUSample]


def kernel_by_definition(rows: np.ndarray, n_neighbors: int) -> np.ndarray:
    """The normalised kernel, row by row."""
    n = len(rows)
    distances = np.linalg.norm(rows[:, None] - rows, axis=2)
    order = np.argsort(distances, axis=1, kind="stable")
    radii = distances[np.arange(n), order[:, n_neighbors]]
    affinity = np.eye(n)
    for i in range(n):
        for j in order[i, 1 : n_neighbors + 1]:
            value = np.exp(-(distances[i, j] ** 2) / (2 * radii[i] * radii[j]))
            affinity[i, j] = affinity[j, i] = value
    degrees = affinity.sum(axis=1)
    return np.asarray(affinity / np.sqrt(np.outer(degrees, degrees)))


def plain_kernel(matrix: np.ndarray) -> Kernel:
    """A kernel given by its matrix, without anything for new rows."""
    n = len(matrix)
    return Kernel(np.zeros((n, 1)), 1, np.ones(n), 1.0, np.ones(n), sp.csr_array(matrix))


def circles(rng: np.random.Generator, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    X, classes = make_circles(n_rows, factor=0.4, noise=0.05, random_state=rng.integers(1000))
    return X, np.where(classes == 1, 1, -1)


def striped(rng: np.random.Generator, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes along the first column; the second column has a wider gap that means nothing."""
    classes, other = rng.choice([-1, 1], size=(2, n_rows))
    centres = np.column_stack([1.2 * classes, 6.0 * other])
    return centres + 0.4 * rng.standard_normal((n_rows, 2)), classes


@pytest.mark.parametrize("n_neighbors", [3, 6])
def test_the_kernel_follows_its_definition(rng: np.random.Generator, n_neighbors: int) -> None:
    rows = rng.standard_normal((50, 3))
    first, second = neighbor_kernels(rows, [n_neighbors, 9])
    expected = kernel_by_definition(rows, n_neighbors)
    np.testing.assert_allclose(first.matrix.toarray(), expected, atol=1e-12)
    np.testing.assert_allclose(second.matrix.toarray(), kernel_by_definition(rows, 9), atol=1e-12)


def test_a_new_row_sees_its_neighbours_and_those_it_is_a_neighbour_of() -> None:
    rows = np.array([[0.0], [1.0], [2.0], [10.0]])
    (kernel,) = neighbor_kernels(rows, [1])
    distances = np.abs(np.array([[4.0]]) - rows.T)
    # Its own neighbour is 2; it also lies within the reach of 10, whose neighbour is 2 as well.
    seen = kernel.extend(distances) * kernel.root_degrees
    expected = [[0.0, 0.0, np.exp(-4 / (2 * 2 * 1)), np.exp(-36 / (2 * 2 * 8))]]
    np.testing.assert_allclose(seen, expected, atol=1e-12)


@pytest.mark.parametrize("gamma", [0.0, 0.01, 1.0, 100.0])
def test_eigenvectors_agree_with_a_dense_decomposition(
    rng: np.random.Generator, gamma: float
) -> None:
    (kernel,) = neighbor_kernels(rng.standard_normal((60, 2)), [5])
    n_pairs = 20
    links = np.zeros((60, 60))
    links[np.arange(n_pairs), np.arange(n_pairs) + n_pairs] = 1.0
    K = kernel.matrix.toarray()
    values, vectors = np.linalg.eigh(K @ (np.eye(60) + 2 * gamma * (links + links.T)) @ K)
    spectrum = leading_eigenvectors(kernel.matrix, sp.csr_array(links + links.T), gamma, tol=1e-10)
    assert spectrum.converged
    np.testing.assert_allclose(spectrum.values, values[[-1, -2]], rtol=1e-9)
    overlap = np.abs(spectrum.vectors.T @ vectors[:, [-1, -2]])
    np.testing.assert_allclose(overlap, np.eye(2), atol=1e-6)


def test_without_pairs_it_is_the_spectrum_of_the_kernel(rng: np.random.Generator) -> None:
    (kernel,) = neighbor_kernels(rng.standard_normal((60, 2)), [5])
    values, vectors = np.linalg.eigh(kernel.matrix.toarray())
    spectrum = leading_eigenvectors(kernel.matrix, sp.csr_array((60, 60)), 0.0, tol=1e-10)
    leading = np.argsort(-np.abs(values))[:2]
    np.testing.assert_allclose(spectrum.values, values[leading] ** 2, rtol=1e-9)
    overlap = np.abs(spectrum.vectors.T @ vectors[:, leading])
    np.testing.assert_allclose(overlap, np.eye(2), atol=1e-6)


def test_large_negative_eigenvalues_are_not_leading() -> None:
    links = sp.csr_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(5, 5))
    spectrum = leading_eigenvectors(sp.eye_array(5, format="csr"), links, 2.0)
    # The pair's sum and difference have 1 + 2 gamma and 1 - 2 gamma, any other row has 1.
    np.testing.assert_allclose(spectrum.values, [5.0, 1.0], atol=1e-8)


def test_two_separate_blocks_are_the_two_clusters() -> None:
    matrix = np.zeros((5, 5))
    matrix[:3, :3] = matrix[3:, 3:] = 1.0
    spectrum = leading_eigenvectors(sp.csr_array(matrix), sp.csr_array((5, 5)), 0.0)
    np.testing.assert_allclose(spectrum.values, [9.0, 4.0], atol=1e-8)
    clusters = Clusters.of(plain_kernel(matrix), spectrum.vectors)
    assert clusters.in_second.tolist() == [False] * 3 + [True] * 2


def test_what_no_posterior_reaches_follows_its_nearest_row() -> None:
    clusters = Clusters(plain_kernel(np.eye(2)), np.eye(2), np.array([False, True]))
    split = clusters.split(np.array([[0.0, 0.0], [0.0, 0.0], [0.5, 0.4]]), np.array([1, 0, 1]))
    assert split.tolist() == [True, False, False]


def test_excess_agreement_is_twice_the_covariance_across_pairs(rng: np.random.Generator) -> None:
    left, right = rng.random((2, 400)) < 0.3
    both = np.array([[*left, *right], [*right, *left]], dtype=float)
    expected = 2 * np.cov(both, bias=True)[0, 1]
    assert excess_agreement(left, right) == pytest.approx(expected, abs=1e-12)
    assert excess_agreement(left, left) == pytest.approx(2 * np.var(left))


def test_clusters_need_not_be_divided_by_a_plane(rng: np.random.Generator) -> None:
    X, classes = circles(rng, 3000)
    sample = lw.datasets.sample_su(X, classes, 200, 300, n_test=300, random_state=0)
    clf = ThreeSMIC().fit(*sample.pack())
    assert clf.score(sample.X_test, sample.y_test) > 0.95
    assert not clf.collapsed_
    assert clf.converged_


def test_pairs_decide_between_two_structures(rng: np.random.Generator) -> None:
    X, classes = striped(rng, 3000)
    sample = lw.datasets.sample_su(X, classes, 300, 300, n_test=300, random_state=0)
    informed = ThreeSMIC().fit(*sample.pack())
    blind = ThreeSMIC(gammas=[0.0], n_neighbors=[7]).fit(*sample.pack())
    assert informed.score(sample.X_test, sample.y_test) > 0.95
    assert blind.score(sample.X_test, sample.y_test) < 0.75
    assert informed.gamma_ > 0.01


def test_the_chosen_candidate_has_the_best_score_over_folds(draw_waveform: Draw) -> None:
    sample = draw_waveform(100, 100)
    X, y = sample.pack()
    clf = ThreeSMIC(n_folds=2).fit(X, y)
    results = clf.cv_results_
    best = int(np.argmax(results["mean_test_score"]))
    assert results["param_gamma"].shape == (9,)
    assert (clf.gamma_, clf.n_neighbors_) == (
        results["param_gamma"][best],
        results["param_n_neighbors"][best],
    )
    folds = [results[f"split{fold}_test_score"] for fold in range(2)]
    np.testing.assert_allclose(np.mean(folds, axis=0), results["mean_test_score"])
    # The first fold by hand: even pairs and rows are held out.
    X = (X - clf.mean_) / clf.scale_
    even = np.concatenate([np.arange(n) % 2 == 0 for n in (100, 100, 100)])
    by_hand = ThreeSMIC(gammas=[clf.gamma_], n_neighbors=[clf.n_neighbors_])
    by_hand.fit(X[~even], y[~even])
    predicted = by_hand.predict(X[even & (y > 0)]) == 1
    score = excess_agreement(*np.split(predicted, 2))
    # Scales are those of other rows, so that a few answers may differ.
    assert folds[0][best] == pytest.approx(score, abs=0.05)


def test_the_order_of_rows_does_not_matter(draw_waveform: Draw, rng: np.random.Generator) -> None:
    sample = draw_waveform(80, 80)
    X, y = sample.pack()
    order = rng.permutation(len(X))
    clf, permuted = (
        ThreeSMIC(gammas=[1.0], n_neighbors=[7], tol=1e-12).fit(X[rows], y[rows])
        for rows in (np.arange(len(X)), order)
    )
    np.testing.assert_array_equal(clf.predict(sample.X_test), permuted.predict(sample.X_test))
    assert clf.objective_ == pytest.approx(permuted.objective_)


def test_the_objective_is_the_information_of_the_eigenvectors(draw_waveform: Draw) -> None:
    X, y = draw_waveform(80, 80).pack()
    clf = ThreeSMIC(gammas=[1.0], n_neighbors=[7]).fit(X, y)
    assert clf.cv_results_ == {}
    assert clf.objective_ == pytest.approx(clf.eigenvalues_.sum() / len(X) - 0.5)


def test_an_eigensolver_that_stops_early_is_reported(rng: np.random.Generator) -> None:
    X, y = lw.pack(rng.random((2000, 1)), similar=rng.random((5, 2, 1)))
    with pytest.warns(ConvergenceWarning, match="ThreeSMIC stopped after"):
        clf = ThreeSMIC(gammas=[0.0], n_neighbors=[4], max_iter=1, tol=1e-14).fit(X, y)
    assert not clf.converged_


def test_too_few_pairs_to_cross_validate_are_an_error_and_one_candidate_is_a_way_out(
    rng: np.random.Generator,
) -> None:
    X, y = lw.pack(rng.standard_normal((30, 2)), similar=rng.standard_normal((1, 2, 2)))
    with pytest.raises(ValueError, match="only 1 similar pairs: pass a smaller n_folds, or one"):
        ThreeSMIC().fit(X, y)
    clf = ThreeSMIC(gammas=[1.0], n_neighbors=[7]).fit(X, y)
    assert set(clf.predict(X)) <= {-1, 1}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gammas": [-1.0]}, "gammas must be finite numbers"),
        ({"gammas": []}, "gammas must be finite numbers"),
        ({"n_neighbors": [0]}, "n_neighbors must be whole numbers"),
        ({"n_neighbors": [2.5]}, "n_neighbors must be whole numbers"),
        ({"n_neighbors": [10], "gammas": [1.0]}, "n_neighbors=10 needs more than 10 rows"),
    ],
)
def test_impossible_candidates_are_refused(
    rng: np.random.Generator, parameters: dict[str, Any], message: str
) -> None:
    X, y = lw.pack(rng.standard_normal((4, 2)), similar=rng.standard_normal((3, 2, 2)))
    with pytest.raises(ValueError, match=message):
        ThreeSMIC(**parameters).fit(X, y)


def test_duplicates_and_constant_columns_are_no_obstacle(rng: np.random.Generator) -> None:
    levels = rng.integers(0, 4, size=300)
    rows = np.column_stack([np.eye(4)[levels], np.full(300, 5.0)])
    pairs = rows[np.argsort(levels, kind="stable")[:200]].reshape(100, 2, 5)
    clf = ThreeSMIC().fit(*lw.pack(rows, similar=pairs))
    assert clf.converged_
    assert np.isfinite(clf.objective_)
    for level in range(4):
        assert len(set(clf.predict(rows[levels == level]))) == 1


def test_duplicates_are_at_no_distance(rng: np.random.Generator) -> None:
    (kernel,) = neighbor_kernels(np.repeat(10 + rng.standard_normal((20, 30)), 3, axis=0), [2])
    assert not kernel.radii.any()
    np.testing.assert_allclose(kernel.matrix.data, 1 / 3)


def test_redundant_columns_change_nothing(draw_waveform: Draw) -> None:
    sample = draw_waveform(80, 80)
    X, y = sample.pack()
    clf = ThreeSMIC().fit(X, y)
    doubled = ThreeSMIC().fit(np.column_stack([X, X]), y)
    X_test = sample.X_test
    np.testing.assert_array_equal(
        clf.predict(X_test), doubled.predict(np.column_stack([X_test, X_test]))
    )


@pytest.mark.parametrize("name", ["phishing", "banana"])
def test_real_data_are_split_along_their_classes(real_data: object, name: str) -> None:
    data = lw.datasets.load(name)
    sample = lw.datasets.sample_su(data.data, data.target, 400, 400, n_test=300, random_state=0)
    clf = ThreeSMIC().fit(*sample.pack())
    assert clf.converged_
    assert clf.score(sample.X_test, sample.y_test) > 0.8
