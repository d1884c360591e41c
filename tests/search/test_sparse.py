"""Linear scores of few columns."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

from likewise._types import FloatArray
from likewise.beliefs.expansion import Counts
from likewise.beliefs.table import TableLikelihood
from likewise.search import sparse as module
from likewise.search.climb import FINAL, climb, climb_path
from likewise.search.crossfit import Candidate, Path, cross_fit, fit_whole, parts_of
from likewise.search.sample import Sample
from likewise.search.sparse import can_be_sparse, climb_sparse, sparse_path
from likewise.statements.folds import PairKFold
from tests.search.gaussians import Gaussians
from tests.search.samples import answered, as_sample, fresh, two_gaussians

COUNTS = Counts(200, 200)
ALPHAS = [0.3, 0.1, 0.03, 0.01]


def draw(seed: int, n_noise: int = 20, counts: Counts = COUNTS) -> Sample:
    """Draw pairs and rows of two Gaussians that one column tells apart; the others are noise."""
    rng = np.random.default_rng(seed)
    signal = Gaussians(separation=2.5).draw(rng, counts)
    noise = rng.standard_normal((counts.rows, n_noise))
    return as_sample(np.column_stack([signal, noise]), fresh(counts))


def best(sample: Sample, path: Path) -> Candidate:
    folds = PairKFold(4, shuffle=True, random_state=0).deal(sample.likelihood.statements)
    parts = parts_of(sample.likelihood, folds)
    found = cross_fit(sample, parts, ALPHAS, np.random.RandomState(0), path=path)
    return max(found, key=lambda one: one.information)


def noise_share(weights: FloatArray) -> float:
    return float(np.linalg.norm(weights[1:-1]) / np.linalg.norm(weights[:-1]))


def test_where_one_column_counts_held_out_pairs_are_explained_better() -> None:
    gains = []
    for seed in range(4):
        sample = draw(seed)
        ridge, sparse = best(sample, climb_path), best(sample, sparse_path)
        gains.append(sparse.information - ridge.information)
        whole = fit_whole(sample, sparse, climb_sparse)
        assert noise_share(whole.weights) < 0.7 * noise_share(fit_whole(sample, ridge).weights)
    assert np.mean(gains) > 0.01


@pytest.mark.parametrize("s", [1e-3, 0.1, 1.0, 10.0, 499.0, 501.0, 1e4])
def test_penalties_are_those_that_a_half_cauchy_prior_expects(
    monkeypatch: pytest.MonkeyPatch, s: float
) -> None:
    """The inverse square of a half-Cauchy deviation has the density 1 / (1 + z) / sqrt(z)."""
    sample, alpha = draw(0, n_noise=1, counts=Counts(20, 20)), 0.1
    variance = 2.0 * s / (sample.likelihood.size * alpha)
    monkeypatch.setattr(module, "_variances", lambda *_: np.full(2, variance))
    (factor, _) = module._factors(sample, np.zeros((3, 1)), alpha, np.ones(2))
    weight = [
        quad(lambda z, k=k: z**k * np.exp(-s * z) / (1.0 + z), 0.0, 60.0 / s, limit=200)[0]
        for k in (0, 1)
    ]
    assert factor == pytest.approx(weight[1] / weight[0], rel=0.003 if s > 500 else 1e-6)


def test_variances_are_those_of_the_curvature() -> None:
    sample = draw(0, n_noise=1, counts=Counts(4000, 4000))
    found = climb(sample, 1e-6, np.array([[2.0], [0.0], [1.0]]), effort=FINAL).weights
    step = 1e-3

    def slope(weights: FloatArray) -> FloatArray:
        scores = sample.design.decide(weights)
        return sample.design.pull(sample.likelihood.slope(scores)[1])[:, 0]

    nudges = step * np.eye(3)[:, :, None]
    curvature = [(slope(found - e) - slope(found + e)) / (2 * step) for e in nudges]
    expected = np.diag(np.linalg.inv(np.array(curvature)))[:-1]
    np.testing.assert_allclose(module._variances(sample, found, np.zeros(2)), expected, rtol=0.25)


def test_a_prior_that_is_sure_leaves_no_variance() -> None:
    sample = draw(0, n_noise=1)
    found = module._variances(sample, np.ones((3, 1)), np.full(2, 1e8))
    np.testing.assert_allclose(found, 1e-8, rtol=1e-3)


def test_one_penalty_for_all_columns_is_the_ridge_penalty() -> None:
    sample, start = draw(0), np.append(1.0, np.zeros(21))[:, None]
    one = module._climb(sample, 0.1, start, np.full(21, 4.0), FINAL)
    np.testing.assert_allclose(
        one.weights, climb(sample, 0.4, start, effort=FINAL).weights, atol=1e-3
    )


def test_scores_that_a_large_penalty_made_zero_are_left_again() -> None:
    sample = draw(0)
    first, last = sparse_path(sample, [100.0, 0.03], np.random.RandomState(0))
    assert np.ptp(sample.design.decide(first.weights)) < 0.1
    assert np.ptp(sample.design.decide(last.weights)) > 1.0


def test_a_constant_column_gets_no_weight() -> None:
    sample = draw(0, n_noise=2)
    sample.design.rows[:, 2] = 1.0
    constant = as_sample(sample.design.rows, sample.likelihood)
    *_, found = sparse_path(constant, ALPHAS, np.random.RandomState(0))
    assert np.isfinite(found.weights).all()
    assert found.weights[2, 0] == pytest.approx(0.0, abs=1e-6)


def test_only_fresh_similar_pairs_of_two_classes_formed_at_random(
    rng: np.random.Generator,
) -> None:
    sample = draw(0)
    likelihood = sample.likelihood
    weighted: Any = fresh(COUNTS)
    statements = likelihood.statements
    weighted.statements = replace(statements, weights=np.ones(statements.n_rows))
    _, classes = two_gaussians(rng, 60)
    assert can_be_sparse(likelihood, 21)
    assert not can_be_sparse(likelihood, 601)
    assert not can_be_sparse(weighted, 21)
    assert not can_be_sparse(fresh(COUNTS, 3), 21)
    assert not can_be_sparse(likelihood.paired("free"), 21)
    assert not can_be_sparse(fresh(Counts(50, 50, 20)), 21)
    assert not can_be_sparse(TableLikelihood(answered(rng, classes, 60), 2, "asked"), 21)
