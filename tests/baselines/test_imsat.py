"""Information maximisation with similar pairs as augmentations."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.special import expit, xlogy
from sklearn.exceptions import ConvergenceWarning

import likewise as lw
from likewise.baselines.imsat import (
    IMSAT,
    Problem,
    augmentation_loss,
    mutual_information,
    stop_gradient_field,
)
from likewise.datasets import SUSample
from tests.baselines.samples import fresh_sample

Draw = Callable[..., SUSample]
LN9 = np.log(9.0)


def scores_with_targets(
    scores: np.ndarray, targets: np.ndarray, n_pairs: int, weight: float
) -> float:
    """The objective of scores (left, right, unlabeled) for given targets of left and right."""
    share = expit(scores)
    paired, unlabeled = share[: 2 * n_pairs], share[2 * n_pairs :]
    partners = np.roll(targets, n_pairs)
    cross_entropy = -xlogy(partners, paired) - xlogy(1 - partners, 1 - paired)

    def entropy(p: np.ndarray) -> np.ndarray:
        return np.asarray(-xlogy(p, p) - xlogy(1 - p, 1 - p))

    information = entropy(unlabeled.mean()) - entropy(unlabeled).mean()
    return float(cross_entropy.mean() - weight * information)


@pytest.fixture
def problem(rng: np.random.Generator) -> Problem:
    left, right, unlabeled = (rng.standard_normal((n, 3)) for n in (20, 20, 30))
    return Problem.of(fresh_sample(left, right, unlabeled), 0.8, 0.01)


def test_information_and_augmentation_match_numbers_computed_by_hand() -> None:
    assert mutual_information(np.array([LN9, -LN9])) == pytest.approx(0.368064, abs=1e-6)
    # The cross-entropy is the entropy 0.325083 and the divergence 0.8 ln 9 together.
    expected = 0.3250829734 + 0.8 * LN9
    assert augmentation_loss(np.array([LN9]), np.array([-LN9])) == pytest.approx(expected)
    assert expected == pytest.approx(2.082863, abs=1e-6)


def test_extreme_scores_stay_finite() -> None:
    scores = np.array([1000.0, 800.0])
    assert mutual_information(scores) == pytest.approx(0.0, abs=1e-9)
    assert augmentation_loss(scores, -scores) == pytest.approx(900.0)
    parts = stop_gradient_field(scores, -scores, scores, 1.0)
    assert np.isfinite(np.concatenate(parts)).all()


def test_the_field_is_the_gradient_while_targets_stand_still(rng: np.random.Generator) -> None:
    scores = 2 * rng.standard_normal(11)
    targets = expit(scores[:6])
    field = np.concatenate(stop_gradient_field(scores[:3], scores[3:6], scores[6:], 0.7))
    expected = approx_fprime(scores, scores_with_targets, 1e-7, targets, 3, 0.7)
    np.testing.assert_allclose(field, expected, atol=1e-6)
    value = augmentation_loss(scores[:3], scores[3:6]) - 0.7 * mutual_information(scores[6:])
    assert value == pytest.approx(scores_with_targets(scores, targets, 3, 0.7))


def test_the_jacobian_is_the_derivative_of_the_field(
    problem: Problem, rng: np.random.Generator
) -> None:
    weights = rng.standard_normal(4)
    expected = approx_fprime(weights, problem.field, 1e-7)
    np.testing.assert_allclose(problem.jacobian(weights), expected, atol=1e-6)


def test_turning_the_weights_around_only_swaps_the_clusters(
    problem: Problem, rng: np.random.Generator
) -> None:
    weights = rng.standard_normal(4)
    assert problem.objective(-weights) == pytest.approx(problem.objective(weights), abs=1e-12)
    np.testing.assert_allclose(problem.field(-weights), -problem.field(weights), atol=1e-14)


def test_it_ends_where_refreshing_frozen_targets_ends(draw_waveform: Draw) -> None:
    X, y = draw_waveform().pack()
    clf = IMSAT(random_state=0).fit(X, y)
    sample = lw.unpack((X - clf.mean_) / clf.scale_, y)
    rows = np.vstack([sample.left, sample.right, sample.unlabeled])
    rows = np.column_stack([rows, np.ones(len(rows))])
    n_pairs = len(sample.left)

    def objective(weights: np.ndarray, targets: np.ndarray) -> float:
        value = scores_with_targets(rows @ weights, targets, n_pairs, 1.0)
        return float(value + 0.5e-6 * weights[:-1] @ weights[:-1])

    def gradient(weights: np.ndarray, targets: np.ndarray) -> np.ndarray:
        share = expit(rows @ weights)
        of_pairs = (share[: 2 * n_pairs] - np.roll(targets, n_pairs)) / (2 * n_pairs)
        unlabeled = share[2 * n_pairs :]
        q = unlabeled.mean()
        logits = np.log(unlabeled / (1 - unlabeled)) - np.log(q / (1 - q))
        of_unlabeled = -unlabeled * (1 - unlabeled) * logits / len(unlabeled)
        penalty = np.append(1e-6 * weights[:-1], 0.0)
        return np.asarray(np.concatenate([of_pairs, of_unlabeled]) @ rows + penalty)

    weights = np.append(clf.coef_, clf.intercept_)
    # Start elsewhere, within reach of the same answer.
    moved = 0.6 * weights
    for _ in range(100):
        targets = expit(rows[: 2 * n_pairs] @ moved)
        options = {"maxiter": 20, "gtol": 1e-10, "ftol": 1e-15}
        moved = minimize(
            objective, moved, (targets,), jac=gradient, method="L-BFGS-B", options=options
        ).x
    np.testing.assert_allclose(moved, weights, atol=1e-3)


def test_the_field_vanishes_at_the_answer_and_starts_agree(draw_waveform: Draw) -> None:
    sample = draw_waveform()
    first, second = (IMSAT(random_state=seed).fit(*sample.pack()) for seed in (0, 1))
    assert first.converged_
    assert first.field_norm_ <= 1e-6
    assert first.objective_ == pytest.approx(second.objective_, abs=1e-6)
    np.testing.assert_array_equal(first.predict(sample.X_test), second.predict(sample.X_test))
    assert first.score(sample.X_test, sample.y_test) > 0.85
    assert not first.collapsed_


def test_decisions_have_the_sign_of_the_predicted_class(draw_waveform: Draw) -> None:
    sample = draw_waveform(100, 100)
    for seed in range(4):
        clf = IMSAT(n_init=1, random_state=seed).fit(*sample.pack())
        decisions = clf.decision_function(sample.X_test)
        np.testing.assert_array_equal(clf.predict(sample.X_test), np.sign(decisions))


def test_the_best_of_the_starts_is_kept(draw_waveform: Draw) -> None:
    X, y = draw_waveform(20, 30).pack()
    many = IMSAT(n_init=6, random_state=0).fit(X, y)
    one = IMSAT(n_init=1, random_state=0).fit(X, y)
    assert many.objective_ < one.objective_


def test_stopping_early_is_reported(draw_waveform: Draw) -> None:
    X, y = draw_waveform(100, 100).pack()
    with pytest.warns(ConvergenceWarning, match="IMSAT stopped after"):
        clf = IMSAT(tol=1e-300, max_iter=5, random_state=0).fit(X, y)
    assert not clf.converged_
    assert clf.field_norm_ > 1e-300


@pytest.mark.parametrize("alpha", [0.0, 1e-6])
def test_redundant_and_constant_columns_converge_to_the_same_answer(
    draw_waveform: Draw, alpha: float
) -> None:
    sample = draw_waveform(100, 100)
    X, y = sample.pack()
    plain = IMSAT(alpha=alpha, random_state=0).fit(X, y)
    redundant = np.column_stack([X, X[:, 0] + X[:, 1], np.full(len(X), 3.0)])
    # So few steps of Adam that Newton's method has to do the rest.
    clf = IMSAT(alpha=alpha, max_iter=200, random_state=0).fit(redundant, y)
    assert clf.converged_
    assert np.mean(clf.predict(redundant) == plain.predict(X)) > 0.97


def test_one_pair_of_one_hot_rows_is_enough(rng: np.random.Generator) -> None:
    rows = np.eye(3)[rng.integers(0, 3, size=40)]
    clf = IMSAT(random_state=0).fit(*lw.pack(rows, similar=rows[:2].reshape(1, 2, 3)))
    assert clf.converged_


@pytest.mark.parametrize("name", ["phishing", "w8a"])
def test_real_one_hot_data_converge(real_data: object, name: str) -> None:
    data = lw.datasets.load(name)
    sample = lw.datasets.sample_su(data.data, data.target, 300, 300, random_state=0)
    assert IMSAT(n_init=2, random_state=0).fit(*sample.pack()).converged_
