"""K-means with pairs that learns a metric."""

from collections.abc import Callable
from itertools import pairwise, product

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import likewise as lw
from likewise.baselines import MPCKMeans
from likewise.baselines.assignment import LinkedRows
from likewise.baselines.base import Sample
from likewise.baselines.mpckmeans import MetricProblem, best_metric, longest_difference
from likewise.baselines.pckmeans import PairClusters
from likewise.datasets import SUSample
from likewise.statements.named import name_statements
from tests.baselines.samples import fresh_sample

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
    rows, n_pairs = sample.rows, len(sample.left)
    residuals = rows - centers[in_second.astype(int)]
    total = (
        np.sum(residuals @ metric * residuals)
        - len(rows) * np.linalg.slogdet(metric)[1]
        + ridge * len(rows) * np.trace(metric)
    )
    if weight:
        apart = sample.differences[in_second[:n_pairs] != in_second[n_pairs : 2 * n_pairs]]
        total += weight * np.sum(apart @ metric * apart)
    return float(total)


def run_from(
    sample: Sample, start: np.ndarray, weight: float, ridge: float, max_iter: int = 300
) -> PairClusters | None:
    problem = MetricProblem(sample, LinkedRows.of(sample.statements), weight, ridge)
    return problem.cluster(start, np.eye(sample.rows.shape[1]), max_iter=max_iter)


@pytest.fixture
def sample(rng: np.random.Generator) -> Sample:
    """Two clusters apart in the first of three columns, pairs within them, two pairs across."""
    sides = np.where(rng.random(40) < 0.7, 2.0, -2.0)
    left, right = (rng.standard_normal((40, 3)) for _ in range(2))
    left[:, 0] += sides
    right[:, 0] += np.where(np.arange(40) < 2, -sides, sides)
    unlabeled = rng.standard_normal((30, 3))
    unlabeled[:, 0] += np.where(rng.random(30) < 0.7, 2.0, -2.0)
    return fresh_sample(left, right, unlabeled)


@pytest.mark.parametrize("weight", [0.0, 0.05, 1.0])
def test_the_metric_is_stationary_and_the_objective_is_what_it_says(
    sample: Sample, weight: float
) -> None:
    run = run_from(sample, sample.unlabeled[:2], weight, 1e-3)
    assert run is not None
    assert run.outcome.converged
    residuals = sample.rows - run.centers[run.in_second.astype(int)]
    apart = sample.differences[run.in_second[:40] != run.in_second[40:80]]
    total = residuals.T @ residuals + weight * apart.T @ apart + 1e-3 * 110 * np.eye(3)
    np.testing.assert_allclose(run.metric @ total, 110 * np.eye(3), atol=1e-9)
    written = objective(sample, run.in_second, run.centers, run.metric, weight, 1e-3)
    assert run.outcome.objective == pytest.approx(written, rel=1e-10)


def test_a_small_weight_separates_pairs_and_they_shape_the_metric(sample: Sample) -> None:
    loose, strict = (run_from(sample, sample.unlabeled[:2], weight, 1e-6) for weight in (0.05, 1.0))
    assert loose is not None
    assert strict is not None
    assert np.sum(loose.in_second[:40] != loose.in_second[40:80]) == 2
    assert np.sum(strict.in_second[:40] != strict.in_second[40:80]) == 0


@pytest.mark.parametrize("weight", [0.0, 0.1, 1.0])
def test_the_objective_never_rises(draw_waveform: Draw, weight: float) -> None:
    left, right = draw_waveform(100, 100).similar
    sample = fresh_sample(left, right, draw_waveform(100, 100).unlabeled)
    values = []
    for n_iter in range(1, 15):
        run = run_from(sample, sample.unlabeled[:2], weight, 1e-6, n_iter)
        assert run is not None
        values.append(run.outcome.objective)
    assert values[0] > values[-1]
    assert all(later <= earlier for earlier, later in pairwise(values))


@pytest.mark.parametrize("weight", [0.0, 0.2, 1.0])
def test_no_labeling_of_a_few_rows_is_better(rng: np.random.Generator, weight: float) -> None:
    left, right, unlabeled = (rng.standard_normal((3, 2)) for _ in range(3))
    clf = MPCKMeans(weight=weight, ridge=0.1, n_init=100, random_state=0)
    clf.fit(*lw.pack(unlabeled, similar=(left, right)))
    sample = fresh_sample(*((part - clf.mean_) / clf.scale_ for part in (left, right, unlabeled)))
    rows, best = sample.rows, np.inf
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


class TestDissimilarPairs:
    @pytest.fixture
    def problem(self, rng: np.random.Generator) -> MetricProblem:
        """Sixty rows of one table with links of both kinds, a fifth of them wrong."""
        rows = rng.standard_normal((60, 3))
        classes = rng.random(60) < 0.6
        rows[:, 0] += np.where(classes, 2.0, -2.0)
        pairs = np.array([rng.choice(60, 2, replace=False) for _ in range(90)])
        same = (classes[pairs[:, 0]] == classes[pairs[:, 1]]) != (rng.random(90) < 0.2)
        statements = name_statements(rows, pairs[same], pairs[~same])
        return MetricProblem(Sample(rows, statements), LinkedRows.of(statements), 0.1, 1e-3)

    def written(self, problem: MetricProblem, run: PairClusters) -> float:
        """The objective as its definition reads."""
        rows, links = problem.sample.rows, problem.sample.links
        far = longest_difference(problem.sample, run.metric)
        total = objective(problem.sample, run.in_second, run.centers, run.metric, 0.0, 1e-3)
        for left, right, is_similar in zip(*links[:3], strict=True):
            difference = rows[left] - rows[right]
            length = difference @ run.metric @ difference
            if (run.in_second[left] == run.in_second[right]) != is_similar:
                total += 0.1 * (length if is_similar else far @ run.metric @ far - length)
        return total

    def test_the_objective_is_what_it_says_and_never_rises(self, problem: MetricProblem) -> None:
        values = []
        for n_iter in range(1, 15):
            run = problem.cluster(problem.sample.rows[:2], np.eye(3), max_iter=n_iter)
            assert run is not None
            assert run.outcome.objective == pytest.approx(self.written(problem, run), rel=1e-9)
            values.append(run.outcome.objective)
        assert all(later <= earlier + 1e-9 for earlier, later in pairwise(values))
        assert run is not None
        assert problem.linked.broken(run.in_second).any()

    def test_no_distance_of_a_dissimilar_pair_is_longer(self, problem: MetricProblem) -> None:
        costs = problem.costs(np.eye(3), longest_difference(problem.sample, np.eye(3)))
        assert np.all(costs >= 0)

    def test_the_longest_difference_is_mostly_that_of_the_farthest_rows(
        self, rng: np.random.Generator
    ) -> None:
        n_found = 0
        for _ in range(20):
            rows = rng.standard_normal((40, 3))
            sample = Sample(rows, name_statements(rows, None, [(0, 1)]))
            root = rng.standard_normal((3, 3))
            found = longest_difference(sample, root @ root.T)
            lengths = [np.sum(((a - b) @ root) ** 2) for a in rows for b in rows]
            length = found @ root @ root.T @ found
            assert length <= max(lengths) * (1 + 1e-12)
            assert length >= 0.8 * max(lengths)
            n_found += length >= max(lengths) * (1 - 1e-12)
        assert n_found >= 14

    def test_many_near_rows_that_differ_leave_the_metric_positive(
        self, rng: np.random.Generator
    ) -> None:
        rows = rng.standard_normal((40, 2))
        pairs = np.array([rng.choice(40, 2, replace=False) for _ in range(300)])
        clf = MPCKMeans(weight=5.0, random_state=0)
        clf.fit(*lw.pack(rows, similar=[(0, 1)], dissimilar=pairs))
        assert np.all(np.linalg.eigvalsh(clf.metric_) > 0)
