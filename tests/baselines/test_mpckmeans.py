"""K-means with pairs that learns a metric."""

from collections.abc import Callable
from itertools import pairwise, product

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import likewise as lw
from likewise.baselines import MPCKMeans
from likewise.baselines.base import Sample
from likewise.baselines.mpckmeans import best_metric, cluster_pairs_with_metric
from likewise.datasets import SUSample

Draw = Callable[..., SUSample]


def objective(
    sample: Sample,
    in_second: np.ndarray,
    centers: np.ndarray,
    metric: np.ndarray,
    weight: float,
    ridge: float,
) -> float:
    """The objective as its definition reads."""
    rows, n_pairs = sample.everything, len(sample.left)
    residuals = rows - centers[in_second.astype(int)]
    apart = sample.differences[in_second[:n_pairs] != in_second[n_pairs : 2 * n_pairs]]
    return float(
        np.sum(residuals @ metric * residuals)
        - len(rows) * np.linalg.slogdet(metric)[1]
        + ridge * len(rows) * np.trace(metric)
        + weight * np.sum(apart @ metric * apart)
    )


@pytest.fixture
def sample(rng: np.random.Generator) -> Sample:
    """Two clusters apart in the first of three columns, pairs within them, two pairs across."""
    sides = np.where(rng.random(40) < 0.7, 2.0, -2.0)
    left, right = (rng.standard_normal((40, 3)) for _ in range(2))
    left[:, 0] += sides
    right[:, 0] += np.where(np.arange(40) < 2, -sides, sides)
    unlabeled = rng.standard_normal((30, 3))
    unlabeled[:, 0] += np.where(rng.random(30) < 0.7, 2.0, -2.0)
    return Sample(left, right, unlabeled)


@pytest.mark.parametrize("weight", [0.0, 0.05, 1.0])
def test_the_metric_is_stationary_and_the_objective_is_what_it_says(
    sample: Sample, weight: float
) -> None:
    run = cluster_pairs_with_metric(
        sample, sample.unlabeled[:2], np.eye(3), weight=weight, ridge=1e-3, max_iter=300
    )
    assert run is not None
    assert run.outcome.converged
    residuals = sample.everything - run.centers[run.in_second.astype(int)]
    apart = sample.differences[run.in_second[:40] != run.in_second[40:80]]
    total = residuals.T @ residuals + weight * apart.T @ apart + 1e-3 * 110 * np.eye(3)
    np.testing.assert_allclose(run.metric @ total, 110 * np.eye(3), atol=1e-9)
    written = objective(sample, run.in_second, run.centers, run.metric, weight, 1e-3)
    assert run.outcome.objective == pytest.approx(written, rel=1e-10)


def test_a_small_weight_separates_pairs_and_they_shape_the_metric(sample: Sample) -> None:
    loose, strict = (
        cluster_pairs_with_metric(
            sample, sample.unlabeled[:2], np.eye(3), weight=weight, ridge=1e-6, max_iter=300
        )
        for weight in (0.05, 1.0)
    )
    assert loose is not None
    assert strict is not None
    assert np.sum(loose.in_second[:40] != loose.in_second[40:80]) == 2
    assert np.sum(strict.in_second[:40] != strict.in_second[40:80]) == 0


@pytest.mark.parametrize("weight", [0.0, 0.1, 1.0])
def test_the_objective_never_rises(draw_waveform: Draw, weight: float) -> None:
    left, right = draw_waveform(100, 100).similar
    sample = Sample(left, right, draw_waveform(100, 100).unlabeled)
    values = []
    for n_iter in range(1, 15):
        run = cluster_pairs_with_metric(
            sample,
            sample.unlabeled[:2],
            np.eye(21),
            weight=weight,
            ridge=1e-6,
            max_iter=n_iter,
        )
        assert run is not None
        values.append(run.outcome.objective)
    assert values[0] > values[-1]
    assert all(later <= earlier for earlier, later in pairwise(values))


@pytest.mark.parametrize("weight", [0.0, 0.2, 1.0])
def test_no_labeling_of_a_few_rows_is_better(rng: np.random.Generator, weight: float) -> None:
    left, right, unlabeled = (rng.standard_normal((3, 2)) for _ in range(3))
    clf = MPCKMeans(weight=weight, ridge=0.1, n_init=100, random_state=0)
    clf.fit(*lw.pack(unlabeled, similar=(left, right)))
    sample = Sample(*((part - clf.mean_) / clf.scale_ for part in (left, right, unlabeled)))
    rows, best = sample.everything, np.inf
    for labels in product((False, True), repeat=9):
        in_second = np.array(labels)
        if not 0 < in_second.sum() < 9:
            continue
        centers = np.stack([rows[~in_second].mean(axis=0), rows[in_second].mean(axis=0)])
        residuals = rows - centers[in_second.astype(int)]
        apart = sample.differences[in_second[:3] != in_second[3:6]]
        scatter = residuals.T @ residuals + weight * apart.T @ apart
        metric = np.linalg.inv(scatter / 9 + 0.1 * np.eye(2))
        best = min(best, objective(sample, in_second, centers, metric, weight, 0.1))
    assert clf.objective_ == pytest.approx(best, rel=1e-10)


def test_linear_maps_of_the_columns_do_not_matter_without_a_ridge(
    draw_waveform: Draw, rng: np.random.Generator
) -> None:
    drawn = draw_waveform(150, 150)
    X, y = drawn.pack()
    mixing = rng.standard_normal((21, 21))
    clf, mixed = (
        MPCKMeans(ridge=0.0, random_state=0).fit(rows, y) for rows in (X, X @ mixing + 3.0)
    )
    np.testing.assert_array_equal(
        clf.predict(drawn.X_test), mixed.predict(drawn.X_test @ mixing + 3.0)
    )


def test_on_waveform_the_metric_helps_a_lot(draw_waveform: Draw) -> None:
    drawn = draw_waveform(300, 300)
    clf = MPCKMeans(random_state=0).fit(*drawn.pack())
    assert clf.score(drawn.X_test, drawn.y_test) > 0.85


def test_the_best_metric_is_the_inverse_of_the_scatter(rng: np.random.Generator) -> None:
    root = rng.standard_normal((4, 4))
    metric, log_det = best_metric(root @ root.T, 0.5)
    np.testing.assert_allclose(metric, np.linalg.inv(root @ root.T + 0.5 * np.eye(4)))
    assert log_det == pytest.approx(np.linalg.slogdet(metric)[1])


def test_columns_that_repeat_need_the_ridge(draw_waveform: Draw) -> None:
    drawn = draw_waveform(100, 100)
    X, y = drawn.pack()
    constant = np.column_stack([X, np.ones(len(X))])
    with pytest.raises(ValueError, match="raise ridge"):
        MPCKMeans(ridge=0.0, random_state=0).fit(constant, y)
    repeated = MPCKMeans(random_state=0).fit(np.hstack([X, X]), y)
    test_rows = np.hstack([drawn.X_test, drawn.X_test])
    assert repeated.score(test_rows, drawn.y_test) > 0.8


def test_fewer_pairs_than_columns_still_give_clusters(draw_waveform: Draw) -> None:
    clf = MPCKMeans(random_state=0).fit(*draw_waveform(1, 200).pack())
    assert clf.converged_
    assert clf.share_ < 1


def test_too_few_sweeps_are_warned_of(draw_waveform: Draw) -> None:
    with pytest.warns(ConvergenceWarning, match="MPCKMeans stopped after 1 iterations"):
        MPCKMeans(max_iter=1, random_state=0).fit(*draw_waveform(50, 50).pack())
