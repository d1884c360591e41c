"""Fresh pairs in the form that all statements have."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax

from likewise._types import FloatArray
from likewise.beliefs.base import log_probabilities
from likewise.beliefs.expansion import Counts, expand
from likewise.beliefs.fresh import FreshLikelihood, in_order
from likewise.statements.labels import read_labels
from tests.beliefs.cases import slope_error

Y = np.array([0, 1, -1, 0, 2, 2, 0, -2, 1, 0, 3, -1, 3, -2, 0])
"""Three similar pairs, two dissimilar ones and five unlabeled rows, in no order."""
KINDS = [Y, np.where(Y > 0, Y, 0), np.where(Y < 0, Y, 0)]


def fresh(y: np.ndarray = Y, n_classes: int = 2, pairing: str = "random") -> FreshLikelihood:
    return FreshLikelihood(read_labels(y), n_classes, pairing)


def draw_scores(y: np.ndarray, n_classes: int, seed: int = 0) -> FloatArray:
    """Scores of which similar pairs know that they are alike."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(y.size, n_classes))
    for code in np.unique(y[y > 0]):
        left, right = np.flatnonzero(y == code)
        scores[right] = scores[left] + 0.5 * rng.normal(size=n_classes)
    return np.asarray(scores)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("pairing", ["random", "free"])
@pytest.mark.parametrize("y", KINDS)
def test_rows_may_stand_in_any_order(y: np.ndarray, pairing: str, n_classes: int) -> None:
    order = np.random.default_rng(1).permutation(y.size)
    log_p = log_probabilities(draw_scores(y, n_classes))
    plain = fresh(y, n_classes, pairing).evaluate(log_p)
    moved = fresh(y[order], n_classes, pairing).evaluate(log_p[order])
    assert moved.value == pytest.approx(plain.value, abs=1e-7)
    for name in ("gradient", "posteriors", "weights"):
        np.testing.assert_allclose(
            getattr(moved, name), getattr(plain, name)[order], atol=1e-6, err_msg=name
        )
    np.testing.assert_allclose(moved.shares, plain.shares, atol=1e-7)


def test_the_value_is_that_of_all_pairs_in_nats() -> None:
    counts = Counts(6, 5, 4)
    log_p = log_probabilities(np.random.default_rng(2).normal(size=(counts.rows, 3)))
    found = FreshLikelihood(in_order(counts), 3).evaluate(log_p)
    expected = expand(log_p, counts)
    assert found.value == pytest.approx(-counts.pairs * expected.value)
    np.testing.assert_allclose(found.shares, expected.shares)
    assert found.pair_shares is None
    assert found.converged


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("pairing", ["random", "free"])
@pytest.mark.parametrize("y", KINDS)
def test_the_gradient_is_the_slope_of_the_value(
    y: np.ndarray, pairing: str, n_classes: int
) -> None:
    # Free pair shares are settled inside, to 1e-8.
    assert slope_error(fresh(y, n_classes, pairing), draw_scores(y, n_classes)) < 1e-4


@pytest.mark.parametrize("n_classes", [2, 3])
def test_free_pair_shares_are_the_likeliest(n_classes: int) -> None:
    counts = Counts(30, 20, 5)
    model = FreshLikelihood(in_order(counts), n_classes, "free")
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(counts.rows, n_classes))
    scores[counts.right] = scores[counts.left] + 0.5 * rng.normal(size=(20, n_classes))
    log_p = log_probabilities(scores)
    found = model.evaluate(log_p)
    best = minimize(lambda v: expand(log_p, counts, softmax(v)).value, np.zeros(n_classes))
    assert found.pair_shares is not None
    assert found.value == pytest.approx(-counts.pairs * best.fun, abs=1e-4)
    np.testing.assert_allclose(found.pair_shares, softmax(best.x), atol=2e-3)


def test_posteriors_are_those_of_bayes_rule() -> None:
    for pairing in ("random", "free"):
        scores = draw_scores(Y, 3)
        eta = softmax(scores, axis=1)
        found = fresh(Y, 3, pairing).evaluate(log_probabilities(scores))
        rates = np.ones(3)
        if found.pair_shares is not None:
            rates = found.pair_shares / found.shares**2
        np.testing.assert_allclose(found.posteriors[Y == 0], eta[Y == 0], atol=1e-9)
        for code in (1, 2, 3, -1, -2):
            left, right = np.flatnonzero(code == Y)
            weights = np.outer(eta[left], eta[right])
            joint = weights * (np.diag(rates) if code > 0 else 1 - np.eye(3))
            joint /= joint.sum()
            np.testing.assert_allclose(found.posteriors[left], joint.sum(axis=1), atol=1e-9)
            np.testing.assert_allclose(found.posteriors[right], joint.sum(axis=0), atol=1e-9)


def test_a_nearby_start_changes_nothing() -> None:
    scores = draw_scores(Y, 3)
    # Free pair shares have an optimum on each side: with exchanged classes they may stay there.
    starts = {"random": scores[:, [2, 0, 1]], "free": scores + 0.1}
    starts["free"][:, 0] -= 0.3
    for pairing, start in starts.items():
        model = fresh(Y, 3, pairing)
        near = model.evaluate(log_probabilities(start))
        cold = model.evaluate(log_probabilities(scores))
        warm = model.evaluate(log_probabilities(scores), near)
        assert warm.value == pytest.approx(cold.value, abs=1e-6)


def test_a_fold_is_learned_from_without_partners_of_its_rows() -> None:
    rows = np.zeros(Y.size, dtype=bool)
    rows[[0, 1, 4, 5]] = True  # a row, a member of pair 1, and pair 2
    fold = fresh().hold_out(rows)
    assert fold.n_judged == 1
    assert not fold.train[8]  # the other member of pair 1
    np.testing.assert_array_equal(np.flatnonzero(~fold.train), [0, 1, 4, 5, 8])
    assert fold.likelihood.statements.count == 3
    assert fold.likelihood.statements.is_fresh


def test_evidence_is_the_log_likelihood_of_the_folds_own_pairs() -> None:
    rows = np.isin(Y, [2, -1]) | (np.arange(Y.size) < 1)
    model, log_p = fresh(), log_probabilities(draw_scores(Y, 2))
    fold = model.hold_out(rows)
    trained = fold.likelihood.evaluate(log_p[fold.train])
    expected = model.among(rows).evaluate(log_p[rows]).value
    assert fold.n_judged == 2
    assert model.evidence(fold, log_p, trained) == pytest.approx(expected)
    constant = np.tile(np.log([0.3, 0.7]), (Y.size, 1))
    assert model.evidence(fold, constant, trained) == pytest.approx(0, abs=1e-9)
    nothing = model.hold_out(np.arange(Y.size) < 1)
    assert model.evidence(nothing, log_p, trained) == 0


def test_simulated_samples_have_as_many_pairs_and_rows() -> None:
    model, log_p = fresh(), log_probabilities(draw_scores(Y, 2))
    rows, drawn = model.simulate(log_p, model.evaluate(log_p), np.random.default_rng(4))
    assert drawn.counts == model.counts
    assert rows.size == Y.size
    assert rows.max() < Y.size
