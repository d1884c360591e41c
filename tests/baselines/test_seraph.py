"""Entropy-regularised metric learning with the scale of the metric fixed."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import likewise as lw
from likewise.baselines import SERAPH
from likewise.baselines.seraph import PairPosterior, maximise, project, whitening
from likewise.datasets import SUSample
from likewise.statements.statements import Links

Draw = Callable[..., SUSample]


def pairs(n_pairs: int) -> Links:
    """Rows i and n_pairs + i are alike, for every i below n_pairs."""
    numbers = np.arange(n_pairs)
    return Links(numbers, n_pairs + numbers, np.ones(n_pairs, dtype=bool), numbers)


@pytest.fixture
def posterior(rng: np.random.Generator) -> PairPosterior:
    """Forty pairs and sixty other rows, in more than one block; pairs differ less in column 0."""
    middles = rng.standard_normal((40, 5))
    offsets = rng.standard_normal((40, 5)) * [0.1, 1, 1, 1, 1]
    rows = np.vstack([middles, middles + offsets, rng.standard_normal((60, 5))])
    return PairPosterior.of(rows, pairs(40))


def random_metric(rng: np.random.Generator, trace: float = 1.0) -> np.ndarray:
    root = rng.standard_normal((5, 5))
    return np.asarray(root * np.sqrt(trace / np.sum(root**2)))


def test_the_objective_is_the_sum_over_pairs_as_written(
    posterior: PairPosterior, rng: np.random.Generator
) -> None:
    root = random_metric(rng, 2.0)
    expected = 0.0
    for i, j in combinations(range(len(posterior.rows)), 2):
        distance = np.sum(((posterior.rows[i] - posterior.rows[j]) @ root) ** 2)
        p = 1 / (1 + np.exp(distance - 1))
        similar = j == i + 40 and i < 40
        entropy = -p * np.log(p) - (1 - p) * np.log(1 - p)
        expected += np.log(p) if similar else -posterior.mu * entropy
    assert posterior.value_and_gradient(root)[0] == pytest.approx(expected, rel=1e-12)


def test_the_gradient_agrees_with_central_differences(
    posterior: PairPosterior, rng: np.random.Generator
) -> None:
    root = random_metric(rng, 2.0)
    matrix = root @ root.T
    gradient = posterior.value_and_gradient(root)[1]
    np.testing.assert_allclose(gradient, gradient.T, atol=1e-12)
    for _ in range(5):
        direction = rng.standard_normal((5, 5))
        direction = direction + direction.T
        step = 1e-5
        ends = [
            posterior.value_and_gradient(np.linalg.cholesky(matrix + sign * step * direction))[0]
            for sign in (1, -1)
        ]
        slope = (ends[0] - ends[1]) / (2 * step)
        assert np.sum(gradient * direction) == pytest.approx(slope, abs=1e-6, rel=1e-7)


def test_many_blocks_of_rows_give_the_same_sums(
    posterior: PairPosterior, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = random_metric(rng)
    value, gradient = posterior.value_and_gradient(root)
    monkeypatch.setattr("likewise.baselines.seraph._BLOCK_ROWS", 9)
    other_value, other_gradient = posterior.value_and_gradient(root)
    assert other_value == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(other_gradient, gradient, rtol=1e-10, atol=1e-10)


def test_without_a_fixed_scale_the_zero_metric_would_be_a_maximum(
    posterior: PairPosterior,
) -> None:
    value, gradient = posterior.value_and_gradient(np.zeros((5, 1)))
    assert value == pytest.approx(-0.8955 * 40, abs=0.005)
    assert np.linalg.eigvalsh(gradient).max() < 0


def test_rows_far_apart_do_not_overflow(posterior: PairPosterior) -> None:
    value, gradient = posterior.value_and_gradient(1e3 * np.eye(5))
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


def test_projection_gives_the_nearest_matrix_of_that_trace(rng: np.random.Generator) -> None:
    matrix = rng.standard_normal((5, 5))
    matrix = matrix + matrix.T
    metric = project(matrix, 1.5)
    assert np.trace(metric.matrix) == pytest.approx(1.5, abs=1e-12)
    np.testing.assert_allclose(metric.root @ metric.root.T, metric.matrix, atol=1e-12)
    np.testing.assert_allclose(project(metric.matrix, 1.5).matrix, metric.matrix, atol=1e-12)
    for _ in range(20):  # what is missing makes an obtuse angle with every way inside
        other = random_metric(rng, 1.5)
        inside = other @ other.T - metric.matrix
        assert np.sum((matrix - metric.matrix) * inside) <= 1e-12


def test_projection_of_large_values_keeps_the_trace() -> None:
    matrix = np.diag([3e17, 1.0, -2e17])
    np.testing.assert_allclose(project(matrix, 1.0).matrix, np.diag([1.0, 0.0, 0.0]))


@pytest.mark.parametrize("trace", [0.5, 1.0, 4.0])
def test_the_objective_never_falls_and_the_trace_stays(
    posterior: PairPosterior, trace: float
) -> None:
    reached = [
        maximise(posterior, trace, tol=1e-12, max_iter=n_iter)[1].objective
        for n_iter in range(1, 12)
    ]
    assert all(later >= earlier for earlier, later in pairwise(reached))
    metric, outcome = maximise(posterior, trace, tol=1e-12, max_iter=500)
    assert outcome.converged
    assert np.trace(metric.matrix) == pytest.approx(trace, abs=1e-10)


def test_a_step_too_long_is_shortened_until_it_gains(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    middles = rng.standard_normal((40, 5))
    partners = middles + 0.3 * rng.standard_normal((40, 5))
    rows = np.vstack([middles, partners, rng.standard_normal((60, 5))])
    posterior = replace(PairPosterior.of(rows, pairs(40)), mu=0.004)
    start = project(np.zeros((5, 5)), 4.0)
    value, gradient = posterior.value_and_gradient(start.root)
    far = project(start.matrix + 1e6 * gradient, 4.0)
    assert posterior.value_and_gradient(far.root)[0] < value
    monkeypatch.setattr("likewise.baselines.seraph._FIRST_STEP", 1e6)
    assert maximise(posterior, 4.0, tol=1e-12, max_iter=1)[1].objective > value


def test_it_ends_where_the_gradient_leads_nowhere(posterior: PairPosterior) -> None:
    metric, _ = maximise(posterior, 1.0, tol=1e-13, max_iter=1000)
    _, gradient = posterior.value_and_gradient(metric.root)
    further = project(metric.matrix + gradient / np.linalg.norm(gradient), 1.0)
    np.testing.assert_allclose(further.matrix, metric.matrix, atol=1e-4)
    assert metric.matrix[0, 0] == pytest.approx(1.0, abs=0.1)  # the column in which pairs agree


def test_white_rows_have_the_identity_for_covariance(rng: np.random.Generator) -> None:
    rows = rng.standard_normal((200, 3)) @ rng.standard_normal((3, 3)) + 7
    rows = np.column_stack([rows, rows[:, 0] - rows[:, 1]])
    white = whitening(rows)
    assert white.shape == (4, 3)
    np.testing.assert_allclose(np.cov((rows @ white).T, bias=True), np.eye(3), atol=1e-10)


def test_linear_maps_of_the_columns_do_not_matter(
    draw_waveform: Draw, rng: np.random.Generator
) -> None:
    drawn = draw_waveform(100, 100)
    X, y = drawn.pack()
    mixing = rng.standard_normal((21, 21))
    clf = SERAPH(random_state=0).fit(X, y)
    mixed = SERAPH(random_state=0).fit(X @ mixing, y)
    assert mixed.objective_ == pytest.approx(clf.objective_, rel=1e-6)
    same = clf.predict(drawn.X_test) == mixed.predict(drawn.X_test @ mixing)
    assert same.mean() > 0.995


def test_on_waveform_the_pairs_help_a_lot(draw_waveform: Draw) -> None:
    drawn = draw_waveform(300, 300)
    clf = SERAPH(random_state=0).fit(*drawn.pack())
    assert clf.score(drawn.X_test, drawn.y_test) > 0.85
    assert clf.components_.shape == (21, 1)


def test_the_mean_distance_of_two_rows_is_as_asked(draw_waveform: Draw) -> None:
    X, y = draw_waveform(50, 50).pack()
    clf = SERAPH(mean_distance=3.0, random_state=0).fit(X, y)
    images = (X - clf.mean_) / clf.scale_ @ clf.components_
    assert 2 * images.var(axis=0).sum() == pytest.approx(3.0)


def test_one_column_has_only_one_metric(draw_waveform: Draw) -> None:
    drawn = draw_waveform(50, 50)
    X, y = drawn.pack()
    clf = SERAPH(random_state=0).fit(X[:, [5]], y)
    assert clf.converged_
    np.testing.assert_allclose(np.abs(clf.components_), [[1.0]])


def test_repeated_columns_and_a_single_pair_are_no_obstacle(draw_waveform: Draw) -> None:
    drawn = draw_waveform(1, 100)
    X, y = drawn.pack()
    clf = SERAPH(random_state=0).fit(np.hstack([X, X]), y)
    assert clf.converged_
    # The two copies share the weight, so that they count as one column.
    np.testing.assert_allclose(clf.components_[:21], clf.components_[21:], atol=1e-8)


def test_too_few_steps_are_warned_of(draw_waveform: Draw) -> None:
    with pytest.warns(ConvergenceWarning, match="SERAPH stopped after 1 iterations"):
        clf = SERAPH(max_iter=1, random_state=0).fit(*draw_waveform(50, 50).pack())
    assert not clf.converged_


@pytest.mark.slow
@pytest.mark.parametrize("name", ["phishing", "w8a"])
def test_hundreds_of_one_hot_columns_are_learned_from(real_data: object, name: str) -> None:
    X, y = lw.datasets.load(name, return_X_y=True)
    drawn = lw.datasets.sample_su(X, y, 500, 500, n_test=100, random_state=0)
    clf = SERAPH(random_state=0).fit(*drawn.pack())
    assert clf.converged_
    assert not clf.collapsed_


class TestDissimilarPairs:
    @pytest.fixture
    def mixed(self, rng: np.random.Generator) -> PairPosterior:
        """Links of both kinds among 50 rows; rows are in several, and one pair is in two."""
        left = np.array([0, 1, 2, 3, 1, 0, 9])
        right = np.array([1, 2, 3, 40, 0, 7, 8])
        is_similar = np.array([True, True, False, True, True, False, False])
        return PairPosterior.of(
            rng.standard_normal((50, 5)), Links(left, right, is_similar, np.arange(7))
        )

    def test_the_objective_is_the_sum_over_pairs_as_written(
        self, mixed: PairPosterior, rng: np.random.Generator
    ) -> None:
        root = random_metric(rng, 2.0)
        told = list(zip(mixed.links.left, mixed.links.right, strict=True))
        assert mixed.mu == pytest.approx(7 / (50 * 49 / 2 - 6))

        def p(i: int, j: int) -> float:
            distance = np.sum(((mixed.rows[i] - mixed.rows[j]) @ root) ** 2)
            return float(1 / (1 + np.exp(distance - 1)))

        expected = 0.0
        for (i, j), is_similar in zip(told, mixed.links.is_similar, strict=True):
            expected += np.log(p(i, j)) if is_similar else np.log(1 - p(i, j))
        for i, j in combinations(range(50), 2):
            if (i, j) not in told and (j, i) not in told:
                q = p(i, j)
                expected += mixed.mu * (q * np.log(q) + (1 - q) * np.log(1 - q))
        assert mixed.value_and_gradient(root)[0] == pytest.approx(expected, rel=1e-12)

    def test_the_gradient_agrees_with_central_differences(
        self, mixed: PairPosterior, rng: np.random.Generator
    ) -> None:
        root = random_metric(rng, 2.0)
        gradient = mixed.value_and_gradient(root)[1]
        direction = rng.standard_normal((5, 5))
        direction = direction + direction.T
        ends = [
            mixed.value_and_gradient(np.linalg.cholesky(root @ root.T + sign * 1e-5 * direction))[0]
            for sign in (1, -1)
        ]
        slope = (ends[0] - ends[1]) / 2e-5
        assert slope == pytest.approx(np.sum(gradient * direction), rel=1e-6)

    def test_every_pair_said_something_about_leaves_no_entropy(
        self, rng: np.random.Generator
    ) -> None:
        rows = rng.standard_normal((4, 2))
        left, right = np.array(list(combinations(range(4), 2))).T
        links = Links(left, right, np.array([1, 0, 0, 0, 0, 1], dtype=bool), np.arange(6))
        clf_rows = PairPosterior.of(rows, links)
        value, _ = clf_rows.value_and_gradient(np.eye(2))
        z = 1 - np.sum((rows[left] - rows[right]) ** 2, axis=1)
        logs = -np.logaddexp(0, np.where(links.is_similar, -z, z))
        assert value == pytest.approx(logs.sum(), rel=1e-10)
